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

>>> found = assign_old_ranges({"orders": 10}, {name: {"orders": 1} for name in ("aaa", "bbb", "ccc")})
>>> {name: [partition for _, partition, _ in rows] for name, rows in found.items()}
{'aaa': [0, 1, 2, 3], 'bbb': [4, 5, 6], 'ccc': [7, 8, 9]}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_capacity.kafka.java.hashing import string_hash, utf16_key

Consumers = Mapping[str, Mapping[str, int]]  # by id, how many threads read each topic
Thread = tuple[str, str]  # its name, and the consumer it is one of
Assigned = dict[
    str, list[tuple[str, int, str]]
]  # by consumer topics, partitions and the threads that read them, sorted


def assign_old_ranges(topics: Mapping[str, int], consumers: Consumers) -> Assigned:
    """Assign runs of neighbours, topic by topic, over threads; ``topics`` says how many partitions each has."""
    rows: list[tuple[str, int, Thread]] = []
    for topic, threads in _threads_by_topic(topics, consumers).items():
        each, extra = divmod(topics[topic], len(threads))
        owners = [thread for place, thread in enumerate(threads) for _ in range(each + (place < extra))]
        rows += [(topic, partition, thread) for partition, thread in enumerate(owners)]
    return _assigned(consumers, rows)


def assign_old_round_robin(topics: Mapping[str, int], consumers: Consumers) -> Assigned:
    """Deal all partitions to one circle of threads, in the order of their hashes."""
    readers = _threads_by_topic(topics, consumers)
    circle = sorted({thread for threads in readers.values() for thread in threads}, key=_by_name)
    partitions = [(topic, number) for topic, count in topics.items() if topic in readers for number in range(count)]
    rows: list[tuple[str, int, Thread]] = []
    turn = 0
    for topic, number in sorted(partitions, key=lambda one: string_hash(f"[{one[0]},{one[1]}]")):
        while circle[turn] not in readers[topic]:
            turn = (turn + 1) % len(circle)
        rows.append((topic, number, circle[turn]))
        turn = (turn + 1) % len(circle)
    return _assigned(consumers, rows)


def _threads_by_topic(topics: Mapping[str, int], consumers: Consumers) -> dict[str, list[Thread]]:
    """List the threads that read each topic there is, sorted."""
    found: dict[str, list[Thread]] = {}
    for consumer, counts in consumers.items():
        for topic, count in counts.items():
            if topic in topics and count:
                found.setdefault(topic, []).extend((f"{consumer}-{thread}", consumer) for thread in range(count))
    return {topic: sorted(threads, key=_by_name) for topic, threads in found.items()}


def _by_name(thread: Thread) -> bytes:
    return utf16_key(thread[0])


def _assigned(consumers: Consumers, rows: Iterable[tuple[str, int, Thread]]) -> Assigned:
    found: Assigned = {consumer: [] for consumer in consumers}
    for topic, partition, (name, consumer) in sorted(rows, key=lambda row: (utf16_key(row[0]), row[1])):
        found[consumer].append((topic, partition, name))
    return found
