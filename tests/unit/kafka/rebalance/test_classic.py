"""Classic groups: what a rebalance takes and stops, against closed forms."""

import dataclasses

import numpy as np
import pytest

from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.model import Event, GroupSettings
from kafka_capacity.kafka.rebalance.simulate import GroupSimulation
from tests.plain_groups import plain_group, plain_scenario, with_fresh_assignment

SETTINGS = GroupSettings(poll_seconds=0.5, round_trip_seconds=0.2)


def trace(event, *, assignor="range", members=4, then=None, partitions=12, draw=0, settings=SETTINGS, **changes):
    facts = plain_group({"orders": partitions}, members=members, assignor=assignor)
    scenario = plain_scenario(facts, member_count=then or members, settings=settings, **changes)
    return GroupSimulation(facts, scenario).trace(event, draw=draw)


def test_an_eager_scale_out_stops_every_partition_once():
    found = trace(Event.SCALE, then=6)
    assert found.rebalances == 1
    assert sorted(found.interruptions.partition.tolist()) == list(range(12))
    assert found.interruptions.is_revoked.all()
    # All start together, a round trip after the last has joined.
    assert len(set(found.interruptions.start_seconds.tolist())) == 1
    assert found.interruptions.pause_seconds.max() <= 3.0 + 0.5 + 0.2


def test_a_cooperative_scale_out_stops_only_what_moves_and_takes_a_second_round():
    found = trace(Event.SCALE, assignor="cooperative-sticky", then=6)
    moved = np.flatnonzero(found.first_owner != found.last_owner)
    assert found.rebalances == 2
    assert found.interruptions.partition.tolist() == moved.tolist()
    # In the second round all others wait for a whole heartbeat interval: their last one was the end of the first.
    assert found.interruptions.pause_seconds.min() >= 3.0 + 0.2
    assert found.interruptions.pause_seconds.max() <= 3.0 + 0.5 + 0.2


def test_a_leave_needs_one_round_even_if_cooperative():
    found = trace(Event.SCALE, assignor="cooperative-sticky", then=3)
    assert found.rebalances == 1
    assert not found.interruptions.is_revoked.any()
    assert set(found.interruptions.before.tolist()) == {3}


def test_one_by_one_is_a_rebalance_each():
    assert trace(Event.SCALE_ONE_BY_ONE, then=7).rebalances == 3
    assert trace(Event.SCALE, then=7).rebalances == 1


@pytest.mark.parametrize(("assignor", "rebalances"), [("range", 8), ("sticky", 8), ("cooperative-sticky", 12)])
def test_a_rolling_restart_of_dynamic_members_is_a_leave_and_a_join_each(assignor, rebalances):
    assert trace(Event.ROLLING_RESTART, assignor=assignor).rebalances == rebalances


def test_a_rolling_restart_of_static_members_is_no_rebalance():
    found = trace(Event.ROLLING_RESTART, is_static=True)
    assert found.rebalances == 0
    assert not found.interruptions.is_revoked.any()
    assert found.interruptions.pause_seconds == pytest.approx(np.full(12, 20.2))
    assert found.last_owner.tolist() == found.first_owner.tolist()


def test_static_members_that_are_away_too_long_are_missed_and_come_back_anew():
    slow = dataclasses.replace(SETTINGS, restart_seconds=60.0, settle_seconds=30.0)
    found = trace(Event.ROLLING_RESTART, is_static=True, settings=slow)
    assert found.rebalances == 8
    assert (found.last_owner >= 0).all()


def test_static_members_that_go_for_good_are_missed_a_session_later():
    found = trace(Event.SCALE, is_static=True, then=3)
    gone = found.interruptions.before == 3
    assert found.rebalances == 1
    assert found.interruptions.pause_seconds[gone].min() >= 45.0 - 3.0
    assert found.interruptions.pause_seconds[gone].max() <= 45.0 + 3.7


def test_a_crash_is_noticed_when_the_session_ends():
    found = trace(Event.CRASH)
    dead = ~found.interruptions.is_revoked
    assert found.rebalances == 1
    assert found.unclean.tolist() == found.interruptions.partition[dead].tolist()
    assert found.interruptions.stop_seconds[dead].tolist() == [0.0] * 3
    assert 42.0 <= found.interruptions.pause_seconds[dead].min() <= found.interruptions.pause_seconds.max() <= 48.7


def test_a_crashed_member_that_comes_back_under_another_id_stops_an_eager_group_until_the_session_ends():
    found = trace(Event.CRASH_RESTART)
    others = found.interruptions.is_revoked
    assert found.rebalances == 1
    # They joined around 20 s, when the new member came, and wait for the dead one until 42 to 45 s.
    assert found.interruptions.pause_seconds[others].min() >= 42.0 - 20.0 - 3.5
    assert trace(Event.CRASH_RESTART, assignor="cooperative-sticky").interruptions.is_revoked.sum() == 0


