"""The help, the form of errors, and the program as a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

ROOT = Path(__file__).parents[3]
DATA = Path(__file__).parents[1] / "inventory" / "data"
COMMANDS = ["example", "inventory check", "inventory export", "inventory import", "inventory metrics", "plan", "report"]


def program(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "kafka_capacity.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=ROOT,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_help(run, command):
    lines = run(*command.split(), "--help").stdout.partition("\nOptions:\n")[2].splitlines()

    assert any(line.startswith("  --") for line in lines)
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("  --"):
            # A long name stands on a line of its own.
            cells = [cell for cell in line.split("  ") if cell.strip()]
            assert len(cells) > 1 or following.startswith(" " * 10), line


def test_the_help_of_plan_says_units_and_defaults(run):
    text = " ".join(run("plan", "--help-all").stdout.split())

    for words in ("--throttle RATE", "default: 50MB/s", "default: 85%", "default: fewest-bytes, generate"):
        assert words in text


def test_the_short_help_has_the_usual_options_and_says_how_many_there_are_more(run):
    short, whole = (run("size", option).stdout for option in ("--help", "--help-all"))
    options = [set(re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE)) for text in (short, whole)]

    assert {"--horizon", "--growth", "--shapes", "--tolerate"} <= options[0] < options[1]
    assert f"{len(options[1] - options[0])} more options: kafka-capacity size --help-all" in short.replace(
        "root", "kafka-capacity"
    )
    assert "more options" not in whole
    assert run("size", "--help").stdout == short


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("kafka-capacity pl", "plan"),
        ("kafka-capacity plan --bal", "--balance"),
        ("kafka-capacity size --hor", "--horizon"),
    ],
)
def test_the_shell_completes_commands_and_options(words, found):
    env = {**os.environ, "_KAFKA_CAPACITY_COMPLETE": "complete_bash", "COMP_WORDS": words}
    env["COMP_CWORD"] = str(len(words.split()) - 1)
    done = subprocess.run(
        [sys.executable, "-m", "kafka_capacity.cli"], capture_output=True, text=True, env=env, check=False, cwd=ROOT
    )
    assert done.stdout.split() == [found], done.stderr


def test_counts_where_a_file_belongs_are_refused_with_the_option_that_takes_them(run, snapshot):
    done = run("plan", snapshot, "--brokers", "9,12")
    assert (done.exit_code, done.stderr) == (
        2,
        "error: --brokers: file '9,12' does not exist; for broker counts, write --broker-counts 9,12\n",
    )


@pytest.mark.parametrize(
    "command", [*COMMANDS, "chargeback", "doctor", "durability", "failures", "groups", "idle", "savings", "size"]
)
def test_no_help_cuts_a_name_at_80_columns(commands, command):
    done = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).invoke(commands, [*command.split(), "--help"])

    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "…-" not in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.startswith("  --") and line.rstrip().endswith("-")]


def test_the_list_of_commands_imports_none_of_them():
    code = (
        "import sys\n"
        "from kafka_capacity.cli.app import app\n"
        "try:\n"
        "    app(['--help'], prog_name='kafka-capacity')\n"
        "except SystemExit:\n"
        "    pass\n"
        "wrong = {'numpy', 'pyarrow', 'pydantic', 'rich', 'kafka_capacity.plan.request'}\n"
        "print('loaded:', sorted(wrong & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False, cwd=ROOT
    )

    assert done.stdout.endswith("loaded: []\n"), done.stdout + done.stderr
    for name in (
        "chargeback",
        "doctor",
        "durability",
        "example",
        "failures",
        "groups",
        "idle",
        "inventory",
        "plan",
        "report",
        "savings",
        "size",
    ):
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize("name", ["example", "fleet", "problems", "size", "inventory check", "inventory compression"])
def test_help_calls_every_argument_by_a_name(run, name):
    done = run(*name.split(), "--help")
    assert done.exit_code == 0
    assert not re.search(r"^  None\b", done.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plam"], "error: plam: no such command; did you mean plan?\n"),
        (["--x"], "error: --x: no such option; kafka-capacity --help lists all\n"),
        (["plan"], "error: --snapshot: is required; give the folder or s3:// address of a native snapshot\n"),
        (["inventory", "import", "--out", "x"], "error: --assignment: is required\n"),
        (["failures", "x", "--rows", "0"], "error: --rows: input should be greater than or equal to 1\n"),
    ],
)
def test_all_errors_are_of_one_style(commands, arguments, message):
    done = CliRunner().invoke(commands, arguments, prog_name="kafka-capacity")

    assert (done.exit_code, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize(
    "command",
    ["chargeback", "doctor", "durability", "failures", "groups", "idle", "inventory check", "plan", "savings", "size"],
)
def test_a_snapshot_is_typed_first_or_as_an_option(run, snapshot, command):
    more = ("--broker-counts", "6", "--placer", "zk") if command == "plan" else ()
    first, named = run(*command.split(), snapshot, *more), run(*command.split(), "--snapshot", snapshot, *more)

    assert first.exit_code == named.exit_code == 0
    assert first.stdout == named.stdout


def test_the_program_ends_with_its_statuses(snapshot, tmp_path):
    assert program("--version").stdout.startswith("kafka-capacity ")
    assert program("plan", "--snapshot", snapshot, "--broker-counts", "6", "--placer", "zk").returncode == 0
    unfit = program(
        "plan", "--snapshot", snapshot, "--broker-counts", "6", "--placer", "zk", "--fail-if-unfit",
        "--disk-limit", "0.0000001",
    )  # fmt: skip
    assert unfit.returncode == 3
    wrong = program("plan", "--snapshot", tmp_path / "nothing")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == (
        f"error: {tmp_path}/nothing/cluster.json is missing; a snapshot is a folder with cluster.json and its tables\n"
    )
    assert program("plan").returncode == 2
    (snapshot / "topics.parquet").write_bytes(b"PAR1")
    damaged = program("inventory", "check", snapshot)
    assert (damaged.returncode, damaged.stdout) == (4, "")
    assert damaged.stderr.startswith(f"error: {snapshot}/topics.parquet: is not a Parquet file that can be read (")


def test_the_program_plans_the_same_as_this_process(run, snapshot, tmp_path):
    arguments = ("plan", "--snapshot", snapshot, "--broker-counts", "6,9", "--out")
    run(*arguments, tmp_path / "here")
    assert program(*arguments, tmp_path / "there", "--quiet").returncode == 0

    for path in (tmp_path / "here").rglob("*.json"):
        if path.name != "timing.json":
            other = tmp_path / "there" / path.relative_to(tmp_path / "here")
            assert other.read_bytes() == path.read_bytes()


def test_a_folder_that_cannot_be_written_is_told(run, snapshot, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("a file")
    done = run("plan", "--snapshot", snapshot, "--broker-counts", "6", "--placer", "zk", "--out", taken)

    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {taken}")
    assert taken.read_text() == "a file"


def test_a_plan_starts_without_what_it_does_not_need(snapshot):
    code = (
        "import sys\n"
        "sys.argv = ['kafka-capacity', 'plan', '--snapshot', sys.argv[1], '--broker-counts', '6', '--placer', 'zk']\n"
        "import atexit\n"
        "wrong = {'pandas', 'boto3', 'botocore', 'kafka', 'vl_convert', 'scipy', 'jinja2'}\n"
        "atexit.register(lambda: print('loaded:', sorted(wrong & set(sys.modules)), file=sys.stderr))\n"
        "from kafka_capacity.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(snapshot)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=ROOT,
    )

    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith("loaded: []\n")
