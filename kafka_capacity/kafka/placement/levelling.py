"""Level what brokers hold by handing over whole replicas, as few bytes as will do.

Goals (ordered)
    1. Every broker within its limits, where the replicas' sizes and the rack rule allow it.
    2. No more handed over than that takes: brokers stop giving at their limits, they do not go on to their shares.

Algorithm
    In bulk: what brokers are above their upper limits goes to those below their lower ones. What is left of one side
    is met by the brokers between the limits, the fullest (or emptiest) first, so that they end level. These amounts
    are moved within the racks as far as the amounts of a rack match, which is always allowed, and between racks for
    the rest. By bytes a broker gives replicas of all topics alike, by count its smallest ones. Linear in the replicas.
    In crumbs: what a broker lacks then is less than a usual replica. The one replica that fits best is looked up by its
    size, until every broker is within its limits or nothing more can be handed over.
    Replicas that an earlier step has just made are already paid for: they go first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.placement.apportionment import allot, first_in_sequence, within_amount
from kafka_capacity.kafka.placement.layout import Layout
from kafka_capacity.kafka.placement.shares import drawn, poured

_PASSES = 8
_WINDOW = 256
_RECEIVERS = 8
_TINY = 1e-12
_NEAR_ENOUGH_RATIO = 1e-4  # a replica that overshoots a limit by less than this part of a share is taken at once


class Levelling:
    """Levels one kind of load.

    ``unit`` is what a replica adds to the load, float64[P]. ``load``, which the layout keeps up to date, its limits and
    ``fair``, in which proportions brokers fill up, are float64[B]. By ``price``, float64[P], the cheapest replicas go
    first; without it all topics give alike. Where the load ``is_count`` of replicas, amounts are whole, and a plan is
    the cheaper the cheaper its replicas are. Partitions that ``may_move``, bool[P], are all by default.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        unit: Floats,
        load: Floats,
        fair: Floats,
        lower: Floats,
        upper: Floats,
        price: Floats | None = None,
        is_count: bool = False,
        may_move: Flags | None = None,
    ) -> None:
        self._may_move = unit > 0 if may_move is None else may_move & (unit > 0)
        self._layout, self._unit, self._load, self._fair = layout, unit, load, fair
        self._lower, self._upper, self._price, self._is_count = lower, upper, price, is_count
        self._can_take = layout.usable & (fair > 0)

    def run(self) -> None:
        """Level until every broker is inside its limits, or nothing more can be handed over."""
        if not self._is_done():
            _Bulk(self).run()
        if not self._is_done():
            _Crumbs(self).run()

    def _surplus(self) -> Floats:
        over = self._load - self._upper
        return np.where(over > self._upper * _TINY, over, 0.0)

    def _deficit(self) -> Floats:
        under = self._lower - self._load
        return np.where((under > self._lower * _TINY) & self._can_take, under, 0.0)

    def _is_done(self) -> bool:
        return not self._surplus().any() and not self._deficit().any()


