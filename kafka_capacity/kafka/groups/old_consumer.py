"""``range`` and ``roundrobin`` of the old Scala consumer (``kafka.consumer.PartitionAssignor``, 0.10.2.2).

Every consumer reads each of its topics with a number of threads, and partitions go to threads. Each consumer worked
out the assignment of all by itself, from what it found in ZooKeeper.

Constraints:
    Threads are named ``consumer-number`` and sort as text: ``C1-10`` comes before ``C1-2``.

Algorithm, ``range``:
    Topic by topic, of p partitions and t threads each thread gets a run of p // t, the first p % t one more.

Algorithm, ``roundrobin``:
    All partitions, sorted by the Java hash of ``[topic,partition]``, go round all threads; a thread that does not
    read the topic is passed over. Equal hashes keep the order in which the topics are given: there Kafka's own
    order rests on a Scala map.

Worked example, 10 partitions over three consumers of one thread:

>>> from kafka_capacity.kafka.groups.model import Group, Member, Topic
>>> members = tuple(Member(member_id=name, topics=("orders",)) for name in ("aaa", "bbb", "ccc"))
>>> group = Group(topics=(Topic(name="orders", partitions=10),), members=members)
>>> {name: [p for _, p in part] for name, part in assign_old_ranges(group).lists().items()}
{'aaa': [0, 1, 2, 3], 'bbb': [4, 5, 6], 'ccc': [7, 8, 9]}
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.model import Group
from kafka_capacity.kafka.groups.range_ import range_owners
from kafka_capacity.kafka.groups.registry import GroupProtocol, register
from kafka_capacity.kafka.java.hashing import string_hash, utf16_key

Thread = tuple[int, int]  # position of the consumer in the group, number of its thread


@register("range", GroupProtocol.OLD)
def assign_old_ranges(group: Group) -> Assignment:
    """Assign runs of neighbours, topic by topic, over threads."""
    rows: list[tuple[Thread, int, int]] = []
    readers = _threads_by_topic(group)
    for number, topic in enumerate(group.topics):
        threads = readers.get(topic.name)
        if threads:
            places = range_owners(topic.partitions, np.arange(len(threads))).tolist()
            rows += [(threads[place], number, partition) for partition, place in enumerate(places)]
    return _assignment(group, rows)


@register("roundrobin", GroupProtocol.OLD)
def assign_old_round_robin(group: Group) -> Assignment:
    """Deal all partitions to one circle of threads, in the order of their hashes."""
    readers = _threads_by_topic(group)
    circle = _sorted(group, {thread for threads in readers.values() for thread in threads})
    reads = {topic: frozenset(threads) for topic, threads in readers.items()}
    partitions = [
        (string_hash(f"[{topic.name},{partition}]"), number, partition)
        for number, topic in enumerate(group.topics)
        if topic.name in readers
        for partition in range(topic.partitions)
    ]
    rows: list[tuple[Thread, int, int]] = []
    turn = 0
    for _, number, partition in sorted(partitions, key=lambda hashed: hashed[0]):
        while circle[turn] not in reads[group.topics[number].name]:
            turn = (turn + 1) % len(circle)
        rows.append((circle[turn], number, partition))
        turn = (turn + 1) % len(circle)
    return _assignment(group, rows)


def _threads_by_topic(group: Group) -> dict[str, list[Thread]]:
    """List the threads that read each topic, sorted."""
    found: dict[str, set[Thread]] = {}
    for consumer, member in enumerate(group.members):
        counts = member.threads or (1,) * len(member.topics)
        # Of a topic that is named twice the last count holds.
        for topic, count in dict(zip(member.topics, counts, strict=True)).items():
            found.setdefault(topic, set()).update((consumer, thread) for thread in range(count))
    return {topic: _sorted(group, threads) for topic, threads in found.items()}


def _sorted(group: Group, threads: set[Thread]) -> list[Thread]:
    return sorted(threads, key=lambda thread: utf16_key(f"{group.members[thread[0]].member_id}-{thread[1]}"))


def _assignment(group: Group, rows: list[tuple[Thread, int, int]]) -> Assignment:
    names = tuple(topic.name for topic in group.topics)
    ordered = sorted(rows, key=lambda row: (utf16_key(names[row[1]]), row[2]))
    table = np.array([(*thread, topic, partition) for thread, topic, partition in ordered], dtype=np.int64)
    owner, thread, topic, partition = table.reshape(-1, 4).T
    return Assignment.of_owners(group, names, owner=owner, topic=topic, partition=partition, thread=thread)
