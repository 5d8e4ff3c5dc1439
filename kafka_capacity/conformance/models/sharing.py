"""Partitions held by several members at once, while the share-group assignor evens them out (4.3.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.groups.coordinator import Held
from kafka_capacity.kafka.groups.model import TopicPartition
from kafka_capacity.kafka.java.hash_map import JavaHashMap, JavaHashSet, copied_map_capacity
from kafka_capacity.kafka.java.hashing import integer_hash

P = TypeVar("P")  # a partition: (topic id, number), or the number alone where one topic is looked at


def sized_for(count: int) -> int:
    """Return the capacity of Kafka's maps and sets of a known size (``AssignorHelpers.newHashMap``)."""
    return copied_map_capacity(count + 1)


class NewAssignments:
    """What each member is to have: what it has (``before``) until that changes."""

    def __init__(self, before: Sequence[Held]) -> None:
        self.before = list(before)
        self._changed: dict[int, dict[str, set[int]]] = {}

    def changed(self, member: int) -> dict[str, set[int]]:
        """Return a member's partitions to be changed."""
        if member not in self._changed:
            self._changed[member] = {topic: set(numbers) for topic, numbers in self.before[member].items()}
        return self._changed[member]


class Sharing(Generic[P]):
    """Who holds which of some partitions.

    ``members`` are indices of the subscribers in a group of ``all_members``; ``targets`` is how many partitions are to
    be assigned, ``topic`` theirs where they are numbers alone. ``new``, what members are to have, is kept up to date.

    Attributes:
        share: how many partitions each member is to have.
        sharers: how many members each partition is to have.
    """

    def __init__(
        self,
        members: Sequence[int],
        targets: int,
        hash_of: Callable[[P], int],
        all_members: int,
        new: NewAssignments,
        topic: str | None = None,
    ) -> None:
        self.new = new
        self.sharers = -(-len(members) // targets) if targets else 0
        self.share = [0] * all_members
        exact = self.sharers * targets / len(members)
        for place, member in enumerate(members):
            self.share[member] = math.ceil(exact * (place + 1)) - math.ceil(exact * place)
        self._topic = topic
        self._hash_of = hash_of
        self._members = JavaHashMap[P, JavaHashSet[int]](hash_of, sized_for(targets))
        self._partitions = JavaHashMap[int, JavaHashSet[P]](integer_hash, sized_for(len(members)))

    def hold(self, partition: P, member: int) -> None:
        """Note that a member has a partition."""
        self._members.compute_if_absent(partition, lambda: JavaHashSet[int](integer_hash)).add(member)
        self._of(member).add(partition)

    def add_partition(self, partition: P, capacity: int | None = None) -> None:
        """Note a partition that is to be assigned; ``capacity`` is that of Kafka's set for its members."""
        self._members.compute_if_absent(partition, lambda: JavaHashSet[int](integer_hash, capacity=capacity))

    def count(self, member: int) -> int:
        """Count the partitions of a member."""
        held = self._partitions.get(member)
        return 0 if held is None else len(held)

    def holders(self) -> list[int]:
        """List the members that have any partition, in Java's order."""
        return list(self._partitions)

    def shrink_member(self, member: int) -> None:
        """Take from a member what is above its share."""
        held = self._of(member)
        for partition in list(held):
            if len(held) <= self.share[member]:
                break
            self._drop(partition, member)
            self._members[partition].discard(member)
            held.discard(partition)

    def shrink_partitions(self) -> list[int]:
        """Take from each partition the members above its number of sharers; list those members."""
        losers: list[int] = []
        for partition, holders in self._members.items():
            for member in list(holders) if len(holders) > self.sharers else ():
                if self._drop(partition, member):
                    holders.discard(member)
                    self._of(member).discard(partition)
                    losers.append(member)
                if len(holders) <= self.sharers:
                    break
        return losers

    def fill(self, below: JavaHashSet[int]) -> None:
        """Assign partitions with too few sharers to members below their share, round and round."""
        turn, given_in_round = list(below), False
        place = 0
        for partition, holders in self._members.items():
            missing = self.sharers - len(holders)
            while missing > 0:
                if place >= len(turn):
                    if not given_in_round:
                        break
                    turn, place, given_in_round = list(below), 0, False
                    if not turn:
                        message = "no member is left to share a partition"
                        raise AssignmentError(message, kafka_type="java.util.NoSuchElementException")
                member = turn[place]
                place += 1
                if member in holders:
                    continue
                self._give(partition, member)
                missing -= 1
                given_in_round = True
                if self.count(member) >= self.share[member]:
                    below.discard(member)
            if not len(below):
                break

    def _of(self, member: int) -> JavaHashSet[P]:
        return self._partitions.compute_if_absent(member, lambda: JavaHashSet[P](self._hash_of))

    def _give(self, partition: P, member: int) -> None:
        topic, number = self._named(partition)
        self.new.changed(member).setdefault(topic, set()).add(number)
        self._of(member).add(partition)

    def _drop(self, partition: P, member: int) -> bool:
        topic, number = self._named(partition)
        numbers = self.new.changed(member).get(topic)
        if numbers is None or number not in numbers:
            return False
        numbers.remove(number)
        return True

    def _named(self, partition: P) -> TopicPartition:
        if self._topic is None:
            return partition  # type: ignore[return-value]  # without a topic a partition is a pair
        return self._topic, partition  # type: ignore[return-value]  # with one it is a number
