"""SIGKILL at calls of the store: what is complete is whole, and the next run gives the same bytes and no leftovers."""

import os
import signal

import pytest

from kafka_capacity.objects.store import LocalStore
from tests.reliability import kills


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Folders with what stands before each phase of a run."""
    base, folders = tmp_path_factory.mktemp("run"), {}
    with kills.drawn_once():
        pinned = kills.inventory_phase(LocalStore(base / "pin"))
        all_phases = kills.phases(pinned)
        work = base / "work"
        for name, phase in all_phases.items():
            folders[name] = base / name
            if work.exists():
                kills.shutil.copytree(work, folders[name])
            phase(LocalStore(work))
        yield all_phases, folders, base / "again"


@pytest.mark.parametrize(("name", "step"), [("stage, history, pin", 4), ("seal", 4), ("report", 16), ("release", 6)])
def test_at_calls_of_the_store(done, name, step):
    """The long form, ``make reliability``, takes every place, in simulations as well."""
    all_phases, folders, work = done
    assert kills.kill_at_calls(all_phases[name], folders[name], work, step=step) >= 6


def test_at_random(tmp_path):
    kills.kill_at_random(kills.inventory_phase, tmp_path / "store", 6, seed=1)


def test_what_a_writer_that_was_killed_left_goes_with_the_next_write(tmp_path):
    class Dies(LocalStore):
        def delete(self, key):
            os.kill(os.getpid(), signal.SIGKILL)

    assert kills.run_and_die(lambda store: store.write_together({"a": b"1", "b": b"2"}, drop=["c"]), Dies(tmp_path))
    left = [path.name for path in tmp_path.iterdir()]
    assert len(left) == 1
    assert left[0].startswith(".writing-")
    LocalStore(tmp_path).write_bytes("a", b"2")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