def test_a_crashed_static_member_comes_back_to_what_it_had():
    found = trace(Event.CRASH_RESTART, is_static=True)
    assert found.rebalances == 0
    assert found.interruptions.pause_seconds == pytest.approx(np.full(3, 20.2))


def test_a_rebalance_waits_no_longer_than_the_poll_interval():
    short = dataclasses.replace(SETTINGS, max_poll_interval_seconds=10.0, session_timeout_seconds=45.0)
    found = trace(Event.CRASH_RESTART, settings=short)
    assert found.interruptions.start_seconds.max() == pytest.approx(20.0 + 10.0 + 0.2)


def test_a_slow_member_is_thrown_out_and_joins_again():
    found = trace(Event.SLOW_MEMBER)
    assert found.rebalances == 2
    assert found.interruptions.pause_seconds.max() >= 300.0
    assert trace(Event.SLOW_MEMBER, settings=dataclasses.replace(SETTINGS, slow_seconds=200.0)).rebalances == 0


def test_new_partitions_wait_for_the_metadata_of_the_leader():
    found = trace(Event.MORE_PARTITIONS, draw=None)
    new = found.interruptions.partition >= 12
    assert len(found.last_owner) == 24
    assert (found.last_owner >= 0).all()
    assert found.interruptions.pause_seconds[new] == pytest.approx(np.full(12, 300.0 + 0.5 + 0.2))


def test_the_only_member_waits_for_others_when_it_comes_back():
    found = trace(Event.ROLLING_RESTART, members=1, partitions=2, draw=None)
    assert found.rebalances == 1
    assert found.interruptions.pause_seconds == pytest.approx([20.0 + 3.0 + 0.2] * 2)


def test_a_group_is_taken_as_observed_under_its_own_assignor():
    facts = plain_group({"orders": 4}, members=2, assignor="sticky")
    swapped = dataclasses.replace(
        facts,
        owner=np.array([1, 0, 1, 0], dtype=np.int32),
        members=(
            dataclasses.replace(facts.members[0], owned=facts.members[1].owned),
            dataclasses.replace(facts.members[1], owned=facts.members[0].owned),
        ),
    )
    assert GroupSimulation(swapped, plain_scenario(swapped)).today.owner.tolist() == [1, 0, 1, 0]
    ranged = plain_scenario(swapped, assignor="range")
    assert GroupSimulation(swapped, ranged).today.owner.tolist() == [0, 0, 1, 1]


def test_members_to_come_have_ids_like_those_of_today():
    facts = plain_group({"orders": 4}, members=1)
    named = dataclasses.replace(facts.members[0], member_id="billing-1b4e28ba-2fa1-11d2-883f-0016d3cca427")
    facts = with_fresh_assignment(dataclasses.replace(facts, members=(named,)))
    simulation = GroupSimulation(facts, plain_scenario(facts, member_count=3))
    assert all(member.member_id.startswith("billing-") for member in simulation.members)
    assert len({member.member_id for member in simulation.members}) == 3
    again = GroupSimulation(facts, plain_scenario(facts, member_count=3))
    assert [m.member_id for m in again.members] == [m.member_id for m in simulation.members]


def test_the_same_draw_gives_the_same_course():
    one, two = (trace(Event.ROLLING_RESTART, draw=3) for _ in range(2))
    assert one.interruptions.start_seconds.tolist() == two.interruptions.start_seconds.tolist()
    assert (
        one.interruptions.start_seconds.tolist()
        != trace(Event.ROLLING_RESTART, draw=4).interruptions.start_seconds.tolist()
    )


def test_another_protocol_starts_from_a_fresh_assignment():
    facts = plain_group({"orders": 6}, members=3)
    scenario = plain_scenario(facts, protocol=GroupProtocol.CONSUMER, assignor="uniform")
    assert sorted(GroupSimulation(facts, scenario).today.owner.tolist()) == [0, 0, 1, 1, 2, 2]


def test_who_leaves_before_it_would_have_joined_is_waited_for_until_it_leaves():
    group = plain_group({"c": 5}, members=2, assignor="range")
    settings = GroupSettings(
        restart_seconds=60.0, settle_seconds=1.0, session_timeout_seconds=45.0, max_poll_interval_seconds=30.0
    )
    simulation = GroupSimulation(group, plain_scenario(group, settings=settings))
    stops = simulation.trace(Event.ROLLING_RESTART, draw=0).interruptions
    # The first member is back after 60 s; the second would join at its next heartbeat, and is restarted at 61 s.
    second = stops.stop_seconds == 61.0
    assert second.sum() == 5
    assert (stops.start_seconds[second] == 61.2).all()
    assert (stops.start_seconds >= stops.stop_seconds).all()


def test_a_member_more_stops_all_of_an_eager_group_once():
    facts = plain_group({"orders": 6}, members=2, assignor="range")
    trace = GroupSimulation(facts, plain_scenario(facts, member_count=3)).trace(Event.SCALE, draw=None)

    assert (trace.rebalances, trace.end_seconds) == (1, 3.7)
    assert trace.interruptions.pause_seconds.round(3).tolist() == [0.2] * 6
