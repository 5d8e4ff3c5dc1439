"""How much must move at the least, whatever the plan.

Four bounds, of which the largest counts:

counting
    Replicas that must be made whatever the balance: those on brokers that go, for racks missing, for a higher factor.
surplus
    What does not fit on the brokers that hold it.
deficit
    What brokers below their limits must receive.
flow
    The cheapest flow of bytes (or replicas) from the brokers that hold them, through the racks, to those that may: what
    a rack may keep is bounded by the rack rule, and what it must hold in the end by what the others can. A unit
    that stays costs nothing and a unit that comes costs one, so the flow needs no solver: a rack with total T receives
    ``max(deficit, T - kept)``, and the racks fill up where that is free, then anywhere.

With replica counts as the balance the flow counts replicas, and each is priced at what its broker's cheapest cost.

Worked example: three racks of two brokers and three replicas of everything, so each rack holds one copy, 600 bytes.
In the first rack one broker has all of it, in the second the brokers are even, the third has three brokers now, one of
them new. Nothing that one rack lacks can come from another: 300 move in the first, 200 in the third.

    >>> need = rack_inflow(
    ...     deficit=np.array([300.0, 0.0, 200.0]), kept=np.array([300.0, 600.0, 400.0]),
    ...     least=np.array([600.0, 600.0, 600.0]), most=np.array([600.0, 600.0, 600.0]), total=1800.0)
    >>> float(need)
    500.0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Int32s, Ints
from kafka_capacity.kafka.placement.problem import Balance, PlacementProblem
from kafka_capacity.kafka.placement.shares import BalanceLimits, distinct_racks, rack_range, stays, wanted_racks


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound:
    """The least that any plan with this balance moves."""

    bytes: int  # the bound; no assignment of the same problem inside the limits copies fewer
    kind: str  # `counting`, `surplus`, `deficit` or `flow`: the first of these that gives it


def lower_bound(problem: PlacementProblem, limits: BalanceLimits) -> LowerBound:
    """Bound from below the bytes that any assignment inside the limits copies."""
    now = _loads_that_stay(problem, limits)
    total = float((limits.unit * problem.replication_factor).sum())
    new = least_new_replicas(problem)
    counting = int((new * problem.size_bytes).sum())
    units = {
        "surplus": total - float(np.minimum(now, limits.upper).sum()),
        "deficit": float(np.maximum(0.0, limits.lower - now).sum()),
    }
    units["flow"] = _flow(problem, limits, now, total)
    if problem.balance is Balance.BYTES:
        bounds = {kind: _down(amount) for kind, amount in units.items()}
    else:
        bounds = {kind: counting + _priced(problem, limits, now, new, total, _up(n)) for kind, n in units.items()}
    bounds = {"counting": counting, **bounds}
    kind = max(bounds, key=lambda name: bounds[name])
    return LowerBound(bytes=max(0, bounds[kind]), kind=kind)


def least_new_replicas(problem: PlacementProblem) -> Ints:
    """Return int64[P], how many replicas each partition must get new whatever the balance.

    Of the replicas on brokers that stay, at most ``factor`` can be kept, less one for every rack still missing.
    """
    held = stays(problem)
    rack = problem.target.rack_indexes()
    rack_count = int(rack.max(initial=-1)) + 1
    spread = wanted_racks(problem.replication_factor, rack_count, problem.rack_rule)
    missing_racks = np.maximum(0, spread - distinct_racks(rack, held))
    keep = np.minimum((held >= 0).sum(axis=1), problem.replication_factor - missing_racks)
    return np.asarray(problem.replication_factor - np.maximum(keep, 0), dtype=np.int64)


def rack_inflow(*, deficit: Floats, kept: Floats, least: Floats, most: Floats, total: float) -> float:
    """Return the least that must come to the brokers of all racks together.

    Args:
        deficit: float64[R], what the brokers of a rack lack of their lower limits.
        kept: float64[R], the most a rack can keep of what it has.
        least: float64[R], the least a rack holds in the end.
        most: float64[R], the most.
        total: what all racks hold in the end.
    """
    at_least = np.maximum(deficit, least - kept)
    free_up_to = np.clip(deficit + kept, least, np.maximum(least, most))
    return float(at_least.sum() + max(0.0, total - float(free_up_to.sum())))


def _flow(problem: PlacementProblem, limits: BalanceLimits, now: Floats, total: float) -> float:
    rack = problem.target.rack_indexes()
    racks = int(rack.max(initial=-1)) + 1
    factor = problem.replication_factor
    spread = wanted_racks(factor, racks, problem.rack_rule)

    def by_rack(values: Floats) -> Floats:
        return np.bincount(rack, weights=values, minlength=racks).astype(np.float64)

    least, most = rack_range(limits.unit, factor, spread, np.bincount(rack, minlength=racks))
    can_keep = _kept_in_racks(problem, limits, rack, factor - spread + 1, racks)
    return rack_inflow(
        deficit=by_rack(np.maximum(0.0, limits.lower - now)),
        kept=np.minimum(can_keep, by_rack(np.minimum(now, limits.upper))),
        least=np.maximum(least, by_rack(limits.lower)),
        most=np.minimum(most, by_rack(limits.upper)),
        total=total,
    )


def _kept_in_racks(problem: PlacementProblem, limits: BalanceLimits, rack: Int32s, most: Int32s, racks: int) -> Floats:
    """Sum what each rack can keep, at most so many replicas of each partition: float64[R]."""
    held = stays(problem)
    kept = np.zeros(racks + 1)
    seen: list[Int32s] = []
    for column in range(held.shape[1]):
        of_column = np.where(held[:, column] >= 0, np.append(rack, -1)[held[:, column]], -1).astype(np.int32)
        before = np.zeros(len(held), dtype=np.int64)
        for other in seen:
            before += other == of_column
        weight = np.where((of_column >= 0) & (before < most), limits.unit, 0.0)
        kept += np.bincount(of_column + 1, weights=weight, minlength=racks + 1)
        seen.append(of_column)
    return kept[1:]


def _loads_that_stay(problem: PlacementProblem, limits: BalanceLimits) -> Floats:
    """Sum what each broker may keep, replicas of topics that are pinned elsewhere left out."""
    held = stays(problem)
    rows, columns = np.nonzero(held >= 0)
    load = np.bincount(held[rows, columns], weights=limits.unit[rows], minlength=len(problem.target))
    return load.astype(np.float64)


def _priced(problem: PlacementProblem, limits: BalanceLimits, now: Floats, new: Ints, total: float, inflow: int) -> int:
    """Price so many new replicas, beyond those that must be made anyway.

    A replica that comes again stands for one that went, of the same partition: every broker above its limit gives up
    its cheapest, the rest are the cheapest of all. Partitions that must give up replicas anyway go for nothing.
    """
    held = stays(problem)
    rows, columns = np.nonzero(held >= 0)
    broker = held[rows, columns]
    kept_at_most = (held >= 0).sum(axis=1) - (problem.replication_factor - new)
    price = np.where(kept_at_most[rows] > 0, 0, problem.size_bytes[rows])
    order = np.lexsort((price, broker))
    broker, price = broker[order], price[order]
    starts = np.searchsorted(broker, np.arange(len(problem.target)))
    rank = np.arange(len(broker)) - starts[broker]
    over = np.ceil(np.maximum(0.0, now - limits.upper) - 1e-9)
    must_go = rank < over[broker]
    rest = max(0, inflow - round(total - float(now.sum())) - int(must_go.sum()))
    others = np.sort(price[~must_go], kind="stable")
    return int(price[must_go].sum()) + int(others[:rest].sum())


def _down(value: float) -> int:
    """Round down past the float error of a sum, so that a bound stays one."""
    return int(np.floor(value * (1 - 1e-12) + 1e-9)) if value > 0 else 0


def _up(count: float) -> int:
    """Round a count of replicas up, past the float error of a sum."""
    return int(np.ceil(count - 1e-6)) if count > 0 else 0
