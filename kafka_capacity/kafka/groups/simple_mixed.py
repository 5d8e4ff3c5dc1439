"""``simple`` where subscriptions differ (``SimpleHeterogeneousAssignmentBuilder``, 4.3.1): topic by topic.

Each topic is shared out among its subscribers as if there were no other. A member that no longer subscribes to a
topic has a share of nothing and loses it, as long as anyone else subscribes.
"""

from __future__ import annotations

from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.coordinator import (
    as_assignment,
    held_partitions,
    known_partition_count,
    members_in_map,
    subscribed_topics,
)
from kafka_capacity.kafka.groups.model import Group
from kafka_capacity.kafka.groups.sharing import NewAssignments, Sharing, sized_for
from kafka_capacity.kafka.java.hash_map import JavaHashSet
from kafka_capacity.kafka.java.hashing import integer_hash, uuid_hash


def assign_mixed_shares(group: Group) -> Assignment:
    """Assign, topic by topic.

    Raises:
        AssignmentError: Kafka would throw.
    """
    members = members_in_map(group)
    new = NewAssignments([held_partitions(member.owned) for member in members])
    topics = JavaHashSet[str](uuid_hash)
    subscribers: dict[str, list[int]] = {}
    for index, member in enumerate(members):
        for topic in subscribed_topics(member):
            topics.add(topic)
            subscribers.setdefault(topic, []).append(index)
    counts = {topic: known_partition_count(group, topic) for topic in topics}
    # The topics do not touch one another, so their order does not matter.
    for topic, count in counts.items():
        targets = [p for p in range(count) if group.assignable is None or (topic, p) in group.assignable]
        _assign_topic(topic, subscribers[topic], targets, new)
    return as_assignment(group, {member.member_id: new.of(index) for index, member in enumerate(members)})


def _assign_topic(topic: str, subscribers: list[int], targets: list[int], new: NewAssignments) -> None:
    sharing = Sharing(subscribers, len(targets), integer_hash, len(new.before), new, topic)
    for member, held in enumerate(new.before):
        for partition in held.get(topic, ()):
            sharing.hold(partition, member)
    for member in sharing.holders():
        sharing.shrink_member(member)
    sharing.shrink_partitions()
    for partition in targets:
        sharing.add_partition(partition, sized_for(len(subscribers)))
    below = JavaHashSet[int](integer_hash, capacity=sized_for(len(new.before)))
    for member in subscribers:
        if sharing.count(member) < sharing.share[member]:
            below.add(member)
    sharing.fill(below)
