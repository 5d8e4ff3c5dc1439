"""What each broker's fair share is, and between which loads it counts as balanced.

A fair share is not total ÷ n. Under a rack rule a small rack can hold no more than one copy of everything, and where
the replication factor equals the number of racks each rack must hold exactly that: with racks of 4, 4 and 1 brokers the
lone broker's share is a third of all bytes. :func:`fair_shares` finds the most even level that the rack rule permits.

Worked example: three partitions of 10 bytes, RF 2, racks A (brokers 1, 2) and B (broker 3). Each partition has one copy
in A and one in B, so 30 bytes are shared by two brokers in A and 30 are all on broker 3.

    >>> import numpy as np
    >>> least = most = np.array([30.0, 30.0])
    >>> fair_shares(total=60.0, rack=np.array([0, 0, 1]), weight=np.ones(3), least=least, most=most).tolist()
    [15.0, 15.0, 30.0]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.placement.problem import Balance, PlacementProblem, RackRule


def poured(load: Floats, width: Floats, total: float, most: Floats | None = None) -> Floats:
    """Pour a total into the vessels, the emptiest first, so that those that get something are level.

    Worked example: vessels as wide as 1, 1 and 2, with 6, 1 and 2 in them. Seven more lift the last two from a level of
    1 to one of 3 1/3; the first is above that:

        >>> import numpy as np
        >>> load, width = np.array([6.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])
        >>> poured(load, width, 7.0).round(3).tolist()
        [0.0, 2.333, 4.667]
        >>> drawn(load, width, 3.0).round(3).tolist()
        [3.0, 0.0, 0.0]

    Args:
        load: float64[B], what is in each.
        width: float64[B], what a level of 1 holds; 0 takes nothing.
        total: what to pour.
        most: float64[B], the most each may hold then; without it there is no such limit.

    Returns:
        float64[B], what each gets; less than the total in sum only where all are full.
    """
    room = np.full(len(load), np.inf) if most is None else np.maximum(0.0, most - load)
    room = np.where(width > 0, room, 0.0)
    if total <= 0 or not room.any():
        return np.zeros(len(load))
    if room.sum() <= total:
        return room
    safe = np.where(width > 0, width, 1.0)
    # The sum poured is piecewise linear in the level: look it up between the levels where a vessel starts or is full.
    starts = np.where(room > 0, load / safe, np.inf)
    ends = np.where(room > 0, (load + room) / safe, np.inf)
    levels = np.unique(np.concatenate([starts, ends]))
    levels = levels[np.isfinite(levels)]

    def at(level: float) -> Floats:
        return np.clip(np.maximum(0.0, level * safe - load), 0.0, room)

    low, high = 0, len(levels)  # the first level at which at least the total is poured, or beyond the last
    while low < high:
        middle = (low + high) // 2
        if at(float(levels[middle])).sum() < total:
            low = middle + 1
        else:
            high = middle
    below = float(levels[low - 1]) if low else float(levels[0])
    base = at(below)
    open_ = (room > 0) & (starts <= below) & (ends > below)
    speed = float(safe[open_].sum())
    level = below + (total - float(base.sum())) / speed if speed > 0 else below
    return at(level)


def drawn(load: Floats, width: Floats, total: float, least: Floats | None = None) -> Floats:
    """Draw a total from the vessels, the fullest first, so that those that give something are level: float64[B].

    All are float64[B], as for :func:`poured`; ``least`` is what each must keep, nothing by default.
    """
    floor = np.zeros(len(load)) if least is None else np.maximum(0.0, least)
    floor = np.minimum(floor, load)
    # What is drawn from the top is what would be poured onto the floor, less.
    kept = poured(floor, width, max(0.0, float((load - floor)[width > 0].sum()) - total), load)
    return np.where(width > 0, load - floor - kept, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BalanceLimits:
    """Between which loads a broker counts as balanced; float64[B] each, bytes or replicas."""

    unit: Floats  # float64[P], what one replica of the partition adds to a broker's load
    fair: Floats  # the share of each broker
    lower: Floats  # the least load within the tolerance
    upper: Floats  # the most load within the tolerance

    def widened_to(self, load: Floats) -> BalanceLimits:
        """Widen so that ``load`` is inside: what a plan that is only as balanced as this one would have to reach."""
        return BalanceLimits(
            unit=self.unit, fair=self.fair, lower=np.minimum(self.lower, load), upper=np.maximum(self.upper, load)
        )

    def imbalance_ratio(self, load: Floats) -> float:
        """Return the largest distance of a broker from its share, as a ratio of the share."""
        shared = self.fair > 0
        return float(np.max(np.abs(load[shared] / self.fair[shared] - 1.0))) if shared.any() else 0.0


def wanted_racks(replication_factor: Int32s, rack_count: int, rule: RackRule) -> Int32s:
    """Return int32[P], over how many racks each partition must be spread at least."""
    possible = np.minimum(replication_factor, rack_count)
    if rule is RackRule.STRICT:
        return possible.astype(np.int32)
    ceiling = 2 if rule is RackRule.TWO_RACKS else 1
    return np.minimum(possible, ceiling).astype(np.int32)


def rack_range(unit: Floats, factor: Int32s, spread: Int32s, brokers: Ints) -> tuple[Floats, Floats]:
    """Return float64[R] twice, the least and the most that each rack holds under the rack rule.

    Args:
        unit: float64[P], what one replica of each partition adds.
        factor: int32[P], how many replicas it has.
        spread: int32[P], over how many racks they must be.
        brokers: int64[R], how many each rack has.
    """
    least, most = np.zeros(len(brokers)), np.zeros(len(brokers))
    for copies, racks in np.unique(np.stack([factor, spread], axis=1), axis=0).tolist():
        weight = float(unit[(factor == copies) & (spread == racks)].sum())
        room = np.minimum(brokers, copies - racks + 1)
        must = np.maximum(copies - (room.sum() - room), 1 if racks == len(brokers) else 0)
        most += weight * room
        least += weight * np.clip(must, 0, room)
    return least, most


def fair_shares(*, total: float, rack: Int32s, weight: Floats, least: Floats, most: Floats) -> Floats:
    """Spread a total over brokers by weight, as evenly as can be with every rack between its limits.

    Args:
        total: bytes or replicas.
        rack: int[B], the rack of each broker, numbered from 0.
        weight: float64[B], the relative size of each broker, above 0.
        least: float64[R], the least that each rack holds under the rack rule.
        most: float64[R], the most.
    """
    racks = len(most)
    rack_weight = np.bincount(rack, weights=weight, minlength=racks)
    rack_share = np.zeros(racks)
    is_open = np.ones(racks, dtype=np.bool_)
    rest = total
    while is_open.any() and rest > 0:
        share = rest * rack_weight[is_open] / rack_weight[is_open].sum()
        over, under = share >= most[is_open], share < least[is_open]
        if not (over.any() or under.any()):
            rack_share[is_open] = share
            break
        # What is too much goes to the others, and lifts them; what is too little comes from them: the larger decides.
        excess, lack = (np.maximum(0.0, one).sum() for one in (share - most[is_open], least[is_open] - share))
        limit, hit = (most, over) if over.any() and excess >= lack else (least, under)
        fixed = np.nonzero(is_open)[0][hit]
        rack_share[fixed] = limit[fixed]
        is_open[fixed] = False
        rest = total - rack_share.sum()
    return np.asarray(rack_share[rack] * weight / rack_weight[rack], dtype=np.float64)


def balance_limits(problem: PlacementProblem) -> BalanceLimits:
    """Return the balance a problem asks for: bytes within the tolerance, or replica counts within it or within one."""
    is_bytes = problem.balance is Balance.BYTES
    factor = problem.replication_factor.astype(np.float64)
    unit = problem.size_bytes.astype(np.float64) if is_bytes else np.ones(len(factor))
    rack = problem.target.rack_indexes()
    rack_count = int(rack.max(initial=-1)) + 1
    spread = wanted_racks(problem.replication_factor, rack_count, problem.rack_rule)
    capacity = problem.target.disk_capacity_bytes
    weight = capacity if is_bytes and np.isfinite(capacity).all() and (capacity > 0).all() else np.ones(len(rack))
    total = float((unit * factor).sum())
    least, limit = rack_range(unit, problem.replication_factor, spread, np.bincount(rack, minlength=rack_count))
    fair = fair_shares(total=total, rack=rack, weight=weight, least=least, most=limit)
    most = _most_by_broker(problem, total, is_bytes=is_bytes)
    if (fair > most).any():
        fair = np.minimum(fair, most)
        fair = fair + poured(fair, weight, total - float(fair.sum()), most)
    lower, upper = fair * (1 - problem.tolerance_ratio), fair * (1 + problem.tolerance_ratio)
    if not is_bytes:
        lower, upper = np.floor(lower), np.ceil(upper)
    return BalanceLimits(unit=unit, fair=fair, lower=lower, upper=np.minimum(upper, most))


def _most_by_broker(problem: PlacementProblem, total: float, *, is_bytes: bool) -> Floats:
    """Return float64[B], the hard limit in the unit of the balance, infinite where there is none."""
    limits = problem.broker_limits
    if limits is None:
        return np.full(len(problem.target), np.inf)
    most = limits.disk_bytes if is_bytes else np.floor(limits.replica_count)
    # Where all brokers together cannot hold everything, the shares are those of the limits.
    return np.asarray(most * max(1.0, total / max(float(most.sum()), 1e-9)), dtype=np.float64)


def broker_loads(problem: PlacementProblem, limits: BalanceLimits, matrix: Int32s) -> Floats:
    """Sum the load of each target broker under a replica matrix: float64[B]; replicas elsewhere are left out."""
    return problem.target.sum_held(matrix, limits.unit)


def stays(problem: PlacementProblem) -> Int32s:
    """Return int32[P, W], the target positions of the replicas that may stay where they are, -1 for the others."""
    held = problem.target.index_of(problem.before)
    if problem.allowed_brokers is not None:
        held[~problem.allowed_brokers[problem.partitions.topic[:, None], held]] = -1
    return held


def narrow_partitions(problem: PlacementProblem, matrix: Int32s) -> int:
    """Count the partitions of a replica matrix that are on fewer racks than the rack rule asks for."""
    rack = problem.target.rack_indexes()
    if not len(rack) or not matrix.size:
        return 0
    racks = distinct_racks(rack, problem.target.index_of(matrix))
    wanted = wanted_racks(replication_factors(matrix), int(rack.max()) + 1, problem.rack_rule)
    return int((racks < wanted).sum())


def distinct_racks(rack: Int32s, held: Int32s) -> Ints:
    """Count the racks in each row of broker positions (-1 for none): int64[P]."""
    if not held.shape[1] or not len(rack):
        return np.zeros(len(held), dtype=np.int64)
    racks = np.sort(np.where(held >= 0, rack[held], -1), axis=1)
    first = racks[:, :1] >= 0
    rest = (racks[:, 1:] != racks[:, :-1]) & (racks[:, 1:] >= 0)
    return np.asarray(np.concatenate([first, rest], axis=1).sum(axis=1), dtype=np.int64)
