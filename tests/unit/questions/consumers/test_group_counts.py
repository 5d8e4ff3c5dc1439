"""How many members are enough: against hand-computed cases and exhaustive search."""

import dataclasses
import gc
import math
import weakref

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from kafka_capacity.kafka.groups.model import TopicPartitions
from kafka_capacity.kafka.rebalance.model import Event, GroupSettings
from kafka_capacity.kafka.rebalance.simulate import GroupSimulation, member_loads
from kafka_capacity.questions.consumers.counts import same_as_count, smallest_counts
from kafka_capacity.questions.consumers.events import Simulations
from kafka_capacity.questions.consumers.scenario import Verdict
from kafka_capacity.questions.consumers.simulate import evaluate_group
from tests.plain_groups import plain_group
from tests.unit.questions.consumers.orders import given, group, streams, usual


def test_rates_that_are_said_to_differ_read_differently():
    facts = group(capacity=2999.9)
    (excuse,) = evaluate_group(facts, given(facts, events=())).excuses
    assert excuse.reason == "member m0 gets 2.9297 KiB/s at peak, but a member processes 2.9296 KiB/s"
    alone = group(partitions=1, members=1, capacity=999.999)
    assert smallest_counts(Simulations(alone, given(alone))).why_none.startswith(
        "partition orders-0 alone receives 1,000.000 B/s at peak but one member processes 999.999 B/s"
    )


def test_what_waits_today_must_be_gone_in_time():
    behind = group(capacity=4000.0, start_lag_bytes=np.full(12, 1000.0 * 3600))
    result = evaluate_group(behind, given(behind, events=(), catch_up_limit_seconds=3600.0))
    # Three partitions of 1,000 bytes/s, an hour behind each: 10.8 MB at 1,000 bytes/s to spare.
    assert result.metrics.start_lag_seconds == 3600.0
    assert result.metrics.catch_up_now_seconds == pytest.approx(3 * 3600.0)
    assert [excuse.constraint for excuse in result.excuses] == ["lag_now"]
    assert evaluate_group(behind, given(behind, events=(), catch_up_limit_seconds=10_900.0)).verdict is Verdict.FITS
    assert smallest_counts(Simulations(behind, given(behind, catch_up_limit_seconds=3600.0))).for_all == 6


def test_a_backlog_that_no_count_catches_up_is_said_to_be_never_caught_up():
    # A member with one partition gets as much as it processes: nothing is left over for what waits.
    behind = group(capacity=1000.0, start_lag_bytes=np.full(12, 1000.0 * 3600))
    found = smallest_counts(Simulations(behind, given(behind, events=(Event.SCALE,), failure_count=0)))
    assert (found.at_peak, found.for_all) == (12, None)
    assert found.why_none == (
        "with 12 members today's backlog is never caught up: at mean rates a member gets as much as it processes, or "
        "more"
    )


@pytest.mark.parametrize(
    ("partitions", "count", "same"), [(12, 4, 4), (12, 5, 4), (32, 31, 16), (32, 32, 32), (5, 9, 5)]
)
def test_counts_between_the_steps_are_pointless(partitions, count, same):
    facts = group(partitions=partitions, members=2)
    assert same_as_count(Simulations(facts, given(facts)), count) == same
    assert math.ceil(partitions / same) == math.ceil(partitions / count)


def test_members_that_have_just_joined_are_not_pointless():
    # One has two of ten partitions and the tenth member none yet; from scratch each would have one.
    facts = group(partitions=10, members=10)
    owner = np.minimum(np.arange(10), 8)
    members = tuple(
        dataclasses.replace(one, owned=TopicPartitions.of([("orders", int(row)) for row in np.flatnonzero(owner == i)]))
        for i, one in enumerate(facts.members)
    )
    joining = dataclasses.replace(facts, owner=owner.astype(np.int32), members=members)
    assert same_as_count(Simulations(joining, given(joining)), 10) == 10
    assert same_as_count(Simulations(facts, given(facts)), 10) == 10
    assert same_as_count(Simulations(joining, given(joining, member_count=9)), 9) == 5


