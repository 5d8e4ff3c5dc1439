"""``make test``: courses side by side."""

import os
import sys
import time
from pathlib import Path

import pytest

from local.test_run import AT_ONCE, BESIDE, PARTS_LEFT, deselected, main, side_by_side

WAIT_SECONDS = 300
WAIT = f"import time; time.sleep({WAIT_SECONDS})"


def python(code):
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("beside", "left", "status"), [(0, [0] * 6, 0), (4, [0], 4), (0, [5], 5), (0, [0] * 5 + [5], 5), (4, [5], 4)]
)
def test_it_fails_where_one_of_them_does(beside, left, status):
    first, other, *ends = [python(f"raise SystemExit({each})") for each in (0, beside, *left)]
    assert side_by_side(first, ends, beside=[python(""), other]) == status


def test_nothing_goes_on_where_the_first_fails():
    began = time.monotonic()
    assert side_by_side(python("raise SystemExit(5)"), [python(WAIT)], beside=[python(WAIT)]) == 5
    assert time.monotonic() - began < WAIT_SECONDS


def test_each_says_all_it_has_to_say_when_it_is_done(capfd, tmp_path):
    done = tmp_path / "done"
    waiting = (
        "import pathlib, time\nprint('I wait')\n"
        f"while not pathlib.Path({str(done)!r}).exists(): time.sleep(0.01)\nprint('no longer')"
    )
    # Those that wait are waited for by nobody else: they do run at once.
    other = f"import pathlib\nprint('of another'); pathlib.Path({str(done)!r}).touch()"
    for beside, left in ((waiting, [other]), ("", [waiting, other])):
        assert side_by_side(python(""), [python(each) for each in left], beside=[python(beside)]) == 0
        said = capfd.readouterr().out
        assert "I wait\nno longer\n" in said
        assert "of another" in said
        done.unlink()


def test_what_is_left_waits_for_a_place(tmp_path):
    """No more run at once than there shall be: each counts those that run with it."""
    code = (
        f"import pathlib, os, time; folder = pathlib.Path({str(tmp_path)!r}); mine = folder / str(os.getpid())\n"
        "mine.touch(); time.sleep(0.3); count = len(list(folder.iterdir())); mine.unlink()\n"
        f"raise SystemExit(count > {AT_ONCE})"
    )
    assert side_by_side(python(""), [python(code)] * (AT_ONCE + 2), beside=[python("")]) == 0


def test_the_others_do_not_outlive_an_interrupt(monkeypatch, tmp_path):
    file = tmp_path / "pid"

    def interrupted(command):
        while not (file.exists() and file.read_text().endswith("\n")):
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr("local.test_run.subprocess.call", interrupted)
    second = f"import os, pathlib, time\npathlib.Path({str(file)!r}).write_text(f'{{os.getpid()}}\\n'); {WAIT}"
    with pytest.raises(KeyboardInterrupt):
        side_by_side(python(""), [python("")], beside=[python(second)])
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


@pytest.mark.parametrize(
    ("there", "everything", "options"),
    [
        ({"chromium", "promtool"}, "", []),
        ({"google-chrome"}, "", ["-m", "not prometheus"]),
        (set(), "", ["-m", "not browser and not prometheus"]),
        (set(), "1", []),
    ],
)
def test_what_the_machine_lacks_is_left_out_and_named_but_never_in_ci(monkeypatch, capsys, there, everything, options):
    monkeypatch.setattr("local.test_run.shutil.which", lambda name: name if name in there else None)
    monkeypatch.setenv("KAFKA_CAPACITY_TEST_EVERYTHING", everything)
    assert deselected() == options
    assert capsys.readouterr().out.count("left out: tests ") == " ".join(options).count("not ")


def test_every_file_is_in_one_part(monkeypatch):
    """What each of the commands would run, by the paths and the paths left out that it is given."""
    given = []
    monkeypatch.setattr("local.test_run.os.cpu_count", lambda: 2)
    monkeypatch.setattr("local.test_run.side_by_side", lambda _, left, beside: given.extend([*left, *beside]) or 0)
    assert main() == 0
    commands = [command[command.index("--durations=10") + 1 :] for command in given]

    def runs(command, file):
        paths = [one for one in command if one.startswith("tests")]
        ignored = [one.partition("=")[2] for one in command if one.startswith("--ignore=")]
        return any(file == one or file.startswith(f"{one}/") for one in paths) and not any(
            file == one or file.startswith(f"{one}/") for one in ignored
        )

    files = [str(path) for path in Path("tests").rglob("test_*.py")]
    counts = {file: sum(runs(command, file) for command in commands) for file in files}
    checked = ("unit", "properties", "golden", "docker", "fuzz")
    assert {file: count for file, count in counts.items() if count != (file.split("/")[1] not in checked)} == {}
    assert len(commands) == len(PARTS_LEFT) + len(BESIDE) + 1
