"""Records without key today: ``BuiltInPartitioner`` of Kafka 4.3.1 (adaptive sticky partitioning, KIP-794) and 4.4.0.

Algorithm:
    A topic sticks to its partition until ``batch.size`` bytes have gone there, and longer where the switch would cut
    an unfinished batch short (``enable_switch`` is false then), but never beyond twice that. The bytes of the record
    that crosses the limit still go to the old partition; the next one is chosen at once, and may be the same again.

    Each choice takes one draw. Without load statistics it picks among the partitions with a leader, among all if
    none has one. With them it picks by weight: a partition with q batches in its queue weighs (longest queue + 1 - q),
    so slow partitions get less. Statistics are set aside when they say nothing: no partition left, a topic of one
    partition, or equal queues of *all* partitions. Where ``partitioner.availability.timeout.ms`` has left some out,
    even a single one or equal ones count, for the others must get nothing.

    A rack-aware producer (4.4, ``partitioner.rack.aware``, KIP-1123) chooses among the partitions whose leader is in
    its ``client.rack``, and among all where there is none such: the same draw, from a shorter list or table. Whether
    queues say nothing is still told from those of all partitions.

Limits:
    Byte counts and twice the batch size are Java ints and wrap. A ``batch.size`` from 2**30
    on, doubled, is negative: then every record changes the partition.

Worked example: queues of 0, 3 and 1 batches weigh 4, 1 and 3. A draw modulo 8 of 0 to 3 gives the first partition, 4
the second, 5 to 7 the third.

>>> stats = load_stats([0, 3, 1], [10, 11, 12])
>>> stats.ends, [stats.pick(number) for number in (3, 4, 5, 8)]
((4, 5, 8), [10, 11, 12, 10])
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.java.hashing import to_int
from kafka_capacity.kafka.producer.key_hashing import POSITIVE, checked_count


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicMetadata:
    """The partitions of a topic, as ``org.apache.kafka.common.Cluster`` lists them to a partitioner."""

    partitions: int  # how many there are, with a leader or not
    available: tuple[int, ...]  # those with a leader, ascending
    leader_racks: tuple[str | None, ...] | None = None  # of each partition, where a producer asks; `None` is unknown

    def __post_init__(self) -> None:
        checked_count(self.partitions)
        if any(not 0 <= partition < self.partitions for partition in self.available):
            raise RequestError(
                f"available partitions must be numbered from 0 to {self.partitions - 1}, not {list(self.available)}"
            )

    @classmethod
    def of(
        cls, partitions: int, available: Iterable[int] | None = None, leader_racks: Iterable[str | None] | None = None
    ) -> TopicMetadata:
        """Describe a topic; every partition has a leader unless ``available`` says otherwise."""
        numbers = range(partitions) if available is None else sorted(set(available))
        racks = None if leader_racks is None else tuple(leader_racks)
        return cls(partitions=partitions, available=tuple(numbers), leader_racks=racks)

    def pick(self, number: int, rack: str | None = None) -> int:
        """Choose by a positive number: among the partitions with a leader (in a rack), among all if none has one."""
        racks, found = self.leader_racks, self.available
        if racks is not None and rack is not None:
            found = tuple(partition for partition in found if racks[partition] == rack) or found
        return found[number % len(found)] if found else number % self.partitions


@dataclass(slots=True, kw_only=True)
class RoundRobinPartitioner:
    """The counters of one producer (``RoundRobinPartitioner`` of Kafka 4.3.1), whatever the keys.

    Algorithm:
        Each topic has a counter, a Java ``int`` that starts at 0, grows with every record and wraps to negative
        numbers; its sign bit is masked out. The record goes to the partition with a leader that this number, modulo how
        many there are, points to; if none has a leader, the number modulo the partition count is taken. The counter
        knows nothing of partitions: when one loses its leader the sequence jumps, and 2**31 records after the start it
        begins again at 0.

    >>> producer, topic = RoundRobinPartitioner(), TopicMetadata.of(6, [0, 2, 5])
    >>> [producer.partition("orders", topic) for _ in range(4)]
    [0, 2, 5, 0]
    """

    counts: dict[str, int] = field(default_factory=dict)

    def partition(self, name: str, topic: TopicMetadata) -> int:
        """Choose the partition of the next record to a topic."""
        count = self.counts.get(name, 0)
        self.counts[name] = count + 1
        return topic.pick(count & POSITIVE)


Draw = Callable[[], int]  # return any Java `int`, as `ThreadLocalRandom.nextInt` does

_NO_PARTITION = -1


@dataclass(slots=True, kw_only=True)
class StickyPartitionCache:
    """The sticky partitions of one producer before Kafka 3.3 (``StickyPartitionCache`` of Kafka 3.9.2, KIP-480).

    Algorithm:
        A topic sticks to its partition until a batch of that partition is full. Then, or if it has none yet, it gets
        another one at random among the partitions with a leader: drawn again until it differs from the one it had. A
        lone partition with a leader is taken without a draw, even if that changes nothing. If no partition has a
        leader, a single draw among all of them decides, and may give the same one again.

        A new batch on a partition that the topic no longer sticks to changes nothing. A lost leader changes nothing
        either: a partition without leader is kept until its batch is full.

    >>> draw = iter([7, 3, -1]).__next__
    >>> after_new_batch(None, -1, TopicMetadata.of(3), draw), after_new_batch(0, 0, TopicMetadata.of(3), draw)
    (1, 1)
    """

    draw: Draw  # where random numbers come from
    partitions: dict[str, int] = field(default_factory=dict)  # the partition of each topic that has one

    def partition(self, name: str, topic: TopicMetadata) -> int:
        """Return the partition of the next record, chosen now if there is none."""
        if name in self.partitions:
            return self.partitions[name]
        return self.next_partition(name, topic, _NO_PARTITION)

    def next_partition(self, name: str, topic: TopicMetadata, full: int) -> int:
        """Return the partition of a topic after the batch of partition ``full`` was closed."""
        self.partitions[name] = after_new_batch(self.partitions.get(name), full, topic, self.draw)
        return self.partitions[name]


def after_new_batch(current: int | None, full: int, topic: TopicMetadata, draw: Draw) -> int:
    """Choose the sticky partition after the batch of partition ``full`` was closed, ``current`` before that."""
    if current is not None and current != full:
        return current
    if len(topic.available) == 1:
        return topic.available[0]
    chosen = topic.pick(draw() & POSITIVE)
    while chosen == current and topic.available:
        chosen = topic.pick(draw() & POSITIVE)
    return chosen


_MASK = (1 << 64) - 1
_STEP = (0x9E3779B97F4A7C15 + 2) & _MASK


class ThreadRandom:
    """The generator of one thread, ``java.util.concurrent.ThreadLocalRandom``, draw for draw (JDK 17).

    Algorithm:
        A counter of 64 bits goes on by an odd step with every draw, and a draw is its scrambled value, of which the
        upper 32 bits are an ``int``. The step grows by two with the number of the thread, so that threads of one seed
        differ; this is the main thread, number 1. Java seeds the counters from the clock; here the seed is given.

    >>> ThreadRandom(8172561591062034290).next_int()
    371358968

    Args:
        seed: the counter before the first draw, a Java ``long``.
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def next_int(self) -> int:
        """Draw any ``int``."""
        self._state = (self._state + _STEP) & _MASK
        mixed = (self._state ^ self._state >> 33) * 0xFF51AFD7ED558CCD & _MASK
        return to_int(((mixed ^ mixed >> 33) * 0xC4CEB9FE1A85EC53 & _MASK) >> 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStats:
    """How likely each partition is to be chosen."""

    ends: tuple[int, ...]
    partition_ids: tuple[int, ...]

    def pick(self, number: int) -> int:
        """Choose by a positive number: the first partition whose running sum lies above the remainder."""
        return self.partition_ids[bisect_right(self.ends, number % self.ends[-1])]


@dataclass(slots=True, kw_only=True)
class BuiltInPartitioner:
    """The partitioner of one topic."""

    sticky_batch_size: int  # bytes after which another partition is chosen (`batch.size`), from 1
    draw: Callable[[], int]  # gives an integer from 0 to 2**31 - 1, as `BuiltInPartitioner.randomPartition` does
    topic: TopicMetadata  # what is known of the topic now
    stats: LoadStats | None = None  # load statistics, `None` to choose evenly
    rack: str | None = None  # where a rack-aware producer is, `None` for one that is not
    sticky: int | None = field(default=None, init=False)  # the current partition, `None` before the first record
    produced_bytes: int = field(default=0, init=False)  # to that partition

    def __post_init__(self) -> None:
        if self.sticky_batch_size < 1:
            raise RequestError(f"sticky_batch_size must be at least 1, not {self.sticky_batch_size}")

    def partition(self, record_bytes: int, *, enable_switch: bool = True) -> int:
        """Return the partition of a record of so many bytes, and choose the next one if this one has had enough."""
        current = self.sticky = self._next_partition() if self.sticky is None else self.sticky
        self.produced_bytes = to_int(self.produced_bytes + record_bytes)
        if has_enough(self.produced_bytes, self.sticky_batch_size, enable_switch=enable_switch):
            self.sticky, self.produced_bytes = self._next_partition(), 0
        return current

    def _next_partition(self) -> int:
        number = self.draw()
        return self.topic.pick(number, self.rack) if self.stats is None else self.stats.pick(number)


def has_enough(produced_bytes: int, sticky_batch_size: int, *, enable_switch: bool) -> bool:
    """Return whether a partition that got so many bytes is given up."""
    if enable_switch and produced_bytes >= sticky_batch_size:
        return True
    return produced_bytes >= to_int(2 * sticky_batch_size)


def load_stats(
    queue_sizes: Sequence[int],
    partition_ids: Sequence[int],
    length: int | None = None,
    *,
    is_near: Sequence[bool] | None = None,
) -> LoadStats | None:
    """Weigh partitions by their queues.

    Args:
        queue_sizes: batches waiting for each partition that has a leader.
        partition_ids: the numbers of those partitions.
        length: how many of them, from the first, answer in time; all if ``None``.
        is_near: whether the leader of each is in the rack of a producer that is rack-aware, ``None`` for another one.

    Returns:
        ``None`` where the queues say nothing, so that all partitions are as likely.

    Raises:
        RequestError: the lists do not fit together, or the weights add up beyond a Java ``int``.
    """
    count = len(queue_sizes) if length is None else length
    if len(queue_sizes) != len(partition_ids) or count > len(queue_sizes):
        raise RequestError(
            f"{len(queue_sizes)} queue sizes, {len(partition_ids)} partition ids and length {count} do not fit together"
        )
    if count < 1 or len(queue_sizes) < 2:
        return None
    sizes = queue_sizes[:count]
    if count == len(queue_sizes) and len(set(sizes)) == 1:
        return None
    chosen = [i for i in range(count) if is_near is not None and is_near[i]] or range(count)
    sizes = [queue_sizes[i] for i in chosen]
    ends = tuple(accumulate(max(sizes) + 1 - size for size in sizes))
    if ends[-1] != to_int(ends[-1]):
        raise RequestError(f"queue sizes up to {max(sizes)} give weights of {ends[-1]} in all, beyond a Java int")
    return LoadStats(ends=ends, partition_ids=tuple(partition_ids[i] for i in chosen))
