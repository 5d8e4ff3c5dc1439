"""The command line, run in this process."""

import functools
import json

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from kafka_capacity.cli.app import load_commands
from tests.unit.cli.plan_folders import NINE, write_small_snapshot


@pytest.fixture(scope="session")
def commands():
    """The command line, whose tree of commands is made once: typer's runner would make it again for every run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", functools.cache(get_command))
        yield load_commands()


@pytest.fixture(scope="session")
def run(commands):
    """Run the command line with these arguments; returns exit code, standard output and standard error."""
    runner = CliRunner(env={"COLUMNS": "2000"})

    def invoke(*arguments, env=None):
        return runner.invoke(commands, [str(argument) for argument in arguments], env=env)

    return invoke


@pytest.fixture
def snapshot(tmp_path):
    """A folder with six brokers in three racks and two topics."""
    return write_small_snapshot(tmp_path / "snapshot")


@pytest.fixture
def broker_list(tmp_path):
    """Write a list of wanted brokers and give its path."""

    def write(entries, name="brokers.json"):
        path = tmp_path / name
        path.write_text(json.dumps(entries))
        return path

    return write


@pytest.fixture
def planned(run, snapshot, broker_list, tmp_path):
    """Plan for three more brokers into a folder."""
    out = tmp_path / "out"
    done = run("plan", "--snapshot", snapshot, "--brokers", broker_list(NINE), "--placer", "fewest-bytes", "--out", out)
    assert done.exit_code == 0, done.output
    return out
