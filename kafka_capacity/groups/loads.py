"""The lists of the members while the general sticky assignment moves partitions, and whether they are balanced."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator

import numpy as np

from kafka_capacity.errors import AssignmentError
from kafka_capacity.java.hashing import to_int


class Loads:
    """Who holds which partitions, and the members by how many they hold.

    Args:
        lists: partitions (numbers) of each member.
        rank: the place of each member by name.
        map_order: the members in the order of Kafka's hash map.

    Attributes:
        lists: as given, and kept up to date.
        owner: who holds each partition.
    """

    def __init__(self, lists: list[list[int]], rank: list[int], map_order: list[int]) -> None:
        self.lists = lists
        self.owner: dict[int, int] = {}
        self._rank = rank
        self._by_rank = [0] * len(rank)
        for member, place in enumerate(rank):
            self._by_rank[place] = member
        self._width = len(rank)
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
        """Give the smallest and the largest size."""
        if not self._sorted:
            raise AssignmentError("no member is left", kafka_type="java.util.NoSuchElementException")
        return self._sorted[0] // self._width, self._sorted[-1] // self._width

    def size(self, member: int | None) -> int:
        """Count a member's partitions; Kafka's own lookup fails for one that is set aside."""
        if member is None or member in self._aside:
            message = "a member to compare with is set aside, because nothing can change for it"
            raise AssignmentError(message, kafka_type="java.lang.NullPointerException")
        return len(self.lists[member])

    def give(self, code: int, member: int) -> None:
        """Give a partition that nobody holds."""
        self._drop(member)
        self.lists[member].append(code)
        self.owner[code] = member
        self._insert(member)

    def move(self, code: int, member: int) -> None:
        """Move a partition to another member."""
        holder = self.owner[code]
        self.size(holder)
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

    def active_lists(self) -> dict[int, list[int]]:
        """Copy the lists of all members that are not set aside."""
        return {member: list(self.lists[member]) for member in self._map_order if member not in self._aside}

    def holders(self, codes: Iterable[int]) -> dict[int, int]:
        """Say who holds each of some partitions; where two do, the later in Kafka's map counts."""
        wanted = set(codes)
        return {
            code: member
            for member in self._map_order
            if member not in self._aside
            for code in self.lists[member]
            if code in wanted
        }

    def _key(self, member: int) -> int:
        return len(self.lists[member]) * self._width + self._rank[member]

    def _drop(self, member: int) -> None:
        key = self._key(member)
        place = bisect.bisect_left(self._sorted, key)
        if place < len(self._sorted) and self._sorted[place] == key:
            del self._sorted[place]

    def _insert(self, member: int) -> None:
        key = self._key(member)
        place = bisect.bisect_left(self._sorted, key)
        if place == len(self._sorted) or self._sorted[place] != key:
            self._sorted.insert(place, key)


def balance_score(lists: dict[int, list[int]]) -> int:
    """Add up the differences in size over all pairs of members, in a Java ``int``."""
    sizes = np.sort(np.array([len(listed) for listed in lists.values()], dtype=np.int64))
    weights = 2 * np.arange(len(sizes)) - (len(sizes) - 1)
    return to_int(int(sizes @ weights))