@settings(max_examples=60, deadline=None)
@drawn(
    st.lists(st.integers(1, 50), min_size=1, max_size=12),
    st.integers(50, 120),
    st.sampled_from(["range", "roundrobin"]),
)
def test_the_smallest_count_at_peak_is_that_of_an_exhaustive_search(rates, capacity, assignor):
    facts = plain_group({"a": len(rates)}, members=1, assignor=assignor, capacity_bytes_per_second=float(capacity))
    facts = dataclasses.replace(facts, peak_bytes_per_second=np.array(rates, dtype=np.float64))
    found = smallest_counts(Simulations(facts, given(facts, failure_count=0))).at_peak

    def busiest(count):
        rest = GroupSimulation(facts, given(facts, member_count=count)).proposed
        return member_loads(rest, facts.peak_bytes_per_second).max()

    assert found == next(count for count in range(1, len(rates) + 1) if busiest(count) <= capacity)


def test_one_more_than_may_fail_carries_the_load():
    facts = group(capacity=3500.0)
    found = smallest_counts(Simulations(facts, given(facts, failure_count=2)))
    assert (found.at_peak, found.after_failures, found.while_restarting, found.for_all) == (4, 6, 4, 6)


def test_a_hot_partition_is_no_matter_of_members():
    facts = group(capacity=900.0)
    found = smallest_counts(Simulations(facts, given(facts)))
    assert found.for_all is None
    assert found.why_none == (
        "partition orders-0 alone receives 1,000 B/s at peak but one member processes 900 B/s: more members do not "
        "help, more partitions or faster members do"
    )


def test_an_objective_shorter_than_the_session_cannot_be_met_by_members():
    facts = group(capacity=5000.0)
    found = smallest_counts(Simulations(facts, given(facts, lag_slo_seconds=30.0)))
    assert found.after_failures is None
    assert "with any number of members" in found.why_none
    quick = given(facts, lag_slo_seconds=30.0, settings=GroupSettings(session_timeout_seconds=10.0))
    assert smallest_counts(Simulations(facts, quick)).for_all is not None


@pytest.mark.parametrize("standbys", [0, 1])
@pytest.mark.parametrize("event", [Event.CRASH, Event.ROLLING_RESTART])
def test_more_members_restore_less_each_and_are_tried(event, standbys):
    facts = streams(standbys=standbys)
    settings = GroupSettings(restore_bytes_per_second=10.0)
    asked = given(facts, events=(event,), settings=settings, standby_replicas=standbys, lag_slo_seconds=240.0)

    def fits(count):
        return evaluate_group(facts, dataclasses.replace(asked, member_count=count)).verdict is Verdict.FITS

    found = smallest_counts(Simulations(facts, asked))
    assert found.why_none is None
    assert fits(found.for_all)
    # One alone is not enough where it may fail.
    assert not any(fits(count) for count in range(2, found.for_all))
    # An objective shorter than a session is not met by any number of members.
    if event is Event.CRASH:
        assert smallest_counts(Simulations(facts, dataclasses.replace(asked, lag_slo_seconds=30.0))).for_all is None


def test_without_rates_no_count_is_advised():
    found = smallest_counts(Simulations(group(), given(group())))
    assert found.for_all is None
    assert "give member_capacity_bytes_per_second" in found.why_none


def test_with_rates_of_some_partitions_only_no_count_is_enough():
    part_known = group(capacity=1e6, is_rate_known=np.arange(12) != 5)
    found = smallest_counts(Simulations(part_known, given(part_known)))
    assert (found.at_peak, found.for_all) == (None, None)
    assert (
        found.why_none == "the produce rate of 1 of its 12 partitions is unknown: the inventory has no metrics of them"
    )
    # What the rates that are known break is broken.
    slow = dataclasses.replace(part_known, estimated_capacity_bytes_per_second=2500.0)
    assert evaluate_group(slow, given(slow)).verdict is Verdict.DOES_NOT_FIT


