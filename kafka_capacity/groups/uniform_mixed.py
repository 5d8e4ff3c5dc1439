"""``uniform`` where subscriptions differ (``UniformHeterogeneousAssignmentBuilder``, 4.3.1).

Algorithm:
    1. Members keep everything they have of topics that they still subscribe to.
    2. The other partitions go to the least loaded subscribers of their topic, topics with the most partitions for
       each subscriber first.
    3. Topic by topic in the same order, partitions go from the most loaded of its subscribers to the least loaded
       until those differ by at most one; round and round until nothing moves, at most 16 times.

Members count by their index in the coordinator's map, which settles ties
(:mod:`kafka_capacity.groups.uniform_levelling`).
"""

from __future__ import annotations

from kafka_capacity.errors import AssignmentError
from kafka_capacity.groups.assignment import Assignment
from kafka_capacity.groups.coordinator import (
    Held,
    as_assignment,
    held_partitions,
    known_partition_count,
    members_in_map,
)
from kafka_capacity.groups.model import Group
from kafka_capacity.groups.uniform_levelling import Levels
from kafka_capacity.java.hashing import uuid_halves

_MOST_ROUNDS = 16  # UniformHeterogeneousAssignmentBuilder.MAX_ITERATION_COUNT


def assign_mixed(group: Group) -> Assignment:
    """Assign, topic by topic.

    Raises:
        AssignmentError: a subscribed topic does not exist, or a member has a partition that does not exist.
    """
    work = _Mixed(group)
    if not work.owners:
        return Assignment.of(group, {})
    work.keep()
    work.give_rest()
    work.balance()
    held: dict[str, Held] = {member.member_id: {} for member in work.members}
    for topic, owners in work.owners.items():
        for partition, owner in enumerate(owners):
            if owner is not None:
                held[work.members[owner].member_id].setdefault(topic, []).append(partition)
    for member, topic, partition in work.overlaps:
        numbers = held[work.members[member].member_id].setdefault(topic, [])
        if partition not in numbers:
            numbers.append(partition)
    return as_assignment(group, held)


class _Mixed:
    """The owners of all partitions, while they change.

    Attributes:
        overlaps: what members keep though another one holds it too.
    """

    def __init__(self, group: Group) -> None:
        self.members = members_in_map(group)
        self.subscribers: dict[str, list[int]] = {}
        for index, member in enumerate(self.members):
            for topic in dict.fromkeys(member.topics):
                self.subscribers.setdefault(topic, []).append(index)
        self.sizes = [0] * len(self.members)
        self.owners: dict[str, list[int | None]] = {
            topic: [None] * known_partition_count(group, topic) for topic in self.subscribers
        }
        self.overlaps: set[tuple[int, str, int]] = set()
        self._order = sorted(self.owners, key=self._topic_key)

    def keep(self) -> None:
        """Let the members keep what they have and still subscribe to."""
        for index, member in enumerate(self.members):
            for topic, partitions in held_partitions(member.owned).items():
                if topic not in member.topics:
                    continue
                self.sizes[index] += len(partitions)
                owners = self.owners[topic]
                for partition in partitions:
                    if not 0 <= partition < len(owners):
                        raise AssignmentError(
                            f"{member.member_id!r} has partition {partition} of {topic}, which has {len(owners)}",
                            kafka_type="java.lang.ArrayIndexOutOfBoundsException",
                        )
                    other = owners[partition]
                    if other is not None:
                        self.overlaps.add((other, topic, partition))
                    owners[partition] = index

    def give_rest(self) -> None:
        """Give the partitions that nobody holds to the least loaded subscribers."""
        for topic in self._order:
            levels = Levels(self.subscribers[topic], self.sizes)
            for partition, owner in enumerate(self.owners[topic]):
                if owner is None:
                    self._assign(topic, partition, levels.next_lowest())

    def balance(self) -> None:
        """Move partitions within the topics that have two subscribers or more."""
        topics = [topic for topic in self._order if len(self.subscribers[topic]) >= 2]
        last_changed: int | None = None
        for _ in range(_MOST_ROUNDS):
            for position, topic in enumerate(topics):
                if position == last_changed:
                    return
                if self._balance_topic(topic) or last_changed is None:
                    last_changed = position

    def _balance_topic(self, topic: str) -> int:
        """Move partitions of one topic; tell how many."""
        levels = Levels(self.subscribers[topic], self.sizes)
        if levels.spread() <= 1:
            return 0
        held: dict[int, list[int]] = {}
        for partition, owner in enumerate(self.owners[topic]):
            if owner is not None:
                held.setdefault(owner, []).append(partition)
        moved = 0
        while not levels.is_balanced():
            giver = levels.next_highest()
            while giver is not None and not held.get(giver):
                levels.exclude_highest()
                giver = levels.next_highest()
            if giver is None:
                break
            partition = held[giver].pop()
            taker = levels.next_lowest()
            if levels.is_balanced():
                break
            self._assign(topic, partition, taker)
            moved += 1
        return moved

    def _assign(self, topic: str, partition: int, index: int) -> None:
        before = self.owners[topic][partition]
        if before is not None:
            self.sizes[before] -= 1
            self.overlaps.discard((before, topic, partition))
        self.owners[topic][partition] = index
        self.sizes[index] += 1

    def _topic_key(self, topic: str) -> tuple[float, int, tuple[int, int]]:
        subscribers = len(self.subscribers[topic])
        return -len(self.owners[topic]) / subscribers, subscribers, uuid_halves(topic)
