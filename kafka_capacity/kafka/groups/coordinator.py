"""The group coordinator: which broker it is, and how it sees a group, members by index and topics by id (4.3.1).

The coordinator holds the members in a ``HashMap`` by id, each member's topics in a ``HashSet``, and what it is to
have in a ``HashMap`` of a ``HashSet`` of partitions for each topic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.model import Group, TopicPartitions
from kafka_capacity.kafka.java.hash_map import JavaHashMap, copied_set_capacity, put_order
from kafka_capacity.kafka.java.hashing import integer_hash, string_hashes, uuid_hash

_LEAST_HASH = np.iinfo(np.int32).min

KAFKA_TYPE = "org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException"

Held = dict[str, list[int]]  # partitions by topic id; both in Java's order of iteration


def map_order(group: Group) -> list[int]:
    """List the positions of the members in the order of the coordinator's map."""
    order: list[int] = put_order(string_hashes([member.member_id for member in group.members])).tolist()
    return order


def assign_by_kind(
    group: Group, homogeneous: Callable[[Group], Assignment], mixed: Callable[[Group], Assignment]
) -> Assignment:
    """Assign by one rule where all members subscribe to the same topics, else by another; nobody gets nothing."""
    if not group.members:
        return Assignment.of(group, {})
    lists = {id(member.topics): member.topics for member in group.members}.values()
    return homogeneous(group) if len({frozenset(topics) for topics in lists}) == 1 else mixed(group)


def held_partitions(owned: TopicPartitions) -> Held:
    """Return what a member has, topics and partitions in the order in which the coordinator walks over them."""
    if not len(owned):
        return {}
    by_topic: dict[str, list[int]] = {}
    for topic, partition in owned.pairs():
        by_topic.setdefault(topic, []).append(partition)
    topics = JavaHashMap[str, None](uuid_hash)
    for topic in by_topic:
        topics.put(topic, None)
    return {topic: integer_set_order(by_topic[topic]) for topic in topics}


def integer_set_order(listed: list[int]) -> list[int]:
    """Order numbers as a ``HashSet`` made of the list does."""
    capacity = copied_set_capacity(len(listed))
    distinct = list(dict.fromkeys(listed))
    if min(distinct) >= 0 and max(distinct) < capacity:
        return sorted(distinct)  # a table with a bucket for each
    return [distinct[i] for i in put_order([integer_hash(n) for n in distinct], capacity).tolist()]


def known_partition_count(group: Group, topic: str) -> int:
    """Return how many partitions a subscribed topic has; AssignmentError where there is no such topic."""
    count = group.partition_count(topic)
    if count is None:
        raise AssignmentError(f"a member subscribes to topic {topic}, which does not exist", kafka_type=KAFKA_TYPE)
    return count


def coordinator_partitions(groups: Sequence[str], count: int) -> Ints:
    """Return the partition of ``__consumer_offsets`` whose leader coordinates each group: int64[G].

    This is ``GroupCoordinator.partitionFor``; ``count`` is how many partitions there are.

    >>> coordinator_partitions(("billing", "polygenelubricants"), 50).tolist()
    [9, 0]
    """
    if not count or not groups:
        return np.zeros(len(groups), dtype=np.int64)
    hashes = string_hashes(groups).astype(np.int64)
    # Kafka's Utils.abs gives 0 for the least number, which has no positive counterpart.
    return np.where(hashes == _LEAST_HASH, 0, np.abs(hashes)) % count
