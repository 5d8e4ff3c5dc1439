"""SIGKILL at calls of the store: what is complete is whole, and the next run gives the same bytes and no leftovers."""

import os
import shutil
import signal

import pytest

from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan import kept_pieces
from kafka_capacity.plan.pinned import read_plan_inputs
from kafka_capacity.plan.plan_dataset import seal_plan
from kafka_capacity.plan.runner import simulate_plan
from kafka_capacity.questions.question import run_here
from spark_jobs.simulate import KEEP_FROM_PARTITIONS
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


def one_a_table(function, shared, pieces, *, what):
    """Do pieces and return their tables one by one, as Spark does."""
    return [{name: table} for tables in run_here(function, shared, pieces, what=what) for name, table in tables.items()]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """What is pinned, the folder before its simulation, what is there when it is sealed, and what runs it."""
    before, after = (tmp_path_factory.mktemp(name) for name in ("before", "after"))
    pinned = kills.inventory_phase(LocalStore(before))
    shutil.copytree(before, after, dirs_exist_ok=True)

    def simulate(store, run=one_a_table):
        return simulate_plan(store, read_plan_inputs(store, pinned.request_key), run, keep_from=0)

    def counted(function, shared, pieces, *, what):
        work.extend(pieces)
        return run_here(function, shared, pieces, what=what)

    work = []
    simulate_plan(LocalStore(after), read_plan_inputs(LocalStore(after), pinned.request_key), counted)
    seal_plan(LocalStore(after), pinned)
    return pinned, before, kills.contents(after), len(work), simulate


# Losses that are kept stand on placements in memory; where these are stored since, losses are done again.
@pytest.mark.parametrize(("kept", "most_batches", "again"), [(1, 20, 0), (4, 20, 0), (10, 20, 1), (2, 2, 0)])
def test_a_try_after_a_kill_does_the_pieces_that_are_missing(
    simulated, tmp_path, monkeypatch, kept, most_batches, again
):
    monkeypatch.setattr(kept_pieces, "MOST_BATCHES", most_batches)

    class Dies(LocalStore):
        pieces = 0

        def write_bytes(self, key, data, **options):
            super().write_bytes(key, data, **options)
            self.pieces += key.startswith("pieces/")
            if self.pieces == kept:
                os.kill(os.getpid(), signal.SIGKILL)

    def counted(function, shared, pieces, *, what):
        work.extend(pieces)
        return one_a_table(function, shared, pieces, what=what)

    work = []
    pinned, before, expected, all_of_it, simulate = simulated
    shutil.copytree(before, tmp_path, dirs_exist_ok=True)
    assert kills.run_and_die(simulate, Dies(tmp_path))
    store = LocalStore(tmp_path)
    assert len(store.list_objects(pinned.pieces_prefix)) == kept
    simulate(store, counted)
    assert len(work) <= all_of_it - kept + again  # a batch has at least one
    seal_plan(store, pinned)
    assert kills.contents(tmp_path) == expected


def test_pieces_that_are_damaged_are_done_again(simulated, tmp_path):
    pinned, before, expected, _, simulate = simulated
    shutil.copytree(before, tmp_path, dirs_exist_ok=True)
    store = LocalStore(tmp_path)
    simulate(store)
    pieces = list(store.list_objects(pinned.pieces_prefix))
    assert len(pieces) > 4
    for key in pieces:
        store.write_bytes(key, store.read_bytes(key)[:-1])
    for key in store.list_objects(pinned.plan_prefix):
        store.delete(key)
    simulate(store)
    seal_plan(store, pinned)
    assert kills.contents(tmp_path) == expected


def test_a_small_plan_keeps_no_pieces(simulated, tmp_path):
    pinned, before, _, _, _ = simulated
    shutil.copytree(before, tmp_path, dirs_exist_ok=True)
    store = LocalStore(tmp_path)
    simulate_plan(store, read_plan_inputs(store, pinned.request_key), keep_from=KEEP_FROM_PARTITIONS)
    assert list(store.list_objects(pinned.pieces_prefix)) == []
