"""Level the leaders by reordering replica lists, which copies nothing.

Goals (ordered)
    1. No broker passes a limit of what leaders do, such as what its network can send.
    2. Every broker leads its share of the bytes produced (of the partitions where no rates are known), within a tenth.
    3. Few lists are reordered.

A broker leads no less than its partitions with one replica and no more than all it holds. Its share is what is left
when these are set aside, in equal parts: :func:`leader_shares`.

Algorithm
    The brokers above their limits hand leadership to followers below theirs, in rounds over all partitions at once;
    within a round each gives and takes no more than it should. Where nobody can hand over to one who lacks, it goes
    through a third: from then on leadership flows from every leader to the follower that leads least. In the end
    single lists are fixed, the worst broker first.
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.placement.apportionment import within_amount
from kafka_capacity.kafka.placement.layout import HardLimit, Layout
from kafka_capacity.kafka.placement.shares import drawn, poured

LEADER_TOLERANCE_RATIO = 0.10  # how far a broker's leader load may be from its share before leadership is handed over
_ROUNDS = 60


def leader_shares(held: Int32s, unit: Floats, usable: Flags) -> Floats:
    """Return float64[B], what each broker should lead; those that are not usable, bool[B], lead what nobody else can.

    ``held`` is int32[P, W], broker positions, the leader first, the padding at the right; ``unit`` float64[P], what
    leading a partition counts.
    """
    brokers = len(usable)
    is_alone = ((held[:, 1:] < 0) | ~usable[held[:, 1:]]).all(axis=1)
    least = np.bincount(held[is_alone, 0], weights=unit[is_alone], minlength=brokers).astype(np.float64)
    most = np.zeros(brokers + 1)
    for column in range(held.shape[1]):
        most += np.bincount(held[:, column] + 1, weights=unit, minlength=brokers + 1)
    width = usable.astype(np.float64)
    return least + poured(least, width, float(unit.sum() - least.sum()), np.maximum(most[1:], least))


class LeaderLevelling:
    """Levels the leaders of a layout, whose rows are reordered."""

    def __init__(self, layout: Layout) -> None:
        held = layout.held
        if held.shape[1] and (held[:, :-1] < 0).any():
            order = np.argsort(held < 0, axis=1, kind="stable")
            layout.held = held = np.take_along_axis(held, order, axis=1)
        self._held = held
        self._usable = layout.usable
        problem = layout.problem
        rates = problem.bytes_in_bytes_per_second
        self._led = rates.astype(np.float64) if (rates > 0).any() else np.ones(len(rates))
        self._brokers = len(layout.rack)
        self._hard = [
            HardLimit(unit=load.unit, limit=load.limit, load=np.zeros(self._brokers))
            for load in problem.limited_loads()
            if load.leaders_only
        ]

    def run(self) -> None:
        """Reorder until every broker is within its limits or nothing more can be done."""
        if self._held.shape[1] < 2 or not self._brokers:
            return
        for hard in self._hard:
            hard.load = self._sum_of_leaders(hard.unit)
        for hard in self._hard:
            if (hard.load > hard.limit).any():
                known = np.isfinite(hard.limit)
                usual = float(hard.limit[known].mean())
                self._level(hard.unit, np.where(known, hard.limit, usual), np.zeros(self._brokers), hard.limit.copy())
        fair = leader_shares(self._held, self._led, self._usable)
        self._level(self._led, fair, fair * (1 - LEADER_TOLERANCE_RATIO), fair * (1 + LEADER_TOLERANCE_RATIO))

    def _sum_of_leaders(self, unit: Floats) -> Floats:
        return np.bincount(self._held[:, 0], weights=unit, minlength=self._brokers).astype(np.float64)

    def _level(self, unit: Floats, fair: Floats, lower: Floats, upper: Floats) -> None:
        self._unit, self._fair, self._lower, self._upper = unit, fair, lower, upper
        self._load = self._sum_of_leaders(unit)
        for _ in range(_ROUNDS):
            if not self._outside().any():
                return
            if not self._round(flows=False) and not self._round(flows=True):
                break
        self._mend()

    def _has_room(self, rows: Ints, receiver: Int32s) -> Flags:
        """Return which partitions the broker proposed for each may lead, each by itself: bool[n]."""
        room = np.ones(len(rows), dtype=np.bool_)
        for hard in self._hard:
            room &= hard.unit[rows] <= (hard.limit - hard.load)[receiver]
        return room

    def _outside(self) -> Floats:
        above, below = self._load - self._upper * (1 + 1e-12), self._lower * (1 - 1e-12) - self._load
        return np.maximum(0.0, np.maximum(above, below))

    def _round(self, *, flows: bool) -> bool:
        """Hand over leadership once in many rows; tell whether that took something worth it."""
        give, take = self._flow_amounts() if flows else self._amounts()
        take = np.where(self._usable, take, 0.0)  # the others may be near their share, and lead nothing more for that
        leader = self._held[:, 0]
        rows = np.nonzero((give[leader] > 0) & (self._unit > 0))[0]
        if not len(rows):
            return False
        followers = self._held[rows, 1:]
        wanted = np.where(followers >= 0, take[followers], 0.0)
        if flows:
            ratio = self._load / np.where(self._fair > 0, self._fair, 1e-9)
            down = ratio[followers] < ratio[leader[rows]][:, None]
            wanted = np.where(down & (followers >= 0), wanted, 0.0)
        column = np.argmax(wanted, axis=1)
        can = wanted[np.arange(len(rows)), column] > 0
        rows, column = rows[can], column[can] + 1
        # The largest first: fewer lists change.
        order = np.argsort(-self._unit[rows], kind="stable")
        rows, column = rows[order], column[order]
        receiver = self._held[rows, column]
        fits = within_amount(self._held[rows, 0], self._unit[rows], give)
        rows, column, receiver = rows[fits], column[fits], receiver[fits]
        fits = within_amount(receiver, self._unit[rows], take)
        for hard in self._hard:
            fits &= within_amount(receiver, hard.unit[rows], hard.limit - hard.load)
        rows, column = rows[fits], column[fits]
        moved = float(self._unit[rows].sum())
        self._swap(rows, column)
        return moved > 1e-3 * float(min(give.sum(), take.sum())) and moved > 0

    def _amounts(self) -> tuple[Floats, Floats]:
        """Describe what must be given and taken so that all are within their limits, and no more."""
        give = np.maximum(0.0, self._load - self._upper)
        take = np.maximum(0.0, self._lower - self._load)
        lack = float(take.sum() - give.sum())
        if lack > 0:
            give = give + drawn(self._load - give, np.where(take > 0, 0.0, self._fair), lack, self._lower)
        elif lack < 0:
            take = take + poured(self._load + take, np.where(give > 0, 0.0, self._fair), -lack, self._upper)
        return give, take

    def _flow_amounts(self) -> tuple[Floats, Floats]:
        """Let every broker pass on half of what it leads above what its neighbours lead at least."""
        most = 0.25 * self._fair
        give, take = (np.clip(room, 0.0, most) for room in (self._load - self._lower, self._upper - self._load))
        return give, take

    def _swap(self, rows: Ints, column: Ints) -> None:
        old, new = self._held[rows, 0].copy(), self._held[rows, column].copy()
        self._held[rows, column] = old
        self._held[rows, 0] = new
        for load, unit in ((self._load, self._unit), *((hard.load, hard.unit) for hard in self._hard)):
            load += np.bincount(new, weights=unit[rows], minlength=self._brokers)
            load -= np.bincount(old, weights=unit[rows], minlength=self._brokers)

    def _mend(self) -> None:
        """Change single lists as long as that brings brokers closer to their limits."""
        stuck = np.zeros(self._brokers, dtype=np.bool_)
        scale = np.where(self._fair > 0, self._fair, 1.0)
        for _ in range(4 * self._brokers + 50):
            distance = np.where(stuck, 0.0, self._outside() / scale)
            if not distance.any():
                return
            worst = int(np.argmax(distance))
            is_over = self._load[worst] > self._fair[worst]
            if is_over:
                rows = np.nonzero((self._held[:, 0] == worst) & (self._unit > 0))[0]
                followers = np.arange(1, self._held.shape[1])
                rows, column = np.repeat(rows, len(followers)), np.tile(followers, len(rows))
            else:
                rows, column = np.nonzero((self._held[:, 1:] == worst) & (self._unit > 0)[:, None])
                column = column + 1
            old, new = self._held[rows, 0], self._held[rows, column]
            known = (new >= 0) & self._usable[new] & self._has_room(rows, new)
            rows, column, old, new = rows[known], column[known], old[known], new[known]
            now = self._outside() / scale
            unit = self._unit[rows]
            old_then = self._distance(self._load[old] - unit, old) / scale[old]
            new_then = self._distance(self._load[new] + unit, new) / scale[new]
            gain = now[old] ** 2 + now[new] ** 2 - old_then**2 - new_then**2
            best = int(np.argmax(gain)) if len(gain) else -1
            if best < 0 or gain[best] <= 1e-15:
                stuck[worst] = True
                continue
            self._swap(rows[best : best + 1], column[best : best + 1])

    def _distance(self, load: Floats, broker: Int32s) -> Floats:
        return np.asarray(
            np.maximum(0.0, np.maximum(load - self._upper[broker], self._lower[broker] - load)), dtype=np.float64
        )
