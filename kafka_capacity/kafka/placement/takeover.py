"""Level what brokers take over when one dies, by the order of the followers, which copies nothing.

When a broker or a rack dies, the first live replica in each list leads. Who that is hangs on the order of the followers
alone: another order costs no copy, and while all brokers live it changes nothing at all.

Goals (ordered)
    1. Whichever broker dies, and whichever rack, no other one sends more than it would if all that are left shared what
       there is to send; or than one sends that takes nothing over, where that is more.
    2. Few lists are reordered: none of a leader whose loss leaves all others within that.

Algorithm
    What the followers of one leader take over hangs on its own lists alone, so leaders are done one after
    another, the worst first; of few lists those of a rack together. While a loss leaves a broker above, the reordering
    of one list, or of two at once, is taken that lowers the highest loads most.

>>> held = np.array([[0, 1, 2], [0, 1, 2], [1, 0, 2], [2, 0, 1]], dtype=np.int32)
>>> rates = np.ones(4)
>>> level_takeovers(held, rates, rates, rack=np.arange(3), usable=np.ones(3, dtype=bool)).tolist()
[[0, 2, 1], [0, 1, 2], [1, 2, 0], [2, 1, 0]]
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Flags, Floats, Indices, Int32s, Ints

_MAX_EXCHANGED = 64
"""Of so many reorderings of one leader's lists at most two are taken at once: of more, single ones are fine enough."""
_PASSES = 20  # at most: after the loss of a rack the lists of several leaders count together


def level_takeovers(
    held: Int32s, produced: Floats, consumed: Floats, *, rack: Int32s, usable: Flags, enough: Floats | None = None
) -> Int32s:
    """Return the lists with their followers in an order that levels what is taken over.

    Args:
        held: int32[P, W], positions of brokers, the leader first, the padding at the right.
        produced: float64[P], bytes per second, sent to each follower.
        consumed: float64[P], sent by the leader to consumers.
        rack: int32[B]; brokers without one count as one each.
        usable: bool[B], who may lead.
        enough: float64[B], bytes per second; lists stay as they are where no loss makes a broker send more than that.
            ``None`` levels as far as it goes.
    """
    held = held.copy()
    if held.shape[1] < 3 or not len(held) or not (produced.any() or consumed.any()):
        return held
    loads = _Loads(held, produced, consumed, rack, usable)
    limit = max(1.0, loads.floor())
    if loads.worst().max() <= limit or (enough is not None and loads.are_within(enough)):
        return held
    for _ in range(_PASSES):
        before = held.copy()
        for leaders in loads.together():
            loads.level(leaders, limit)
        if (held == before).all():
            break
    return held


