"""A small plan as an integer program, solved by HiGHS within so many nodes.

One variable for a partition on a broker, 1 where it has a replica; what is copied is the sum of the sizes of those that
are not there now. The factor, the racks, the limits of the balance and the hard limits are linear in them. The limit is
in nodes, not in seconds, so that the same problem has the same answer. Where the nodes do not suffice to prove the plan
good, parts of it are solved again, a few brokers at a time with all others as they are.

scipy is imported here and only when it is needed, since that takes longer than a plan.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.diff import diff_assignments
from kafka_capacity.kafka.placement.apportionment import first_in_sequence
from kafka_capacity.kafka.placement.bounds import LowerBound, lower_bound
from kafka_capacity.kafka.placement.layout import Layout, who_holds
from kafka_capacity.kafka.placement.problem import PlacementProblem
from kafka_capacity.kafka.placement.shares import BalanceLimits, balance_limits, broker_loads

MAX_CELLS = 2_000  # partitions times brokers up to which the program is tried
_MAX_NODES = 100
_GAP_RATIO = 0.001
_GOOD_ENOUGH_RATIO = 0.004  # a plan proven to be so close to the optimum is left alone
_PART_SIZES = (3, 4, 5)
_PARTS = 12
_FEASIBLE = 1e-6  # HiGHS takes a row for kept that is off by so much
_DUAL_ERROR_RATIO = 1e-7  # by so much what it proves may be off
TINY_CELLS = 300  # up to this size without any gap


def cheapest_within(layout: Layout, lower: Floats, upper: Floats, known: Flags | None = None) -> Flags | None:
    """Find who should hold what so that the fewest bytes are copied: bool[P, B], the best that was found.

    ``None`` where there is none, or none was found in time, or scipy is not there. ``lower`` and ``upper`` are
    float64[B], the least and the most that each broker may hold in the unit of the balance; ``known`` is a plan within
    these, bool[P, B], if there is one.
    """
    program = _program(layout, lower, upper)
    if program is None:
        return None
    # To move what has no bytes costs nothing and helps nobody: it stays where it is.
    held = who_holds(layout.held, len(layout.rack))
    is_empty = (layout.problem.size_bytes == 0)[:, None]
    must, may = held & is_empty, np.where(is_empty, held, program.may_hold)
    found = program.solve(must, may)
    plans = [plan for plan in (known, None if found.x is None else program.holds(found)) if plan is not None]
    if not plans:
        return None
    holds = min(plans, key=program.price)
    least = 0.0 if found.mip_dual_bound is None else float(found.mip_dual_bound)
    for size in _PART_SIZES:
        parts = list(combinations(range(len(layout.rack)), size))
        for number in first_in_sequence(len(parts))[:_PARTS].tolist():
            if program.price(holds) <= least * (1 + _GOOD_ENOUGH_RATIO):
                return holds
            is_open = np.isin(np.arange(len(layout.rack)), parts[number])
            part = program.solve(must | (holds & ~is_open), np.where(is_open, may, holds))
            if part.x is not None and program.price(program.holds(part)) < program.price(holds):
                holds = program.holds(part)
    return holds


def least_bytes_within(layout: Layout, lower: Floats, upper: Floats, known: Flags) -> int:
    """Return what any plan copies that these limits allow, as far as the nodes prove it.

    Arguments are those of :func:`cheapest_within`. Nothing is proven, so 0 is returned, where the known plan keeps
    other rules than the program, or where scipy is not there.
    """
    program = _program(layout, lower, upper)
    if program is None or not program.is_allowed(known):
        return 0
    found = program.solve(np.zeros_like(program.may_hold), program.may_hold, gap_ratio=0.0)
    least = 0.0 if found.mip_dual_bound is None else float(found.mip_dual_bound) * program.scale
    return int(np.floor(least * (1 - _DUAL_ERROR_RATIO))) if np.isfinite(least) else 0


class _Program:
    """The integer program of a layout.

    Attributes:
        may_hold: bool[P, B], who may hold what.
        scale: bytes of a mean partition, in which is reckoned.
    """

    def __init__(self, layout: Layout, lower: Floats, upper: Floats) -> None:
        from scipy.sparse import csr_matrix

        partitions, brokers = len(layout.held), len(layout.rack)
        every = np.arange(partitions)
        is_home = np.stack([layout.is_home(every, broker) for broker in range(brokers)], axis=1)
        self.may_hold = is_home | layout.usable[None, :]
        holds = who_holds(layout.held, brokers)
        behind = np.stack([layout.is_behind(every, broker) for broker in range(brokers)], axis=1)
        self.may_hold &= holds | ~(behind | layout.stays[:, None])
        if layout.allowed is not None:
            self.may_hold &= layout.allowed[layout.problem.partitions.topic]
        size = layout.problem.size_bytes.astype(np.float64)
        self.scale = max(float(size.mean()), 1.0)
        self._cost = np.where(is_home, 0.0, size[:, None]) / self.scale
        rows, cells, weights, least, most = _constraints(layout, lower, upper)
        self._matrix = csr_matrix((weights, (rows, cells)), shape=(len(least), partitions * brokers))
        self._least, self._most = least, most

    def is_allowed(self, holds: Flags) -> bool:
        """Return whether a plan keeps the rules of the program."""
        amount = np.asarray(self._matrix @ holds.ravel().astype(np.float64))
        is_kept = (amount >= self._least - _FEASIBLE) & (amount <= self._most + _FEASIBLE)
        return bool(is_kept.all() and not (holds & ~self.may_hold).any())

    def solve(self, least: Flags, most: Flags, gap_ratio: float | None = None) -> Any:
        """Return scipy's result where each cell, bool[P, B], is at least and at most this.

        How close to the optimum is enough depends on the size of the program where it is not given.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        usual = 0.0 if self._cost.size <= TINY_CELLS else _GAP_RATIO
        return milp(
            self._cost.ravel(),
            constraints=LinearConstraint(self._matrix, self._least, self._most),
            integrality=np.ones(self._cost.size, dtype=np.int64),
            bounds=Bounds(least.ravel().astype(np.float64), most.ravel().astype(np.float64)),
            options={"node_limit": _MAX_NODES, "mip_rel_gap": usual if gap_ratio is None else gap_ratio},
        )

    def holds(self, found: Any) -> Flags:
        """Read who holds what from a result."""
        return np.asarray(found.x.reshape(self._cost.shape) > 0.5, dtype=np.bool_)

    def price(self, holds: Flags) -> float:
        """Sum what is copied, in mean sizes."""
        return float(self._cost[holds].sum())