def test_fewer_members_must_be_enough_when_one_fails_too():
    # Three of four could do all, if none failed; then two would have to do more than anybody would today.
    facts = group(capacity=4000.0)
    found = smallest_counts(Simulations(facts, usual(facts)))
    assert (found.at_peak, found.after_failures) == (3, 4)


def test_a_lone_member_has_nobody_to_take_over_and_more_members_mend_that():
    facts = group(partitions=4, members=3, capacity=1e9)
    quick = GroupSettings(session_timeout_seconds=10.0)
    found = smallest_counts(Simulations(facts, given(facts, settings=quick, lag_slo_seconds=20.0)))
    assert (found.at_peak, found.while_restarting, found.for_all) == (1, 2, 2)


def test_a_smallest_count_holds_in_every_event_that_is_simulated():
    facts = group(members=2, capacity=6000.0)
    asked = given(facts, is_static=True, lag_slo_seconds=30.0, failure_count=0)
    # Two static members that become one leave the other's partitions unread until its session has ended.
    assert smallest_counts(Simulations(facts, dataclasses.replace(asked, events=(Event.ROLLING_RESTART,)))).for_all == 2
    scaled = dataclasses.replace(asked, events=(Event.SCALE,))
    slower = smallest_counts(Simulations(group(members=3, capacity=6000.0), scaled))
    assert (slower.at_peak, slower.while_restarting, slower.for_all) == (2, None, 3)


def skewed(rates, *, members, assignor="range", capacity=None):
    """A group whose partitions get these rates, of members that were seen to process so much, and not at a limit."""
    rates = np.asarray(rates, dtype=float)
    made = plain_group({"orders": len(rates)}, members=members, assignor=assignor, capacity_bytes_per_second=capacity)
    changes = {"peak_bytes_per_second": rates, "mean_bytes_per_second": rates / 2, "is_estimate_a_limit": False}
    return dataclasses.replace(made, **changes)


@pytest.mark.parametrize("hot", [0.8e6, 1.5e6, 2.4e6, 3e6])
def test_a_count_that_is_enough_fits_also_where_a_partition_falls_behind_after_it_is_read_again(hot):
    # It gets more than its part of a member that has all of its partitions to catch up with.
    facts = skewed([hot, *[0.5e6] * 17], members=3)
    asked = given(
        facts,
        events=(Event.CRASH, Event.ROLLING_RESTART),
        member_capacity_bytes_per_second=4e6,
        lag_slo_seconds=60.0,
    )
    found = smallest_counts(Simulations(facts, asked))
    assert evaluate_group(facts, dataclasses.replace(asked, member_count=found.for_all)).verdict is Verdict.FITS


@pytest.mark.parametrize("seed", [15, 23, 26, 30])
def test_fewer_members_than_today_are_known_to_carry_what_a_deploy_leaves_them_with(seed):
    rates = np.random.default_rng(seed).uniform(200, 2000, 24)
    facts = skewed(rates, members=7, assignor="cooperative-sticky", capacity=8000.0)
    asked = usual(facts, events=(Event.ROLLING_RESTART,), failure_count=0)
    found = smallest_counts(Simulations(facts, asked))
    assert found.for_all < 7
    (deploy,) = evaluate_group(facts, dataclasses.replace(asked, member_count=found.for_all)).events
    assert deploy.keeps_up


def test_a_search_is_forgotten_with_its_simulations():
    facts = group(capacity=4000.0)
    simulations = Simulations(facts, usual(facts))
    known = weakref.ref(simulations)
    gc.disable()  # as in a command, which is over before garbage counts
    try:
        smallest_counts(simulations)
        del simulations
        assert known() is None
    finally:
        gc.enable()