class _Loads:
    """What every broker sends after each loss, as a ratio of what would be even after the worst of its kind."""

    def __init__(self, held: Int32s, produced: Floats, consumed: Floats, rack: Int32s, usable: Flags) -> None:
        self._held, self._produced, self._consumed = held, produced, consumed
        self._rack, self._usable = rack, usable
        self._rows = np.split(np.argsort(held[:, 0], kind="stable"), np.cumsum(self._count(held[:, 0])))
        brokers, racks = self._after_brokers(), self._after_racks()
        self._even = [
            self._even_share(found, unit)
            for found, unit in ((brokers, np.arange(len(rack), dtype=np.int32)), (racks, rack))
        ]
        self._broker, self._in_rack = brokers / self._even[0], racks / self._even[1]

    def _count(self, leader: Int32s) -> Indices:
        """Return how many lists have no leader, and how many each broker leads."""
        return np.bincount(leader + 1, minlength=len(self._rack) + 1)

    def _after_brokers(self) -> Floats:
        """Return float64[B, B]: what the second broker sends after the loss of the first."""
        held, count = self._held, len(self._rack)
        rows = np.flatnonzero(held[:, 0] >= 0)
        leader, produced, consumed = held[rows, 0].astype(np.int64), self._produced[rows], self._consumed[rows]
        followers = (held[rows, 1:] >= 0).sum(axis=1)
        all_up = np.bincount(leader, weights=consumed + produced * followers, minlength=count).astype(np.float64)
        found = np.tile(all_up, (count, 1))
        for column in range(1, held.shape[1]):
            is_there = held[rows, column] >= 0
            found -= self._by_pair(held[rows, column][is_there], leader[is_there], produced[is_there])
        has_one = followers > 0
        more = (consumed + produced * (followers - 1))[has_one]
        found += self._by_pair(leader[has_one], held[rows, 1][has_one], more)
        np.fill_diagonal(found, 0.0)
        return found

    def _by_pair(
        self, lost: NDArray[np.integer], broker: NDArray[np.integer], amount: Floats, units: int = 0
    ) -> Floats:
        """Sum up by what is lost and who leads then."""
        count = len(self._rack)
        rows = units or count
        key = lost.astype(np.int64) * count + broker
        return np.bincount(key, weights=amount, minlength=rows * count).astype(np.float64).reshape(rows, count)

    def _after_racks(self) -> Floats:
        """Return float64[R, B], the same after the loss of each rack; of brokers where each is one of its own."""
        held, racks = self._held, int(self._rack.max(initial=-1)) + 1
        if racks == len(self._rack):
            return np.zeros((racks, racks))  # the same as the loss of a broker
        rack_of = np.append(self._rack, -1)[held]
        found = np.zeros((racks, len(self._rack)))
        for lost in range(racks):
            alive = (held >= 0) & (rack_of != lost)
            rows = np.flatnonzero(alive.any(axis=1))
            sent = self._consumed[rows] + self._produced[rows] * (alive[rows].sum(axis=1) - 1)
            leader = held[rows, alive[rows].argmax(axis=1)]
            found[lost] = np.bincount(leader, weights=sent, minlength=len(self._rack))
        return found

    def _even_share(self, found: Floats, unit: NDArray[np.integer]) -> float:
        """Return the highest mean over those that are left."""
        left = self._usable.sum() - np.bincount(unit, weights=self._usable, minlength=len(found))
        mean = found.sum(axis=1) / np.maximum(left, 1.0)
        return max(1e-9, float(mean.max(initial=0.0)))

    def are_within(self, enough: Floats) -> bool:
        """Return whether no broker sends more than this after any loss."""
        every = zip((self._broker, self._in_rack), self._even, strict=True)
        return all(bool((loads * even <= enough).all()) for loads, even in every)

    def worst(self) -> Floats:
        """Return float64[B], the highest load after the loss of each broker or its rack."""
        broker, rack = (found.max(axis=1, initial=0.0) for found in (self._broker, self._in_rack))
        return np.asarray(np.maximum(broker, rack[self._rack]), dtype=np.float64)

    def floor(self) -> float:
        """Return what no order can go below: the highest load of a broker that takes nothing over."""
        held = self._held
        rows = np.flatnonzero((held[:, 0] >= 0) & (held[:, 1] >= 0))
        takes, sent = self._takes(rows)
        found: list[float] = []
        for loads, take, amount, unit in zip(
            (self._broker, self._in_rack), takes, sent, (held[rows, 0], self._rack[held[rows, 0]]), strict=True
        ):
            is_taken = take[:, 0] >= 0
            taken = self._by_pair(unit[is_taken], take[is_taken, 0], amount[is_taken], len(loads))
            found.append(float((loads - taken).max(initial=0.0)))
        return max(found, default=0.0)

    def together(self) -> list[list[int]]:
        """Return the leaders whose lists are looked at together, the worst first: of few lists those of a rack."""
        order = np.argsort(-self.worst(), kind="stable").tolist()
        if len(self._held) > _MAX_EXCHANGED:
            return [[leader] for leader in order]
        racks = dict.fromkeys(int(self._rack[leader]) for leader in order)
        return [np.flatnonzero(self._rack == rack).tolist() for rack in racks]

    def level(self, leaders: list[int], limit: float) -> None:
        """Reorder the lists of leaders of one rack while a broker is above the limit without one of them, or all."""
        rows = np.concatenate([self._rows[leader + 1] for leader in leaders])
        rows = rows[self._held[rows, 2] >= 0]
        rack, size = self._rack[leaders[0]], len(self._rack)
        of_rack = size * len(leaders)
        after = np.concatenate([*self._broker[leaders], self._in_rack[rack], [0.0]])
        start = size * np.searchsorted(leaders, self._held[rows, 0])
        options = self._options(rows, start, of_rack)
        while len(options.row) and after.max() > limit:
            found = options.best(after)
            if not found:
                break
            for one in found:
                np.add.at(after, options.place[:, one], options.change[:, one])
                row, column = options.row[one], options.column[one]
                self._held[row, [1, column]] = self._held[row, [column, 1]]
                if options.is_spread[one]:
                    options.take(one)
                    continue
                at, some = np.flatnonzero(rows == row), options.of_list(one)
                again = self._options(rows[at], start[at], of_rack)
                options.place[:, some], options.change[:, some] = again.place, again.change
        self._broker[leaders] = after[:of_rack].reshape(-1, size)
        self._in_rack[rack] = after[of_rack:-1]

    def _takes(self, rows: Indices) -> tuple[list[Ints], list[Floats]]:
        """Return who leads each list after either loss if each follower were the first, and what that sends."""
        held = self._held[rows]
        followers = held[:, 1:]
        is_out = (followers >= 0) & (np.append(self._rack, -1)[followers] != self._rack[held[:, :1]])
        outside = np.where(is_out.any(axis=1), followers[np.arange(len(rows)), is_out.argmax(axis=1)], -1)
        takes = [followers.astype(np.int64), np.where(is_out, followers, outside[:, None]).astype(np.int64)]
        if len(self._in_rack) == len(self._rack):
            takes[1] = np.full_like(takes[0], -1)
        left = (np.maximum((followers >= 0).sum(axis=1) - 1, 0), np.maximum(is_out.sum(axis=1) - 1, 0))
        sent = [self._consumed[rows] + self._produced[rows] * count for count in left]
        return takes, [one / even for one, even in zip(sent, self._even, strict=True)]

    def _options(self, rows: Indices, start: Indices, of_rack: int) -> _Options:
        """Return which lists may get another first follower, and what that changes.

        ``start`` and ``of_rack`` are where the loads after the loss of each list's leader, and of its rack, begin.
        """
        takes, sent = self._takes(rows)
        followers = takes[0][:, 1:]
        option, column = np.nonzero(followers >= 0)
        place = np.empty((4, len(option)), dtype=np.intp)
        begins = (start[option], np.full(len(option), of_rack))
        for kind, (begin, take) in enumerate(zip(begins, takes, strict=True)):
            for at, broker in ((kind, take[option, 0]), (kind + 2, take[option, column + 1])):
                place[at] = np.where(broker >= 0, broker + begin, -1)
        return _Options(
            row=rows[option],
            column=column + 2,
            may_lead=self._usable[followers[option, column]],
            may_first_lead=self._usable[takes[0][option, 0]],
            is_spread=((takes[1] == takes[0]) | (takes[1] < 0)).all(axis=1)[option],
            amount=np.stack([one[option] for one in sent]),
            place=place,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class _Options:
    """N reorderings of one list each, that swap its first follower for another, those of a list side by side."""

    row: Indices  # [N], the list
    column: Indices  # [N], of the follower that comes first
    may_lead: Flags  # [N], whether that one may
    may_first_lead: Flags  # [N], whether the follower that is first now may
    is_spread: Flags  # [N], whether no follower of the list is in the rack of the leader
    amount: Floats  # [2, N], what whoever leads after the loss of the leader sends, and of its rack
    place: Indices  # [4, N], the loads that get less after either loss, then those that get more; -1 for none
    change: Floats = field(init=False)  # [4, N], by how much; infinite where a follower may not lead

    def __post_init__(self) -> None:
        """Work out the changes."""
        self.change = np.empty(self.place.shape)
        self._work_out(slice(0, len(self.row)))

    def _work_out(self, some: slice) -> None:
        less, more, amount = self.place[:2, some], self.place[2:, some], self.amount[:, some]
        is_changed = less != more
        self.change[:2, some] = np.where(is_changed & (less >= 0), -amount, 0.0)
        self.change[2:, some] = np.where(is_changed & (more >= 0), amount, 0.0)
        self.change[2, some][~self.may_lead[some]] = np.inf  # nobody that may not lead comes first

    def of_list(self, one: int) -> slice:
        """Return where the options of the same list are."""
        begin, end = one, one + 1
        while begin and self.row[begin - 1] == self.row[one]:
            begin -= 1
        while end < len(self.row) and self.row[end] == self.row[one]:
            end += 1
        return slice(begin, end)

    def take(self, one: int) -> None:
        """Swap the followers of an option: another one is the first of its list now."""
        some = self.of_list(one)
        first, new = self.place[:2, one].copy(), self.place[2:, one].copy()
        self.place[:2, some], self.place[2:, one] = new[:, None], first
        may_lead, may_first_lead = self.may_lead[one], self.may_first_lead[one]
        self.may_lead[one], self.may_first_lead[some] = may_first_lead, may_lead
        self._work_out(some)

    def best(self, after: Floats) -> tuple[int, ...]:
        """Return the option, or the two of different lists, that levels the loads most; empty for none."""
        power = _powers(after)
        now = float(power.sum())
        gain = (_powers(after[self.place] + self.change) - power[self.place]).sum(axis=0)
        highest = int(after.argmax())
        relieving = np.flatnonzero(((self.place[:2] == highest) & (self.change[:2] < 0)).any(axis=0))
        for some in (relieving, np.arange(len(gain))):
            if len(some) and gain[some].min() < -_LEAST_GAIN * now:
                return (int(some[gain[some].argmin()]),)
        return self._best_two(after, now) if len(gain) <= _MAX_EXCHANGED else ()

    def _best_two(self, after: Floats, now: float) -> tuple[int, ...]:
        count = len(self.row)
        change = np.zeros((count, len(after)))
        np.add.at(change, (np.arange(count), self.place), self.change)
        pairs = _powers(after + change[:, None] + change[None]).sum(axis=-1)
        pairs[self.row[:, None] == self.row[None]] = np.inf
        first, second = np.unravel_index(int(pairs.argmin()), pairs.shape)
        return (int(first), int(second)) if pairs[first, second] < now * (1 - _LEAST_GAIN) else ()


_LEAST_GAIN = 1e-9  # of what there is: less is the rounding of sums


def _powers(loads: Floats) -> Floats:
    """Return the 32nd powers: in their sum next to the highest alone counts."""
    power = loads
    for _ in range(5):
        power = power * power
    return power
