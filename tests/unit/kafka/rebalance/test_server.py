"""KIP-848 groups: reconciliation, member by member."""

import dataclasses

import numpy as np
import pytest

from kafka_capacity.kafka.rebalance.model import Event, GroupSettings
from kafka_capacity.kafka.rebalance.simulate import GroupSimulation
from tests.plain_groups import plain_group, plain_scenario

SETTINGS = GroupSettings(poll_seconds=0.5, round_trip_seconds=0.2)


def trace(event, *, assignor="uniform", members=4, then=None, partitions=12, draw=0, settings=SETTINGS, **changes):
    facts = plain_group({"orders": partitions}, members=members, assignor=assignor, protocol="consumer")
    scenario = plain_scenario(facts, member_count=then or members, settings=settings, **changes)
    return GroupSimulation(facts, scenario).trace(event, draw=draw)


@pytest.mark.parametrize("draw", range(20))
def test_only_what_moves_stops(draw):
    found = trace(Event.SCALE, then=5, draw=draw)
    moved = np.flatnonzero(found.first_owner != found.last_owner)
    assert found.rebalances == 1
    assert sorted(found.interruptions.partition.tolist()) == moved.tolist()
    assert found.interruptions.pause_seconds.max() <= 5.0 + 0.2 + 1e-9


@pytest.mark.parametrize("draw", range(20))
def test_two_who_join_at_once_are_two_targets_a_second_apart_at_least(draw):
    found = trace(Event.SCALE, then=6, draw=draw)
    assert found.rebalances == 2
    # The second one was too early for the first target, and hears of its own at its next heartbeat.
    second = found.interruptions.after == 5
    assert found.interruptions.start_seconds[second].min() >= 5.0


@pytest.mark.parametrize("draw", range(20))
def test_a_partition_is_given_away_only_after_it_was_let_go(draw):
    found = trace(Event.SCALE, assignor="range", then=5, draw=draw)
    assert (found.interruptions.pause_seconds >= 0.2 - 1e-9).all()
    assert (found.last_owner >= 0).all()


def test_who_leaves_is_replaced_at_the_next_heartbeats():
    found = trace(Event.SCALE, then=3)
    assert found.rebalances == 1
    assert not found.interruptions.is_revoked.any()
    assert found.interruptions.pause_seconds.max() <= 5.2


def test_static_members_restart_without_a_new_epoch():
    found = trace(Event.ROLLING_RESTART, is_static=True)
    assert found.rebalances == 0
    assert found.interruptions.pause_seconds == pytest.approx(np.full(12, 20.2))


def test_a_dynamic_restart_is_two_epochs_a_member():
    assert trace(Event.ROLLING_RESTART).rebalances == 8


def test_a_crash_is_noticed_when_the_broker_ends_the_session():
    short = dataclasses.replace(SETTINGS, server_session_timeout_seconds=10.0)
    found = trace(Event.CRASH, settings=short)
    assert found.rebalances == 1
    assert 5.0 <= found.interruptions.pause_seconds.min() <= found.interruptions.pause_seconds.max() <= 15.2


def test_others_go_on_while_a_crashed_member_is_missed():
    found = trace(Event.CRASH_RESTART)
    stopped = set(found.interruptions.before[~found.interruptions.is_revoked].tolist())
    assert len(stopped) == 1
    assert (found.last_owner >= 0).all()


def test_new_partitions_are_read_after_heartbeats_not_after_a_metadata_age():
    found = trace(Event.MORE_PARTITIONS)
    new = found.interruptions.partition >= 12
    assert new.sum() == 12
    assert found.interruptions.pause_seconds[new].max() <= 10.0 + 0.5 + 0.2


def test_a_member_more_takes_what_others_let_go():
    facts = plain_group({"orders": 6}, members=2, assignor="uniform", protocol="consumer")
    trace = GroupSimulation(facts, plain_scenario(facts, member_count=3)).trace(Event.SCALE, draw=None)

    assert trace.rebalances == 1
    assert trace.interruptions.stop_seconds.tolist() == [5.5, 5.5]
    assert trace.interruptions.start_seconds.round(3).tolist() == [10.2, 10.2]
