"""Records without key before Kafka 3.3: one partition a batch, ``StickyPartitionCache`` of Kafka 3.9.2 (KIP-480).

Algorithm:
    A topic sticks to its partition until a batch of that partition is full. Then, or if it has none yet, it gets
    another one at random among the partitions with a leader: drawn again until it differs from the one it had. A
    lone partition with a leader is taken without a draw, even if that changes nothing. If no partition has a leader,
    a single draw among all of them decides, and may give the same one again.

    A new batch on a partition that the topic no longer sticks to changes nothing. A lost leader changes nothing
    either: a partition without leader is kept until its batch is full.

>>> draw = iter([7, 3, -1]).__next__
>>> after_new_batch(None, -1, TopicMetadata.of(3), draw), after_new_batch(0, 0, TopicMetadata.of(3), draw)
(1, 1)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kafka_capacity.kafka.producer.key_hashing import POSITIVE
from kafka_capacity.kafka.producer.topic import TopicMetadata

Draw = Callable[[], int]  # return any Java `int`, as `ThreadLocalRandom.nextInt` does

_NO_PARTITION = -1


@dataclass(slots=True, kw_only=True)
class StickyPartitionCache:
    """The sticky partitions of one producer."""

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
