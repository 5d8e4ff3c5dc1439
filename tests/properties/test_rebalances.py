"""Any group through any event: every partition is read once in the end, by a subscriber, after pauses within bounds."""

import dataclasses

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kafka_capacity.kafka.groups.registry import GroupProtocol, assignor_names
from kafka_capacity.kafka.rebalance.model import Event, GroupSettings
from kafka_capacity.kafka.rebalance.simulate import GroupSimulation
from tests.plain_groups import plain_group, plain_scenario, with_fresh_assignment

KINDS = [(p, a) for p in (GroupProtocol.CLASSIC, GroupProtocol.CONSUMER) for a in assignor_names(p)]


@st.composite
def simulations(draw):
    protocol, assignor = draw(st.sampled_from(KINDS))
    topics = draw(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 7), min_size=1, max_size=3))
    members = draw(st.integers(1, 6))
    facts = plain_group(topics, members=members, assignor=assignor, protocol=protocol)
    if draw(st.booleans()):
        # Everyone reads the first topic, some the others: each topic keeps at least one reader whoever leaves.
        first, *rest = sorted(topics)
        chosen = [(first, *rest)] + [
            (first, *(name for name in rest if draw(st.booleans()))) for _ in range(members - 1)
        ]
        facts = with_fresh_assignment(
            dataclasses.replace(
                facts,
                members=tuple(
                    dataclasses.replace(member, topics=names)
                    for member, names in zip(facts.members, chosen, strict=True)
                ),
            )
        )
    timing = GroupSettings(
        restart_seconds=draw(st.sampled_from([2.0, 20.0, 60.0])),
        settle_seconds=draw(st.sampled_from([0.0, 1.0, 10.0])),
        session_timeout_seconds=draw(st.sampled_from([6.0, 45.0])),
        max_poll_interval_seconds=draw(st.sampled_from([30.0, 300.0])),
    )
    scenario = plain_scenario(
        facts,
        member_count=draw(st.integers(1, 8)),
        is_static=draw(st.booleans()),
        settings=timing,
        failure_count=draw(st.integers(0, 2)),
    )
    return GroupSimulation(facts, scenario)


@settings(max_examples=400, deadline=None)
@given(simulations(), st.sampled_from(list(Event)), st.integers(0, 3))
def test_an_event_ends_with_every_partition_read_by_a_subscriber(simulation, event, draw):
    found = simulation.trace(event, draw=draw)
    rest = simulation.today if event in {Event.SCALE, Event.SCALE_ONE_BY_ONE} else simulation.proposed
    gone = len(rest.numbers) if event is not Event.CRASH else len(rest.numbers) - simulation.scenario.failure_count
    assert found.is_settled
    facts = simulation.facts
    topic = facts.topic[found.sibling]
    subscriptions = {member.member_id: set(member.topics) for member in simulation.members}
    common = set.intersection(*subscriptions.values())
    is_by_id = simulation.scenario.protocol is GroupProtocol.CONSUMER
    told = facts.topic_ids if is_by_id else [one.name for one in facts.topics]
    for row, owner in enumerate(found.last_owner.tolist()):
        name = told[int(topic[row])]
        if owner >= 0:
            assert name in subscriptions.get(found.member_ids[owner], common | {name})
        else:
            # Nobody is left, or nobody who subscribes.
            assert gone <= 0 or name not in common
    stops = found.interruptions
    assert (stops.start_seconds >= stops.stop_seconds).all()
    # One interruption of a partition ends before the next begins, and what follows is where it ended.
    for row in set(stops.partition.tolist()):
        mine = stops.partition == row
        starts, again = stops.start_seconds[mine][:-1], stops.stop_seconds[mine][1:]
        assert (again >= starts - 1e-9).all()
        assert stops.after[mine][:-1].tolist() == stops.before[mine][1:].tolist()
        assert stops.after[mine][-1] == found.last_owner[row]


@settings(max_examples=150, deadline=None)
@given(simulations())
def test_a_change_of_the_count_ends_as_the_assignor_says(simulation):
    # Static members that go are missed one after the other, each with a rebalance of its own.
    assume(not simulation.scenario.is_static or simulation.scenario.member_count >= len(simulation.facts.members))
    found = simulation.trace(Event.SCALE)
    if simulation.scenario.protocol is GroupProtocol.CLASSIC:
        assert found.last_owner.tolist() == simulation.proposed.owner.tolist()
    counts = np.bincount(found.last_owner[found.last_owner >= 0])
    assert counts.sum() == (simulation.proposed.owner >= 0).sum()


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 20), st.integers(1, 6), st.integers(1, 9), st.integers(0, 5))
def test_pauses_of_a_change_of_the_count_are_within_the_rounds_of_the_clocks(kind, partitions, members, then, draw):
    protocol, assignor = kind
    facts = plain_group({"a": partitions}, members=members, assignor=assignor, protocol=protocol)
    found = GroupSimulation(facts, plain_scenario(facts, member_count=then)).trace(Event.SCALE, draw=draw)
    timing = GroupSettings()
    if protocol is GroupProtocol.CLASSIC:
        bound = timing.heartbeat_interval_seconds + timing.poll_seconds + timing.round_trip_seconds
    else:
        # A reader may first have to let go of something of its own.
        bound = 2 * timing.server_heartbeat_interval_seconds + timing.poll_seconds + timing.round_trip_seconds
    assert found.interruptions.pause_seconds.max(initial=0.0) <= bound + 1e-9
