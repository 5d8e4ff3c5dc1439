"""How good a plan is: the bound of its own balance, and for small plans what an integer program proves.

A bound says what any plan must copy that is as even as this one, each broker by itself: between the limits of the
balance, or as far outside as this plan has it, and within the hard limits, or as far above. The sums over brokers and
racks of :mod:`.bounds` are close for many partitions. For few, what fits into what decides, and no sum sees that: there
the program of :mod:`.exact` bounds the same plans, and often proves that none is cheaper.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.placement.bounds import LowerBound, lower_bound
from kafka_capacity.kafka.placement.exact import MAX_CELLS, least_bytes_within
from kafka_capacity.kafka.placement.layout import Layout
from kafka_capacity.kafka.placement.problem import PlacementProblem
from kafka_capacity.kafka.placement.shares import BalanceLimits, balance_limits, broker_loads

CLOSE_ENOUGH = 1.002  # a plan this close to a bound is not worth a closer one
SOLVER = "solver"


def bound_of_plan(problem: PlacementProblem, after: NDArray[np.int32], *, is_solved: bool = True) -> LowerBound:
    """Return the least bytes that any plan with the balance of this one, int32[P, W] of any placer, copies.

    Sums are enough, and no program is asked, for plans that are there to compare with.
    """
    limits = balance_limits(problem)
    own = limits.widened_to(broker_loads(problem, limits, after))
    bound = lower_bound(problem, own)
    moved = diff_assignments(problem.before, after).moved_bytes(problem.size_bytes)
    is_small = len(after) * len(problem.target) <= MAX_CELLS
    if not is_solved or not is_small or moved <= bound.bytes * CLOSE_ENOUGH:
        return bound
    proven = _proven_bytes(problem, own, after)
    return LowerBound(bytes=min(proven, moved), kind=SOLVER) if proven > bound.bytes else bound


def _proven_bytes(problem: PlacementProblem, own: BalanceLimits, after: NDArray[np.int32]) -> int:
    """Return what the program proves; 0 where it says nothing of such a plan."""
    place = problem.target.index_of(after)
    place[after < 0] = -1
    raised = {}
    for load in problem.limited_loads():
        if not load.leaders_only:
            held = problem.target.sum_at(after[after >= 0], np.repeat(load.unit, (after >= 0).sum(axis=1)))
            raised[load.field] = np.maximum(load.limit, held)
    limits = problem.broker_limits
    within = problem if limits is None else replace(problem, broker_limits=replace(limits, **raised))
    holds = np.zeros((len(after), len(problem.target) + 1), dtype=np.bool_)
    holds[np.arange(len(after))[:, None], place] = True
    return least_bytes_within(Layout(within), own.lower, own.upper, holds[:, :-1])
