"""The lists of the members while the general sticky assignment moves partitions, and whether they are balanced."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence

import numpy as np

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.codes import order_by
from kafka_capacity.kafka.java.hash_map import stable_order
from kafka_capacity.kafka.java.hashing import to_int


def fill_from_below(count: int, sizes: Ints, places: Ints) -> Ints:
    """Return who gets each of some partitions, as water rises: one level after another, everyone at it in turn.

    ``sizes`` is int64[M], how many each member has, rises, and is not empty; ``places`` int64[M], the place of each
    within a level, all different. Returned is int64[count], positions in ``sizes``.

    >>> fill_from_below(5, np.array([0, 1, 3]), np.array([2, 0, 1])).tolist()
    [0, 1, 0, 1, 0]
    """
    below = np.cumsum(sizes) - sizes
    reached = int(np.searchsorted(np.arange(len(sizes)) * sizes - below, count, side="right"))
    sizes, places = sizes[:reached], places[:reached]
    level, over = divmod(count + int(sizes.sum()), reached)
    turns = level - sizes
    to = np.repeat(np.arange(reached), turns)
    at = np.arange(count - over) - np.repeat(np.cumsum(turns) - turns - sizes, turns)
    return np.concatenate((to[order_by(at, places[to])], np.argsort(places)[:over]))


ASIDE = 1 << 40  # what a member that is set aside weighs: more than any number of partitions


class Loads:
    """Who holds which partitions, and the members by how many they hold.

    ``rank`` is int64[M], the place of each member by name; ``map_order`` are the members in the order of Kafka's map.

    Attributes:
        lists: partitions (numbers) of each member, kept up to date.
        owner: int64[P], who holds each partition, -1 for nobody.
        weight: int64[M + 1], how many partitions each member holds, :data:`ASIDE` for one that is set aside and, at
            the end, for nobody.
    """

    def __init__(self, lists: list[list[int]], partitions: int, rank: Ints, map_order: Sequence[int]) -> None:
        self.lists = lists
        self.owner = np.full(partitions, -1, dtype=np.int64)
        self.weight = np.array([*map(len, lists), ASIDE], dtype=np.int64)
        self._rank = rank
        self._ranks: list[int] = rank.tolist()
        self._by_rank: list[int] = np.argsort(rank).tolist()
        self._width = len(lists)
        self._sorted: list[int] = []
        self._aside: set[int] = set()
        self._map_order = map_order

    def rank_all(self) -> None:
        """Sort all members by how many partitions they hold, then by name."""
        self._sorted = sorted(self._key(member) for member in range(self._width))

    def by_size(self) -> Iterator[int]:
        """Walk over the members, those with the fewest partitions first; not over those set aside."""
        return (self._by_rank[key % self._width] for key in self._sorted)

    def extremes(self) -> tuple[int, int]:
        """Return the smallest and the largest size."""
        if not self._sorted:
            raise AssignmentError("no member is left", kafka_type="java.util.NoSuchElementException")
        return self._sorted[0] // self._width, self._sorted[-1] // self._width

    def lightest(self, members: Ints) -> int:
        """Return the one of some members with the fewest partitions, the first by name; not one set aside."""
        keys = self.weight[members] * self._width + self._rank[members]
        return int(members[int(keys.argmin())])

    def size(self, member: int | None) -> int:
        """Count a member's partitions; Kafka's own lookup fails for one that is set aside."""
        if member is None or member in self._aside:
            message = "a member to compare with is set aside, because nothing can change for it"
            raise AssignmentError(message, kafka_type="java.lang.NullPointerException")
        return len(self.lists[member])

    def holder(self, code: int) -> int | None:
        """Return who holds a partition."""
        member = int(self.owner[code])
        return None if member < 0 else member

    def give(self, code: int, member: int) -> None:
        """Give away a partition that nobody holds."""
        self._drop(member)
        self.lists[member].append(code)
        self.owner[code] = member
        self._insert(member)

    def fill(self, runs: Sequence[tuple[Ints, Ints]]) -> None:
        """Give partitions one after another to whoever has the fewest; a run names whom they may go to, each once."""
        if not runs:
            return
        pieces: list[Ints] = []
        for codes, members in runs:
            ranked = members[order_by(self.weight[members], self._rank[members])]
            to = ranked[fill_from_below(len(codes), self.weight[ranked], self._rank[ranked])]
            self.weight[:-1] += np.bincount(to, minlength=self._width)
            pieces.append(to)
        code, to = np.concatenate([codes for codes, _ in runs]), np.concatenate(pieces)
        self.owner[code] = to
        rows = stable_order(to, self._width)
        bounds = np.cumsum(np.bincount(to, minlength=self._width)).tolist()
        listed = code[rows].tolist()
        for member, (first, end) in enumerate(zip([0, *bounds], bounds, strict=False)):
            self.lists[member] += listed[first:end]
        self.rank_all()

    def move(self, code: int, member: int) -> None:
        """Move a partition to another member."""
        holder = self.holder(code)
        self.size(holder)
        if holder is None:
            return
        self._drop(holder)
        self._drop(member)
        if code in self.lists[holder]:
            self.lists[holder].remove(code)
        self.lists[member].append(code)
        self.owner[code] = member
        self._insert(member)
        self._insert(holder)

    def set_aside(self, member: int) -> None:
        """Leave a member out of everything that follows."""
        self._drop(member)
        self._aside.add(member)
        self.weight[member] = ASIDE

    @property
    def any_aside(self) -> bool:
        """Whether a member is set aside."""
        return bool(self._aside)

    def active_lists(self) -> dict[int, list[int]]:
        """Copy the lists of all members that are not set aside."""
        return {member: list(self.lists[member]) for member in self._map_order if member not in self._aside}

    def holders(self) -> Ints:
        """Return who has each partition in its list, -1 for nobody; where two do, the later in Kafka's map counts."""
        found = np.full(len(self.owner), -1, dtype=np.int64)
        for member in self._map_order:
            if member not in self._aside:
                found[self.lists[member]] = member
        return found

    def _key(self, member: int) -> int:
        return len(self.lists[member]) * self._width + self._ranks[member]

    def _drop(self, member: int) -> None:
        key = self._key(member)
        place = bisect.bisect_left(self._sorted, key)
        if place < len(self._sorted) and self._sorted[place] == key:
            del self._sorted[place]

    def _insert(self, member: int) -> None:
        key = self._key(member)
        if member not in self._aside:
            self.weight[member] = len(self.lists[member])
        place = bisect.bisect_left(self._sorted, key)
        if place == len(self._sorted) or self._sorted[place] != key:
            self._sorted.insert(place, key)


def balance_score(lists: dict[int, list[int]]) -> int:
    """Add up the differences in size over all pairs of members, in a Java ``int``."""
    sizes = np.sort(np.array([len(listed) for listed in lists.values()], dtype=np.int64))
    weights = 2 * np.arange(len(sizes)) - (len(sizes) - 1)
    return to_int(int(sizes @ weights))
