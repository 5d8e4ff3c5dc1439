"""Records without key today: ``BuiltInPartitioner`` of Kafka 4.3.1 (adaptive sticky partitioning, KIP-794).

Algorithm:
    A topic sticks to its partition until ``batch.size`` bytes have gone there, and longer where the switch would cut
    an unfinished batch short (``enable_switch`` is false then), but never beyond twice that. The bytes of the record
    that crosses the limit still go to the old partition; the next one is chosen at once, and may be the same again.

    Each choice takes one draw. Without load statistics it picks among the partitions with a leader, among all if
    none has one. With them it picks by weight: a partition with q batches in its queue weighs (longest queue + 1 - q),
    so slow partitions get less. Statistics are set aside when they say nothing: no partition left, a topic of one
    partition, or equal queues of *all* partitions. Where ``partitioner.availability.timeout.ms`` has left some out,
    even a single one or equal ones count, for the others must get nothing.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.java.hashing import to_int
from kafka_capacity.kafka.producer.topic import TopicMetadata

PositiveDraw = Callable[[], int]  # return an integer from 0 to 2**31 - 1, as `BuiltInPartitioner.randomPartition` does


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStats:
    """How likely each partition is to be chosen."""

    ends: tuple[int, ...]
    partition_ids: tuple[int, ...]

    def pick(self, number: int) -> int:
        """Choose by a positive number: the first partition whose running sum lies above the remainder."""
        return self.partition_ids[bisect_right(self.ends, number % self.ends[-1])]


@dataclass(frozen=True, slots=True, kw_only=True)
class StickyPartition:
    """The partition that a topic sticks to."""

    partition: int
    produced_bytes: int = 0


@dataclass(slots=True, kw_only=True)
class BuiltInPartitioner:
    """The partitioner of one topic."""

    sticky_batch_size: int  # bytes after which another partition is chosen (`batch.size`), from 1
    draw: PositiveDraw  # where random numbers come from
    topic: TopicMetadata  # what is known of the topic now
    stats: LoadStats | None = None  # load statistics, `None` to choose evenly
    # the current partition, `None` before the first record
    sticky: StickyPartition | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.sticky_batch_size < 1:
            raise RequestError(f"sticky_batch_size must be at least 1, not {self.sticky_batch_size}")

    def partition(self, record_bytes: int, *, enable_switch: bool = True) -> int:
        """Return the partition of a record of so many bytes, and choose the next one if this one has had enough."""
        current = self.sticky or StickyPartition(partition=self._next_partition())
        produced = to_int(current.produced_bytes + record_bytes)
        if has_enough(produced, self.sticky_batch_size, enable_switch=enable_switch):
            self.sticky = StickyPartition(partition=self._next_partition())
        else:
            self.sticky = StickyPartition(partition=current.partition, produced_bytes=produced)
        return current.partition

    def _next_partition(self) -> int:
        number = self.draw()
        return self.topic.pick(number) if self.stats is None else self.stats.pick(number)


def has_enough(produced_bytes: int, sticky_batch_size: int, *, enable_switch: bool) -> bool:
    """Return whether a partition that got so many bytes is given up."""
    if enable_switch and produced_bytes >= sticky_batch_size:
        return True
    return produced_bytes >= to_int(2 * sticky_batch_size)


def load_stats(queue_sizes: Sequence[int], partition_ids: Sequence[int], length: int | None = None) -> LoadStats | None:
    """Weigh partitions by their queues.

    Args:
        queue_sizes: batches waiting for each partition that has a leader.
        partition_ids: the numbers of those partitions.
        length: how many of them, from the first, answer in time; all if ``None``.

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
    ends = tuple(accumulate(max(sizes) + 1 - size for size in sizes))
    if ends[-1] != to_int(ends[-1]):
        raise RequestError(f"queue sizes up to {max(sizes)} give weights of {ends[-1]} in all, beyond a Java int")
    return LoadStats(ends=ends, partition_ids=tuple(partition_ids[:count]))
