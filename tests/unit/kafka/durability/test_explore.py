"""The explorer against one that tries the same without any coding, and against the textbook."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.durability import Acks, Bounds, Configuration, FailureKind, Outcome, Truncation, explore
from kafka_capacity.kafka.durability.traces import trace
from tests.unit.kafka.durability.naive_replica_set import every_course, random_course

BROKERS = (FailureKind.CRASH, FailureKind.QUICK_RESTART, FailureKind.DISCONNECT)
WITHOUT_RESTART = tuple(kind for kind in FailureKind if kind is not FailureKind.PRODUCER_RESTART)
LOST = Outcome.LOST_ACKNOWLEDGED


def possible(bounds, **settings):
    """Return the fewest failures of each outcome of one configuration."""
    return explore([Configuration(**settings)], bounds)[0].fewest_failures


configurations = st.builds(
    lambda acks, factor, minimum, unclean, idempotent, cut, elr, flushed: Configuration(
        acks=acks,
        replication_factor=factor,
        min_insync_replicas=minimum,
        is_unclean_allowed=unclean,
        is_idempotent=idempotent and acks is Acks.ALL,
        truncation=cut,
        has_eligible_leaders=elr,
        is_flushed=flushed,
    ),
    st.sampled_from(Acks),
    st.integers(1, 3),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
    st.sampled_from(Truncation),
    st.booleans(),
    st.booleans(),
)


@settings(max_examples=15, deadline=None)
@given(configurations.filter(lambda one: one.replication_factor < 3), st.booleans())
def test_everything_that_a_plain_search_finds_and_nothing_more(config, moves):
    bounds = Bounds(failures=2, retries=1, moves_on_resend=moves, power_losses=1)
    assert explore([config], bounds)[0].fewest_failures == every_course(config, bounds)


@pytest.mark.parametrize("cut", Truncation)
@pytest.mark.parametrize("is_idempotent", [False, True])
def test_two_records_in_flight_against_a_plain_search(cut, is_idempotent):
    config = Configuration(replication_factor=2, min_insync_replicas=2, is_idempotent=is_idempotent, truncation=cut)
    bounds = Bounds(records=2, failures=1, in_flight=2, kinds=(FailureKind.CRASH, FailureKind.DISCONNECT))
    assert explore([config], bounds)[0].fewest_failures == every_course(config, bounds)


def test_three_replicas_against_a_plain_search():
    config = Configuration(min_insync_replicas=2, has_eligible_leaders=True)
    bounds = Bounds(failures=1, kinds=(FailureKind.CRASH, FailureKind.CLEAN_STOP, FailureKind.POWER_LOSS))
    assert explore([config], bounds)[0].fewest_failures == every_course(config, bounds)


@settings(max_examples=6, deadline=None)
@given(configurations, st.integers(0, 2**32))
def test_random_walks_never_meet_what_is_not_possible(config, seed):
    kinds = (FailureKind.CRASH, FailureKind.POWER_LOSS, FailureKind.QUICK_RESTART, FailureKind.DISCONNECT)
    bounds = Bounds(records=2, failures=2, in_flight=2, kinds=kinds)
    found = explore([config], bounds)[0].fewest_failures
    random = np.random.default_rng(seed)
    for _ in range(5):
        for outcome, failures in random_course(config, bounds, random, 40):
            assert found[outcome] <= failures


def test_configurations_explored_together_are_what_they_are_alone():
    several = [
        Configuration(acks=acks, replication_factor=factor, is_unclean_allowed=unclean)
        for acks, factor, unclean in itertools.product(Acks, (1, 2, 3), (False, True))
    ]
    bounds = Bounds(failures=1)
    for one, found in zip(several, explore(several, bounds), strict=True):
        alone = explore([one], bounds)[0]
        assert (found.configuration, found.fewest_failures, found.states) == (one, alone.fewest_failures, alone.states)


def test_no_acks_is_at_most_once():
    found = possible(Bounds(records=2, failures=2, kinds=WITHOUT_RESTART), acks=Acks.NONE)
    assert found[Outcome.LOST_SILENTLY] == 1
    assert Outcome.DUPLICATED not in found
    assert LOST not in found


def test_acks_of_the_leader_are_lost_with_it():
    found = explore([Configuration(acks=Acks.LEADER)], Bounds(failures=1, kinds=BROKERS))[0]
    assert found.fewest_failures[LOST] == 1
    assert trace(found, LOST) == [
        "the producer sends record 1; replica A appends it at offset 0",
        "replica A acknowledges record 1",
        "replica A, the leader, crashes; replica B leads",
        "in the end the leader, replica B, holds nothing",
    ]


@pytest.mark.parametrize("is_unclean_allowed", [False, True])
def test_unclean_election_loses_what_the_last_in_sync_replica_acknowledged(is_unclean_allowed):
    bounds = Bounds(kinds=BROKERS)
    found = possible(bounds, replication_factor=2, is_unclean_allowed=is_unclean_allowed)
    assert found.get(LOST) == (2 if is_unclean_allowed else None)
    assert found[Outcome.UNAVAILABLE] == 2


@pytest.mark.parametrize("is_idempotent", [False, True])
def test_a_retry_doubles_what_was_not_answered(is_idempotent):
    bounds = Bounds(kinds=BROKERS)
    found = possible(bounds, min_insync_replicas=2, is_idempotent=is_idempotent)
    assert found.get(Outcome.DUPLICATED) == (None if is_idempotent else 1)
    assert LOST not in found


def test_a_new_producer_id_doubles_in_spite_of_idempotence():
    kinds = (*BROKERS, FailureKind.PRODUCER_RESTART)
    assert possible(Bounds(kinds=kinds), min_insync_replicas=2, is_idempotent=True)[Outcome.DUPLICATED] == 1


def test_what_moves_to_another_partition_is_doubled_across_partitions():
    found = possible(Bounds(moves_on_resend=True), min_insync_replicas=2, is_idempotent=True)
    assert found[Outcome.DUPLICATED_ACROSS_PARTITIONS] == 1
    assert Outcome.DUPLICATED not in found


@pytest.mark.parametrize(("in_flight", "is_idempotent", "failures"), [(2, False, 1), (1, False, None), (2, True, None)])
def test_requests_in_flight_change_places_without_idempotence(in_flight, is_idempotent, failures):
    bounds = Bounds(records=2, in_flight=in_flight, kinds=BROKERS)
    found = possible(bounds, replication_factor=2, min_insync_replicas=2, is_idempotent=is_idempotent)
    assert found.get(Outcome.REORDERED) == failures


def test_cutting_at_the_high_watermark_loses_and_leader_epochs_do_not():
    bounds = Bounds(kinds=BROKERS)
    old, new = (explore([Configuration(replication_factor=2, truncation=cut)], bounds)[0] for cut in Truncation)
    assert (old.fewest_failures.get(LOST), new.fewest_failures.get(LOST)) == (2, None)
    way = trace(old, LOST)
    assert "replica B restarts so quickly that it stays in the ISR, B loses the last record of its log" in "\n".join(
        way
    )
    assert way[-1] == "in the end the leader, replica B, holds nothing"


def test_cutting_at_the_high_watermark_lets_logs_differ_and_leader_epochs_do_not():
    bounds = Bounds(records=2, failures=1, kinds=WITHOUT_RESTART)
    old, new = (explore([Configuration(replication_factor=2, truncation=cut)], bounds)[0] for cut in Truncation)
    assert old.fewest_failures[Outcome.DIVERGED] == 1
    assert Outcome.DIVERGED not in new.fewest_failures
    assert trace(old, Outcome.DIVERGED)[-1] == "in the end the leader, replica B, holds record 2, though A record 1"


@pytest.mark.parametrize("has_eligible_leaders", [False, True])
def test_the_last_replica_loses_its_unflushed_end_unless_others_stay_eligible(has_eligible_leaders):
    bounds = Bounds(failures=3, power_losses=1, kinds=(FailureKind.CLEAN_STOP, FailureKind.POWER_LOSS))
    found = possible(bounds, min_insync_replicas=2, has_eligible_leaders=has_eligible_leaders)
    assert found.get(LOST) == (None if has_eligible_leaders else 3)


def test_flushing_each_append_keeps_what_power_losses_take():
    kinds = (FailureKind.CRASH, FailureKind.ALL_POWER_LOSS)
    for is_flushed, failures in ((False, 1), (True, None)):
        assert possible(Bounds(kinds=kinds), min_insync_replicas=2, is_flushed=is_flushed).get(LOST) == failures


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 3).flatmap(lambda factor: st.tuples(st.just(factor), st.integers(1, factor))),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_fewer_crashes_than_the_minimum_lose_nothing(sizes, is_idempotent, is_unclean_allowed, has_eligible_leaders):
    factor, minimum = sizes
    config = Configuration(
        replication_factor=factor,
        min_insync_replicas=minimum,
        is_idempotent=is_idempotent,
        is_unclean_allowed=is_unclean_allowed,
        has_eligible_leaders=has_eligible_leaders,
    )
    kinds = (FailureKind.CRASH, FailureKind.CLEAN_STOP, FailureKind.DISCONNECT)
    found = explore([config], Bounds(records=2, failures=2, kinds=kinds))[0].fewest_failures
    assert found[Outcome.EXACTLY_ONCE] == 0
    assert Outcome.DIVERGED not in found
    assert found.get(LOST, 9) >= minimum
    if not is_unclean_allowed:
        assert LOST not in found
        assert Outcome.READ_THEN_GONE not in found
    assert (Outcome.DUPLICATED in found) <= (not is_idempotent)


def test_who_lacks_what_came_before_the_leader_is_not_in_sync():
    # After two crashes the high watermark stands still, behind what was acknowledged; the third must not lose it.
    found = possible(Bounds(failures=3, kinds=(FailureKind.CRASH,)), min_insync_replicas=2)
    assert LOST not in found


@settings(max_examples=15, deadline=None)
@given(configurations, st.data())
def test_every_outcome_has_a_way_that_can_be_told(config, data):
    found = explore([config], Bounds(failures=1))[0]
    outcome = data.draw(st.sampled_from(sorted(found.fewest_failures)))
    assert len(trace(found, outcome)) == len(found.reached.way_to(found.shortest[outcome]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Configuration(replication_factor=5), "replication_factor: 5 cannot be explored; give 1 to 4"),
        (lambda: Configuration(min_insync_replicas=0), "min_insync_replicas: 0 is invalid; give at least 1"),
        (lambda: Configuration(acks=Acks.LEADER, is_idempotent=True), "idempotence needs acks=all, not acks=1"),
        (lambda: Bounds(failures=4), "failures: 4 cannot be explored; give 0 to 3"),
        (lambda: Bounds(records=3, retries=1), "3 records sent 2 times in 2 lives of a producer can be 12 copies"),
    ],
)
def test_what_cannot_be_explored_is_refused(make, message):
    with pytest.raises(RequestError, match=message):
        make()
