"""``simple`` of share groups (KIP-932, ``SimpleAssignor`` of the group coordinator, 4.3.1).

Members of a share group may read one partition together: with more members than partitions each partition is
shared.

Goals, in this order:
    1. Balance: of p partitions and c members each partition goes to ceil(c / p) of them, and the members' counts
       differ by at most one.
    2. Stickiness: a member keeps what it has as far as balance lets it.

Constraints:
    Only to subscribers; all subscribed topics must exist; partitions may be declared not assignable (yet).

Algorithm (all members subscribe to the same topics; else the same for each topic by itself):
    1. Members keep what they have of subscribed topics.
    2. Members with more than their share lose the first of a hash set, partitions with too many members the first
       members of a hash set.
    3. Partitions with too few members go round the members below their share, in the order of hash maps. A
       partition that no such member can take stays with too few; if nobody is left Kafka throws a
       NoSuchElementException.

Worked example, 2 partitions over 3 members: each partition is shared by two, and the shares are 2, 1 and 1.

>>> from kafka_capacity.kafka.groups.model import Group, Member, Topic
>>> orders = "AAAAAAAAAAAAAAAAAAAAAQ"
>>> members = tuple(Member(member_id=name, topics=(orders,)) for name in "abc")
>>> group = Group(topics=(Topic(name=orders, partitions=2),), members=members)
>>> {name: [p for _, p in part] for name, part in assign_shares(group).lists().items()}
{'a': [0, 1], 'b': [1], 'c': [0]}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import partial

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.coordinator import (
    Held,
    assign_by_kind,
    held_partitions,
    known_partition_count,
    map_order,
)
from kafka_capacity.kafka.groups.model import Group, Member, TopicPartition
from kafka_capacity.kafka.java.hash_map import JavaHashMap, JavaHashSet, copied_map_capacity
from kafka_capacity.kafka.java.hashing import integer_hash, topic_id_partition_hash, uuid_hash

Changing = list[dict[str, set[int]]]
"""What each member is to have, by topic id, while that changes."""


def assign_shares(group: Group, assignable: Collection[TopicPartition] | None = None) -> Assignment:
    """Assign a share group, by what the members are to have now; of partitions those that may be, ``None`` for all."""
    return assign_by_kind(
        group, partial(_assign_homogeneous, assignable=assignable), partial(_assign_mixed, assignable=assignable)
    )


def _assign_homogeneous(group: Group, assignable: Collection[TopicPartition] | None) -> Assignment:
    members = _members_in_map(group)
    topics = JavaHashSet[str](uuid_hash)
    for topic in members[0].topics:
        topics.add(topic)
    if not len(topics):
        return Assignment.of(group, {})
    targets = [pair for topic in topics for pair in _targets(group, topic, assignable)]
    before, new = _held(members)
    sharing = Sharing(range(len(members)), len(targets), topic_id_partition_hash, new)
    below, above = _keep(sharing, before, topics)
    for member in above:
        sharing.shrink_member(member)
    for member in sharing.shrink_partitions():
        below.add(member)
    for pair in targets:
        sharing.add_partition(pair)
    if len(below):
        sharing.fill(below)
    return _as_assignment(group, members, new)


def _assign_mixed(group: Group, assignable: Collection[TopicPartition] | None) -> Assignment:
    """Assign, topic by topic; topics do not touch one another, so their order does not matter."""
    members = _members_in_map(group)
    subscribers: dict[str, list[int]] = {}
    for index, member in enumerate(members):
        for topic in dict.fromkeys(member.topics):
            subscribers.setdefault(topic, []).append(index)
    targets = {topic: _targets(group, topic, assignable) for topic in subscribers}
    before, new = _held(members)
    for topic, readers in subscribers.items():
        # Within a topic Kafka's sets hold the numbers of partitions alone.
        sharing = Sharing(readers, len(targets[topic]), lambda pair: integer_hash(pair[1]), new)
        for index, held in enumerate(before):
            for number in held.get(topic, ()):
                sharing.hold((topic, number), index)
        for index in sharing.holders():
            sharing.shrink_member(index)
        sharing.shrink_partitions()
        for pair in targets[topic]:
            sharing.add_partition(pair, sized_for(len(readers)))
        below = JavaHashSet[int](integer_hash, capacity=sized_for(len(members)))
        for index in readers:
            if sharing.count(index) < sharing.share[index]:
                below.add(index)
        sharing.fill(below)
    return _as_assignment(group, members, new)


def _members_in_map(group: Group) -> tuple[Member, ...]:
    """List the members in the order of the coordinator's map."""
    return tuple(group.members[i] for i in map_order(group))


