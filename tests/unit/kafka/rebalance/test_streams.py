"""Streams groups in time: tasks wait for their state where it is not, and standbys spare that."""

import dataclasses

import numpy as np
import pytest

from kafka_capacity.kafka.groups.model import StreamsTopology
from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.model import Event, GroupSettings
from kafka_capacity.kafka.rebalance.simulate import GroupSimulation
from kafka_capacity.kafka.rebalance.tasks import as_tasks, state_bytes
from tests.plain_groups import plain_group, plain_scenario, plain_streams_group

STATE = StreamsTopology(
    sources={"0": ("orders", "users"), "1": ("counts",)}, state_bytes={"1": (600.0, 600.0, 600.0, 600.0)}
)


def group(members=2, *, standbys=0, topology=STATE, **changes):
    """Return a group of one thread a process whose tasks are all assigned afresh."""
    topology = dataclasses.replace(topology, standby_replicas=standbys)
    return plain_streams_group({"counts": 4, "orders": 4, "users": 2}, topology, members=members, **changes)


def simulation(facts, count=None, *, rate=10.0, **changes):
    settings = GroupSettings(restore_bytes_per_second=rate)
    changes = {"member_count": count or len(facts.members), "settings": settings, **changes}
    return GroupSimulation(facts, plain_scenario(facts, standby_replicas=facts.streams.standby_replicas, **changes))


def counts(rest):
    return [len(part) for part in rest.parts]


def test_a_task_is_a_partition_of_all_topics_of_its_subtopology():
    facts = as_tasks(
        dataclasses.replace(
            plain_group({"counts": 4, "orders": 4, "users": 2}, members=2),
            streams=STATE,
            protocol=GroupProtocol.STREAMS,
        )
    )

    assert [(one.name, one.partitions) for one in facts.topics] == [("0", 4), ("1", 4)]
    assert facts.peak_bytes_per_second.tolist() == [2000.0, 2000.0, 1000.0, 1000.0] + [1000.0] * 4
    # By range the first member reads the first half of every topic.
    assert facts.owner.tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert facts.members[1].owned.pairs() == [("0", 2), ("0", 3), ("1", 2), ("1", 3)]
    assert state_bytes(facts).tolist() == [0.0] * 4 + [600.0] * 4
    plain = plain_group({"orders": 2}, members=1)
    assert as_tasks(plain) is plain


def test_an_application_scales_from_one_to_three_and_back_to_two():
    one = group(1)
    three, two = simulation(one, 3), simulation(group(3), 2)

    assert (counts(three.today), counts(three.proposed)) == ([8], [3, 3, 2])
    assert (counts(two.today), counts(two.proposed)) == ([3, 3, 2], [4, 4])
    assert counts(simulation(one, 12).proposed).count(0) == 4


def test_a_task_waits_for_its_state():
    crashing = simulation(group())
    slow, fast = crashing.trace(Event.CRASH), simulation(group(), rate=None).trace(Event.CRASH)
    had = crashing.proposed.parts[0].pairs()
    restored = 600.0 * sum(name == "1" for name, _ in had)

    assert (slow.restored_bytes, slow.restore_seconds) == (restored, restored / 10.0)
    assert (fast.restored_bytes, fast.restore_seconds) == (restored, 0.0)
    longer = slow.interruptions.pause_seconds.max() - fast.interruptions.pause_seconds.max()
    assert longer == pytest.approx(restored / 10.0)
    # Those without state do not wait.
    assert slow.interruptions.pause_seconds.min() == pytest.approx(fast.interruptions.pause_seconds.min())


def test_a_standby_spares_the_wait():
    trace = simulation(group(standbys=1)).trace(Event.CRASH)

    assert (trace.restored_bytes, trace.restore_seconds) == (0.0, 0.0)


def test_what_is_restored_elsewhere_when_a_process_is_back_is_given_up():
    trace = simulation(group()).trace(Event.ROLLING_RESTART)
    two_of_each = 2 * 2 * 600.0

    assert 0 < trace.restored_bytes < two_of_each
    assert np.isfinite(trace.interruptions.pause_seconds).all()
    assert (trace.interruptions.pause_seconds >= 0).all()


def test_a_size_that_is_not_known_leaves_the_bytes_open():
    topology = dataclasses.replace(STATE, state_bytes={"1": (600.0,)})

    assert np.isnan(simulation(group(topology=topology)).trace(Event.CRASH).restored_bytes)


def test_other_standbys_than_today_leave_active_tasks_where_they_are():
    facts = group()
    today = simulation(facts).today
    held = [dataclasses.replace(one, owned=part) for one, part in zip(facts.members, today.parts, strict=True)]
    facts = dataclasses.replace(facts, members=tuple(held), owner=today.owner.astype(np.int32))
    one_each = GroupSimulation(facts, plain_scenario(facts, standby_replicas=1))

    assert [part.pairs() for part in one_each.today.parts] == [part.pairs() for part in today.parts]
    assert {name: len(tasks) for name, tasks in one_each.today.standby.items()} == {"m0": 2, "m1": 2}
