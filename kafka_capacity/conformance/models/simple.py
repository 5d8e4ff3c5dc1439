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
       members of a hash set (:mod:`kafka_capacity.conformance.models.sharing`).
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

from collections.abc import Collection, Sequence
from functools import partial

from kafka_capacity.conformance.models.sharing import NewAssignments, Sharing, sized_for
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.coordinator import (
    Held,
    assign_by_kind,
    held_partitions,
    known_partition_count,
    map_order,
)
from kafka_capacity.kafka.groups.model import Group, Member, TopicPartition
from kafka_capacity.kafka.java.hash_map import JavaHashSet
from kafka_capacity.kafka.java.hashing import integer_hash, topic_id_partition_hash, uuid_hash


def _assign_mixed(group: Group, assignable: Collection[TopicPartition] | None) -> Assignment:
    """Assign, topic by topic."""
    members = _members_in_map(group)
    new = NewAssignments([held_partitions(member.owned) for member in members])
    topics = JavaHashSet[str](uuid_hash)
    subscribers: dict[str, list[int]] = {}
    for index, member in enumerate(members):
        for topic in _subscribed_topics(member):
            topics.add(topic)
            subscribers.setdefault(topic, []).append(index)
    counts = {topic: known_partition_count(group, topic) for topic in topics}
    # The topics do not touch one another, so their order does not matter.
    for topic, count in counts.items():
        targets = [p for p in range(count) if assignable is None or (topic, p) in assignable]
        _assign_topic(topic, subscribers[topic], targets, new)
    return _as_assignment(group, members, new)


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


def assign_shares(group: Group, assignable: Collection[TopicPartition] | None = None) -> Assignment:
    """Assign a share group, by what the members are to have now; of partitions those that may be, ``None`` for all."""
    return assign_by_kind(
        group, partial(_assign_homogeneous, assignable=assignable), partial(_assign_mixed, assignable=assignable)
    )


def _assign_homogeneous(group: Group, assignable: Collection[TopicPartition] | None) -> Assignment:
    members = _members_in_map(group)
    topics = _subscribed_topics(members[0])
    if not len(topics):
        return Assignment.of(group, {})
    targets: list[TopicPartition] = []
    for topic in topics:
        pairs = ((topic, partition) for partition in range(known_partition_count(group, topic)))
        targets += [pair for pair in pairs if assignable is None or pair in assignable]
    new = NewAssignments([held_partitions(member.owned) for member in members])
    sharing = Sharing(list(range(len(members))), len(targets), topic_id_partition_hash, len(members), new)
    below, above = _keep(sharing, new.before, topics)
    for member in above:
        sharing.shrink_member(member)
    for member in sharing.shrink_partitions():
        below.add(member)
    for pair in targets:
        sharing.add_partition(pair)
    if len(below):
        sharing.fill(below)
    return _as_assignment(group, members, new)


def _keep(
    sharing: Sharing[TopicPartition], before: list[Held], topics: JavaHashSet[str]
) -> tuple[JavaHashSet[int], JavaHashSet[int]]:
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
                sharing.new.changed(member).pop(topic, None)
        share = sharing.share[member]
        if count < share:
            below.add(member)
        elif count > share:
            above.add(member)
    return below, above


def _members_in_map(group: Group) -> tuple[Member, ...]:
    """List the members in the order of the coordinator's map."""
    return tuple(group.members[i] for i in map_order(group))


def _subscribed_topics(member: Member) -> JavaHashSet[str]:
    """Return the topics of one member."""
    topics = JavaHashSet[str](uuid_hash)
    for topic in member.topics:
        topics.add(topic)
    return topics


def _as_assignment(group: Group, members: Sequence[Member], new: NewAssignments) -> Assignment:
    """Make an assignment of what the members are to have; each list sorted by topic id, then partition."""
    held = {member.member_id: new.changed(index) for index, member in enumerate(members)}
    return Assignment.of(
        group, {name: sorted((topic, p) for topic in found for p in found[topic]) for name, found in held.items()}
    )