def _targets(group: Group, topic: str, assignable: Collection[TopicPartition] | None) -> list[TopicPartition]:
    pairs = [(topic, number) for number in range(known_partition_count(group, topic))]
    return [pair for pair in pairs if assignable is None or pair in assignable]


def _held(members: Sequence[Member]) -> tuple[list[Held], Changing]:
    """Return what members have, in Java's order, and the same to be changed."""
    before = [held_partitions(member.owned) for member in members]
    return before, [{topic: set(numbers) for topic, numbers in held.items()} for held in before]


def _keep(sharing: Sharing, before: list[Held], topics: JavaHashSet[str]) -> tuple[JavaHashSet[int], JavaHashSet[int]]:
    """Note what the members have; give those with less and those with more than their share."""
    below = JavaHashSet[int](integer_hash, capacity=sized_for(len(before)))
    above = JavaHashSet[int](integer_hash, capacity=sized_for(len(before)))
    for member, held in enumerate(before):
        count = 0
        for topic, partitions in held.items():
            if topic in topics:
                count += len(partitions)
                for partition in partitions:
                    sharing.hold((topic, partition), member)
            else:
                sharing.new[member].pop(topic, None)
        share = sharing.share[member]
        if count < share:
            below.add(member)
        elif count > share:
            above.add(member)
    return below, above


def _as_assignment(group: Group, members: Sequence[Member], new: Changing) -> Assignment:
    """Make an assignment of what the members are to have; each list sorted by topic id, then partition."""
    lists = [sorted((topic, number) for topic in found for number in found[topic]) for found in new]
    return Assignment.of(group, {member.member_id: listed for member, listed in zip(members, lists, strict=True)})


def sized_for(count: int) -> int:
    """Return the capacity of Kafka's maps and sets of a known size (``AssignorHelpers.newHashMap``)."""
    return copied_map_capacity(count + 1)


class Sharing:
    """Who holds which of some partitions.

    ``members`` are indices of the subscribers in the group; ``targets`` is how many partitions are to be assigned.
    ``new``, what all members of the group are to have, is kept up to date.

    Attributes:
        share: how many partitions each member is to have.
        sharers: how many members each partition is to have.
    """

    def __init__(
        self, members: Sequence[int], targets: int, hash_of: Callable[[TopicPartition], int], new: Changing
    ) -> None:
        self.new = new
        self.sharers = -(-len(members) // targets) if targets else 0
        self.share = [0] * len(new)
        exact = self.sharers * targets / len(members)
        for place, member in enumerate(members):
            self.share[member] = math.ceil(exact * (place + 1)) - math.ceil(exact * place)
        self._hash_of = hash_of
        self._members = JavaHashMap[TopicPartition, JavaHashSet[int]](hash_of, sized_for(targets))
        self._partitions = JavaHashMap[int, JavaHashSet[TopicPartition]](integer_hash, sized_for(len(members)))

    def hold(self, partition: TopicPartition, member: int) -> None:
        """Note that a member has a partition."""
        self._members.compute_if_absent(partition, lambda: JavaHashSet[int](integer_hash)).add(member)
        self._of(member).add(partition)

    def add_partition(self, partition: TopicPartition, capacity: int | None = None) -> None:
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

    def _of(self, member: int) -> JavaHashSet[TopicPartition]:
        return self._partitions.compute_if_absent(member, lambda: JavaHashSet[TopicPartition](self._hash_of))

    def _give(self, partition: TopicPartition, member: int) -> None:
        topic, number = partition
        self.new[member].setdefault(topic, set()).add(number)
        self._of(member).add(partition)

    def _drop(self, partition: TopicPartition, member: int) -> bool:
        topic, number = partition
        numbers = self.new[member].get(topic)
        if numbers is None or number not in numbers:
            return False
        numbers.remove(number)
        return True
