"""``make test``: courses side by side."""

import os
import sys
import time

import pytest

from local.test_run import deselected, side_by_side

WAIT_SECONDS = 300
WAIT = f"import time; time.sleep({WAIT_SECONDS})"


def python(code):
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("shown", "beside", "apart", "status"), [(0, 0, 0, 0), (3, 0, 0, 3), (0, 4, 0, 4), (0, 0, 5, 5), (3, 4, 5, 3)]
)
def test_it_fails_where_one_of_them_does(shown, beside, apart, status):
    first, *ends = [python(f"raise SystemExit({each})") for each in (0, shown, beside, apart)]
    assert side_by_side(first, ends[0], beside=ends[1], apart=ends[2:]) == status


def test_nothing_goes_on_where_the_first_fails():
    began = time.monotonic()
    assert side_by_side(python("raise SystemExit(5)"), python(WAIT), beside=python(WAIT), apart=[python(WAIT)]) == 5
    assert time.monotonic() - began < WAIT_SECONDS


def test_what_the_others_say_comes_after_the_first(capfd, tmp_path):
    done = tmp_path / "done"
    first = (
        f"import pathlib, time\nwhile not pathlib.Path({str(done)!r}).exists(): time.sleep(0.01)\nprint('of the first')"
    )
    # The first one waits for another: they do run at once.
    other = f"import pathlib\nprint('of another'); pathlib.Path({str(done)!r}).touch()"
    for beside, apart in ((other, ""), ("", other)):
        assert side_by_side(python(""), python(first), beside=python(beside), apart=[python(apart)]) == 0
        said = capfd.readouterr().out
        assert said.index("of the first") < said.index("of another")
        done.unlink()


def test_the_others_do_not_outlive_an_interrupt(monkeypatch, tmp_path):
    file = tmp_path / "pid"

    def interrupted(command):
        while not (file.exists() and file.read_text().endswith("\n")):
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr("local.test_run.subprocess.call", interrupted)
    second = f"import os, pathlib, time\npathlib.Path({str(file)!r}).write_text(f'{{os.getpid()}}\\n'); {WAIT}"
    with pytest.raises(KeyboardInterrupt):
        side_by_side(python(""), python(""), beside=python(second), apart=[python("")])
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
