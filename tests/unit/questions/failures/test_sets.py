"""Which sets are looked at."""

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.questions.failures.scenario import FailureScenario, FailureSet, LeftOut, SetKind
from kafka_capacity.questions.failures.sets import failure_sets, rack_members, shared_partitions

SIX = Brokers.of(range(1, 7), list("aabbcc"))
REPLICAS = np.array([[1, 3], [1, 3], [5, 6], [2, -1]], dtype=np.int32)


def sets(**options):
    return failure_sets(SIX, REPLICAS, FailureScenario(scenario_id="s", **options))


def test_a_rack_goes_before_the_broker_that_follows():
    found, left_out = sets(kinds=(SetKind.RACK_AND_BROKER,))

    assert len(found) == 12
    assert not left_out
    assert (found[0].name, found[0].brokers, found[0].first) == ("rack a + broker 3", (1, 2, 3), (1, 2))


def test_of_too_many_pairs_those_that_share_partitions_are_kept():
    found, left_out = sets(kinds=(SetKind.PAIR,), max_sets=4)

    assert left_out == (LeftOut(kind=SetKind.PAIR, possible=15, chosen=4),)
    assert len(found) == 4
    assert {(1, 3), (5, 6)} <= {one.brokers for one in found}
    assert found == sets(kinds=(SetKind.PAIR,), max_sets=4)[0]
    others = {sets(kinds=(SetKind.PAIR,), max_sets=4, seed=seed)[0] for seed in range(5)}
    assert len(others) > 1


def test_shared_partitions_are_counted_by_hand():
    shared = shared_partitions(SIX.index_of(REPLICAS), 6)

    assert shared[0, 2] == shared[2, 0] == 2
    assert shared[4, 5] == 1
    assert shared.sum() == 6


def test_a_given_rack_is_called_by_its_name():
    found, _ = sets(kinds=(), given=((2, 1), (1,), (1, 6)))

    assert [one.name for one in found] == ["rack a", "broker 1", "brokers 1, 6"]


def test_a_rack_that_is_not_there_is_refused():
    with pytest.raises(RequestError) as caught:
        rack_members(SIX, "z")
    assert str(caught.value) == "racks: no broker is in rack 'z'; the racks of this cluster: a, b, c"


def test_a_rack_is_lost_with_all_that_is_in_it_where_it_is_a_rack_that_is_lost():
    members = {"a": frozenset({10, 11}), "b": frozenset({12})}

    def racks(kind, *brokers):
        return FailureSet(kind=kind, name="x", brokers=brokers).racks(members)

    assert racks(SetKind.RACK, 10, 11) == racks(SetKind.GIVEN, 10, 11) == {"a"}
    assert racks(SetKind.RACK_AND_BROKER, 10, 11, 12) == racks(SetKind.GIVEN, 10, 11, 12) == {"a", "b"}
    # Brokers by themselves are no rack, nor are those that were given beside one of another.
    assert racks(SetKind.BROKER, 12) == racks(SetKind.PAIR, 10, 11) == racks(SetKind.GIVEN, 10, 12) == set()
