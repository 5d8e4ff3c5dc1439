"""The questions of a plan side by side: what is stored is left, what fails is named, and placements are made once."""

from __future__ import annotations

import dataclasses

import pytest

from kafka_capacity.errors import InventoryError, KafkaCapacityError, RequestError, SimulationError
from kafka_capacity.objects.dataset import has_manifest, read_table
from kafka_capacity.plan import runner
from kafka_capacity.plan.pinned import read_plan_inputs
from kafka_capacity.plan.plan_dataset import SHARES
from kafka_capacity.plan.runner import simulate_plan
from kafka_capacity.questions.capacity.share import CAPACITY
from kafka_capacity.questions.change.share import CHANGE
from kafka_capacity.questions.consumers.share import CONSUMERS
from kafka_capacity.questions.failures import simulate as failure_simulation
from kafka_capacity.questions.failures.scenario import TODAY
from kafka_capacity.questions.failures.share import FAILURES
from kafka_capacity.questions.idle.share import IDLE
from kafka_capacity.questions.question import run_here
from kafka_capacity.questions.registry import QUESTIONS
from tests.builders import cluster, topic
from tests.sized_plans import pinned_inventory

REQUEST = {"cluster": "payments", "broker_counts": [6, 9], "placers": ["fewest-bytes", "zk"]}


@pytest.fixture
def pinned(tmp_path):
    """A pinned plan of a small cluster, and its inputs."""
    raw = cluster(topics=[topic("audit", partitions=4, rf=2), topic("orders", partitions=9)], hours=24)
    store, plan = pinned_inventory(raw, REQUEST, tmp_path)
    return store, plan, read_plan_inputs(store, plan.request_key)


def failing(monkeypatch, name, error):
    """Let a question fail."""

    def fail(*_):
        raise error

    broken = [dataclasses.replace(one, simulate=fail) if one.name == name else one for one in runner.QUESTIONS]
    monkeypatch.setattr(runner, "QUESTIONS", tuple(broken))


def counting(done):
    def run(function, shared, pieces, *, what):
        done.append(what)
        return run_here(function, shared, pieces, what=what)

    return run


def test_side_by_side_gives_what_one_after_another_gives(pinned):
    store, plan, inputs = pinned
    first = simulate_plan(store, inputs)
    for share in SHARES:
        store.delete(f"{plan.plan_prefix}{share}.manifest.json")
    assert simulate_plan(store, inputs, side_by_side=True) == first


def test_a_share_that_is_stored_and_whole_is_not_simulated_again(pinned):
    store, plan, inputs = pinned
    first = simulate_plan(store, inputs)
    done = []
    assert simulate_plan(store, inputs, counting(done)) == first
    assert done == []
    # A file of one share is damaged, and the manifest of another is away.
    part = first[CONSUMERS.share].tables["group_facts"][0].key
    store.write_bytes(plan.plan_prefix + part, b"torn")
    store.delete(f"{plan.plan_prefix}{FAILURES.share}.manifest.json")
    assert simulate_plan(store, inputs, counting(done)) == first
    assert sorted(done) == ["failure batches", "group variants"]
    assert len(read_table(store, first[CONSUMERS.share], "group_facts")) == 0


def test_what_fails_is_named_and_the_others_are_stored(pinned, monkeypatch):
    store, plan, inputs = pinned
    failing(monkeypatch, "capacity", ZeroDivisionError("no sizes today"))
    with pytest.raises(SimulationError, match=r"^sizing: ZeroDivisionError\('no sizes today'\)$"):
        simulate_plan(store, inputs, side_by_side=True)
    stored = {share for share in SHARES if has_manifest(store, plan.plan_prefix, share=share)}
    assert stored == set(SHARES) - {CAPACITY.share}
    monkeypatch.undo()
    done = []
    assert set(simulate_plan(store, inputs, counting(done))) == set(SHARES)
    assert set(done) == {"cluster sizes"}


@pytest.mark.parametrize("error", [RequestError("groups: no such"), InventoryError("no rates"), ValueError("a defect")])
def test_bad_input_stays_bad_input_so_that_nobody_tries_it_again(pinned, monkeypatch, error):
    store, _, inputs = pinned
    failing(monkeypatch, "consumers", error)
    expected = type(error) if isinstance(error, KafkaCapacityError) else SimulationError
    with pytest.raises(KafkaCapacityError) as failed:
        simulate_plan(store, inputs)
    assert type(failed.value) is expected
    # With anything else beside it, another try may help.
    failing_too = dataclasses.replace(CAPACITY, simulate=lambda *_: 1 / 0)
    others = tuple(failing_too if one.name == "capacity" else one for one in runner.QUESTIONS)
    monkeypatch.setattr(runner, "QUESTIONS", others)
    store.delete(f"{inputs.pinned.plan_prefix}{CAPACITY.share}.manifest.json")
    with pytest.raises(SimulationError):
        simulate_plan(store, inputs)


