"""Pieces of work of a command: the same on one core and on several, whatever happens to other processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from kafka_capacity.cli import pieces
from kafka_capacity.cli.pieces import run_step_by_step
from kafka_capacity.errors import AssignmentError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def two_processes(monkeypatch):
    """All is done by two other processes."""
    monkeypatch.setattr(pieces, "core_count", lambda: 2)
    monkeypatch.setattr(pieces, "HERE_SECONDS", 0.0)


def squares(shared, piece):
    return {"squares": pa.table({"value": [shared["add"] + piece * piece], "process": [os.getpid()]})}


def values(done, column="value"):
    return [tables["squares"][column][0].as_py() for tables in done]


def told_by(into):
    return lambda what, *, steps: into.append((what, steps))


def test_several_processes_give_the_same_in_the_same_order_and_tell_each_step(two_processes):
    told = []
    run = run_step_by_step(told_by(told), begun=2)
    for add in (1, 2):
        done = run(squares, {"add": add}, range(5), what="squares")
        assert values(done) == [add + n * n for n in range(5)]
        processes = set(values(done, "process"))
        assert os.getpid() not in processes
        assert len(processes) <= 2
    assert told == [
        *[(f"squares: {n} of 5", 8) for n in range(1, 6)],
        *[(f"squares: {n} of 5", 13) for n in range(1, 6)],
    ]


@pytest.mark.parametrize("count", [0, 1])
def test_what_cannot_be_shared_is_done_here(two_processes, count):
    done = run_step_by_step(told_by([]), begun=0)(squares, {"add": 0}, range(count), what="squares")
    assert values(done, "process") == [os.getpid()] * count


def test_little_work_is_done_here(monkeypatch):
    monkeypatch.setattr(pieces, "core_count", lambda: 2)
    done = run_step_by_step(told_by([]), begun=0)(squares, {"add": 0}, range(20), what="squares")
    assert set(values(done, "process")) == {os.getpid()}


def test_on_a_machine_without_memory_for_more_all_is_done_here(two_processes, monkeypatch):
    monkeypatch.setattr(pieces, "_MEMORY_RATIO", 0.0)
    done = run_step_by_step(told_by([]), begun=0)(squares, {"add": 0}, range(5), what="squares")
    assert set(values(done, "process")) == {os.getpid()}


def killed_elsewhere(shared, piece):
    if piece == 3 and os.getpid() != shared:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"squares": pa.table({"value": [piece]})}


def test_what_a_killed_process_leaves_is_done_here(two_processes):
    run = run_step_by_step(told_by([]), begun=0)
    assert values(run(killed_elsewhere, os.getpid(), range(6), what="squares")) == [0, 1, 2, 3, 4, 5]
    # And what comes next is shared again.
    assert os.getpid() not in values(run(squares, {"add": 0}, range(4), what="squares"), "process")


def killed_while_it_sends(shared, piece):
    if os.getpid() != shared:
        threading.Timer(0.005 * piece, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return {"squares": pa.table({"value": [piece], "much": [bytes(20_000_000)]})}


def test_what_is_sent_only_in_part_is_done_here(two_processes):
    done = run_step_by_step(told_by([]), begun=0)(killed_while_it_sends, os.getpid(), range(6), what="squares")
    assert values(done) == [0, 1, 2, 3, 4, 5]


def test_where_there_are_no_processes_to_be_had_all_is_done_here(two_processes, monkeypatch):
    def lacking(*_, **__):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(pieces.multiprocessing, "get_context", lacking)
    done = run_step_by_step(told_by([]), begun=0)(squares, {"add": 0}, range(5), what="squares")
    assert set(values(done, "process")) == {os.getpid()}


def refused(shared, piece):
    if piece == 2:
        raise AssignmentError(f"no members for {shared}", kafka_type="java.lang.IllegalStateException")
    return {}


def test_an_error_arrives_as_it_is(two_processes):
    with pytest.raises(AssignmentError, match=r"^no members for orders$") as caught:
        run_step_by_step(told_by([]), begun=0)(refused, "orders", range(4), what="groups")
    assert caught.value.kafka_type == "java.lang.IllegalStateException"


def slow(folder, piece):
    Path(folder, str(os.getpid())).touch()
    time.sleep(120)
    return {}


_INTERRUPTED = """
import signal
import sys
from kafka_capacity.cli import pieces
from tests.unit.cli.test_pieces import slow

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs behind a shell ignores it, and so would this
    pieces.HERE_SECONDS, pieces.core_count = 0.0, lambda: 2
    pieces.run_step_by_step(lambda what, *, steps: None, begun=0)(slow, sys.argv[1], range(4), what="naps")
"""


@pytest.mark.parametrize(("sent", "to"), [("SIGINT", os.killpg), ("SIGINT", os.kill), ("SIGKILL", os.kill)])
def test_a_command_that_is_ended_leaves_no_process_and_no_file(tmp_path, sent, to):
    begun, temporary, script = tmp_path / "begun", tmp_path / "temporary", tmp_path / "command.py"
    begun.mkdir()
    temporary.mkdir()
    script.write_text(_INTERRUPTED, encoding="utf-8")
    given = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugins")])}
    command = subprocess.Popen(
        [sys.executable, script, begun], env=given, stderr=subprocess.PIPE, start_new_session=True
    )

    def until(is_so):
        end = time.monotonic() + 60
        while not is_so():
            assert time.monotonic() < end
            time.sleep(0.05)

    until(lambda: len(list(begun.iterdir())) == 2)
    assert list(temporary.iterdir())
    to(command.pid, getattr(signal, sent))
    command.communicate(timeout=60)
    assert command.returncode != 0
    until(lambda: not any(Path("/proc", one.name).exists() for one in begun.iterdir()))
    until(lambda: not list(temporary.iterdir()))


@pytest.mark.parametrize("command", [("groups",), ("savings", "--snapshot")])
def test_a_command_says_the_same_on_several_cores(run, snapshot, command, request):
    alone = run(*command, snapshot, "--json").stdout
    request.getfixturevalue("two_processes")
    assert json.loads(alone)
    assert run(*command, snapshot, "--json").stdout == alone
