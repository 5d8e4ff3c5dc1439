"""The bound of small plans: what sums over brokers cannot see an integer program proves."""

from dataclasses import replace

import numpy as np
import pytest

from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.placement import Balance, BrokerLimits, PlacementProblem, RackRule, placer
from kafka_capacity.kafka.placement.bounds import lower_bound
from kafka_capacity.kafka.placement.exact import SOLVER, bound_of_plan
from kafka_capacity.kafka.placement.shares import balance_limits, broker_loads
from kafka_capacity.proposal.gap import is_proven_least
from tests.unit.kafka.placement.optimum import proven_bytes


def one_of_six_removed(seed, *, factor=2, partitions=40, **more):
    """Draw a cluster of six brokers in racks of 2, 2 and 2, of which the last is to go."""
    rng = np.random.default_rng(seed)
    before = np.array(
        [[2 * rack + 1 + rng.integers(2) for rack in rng.permutation(3)[:factor]] for _ in range(partitions)],
        dtype=np.int32,
    )
    return PlacementProblem(
        partitions=Partitions(
            topics=("orders",),
            topic=np.zeros(partitions, dtype=np.int32),
            partition=np.arange(partitions, dtype=np.int32),
        ),
        before=before,
        leader=before[:, 0].copy(),
        size_bytes=(rng.lognormal(0.0, 1.0, partitions) * 4e6).astype(np.int64) + 1,
        bytes_in_bytes_per_second=np.ones(partitions),
        target=Brokers.of([1, 2, 3, 4, 5], ["a", "a", "b", "b", "c"]),
        replication_factor=np.full(partitions, factor, dtype=np.int32),
        seed=0,
        rack_rule=RackRule.STRICT,
        balance=Balance.BYTES,
        tolerance_ratio=0.02,
        **more,
    )


def moved(problem, after):
    return diff_assignments(problem.before, after).moved_bytes(problem.size_bytes)


def own_limits(problem, after):
    limits = balance_limits(problem)
    return limits.widened_to(broker_loads(problem, limits, after))


def test_a_plan_that_is_optimal_has_no_gap_where_the_sums_leave_one():
    problem = one_of_six_removed(12)
    after = placer("fewest-bytes").place(problem)
    bound = bound_of_plan(problem, after)

    assert moved(problem, after) > 1.13 * lower_bound(problem, own_limits(problem, after)).bytes
    assert bound.kind == SOLVER
    assert is_proven_least(moved(problem, after), bound.bytes)
    assert bound.bytes <= moved(problem, after)


@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_the_bound_is_between_that_of_sums_and_the_optimum_of_an_integer_program(seed, factor):
    # So small that HiGHS ends: what it proves is the optimum.
    problem = one_of_six_removed(seed, factor=factor, partitions=12)
    after = placer("fewest-bytes").place(problem)
    bound, own = bound_of_plan(problem, after), own_limits(problem, after)
    optimum = proven_bytes(problem, own.lower, own.upper, own.unit, seconds=30)

    assert lower_bound(problem, own).bytes <= bound.bytes <= optimum * (1 + 1e-6) + 1
    assert optimum <= moved(problem, after) * (1 + 1e-6) + 1


def test_each_broker_counts_by_what_this_plan_makes_of_it():
    # One partition is larger than two fair shares: broker 5 is far outside, and nobody else may be for that.
    problem = one_of_six_removed(1, partitions=12)
    size = problem.size_bytes.copy()
    size[0] = 4 * size.sum()
    problem = replace(problem, size_bytes=size)
    after = placer("fewest-bytes").place(problem)

    bound, own = bound_of_plan(problem, after), own_limits(problem, after)
    assert bound.bytes <= proven_bytes(problem, own.lower, own.upper, own.unit, seconds=5) * (1 + 1e-6) + 1


def test_a_plan_with_other_rules_than_the_program_keeps_the_bound_of_sums():
    problem = one_of_six_removed(3)
    after = placer("fewest-bytes").place(problem)
    after[0] = [1, 2]  # both in rack a
    own = own_limits(problem, after)

    assert bound_of_plan(problem, after) == lower_bound(problem, own)


def test_what_a_plan_passes_its_hard_limits_by_its_bound_may_too():
    free = one_of_six_removed(3)
    limited = replace(free, broker_limits=BrokerLimits.of(5, replica_count=[14, 14, 14, 14, 14]))
    after = placer("fewest-bytes").place(limited)

    assert 0 < bound_of_plan(limited, after).bytes <= moved(limited, after)
