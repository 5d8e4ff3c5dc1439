"""Replicas in few copysets: valid, spread over racks, balanced, and with as few sets as the scatter width asks for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import bytes_per_broker, diff_assignments
from kafka_capacity.kafka.controller.annual_losses import copysets_of
from kafka_capacity.kafka.placement.few_copysets import place_in_few_copysets
from tests.copyset_losses import copyset_aware_copysets
from tests.properties.strategies import Case, cases, repeatable


def random_case(brokers, racks, partitions, factor=3, *, seed=1):
    """Partitions of one topic spread at random over the brokers, in distinct racks as far as there are."""
    random = np.random.default_rng(seed)
    names = [racks[i % len(racks)] for i in range(brokers)]
    before = []
    for _ in range(partitions):
        order = random.permutation(brokers).tolist()
        turn = {i: [names[j] for j in order[:place]].count(names[i]) for place, i in enumerate(order)}
        before.append(tuple(sorted(order, key=turn.__getitem__)[:factor]))
    return Case(
        topics=(partitions,),
        before=tuple(before),
        sizes=(100,) * partitions,
        rates=(1,) * partitions,
        ids=tuple(range(brokers)),
        racks=tuple(names),
        fenced=(False,) * brokers,
        capacities=(None,) * brokers,
        factors=(factor,) * partitions,
        rack_rule="strict",
        balance="bytes",
        tolerance=0.1,
    )


def rack_counts(brokers: Brokers, replicas):
    racks = brokers.rack_indexes()[brokers.index_of(replicas)]
    return [len(set(row[held])) for row, held in zip(racks, replicas >= 0, strict=True)]


@repeatable(150)
@given(cases(), st.integers(1, 9))
def test_every_partition_has_its_replicas_on_distinct_usable_brokers_of_many_racks(case, scatter_width):
    problem = case.problem()
    found = place_in_few_copysets(problem, scatter_width=scatter_width)
    usable = set(problem.target.ids[~problem.target.is_fenced].tolist())
    racks = len(set(problem.target.rack_indexes()[~problem.target.is_fenced].tolist()))
    for row, factor, spread in zip(found.tolist(), case.factors, rack_counts(problem.target, found), strict=True):
        held = [broker for broker in row if broker >= 0]
        assert len(set(held)) == len(held) == factor
        assert set(held) <= usable
        assert factor == 1 or spread == min(factor, racks)
    assert np.array_equal(found, place_in_few_copysets(problem, scatter_width=scatter_width))


@pytest.mark.parametrize("scatter_width", [2, 4])
def test_as_few_copysets_as_the_paper_gives_and_even_brokers(scatter_width):
    case = random_case(30, "abc", 1500)
    problem = case.problem()
    found = place_in_few_copysets(problem, scatter_width=scatter_width)
    assert len(copysets_of(found)) <= copyset_aware_copysets(30, 3, scatter_width)
    assert len(copysets_of(problem.before)) > 500
    held = bytes_per_broker(problem.target, found, problem.size_bytes)
    assert held.max() <= 1.1 * held.mean()


def test_what_is_in_few_copysets_stays():
    problem = random_case(9, "abc", 90).problem()
    once = place_in_few_copysets(problem, scatter_width=2)
    again = Case(**{**_fields(random_case(9, "abc", 90)), "before": tuple(map(tuple, once.tolist()))}).problem()
    moved = diff_assignments(once, place_in_few_copysets(again, scatter_width=2)).moved_replicas
    assert moved <= 0.05 * once.size


def test_a_lone_broker_more_is_in_a_set_too():
    problem = random_case(7, "abc", 70).problem()
    held = bytes_per_broker(problem.target, place_in_few_copysets(problem, scatter_width=2), problem.size_bytes)
    assert (held > 0).all()


def test_todays_sets_are_not_taken_where_they_leave_a_rack_alone():
    # Brokers 0 and 3 are in rack a, 1 and 4 in b, 2 and 5 in c. With (0, 1) and (3, 4), 2 and 5 would be left.
    before = ((0, 1),) * 6 + ((3, 4),) * 5 + ((2, 0),) + ((5, 1),)
    case = Case(**{**_fields(random_case(6, "abc", len(before), 2)), "before": before})
    found = place_in_few_copysets(case.problem(), scatter_width=1)
    assert len(copysets_of(found)) == 3


def test_leaders_stay_where_they_can():
    problem = random_case(9, "abc", 60).problem()
    found = place_in_few_copysets(problem, scatter_width=4)
    stays = (found == problem.leader[:, None]).any(axis=1)
    assert stays.any()
    assert (found[stays, 0] == problem.leader[stays]).all()


def test_bad_wishes_are_named():
    problem = random_case(6, "abc", 3).problem()
    with pytest.raises(RequestError, match="scatter_width: 0 is invalid; give at least 1"):
        place_in_few_copysets(problem, scatter_width=0)


def _fields(case):
    return {name: getattr(case, name) for name in Case.__dataclass_fields__}