def test_what_several_questions_fail_for_is_said_once(pinned, monkeypatch):
    store, _, inputs = pinned
    wrong = RequestError("planned_events.0.topics: 'zzz' is invalid")
    for name in ("capacity", "savings", "chargeback"):
        failing(monkeypatch, name, wrong)
    with pytest.raises(RequestError) as failed:
        simulate_plan(store, inputs)
    assert str(failed.value) == f"sizing, savings, chargeback: {wrong}"


def test_losses_wait_for_the_placements_that_they_stand_on(pinned, monkeypatch):
    store, plan, inputs = pinned
    failing(monkeypatch, "change", ZeroDivisionError("division by zero"))
    with pytest.raises(SimulationError) as failed:
        simulate_plan(store, inputs, side_by_side=True)
    assert str(failed.value).splitlines() == [
        "placement: ZeroDivisionError('division by zero')",
        "failures: not simulated, because there are no placements to lose brokers from",
    ]
    assert has_manifest(store, plan.plan_prefix, share=CAPACITY.share)


@pytest.fixture
def left_open(tmp_path):
    """A pinned plan that says nothing of broker counts, of a cluster whose disks are too full for nine brokers."""
    topics = [topic("orders", partitions=48, size_bytes=2_000_000_000)]
    raw = cluster(topics=topics, hours=24, disk_capacity_bytes=36e9)
    store, plan = pinned_inventory(raw, {"cluster": "payments", "placers": ["fewest-bytes"]}, tmp_path)
    return store, plan, read_plan_inputs(store, plan.request_key)


def counts_of(store, manifest):
    return read_table(store, manifest, "scenarios").column("target_broker_count").to_pylist()


def test_a_count_that_is_left_open_is_the_one_that_sizing_needs(left_open):
    # 48 partitions x 3 x 2 GB = 288 GB; nine disks of 36 GB hold 85 % of 324 GB = 275 GB, twelve 367 GB.
    store, plan, inputs = left_open
    first = simulate_plan(store, inputs, side_by_side=True)
    assert counts_of(store, first[CHANGE.share]) == [6, 12]
    lost_of = read_table(store, first[FAILURES.share], "failure_kinds").column("placement_id").to_pylist()
    assert set(lost_of) == {TODAY, "012-brokers.fewest-bytes"}
    # By question, one after another, and again where only one is missing.
    for share in SHARES:
        store.delete(f"{plan.plan_prefix}{share}.manifest.json")
    apart = {share: simulate_plan(store, inputs, shares=(share,))[share] for share in apart_in_order()}
    assert apart == first
    for share in (CHANGE.share, FAILURES.share):
        store.delete(f"{plan.plan_prefix}{share}.manifest.json")
        assert simulate_plan(store, inputs) == first


def apart_in_order():
    return [question.share for question in sorted(QUESTIONS, key=lambda one: one.is_handed)]


def test_a_count_that_is_left_open_waits_for_sizing(left_open, monkeypatch):
    store, _, inputs = left_open
    failing(monkeypatch, "capacity", ZeroDivisionError("no sizes today"))
    with pytest.raises(SimulationError) as failed:
        simulate_plan(store, inputs)
    assert str(failed.value).splitlines() == [
        "sizing: ZeroDivisionError('no sizes today')",
        "placement, failures: not simulated, because there are no sizes to derive the broker counts from",
    ]
    monkeypatch.undo()
    assert counts_of(store, simulate_plan(store, inputs)[CHANGE.share]) == [6, 12]


def test_brokers_are_lost_of_the_placement_that_was_made_for_the_change(pinned, monkeypatch):
    store, plan, inputs = pinned
    apart = simulate_plan(store, inputs, shares=(CHANGE.share,))
    again = simulate_plan(store, inputs, shares=(FAILURES.share,))[FAILURES.share]
    assert set(read_table(store, again, "failure_kinds").column("placement_id").to_pylist()) == {
        TODAY,
        "006-brokers.fewest-bytes",
    }
    for share in (CHANGE.share, FAILURES.share):
        store.delete(f"{plan.plan_prefix}{share}.manifest.json")
    monkeypatch.setattr(failure_simulation, "evaluate_placement", None)  # none is made again
    together = simulate_plan(store, inputs, shares=(CHANGE.share, FAILURES.share))
    assert together == {**apart, FAILURES.share: again}


def test_what_is_answered_in_one_go_is_stored_resumed_and_named_where_it_fails(pinned, monkeypatch):
    store, plan, inputs = pinned
    first = simulate_plan(store, inputs)
    key = f"{plan.plan_prefix}{IDLE.share}.manifest.json"
    store.delete(key)
    failing(monkeypatch, "idle", ZeroDivisionError("division by zero"))
    with pytest.raises(SimulationError, match=r"^idle: ZeroDivisionError\('division by zero'\)$"):
        simulate_plan(store, inputs)
    monkeypatch.undo()
    done = []
    assert simulate_plan(store, inputs, counting(done)) == first
    assert done == []
    assert store.exists(key)
    (row,) = read_table(store, first[IDLE.share], "idle_scope").to_pylist()
    assert row == {"topics": 2, "not_judged_topics": 0}
