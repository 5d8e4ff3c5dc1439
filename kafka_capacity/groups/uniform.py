"""``uniform`` of the group coordinator (KIP-848, ``UniformAssignor`` of the group coordinator, 4.3.1).

Goals, in this order:
    1. Balance: counts that differ by at most one where all members subscribe to the same topics, else close to it.
    2. Stickiness: a member keeps what it has as far as balance lets it.

Constraints:
    Only to subscribers; all subscribed topics must exist. It does not look at racks.

Algorithm (all members subscribe to the same topics; else :mod:`kafka_capacity.groups.uniform_mixed`):
    1. Of p partitions and c members each is to get p // c, and p % c of them one more.
    2. Members, in the order of a hash map, keep what they have up to their share. As long as there are larger
       shares each is offered one, and gives it back if it has no use for it and enough members are to come.
       Partitions above the share, in the order of a hash set, are taken away.
    3. What nobody had, then what was taken away, fills the members below their share in the same order.

Worked example: c joins a and b, who had two and three partitions:

>>> from kafka_capacity.groups.model import Group, Member, Topic, TopicPartitions
>>> orders = "AAAAAAAAAAAAAAAAAAAAAQ"
>>> had = {"a": [0, 1], "b": [2, 3, 4], "c": []}
>>> members = tuple(
...     Member(member_id=name, topics=(orders,), owned=TopicPartitions.of((orders, p) for p in partitions))
...     for name, partitions in had.items()
... )
>>> group = Group(topics=(Topic(name=orders, partitions=5),), members=members)
>>> {name: [p for _, p in part] for name, part in UniformAssignor().assign(group).lists().items()}
{'a': [0, 1], 'b': [2, 3], 'c': [4]}
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_capacity.errors import AssignmentError
from kafka_capacity.groups.assignment import Assignment
from kafka_capacity.groups.coordinator import (
    KAFKA_TYPE,
    Held,
    are_homogeneous,
    as_assignment,
    held_partitions,
    known_partition_count,
    members_in_map,
    subscribed_topics,
)
from kafka_capacity.groups.model import Group, Member, TopicPartition
from kafka_capacity.groups.registry import GroupProtocol, register
from kafka_capacity.groups.uniform_mixed import assign_mixed
from kafka_capacity.java.hash_map import JavaHashSet
from kafka_capacity.java.hashing import uuid_hash


@register("uniform", GroupProtocol.CONSUMER)
class UniformAssignor:
    """The default of a group that the coordinator assigns."""

    name: str
    is_cooperative = False

    def assign(self, group: Group) -> Assignment:
        """Assign, by what the members are to have now.

        Raises:
            AssignmentError: Kafka would throw.
        """
        if not group.members:
            return Assignment.of(group, {})
        if are_homogeneous(group):
            return as_assignment(group, _Homogeneous.of(group).assign())
        return as_assignment(group, assign_mixed(group))


@dataclass(slots=True, kw_only=True)
class _Homogeneous:
    """A group whose members all want the same topics."""

    members: tuple[Member, ...]
    topics: JavaHashSet[str]
    left: list[TopicPartition]
    share: int
    larger_shares: int
    held: dict[str, Held] = field(default_factory=dict)
    room: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, group: Group) -> _Homogeneous:
        members = members_in_map(group)
        topics = JavaHashSet[str](uuid_hash, subscribed_topics(members[0]))
        taken = {pair for member in members for pair in member.owned}
        left: list[TopicPartition] = []
        total = 0
        for topic in topics:
            count = known_partition_count(group, topic)
            left += [pair for partition in range(count) if (pair := (topic, partition)) not in taken]
            total += count
        share, larger_shares = divmod(total, len(members))
        return cls(members=members, topics=topics, left=left, share=share, larger_shares=larger_shares)

    def assign(self) -> dict[str, Held]:
        """Assign; give what each member is to have."""
        if not len(self.topics):
            return {}
        for i, member in enumerate(self.members):
            self._keep(member, len(self.members) - i)
        filled = 0
        for member_id, room in self.room.items():
            for topic, partition in self.left[filled : filled + room]:
                self.held[member_id].setdefault(topic, []).append(partition)
            filled = min(filled + room, len(self.left))
        if filled < len(self.left):
            raise AssignmentError(f"{len(self.left) - filled} partitions are left over", kafka_type=KAFKA_TYPE)
        return self.held

    def _keep(self, member: Member, members_to_come: int) -> None:
        """Let a member keep its share. It counts itself among the members to come."""
        is_larger = self.larger_shares > 0
        room = self.share + is_larger
        kept: Held = {}
        for topic, partitions in held_partitions(member.owned).items():
            if topic not in self.topics:
                continue
            if len(partitions) > room:
                self.left += [(topic, partition) for partition in partitions[room:]]
                partitions = partitions[:room]
            room -= len(partitions)
            if partitions:
                kept[topic] = partitions
        if room > 0 and is_larger and members_to_come > self.larger_shares:
            room -= 1
            is_larger = False
        if room > 0:
            self.room[member.member_id] = room
        self.larger_shares -= is_larger
        self.held[member.member_id] = kept