def _program(layout: Layout, lower: Floats, upper: Floats) -> _Program | None:
    try:
        import scipy.optimize  # noqa: F401  # tells whether it is there
    except ImportError:
        return None
    return _Program(layout, lower, upper)


_Rows = tuple[Ints, Ints, Floats, Floats, Floats]


def _constraints(layout: Layout, lower: Floats, upper: Floats) -> _Rows:
    """Return the matrix as (row, column, value) and the limits of each row."""
    partitions, brokers = len(layout.held), len(layout.rack)
    cell = np.arange(partitions * brokers).reshape(partitions, brokers)
    factor = layout.factor.astype(np.float64)
    blocks: list[_Rows] = [(np.repeat(np.arange(partitions), brokers), cell, np.ones(cell.size), factor, factor)]
    for rack in range(layout.rack_count):
        inside = np.nonzero(layout.rack == rack)[0]
        chosen = np.nonzero(layout.spread > 1)[0]
        if not len(chosen):
            break
        # So few racks that each must have one, or so many that none may have more than its part.
        needs_all = (layout.spread[chosen] == layout.rack_count) & (factor[chosen] > layout.rack_count)
        part = factor[chosen] - layout.spread[chosen] + 1
        row = np.repeat(np.arange(len(chosen)), len(inside))
        limits = np.where(needs_all, 1.0, 0.0), np.where(needs_all, np.inf, part)
        blocks.append((row, cell[np.ix_(chosen, inside)], np.ones(len(row)), *limits))
    sides = [(layout.limits.unit, lower, upper)]
    sides += [(hard.unit, np.zeros(brokers), hard.limit) for hard in layout.hard]
    for unit, at_least, at_most in sides:
        scale = max(float(unit.mean()), 1e-9)
        slack = 1e-9 * np.maximum(1.0, np.where(np.isfinite(at_most), at_most, 1.0) / scale)
        row = np.repeat(np.arange(brokers), partitions)
        limits = at_least / scale - slack, at_most / scale + slack
        blocks.append((row, cell.T, np.tile(unit / scale, brokers), *limits))
    rows, cells, weights, least, most = zip(*blocks, strict=True)
    offsets = np.cumsum([0, *map(len, least)]).tolist()
    return (
        np.concatenate([row + offset for row, offset in zip(rows, offsets, strict=False)]),
        np.concatenate([cell.ravel() for cell in cells]),
        np.concatenate(weights),
        np.concatenate(least),
        np.concatenate(most),
    )


def adopt(layout: Layout, holds: Flags) -> None:
    """Change a layout so that it holds exactly what is given; what stays keeps its place in the list."""
    differs = (who_holds(layout.held, len(layout.rack)) != holds).any(axis=1)
    for row in np.nonzero(differs)[0].tolist():
        wanted = set(np.nonzero(holds[row])[0].tolist())
        held = layout.held[row].tolist()
        coming = sorted(wanted - set(held))
        for column, broker in enumerate(held):
            if broker >= 0 and broker not in wanted:
                layout.move_one(row, column, coming.pop(0))


CLOSE_ENOUGH = 1.002  # a plan this close to a bound is not worth a closer one
SOLVER = "solver"


def bound_of_plan(problem: PlacementProblem, after: Int32s, *, is_solved: bool = True) -> LowerBound:
    """Return the least bytes that any plan with the balance of this one, int32[P, W] of any placer, copies.

    A bound says what any plan must copy that is as even as this one, each broker by itself: between the limits of the
    balance, or as far outside as this plan has it, and within the hard limits, or as far above. The sums over brokers
    and racks of :mod:`.bounds` are close for many partitions. For few, what fits into what decides, and no sum sees
    that: there the program bounds the same plans, and often proves that none is cheaper.

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


def _proven_bytes(problem: PlacementProblem, own: BalanceLimits, after: Int32s) -> int:
    """Return what the program proves; 0 where it says nothing of such a plan."""
    raised = {}
    for load in problem.limited_loads():
        if not load.leaders_only:
            raised[load.field] = np.maximum(load.limit, problem.target.sum_held(after, load.unit))
    limits = problem.broker_limits
    within = problem if limits is None else replace(problem, broker_limits=replace(limits, **raised))
    holds = who_holds(problem.target.index_of(after), len(problem.target))
    return least_bytes_within(Layout(within), own.lower, own.upper, holds)