class _Bulk:
    """The bulk of what must be handed over."""

    def __init__(self, levelling: Levelling) -> None:
        self._of = levelling
        self._layout = levelling._layout
        self._rows, self._columns, self._donor = self._queue()
        self._is_open = np.ones(len(self._rows), dtype=np.bool_)
        self._share = 0.0

    def _queue(self) -> tuple[Ints, Ints, Int32s]:
        """List all replicas that weigh something, in the order in which they should go."""
        layout, of = self._layout, self._of
        width = layout.held.shape[1]
        if of._price is None:
            place = first_in_sequence(layout.held.size)
            rows, columns = place // max(width, 1), place % max(width, 1)
        else:
            by_price = np.argsort(of._price, kind="stable")
            rows, columns = np.repeat(by_price, width), np.tile(np.arange(width), len(by_price))
        donor = layout.held[rows, columns]
        keep = (donor >= 0) & of._may_move[rows]
        rows, columns, donor = rows[keep], columns[keep], donor[keep]
        is_new = ~layout.is_home(rows, donor)
        if is_new.any():
            order = np.concatenate([np.nonzero(is_new)[0], np.nonzero(~is_new)[0]])
            rows, columns, donor = rows[order], columns[order], donor[order]
        self._new_count = int(is_new.sum())
        return rows, columns, donor

    def run(self) -> None:
        layout = self._layout
        racks = [np.nonzero(layout.rack == rack)[0] for rack in range(layout.rack_count)]
        everywhere = [np.arange(len(layout.rack))]
        can_cross = layout.rack_count == len(layout.rack) or bool(
            ((layout.spread < layout.rack_count) & (layout.factor > 0)).any()
        )
        for groups in ([everywhere] if can_cross else []) + ([racks] if layout.rack_count < len(layout.rack) else []):
            for turn in range(_PASSES):
                before = float(self._of._surplus().sum() + self._of._deficit().sum())
                if before <= 0:
                    return
                self._pass(groups, turn)
                after = float(self._of._surplus().sum() + self._of._deficit().sum())
                if after > 0.9 * before:
                    break

    def _pass(self, groups: list[Ints], turn: int) -> None:
        """Hand over what is wanted within each group of brokers, first inside the racks and then between them."""
        give, take = np.zeros(len(self._of._load)), np.zeros(len(self._of._load))
        for group in groups:
            give[group], take[group] = self._amounts(group)
        share = float(np.max(give / np.maximum(self._of._load, 1e-9), initial=0.0))
        length = int(min(1.0, (2.0 + turn) * share + 0.02) * len(self._rows)) + 64
        queue = np.arange(min(len(self._rows), self._new_count + length))
        rack = self._layout.rack
        count = self._layout.rack_count
        if count < len(rack):
            given, taken = np.bincount(rack, give, count), np.bincount(rack, take, count)
            both = np.minimum(given, taken)
            inside_give = give * (both / np.where(given > 0, given, 1.0))[rack]
            inside_take = take * (both / np.where(taken > 0, taken, 1.0))[rack]
            if self._of._is_count:
                order = np.argsort(rack, kind="stable")
                inside_give[order], inside_take[order] = _whole(inside_give[order]), _whole(inside_take[order])
            give, take = give - inside_give, take - inside_take
            self._hand_over(queue, inside_give, inside_take, within_rack=True)
        if len(groups) == 1 or count == len(rack):
            self._hand_over(queue, give, take, within_rack=False)

    def _amounts(self, group: Ints) -> tuple[Floats, Floats]:
        """Describe what each broker of a group should give and take, the same in sum."""
        of = self._of
        give, take = of._surplus()[group], of._deficit()[group]
        load, fair = of._load[group], of._fair[group]
        lack = float(take.sum() - give.sum())
        if lack > 0:
            spare = np.where(take > 0, 0.0, fair)
            if not of._is_count:
                give = give + drawn(load - give, spare, lack, of._lower[group])
            else:
                give = self._cheapest(group, give, lack)
        elif lack < 0:
            open_ = np.where((give > 0) | ~of._can_take[group], 0.0, fair)
            take = take + poured(load + take, open_, -lack, of._upper[group])
        if of._is_count:
            give, take = _whole(give), _whole(take)
        return give, take

    def _cheapest(self, group: Ints, give: Floats, lack: float) -> Floats:
        """Add the cheapest replicas to what must be given, as long as their brokers have some to spare."""
        of = self._of
        is_current = self._is_open & (self._layout.held[self._rows, self._columns] == self._donor)
        spare = np.zeros(len(of._load))
        spare[group] = np.maximum(0.0, np.floor(of._load[group] - np.maximum(of._lower[group], 0.0) + 1e-9))
        forced = np.zeros(len(of._load))
        forced[group] = give
        queue = np.nonzero(is_current & (spare[self._donor] > 0))[0]
        donor = self._donor[queue]
        ones = np.ones(len(queue))
        can_go = within_amount(donor, ones, spare)
        must_go = within_amount(donor, ones, forced)
        more = np.nonzero(can_go & ~must_go)[0][: max(0, round(lack))]
        return np.asarray(give + np.bincount(donor[more], minlength=len(of._load))[group], dtype=np.float64)

    def _hand_over(self, queue: Ints, give: Floats, take: Floats, *, within_rack: bool) -> None:
        if give.sum() <= 0 or take.sum() <= 0:
            return
        queue = queue[self._is_open[queue] & (give[self._donor[queue]] > 0)]
        queue = queue[self._layout.held[self._rows[queue], self._columns[queue]] == self._donor[queue]]
        unit = self._of._unit[self._rows[queue]]
        chosen = within_amount(self._donor[queue], unit, give)
        queue, unit = queue[chosen], unit[chosen]
        allot(
            self._layout,
            self._rows[queue],
            self._columns[queue],
            unit,
            take.copy(),
            same_rack=self._layout.rack[self._donor[queue]] if within_rack else None,
        )
        # What none of the turns could place stands in the way of others of its broker.
        self._is_open[queue] = False


