"""The steps in bulk: a few thousand partitions, where nothing is refined afterwards."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.placement_cases import Case
from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.placement import Balance, BrokerLimits, placer
from kafka_capacity.kafka.placement.bounds import lower_bound
from kafka_capacity.kafka.placement.relaxing import limit_states
from kafka_capacity.kafka.placement.shares import balance_limits, broker_loads, narrow_partitions

FEWEST = placer("fewest-bytes")


def cluster(change, balance, *, racks=5, tolerance=None, **options):
    tolerance = (0.02 if balance is Balance.BYTES else 0.0) if tolerance is None else tolerance
    shape = {"partitions": 6_000, "brokers": 40} | options
    return Case(change=change, racks=racks, balance=balance, tolerance_ratio=tolerance, **shape).problem()


def ratio_to_bound(problem, after):
    bound = lower_bound(problem, balance_limits(problem)).bytes
    return diff_assignments(problem.before, after).moved_bytes(problem.size_bytes) / max(bound, 1)


def assert_good(problem, after, *, ratio=1.005):
    limits = balance_limits(problem)
    load = broker_loads(problem, limits, after)
    assert (load >= limits.lower * (1 - 1e-9)).all()
    assert (load <= limits.upper * (1 + 1e-9)).all()
    assert narrow_partitions(problem, after) == 0
    assert ((after >= 0).sum(axis=1) == problem.replication_factor).all()
    assert all(len(set(row)) == after.shape[1] for row in after.tolist())
    assert ratio_to_bound(problem, after) <= ratio


def leads(problem, after):
    first = problem.target.index_of(after[:, 0])
    load = np.bincount(first, weights=problem.bytes_in_bytes_per_second, minlength=len(problem.target))
    return load / load.mean()


@pytest.mark.parametrize("racks", [3, 5])
@pytest.mark.parametrize("change", [-5, 0, 5])
@pytest.mark.parametrize("balance", Balance)
def test_a_plan_is_close_to_its_bound_even_and_safe(change, balance, racks):
    problem = cluster(change, balance, racks=racks)
    after = FEWEST.place(problem)

    # Where nobody comes or goes little moves at all, and the last replica of each broker weighs more in it.
    assert_good(problem, after, ratio=1.03 if not change else 1.005 if balance is Balance.BYTES else 1.01)
    assert leads(problem, after).min() >= 0.9 - 1e-9
    assert leads(problem, after).max() <= 1.1 + 1e-9


@pytest.mark.parametrize("balance", Balance)
def test_a_wider_tolerance_moves_less(balance):
    problem = cluster(5, balance)
    moved = []
    for tolerance in (0.0 if balance is Balance.REPLICAS else 0.01, 0.05, 0.2):
        asked = replace(problem, tolerance_ratio=tolerance)
        after = FEWEST.place(asked)
        assert_good(asked, after, ratio=1.01)
        moved.append(diff_assignments(asked.before, after).moved_bytes(asked.size_bytes))

    assert moved == sorted(moved, reverse=True)


@pytest.mark.parametrize("balance", Balance)
def test_what_is_within_the_tolerance_stays_as_it_is(balance):
    problem = cluster(5, balance)
    first = FEWEST.place(problem)
    again = FEWEST.place(replace(problem, before=first, leader=first[:, 0].copy()))

    assert again.tolist() == first.tolist()


@pytest.mark.parametrize("balance", Balance)
def test_a_lower_factor_copies_next_to_nothing_and_is_even(balance):
    problem = cluster(0, balance)
    lower = replace(problem, replication_factor=np.full(6_000, 2, dtype=np.int32))
    after = FEWEST.place(lower)

    assert diff_assignments(lower.before, after).moved_bytes(lower.size_bytes) <= 1e-3 * lower.size_bytes.sum()
    assert narrow_partitions(lower, after) == 0


@pytest.mark.parametrize("balance", Balance)
def test_a_higher_factor_copies_each_partition_once(balance):
    problem = cluster(0, balance, factor=2)
    higher = replace(problem, replication_factor=np.full(6_000, 3, dtype=np.int32))
    after = FEWEST.place(higher)

    assert_good(higher, after, ratio=1.005)
    assert diff_assignments(higher.before, after).moved_replicas <= 6_100


def test_replica_counts_follow_the_bytes_where_only_those_are_asked_for():
    problem = cluster(5, Balance.BYTES)
    after = FEWEST.place(problem)
    count = np.bincount(problem.target.index_of(after).ravel(), minlength=len(problem.target))

    # The new brokers came by their bytes with as many replicas as the others have.
    assert 0.8 <= count[-5:].mean() / count[:-5].mean() <= 1.2


def test_limits_are_kept_in_bulk_as_well():
    problem = cluster(5, Balance.BYTES)
    rates = problem.bytes_in_bytes_per_second
    limited = replace(
        problem,
        broker_limits=BrokerLimits.of(
            len(problem.target),
            network_in_bytes_per_second=1.05 * 3 * float(rates.sum()) / len(problem.target),
            network_out_bytes_per_second=1.15 * 2 * float(rates.sum()) / len(problem.target),
            replica_count=1.1 * 3 * len(rates) / len(problem.target),
        ),
    )
    after = FEWEST.place(limited)

    # Four things to keep at once: the limits come before the balance.
    assert not any(state.is_passed for state in limit_states(limited, after))
    assert narrow_partitions(limited, after) == 0
    assert balance_limits(limited).imbalance_ratio(broker_loads(limited, balance_limits(limited), after)) <= 0.1