def _whole(amount: Floats) -> Floats:
    """Round so that the sum stays: 1.5, 1.5 and 1 become 1, 2 and 1."""
    ends = np.floor(np.cumsum(amount) + 1e-9)
    return np.diff(ends, prepend=0.0)


class _Crumbs:
    """The rest, replica by replica."""

    def __init__(self, levelling: Levelling) -> None:
        self._of = levelling
        self._layout = levelling._layout
        key = levelling._unit if levelling._price is None else levelling._price
        order = np.argsort(key, kind="stable")
        self._order = order[levelling._may_move[order]]
        self._sorted_unit = levelling._unit[self._order]
        self._stuck = np.zeros(len(levelling._load), dtype=np.bool_)
        # By price a broker looks on where it found the last one: what is cheaper could not come before either.
        self._begin = np.zeros(len(levelling._load), dtype=np.int64)
        self._place = np.zeros(len(key), dtype=np.int64)
        self._place[self._order] = np.arange(len(self._order))

    def run(self) -> None:
        of = self._of
        fair = np.where(of._fair > 0, of._fair, 1.0)
        for _ in range(20 * len(of._load) + 100):
            lack = np.where(self._stuck, 0.0, of._deficit() / fair)
            over = np.where(self._stuck, 0.0, of._surplus() / fair)
            if not lack.any() and not over.any():
                return
            if lack.max(initial=0.0) >= over.max(initial=0.0):
                broker = int(np.argmax(lack))
                self._stuck[broker] = not self._receive(broker)
            else:
                broker = int(np.argmax(over))
                self._stuck[broker] = not self._donate(broker)

    def _receive(self, broker: int) -> bool:
        """Find the replica that brings a broker to its lower limit with the least beyond it, or close to it."""
        of = self._of
        need = float(of._lower[broker] - of._load[broker])
        surplus = of._surplus()
        spare = of._load - of._lower
        for gives in (surplus > 0, spare > 0):
            gives = gives.copy()
            gives[broker] = False
            if not gives.any():
                continue
            best: tuple[int, int] | None = None
            if of._price is None:
                start = int(np.searchsorted(self._sorted_unit, need * (1 - 1e-12)))
                above = self._first(self._windows(start, +1), broker, gives)
                near = need + _NEAR_ENOUGH_RATIO * float(of._fair[broker])
                if above is not None and of._unit[above[0]] <= near:
                    best = above
                else:
                    best = self._first(self._windows(start, -1), broker, gives) or above
            else:
                best = self._first(self._windows(int(self._begin[broker]), +1), broker, gives)
                if best is not None:
                    self._begin[broker] = self._place[best[0]]
            if best is not None:
                self._layout.move_one(*best, broker)
                return True
        return False

    def _windows(self, start: int, direction: int) -> Iterator[Ints]:
        """Return rows outwards from a place in the order of sizes, in stretches that grow."""
        length, place = _WINDOW, start
        while 0 <= place <= len(self._order):
            stop = place + direction * length
            stretch = (
                self._order[place : min(stop, len(self._order))]
                if direction > 0
                else self._order[max(0, stop) : place][::-1]
            )
            if not len(stretch):
                return
            yield stretch
            place, length = stop, length * 4

    def _first(self, windows: Iterator[Ints], broker: int, gives: Flags) -> tuple[int, int] | None:
        """Find the first replica in the order that may go to a broker, from one that can give it."""
        of, layout = self._of, self._layout
        width = layout.held.shape[1]
        for stretch in windows:
            rows, columns = np.repeat(stretch, width), np.tile(np.arange(width), len(stretch))
            donor = layout.held[rows, columns]
            unit = of._unit[rows]
            fits = (donor >= 0) & gives[donor]
            fits &= of._load[donor] - unit >= of._lower[donor] * (1 - _TINY)
            fits &= of._load[broker] + unit <= of._upper[broker] * (1 + _TINY)
            rows, columns = rows[fits], columns[fits]
            receiver = np.full(len(rows), broker, dtype=np.int32)
            fits = layout.may_go(rows, columns, receiver) & layout.has_room(rows, receiver)
            rows, columns = rows[fits], columns[fits]
            if len(rows):
                # Of the same row or size the one that costs nothing, then the one on the fullest broker.
                same = of._unit[rows] == of._unit[rows[0]]
                rows, columns = rows[same], columns[same]
                donor = layout.held[rows, columns]
                ratio = of._load[donor] / np.where(of._fair[donor] > 0, of._fair[donor], 1e-9)
                best = np.lexsort((-ratio, layout.is_home(rows, donor)))[0]
                return int(rows[best]), int(columns[best])
        return None

    def _donate(self, broker: int) -> bool:
        """Find the replica whose going brings a broker to its upper limit, or close to it, and who can take it."""
        of, layout = self._of, self._layout
        rows, columns = np.nonzero(layout.held == broker)
        unit = of._unit[rows]
        over = float(of._load[broker] - of._upper[broker])
        room = np.where(of._can_take, of._upper - of._load, 0.0)
        room[broker] = 0.0
        largest = float(room.max(initial=0.0))
        fits = (
            of._may_move[rows]
            & (unit <= largest * (1 + _TINY))
            & (of._load[broker] - unit >= of._lower[broker] - _TINY)
        )
        rows, columns, unit = rows[fits], columns[fits], unit[fits]
        if not len(rows):
            return False
        is_paid = ~layout.is_home(rows, np.full(len(rows), broker, dtype=np.int32))
        if of._price is not None:
            order = np.lexsort((rows, of._price[rows], ~is_paid))
        else:
            near = (unit >= over * (1 - 1e-12)) & (unit <= over + _NEAR_ENOUGH_RATIO * float(of._fair[broker]))
            below = unit < over
            order = np.lexsort((rows, np.where(below, -unit, unit), ~below, ~near))
        ratio = of._load / np.where(of._fair > 0, of._fair, 1e-9)
        emptiest = np.argsort(ratio, kind="stable").astype(np.int32)
        receivers = emptiest[room[emptiest] > 0]
        for start in range(0, len(order), _WINDOW):
            part = order[start : start + _WINDOW]
            for first in range(0, len(receivers), _RECEIVERS):
                receiver = receivers[first : first + _RECEIVERS]
                grid_rows = np.repeat(rows[part], len(receiver))
                grid_columns = np.repeat(columns[part], len(receiver))
                grid = np.tile(receiver, len(part))
                fits = of._unit[grid_rows] <= room[grid] * (1 + _TINY)
                fits &= layout.may_go(grid_rows, grid_columns, grid)
                fits &= layout.has_room(grid_rows, grid)
                if fits.any():
                    best = int(np.argmax(fits))
                    self._layout.move_one(int(grid_rows[best]), int(grid_columns[best]), int(grid[best]))
                    return True
        return False
