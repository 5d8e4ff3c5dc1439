"""One record after another to one partition after another, whatever its key: ``RoundRobinPartitioner`` of Kafka 4.3.1.

Algorithm:
    Each topic has a counter, a Java ``int`` that starts at 0, grows with every record and wraps to negative numbers;
    its sign bit is masked out. The record goes to the partition with a leader that this number, modulo how many
    there are, points to; if none has a leader, the number modulo the partition count is taken. The counter knows
    nothing of partitions: when one loses its leader the sequence jumps, and 2**31 records after the start it begins
    again at 0.

>>> producer, topic = RoundRobinPartitioner(), TopicMetadata.of(6, [0, 2, 5])
>>> [producer.partition("orders", topic) for _ in range(4)]
[0, 2, 5, 0]
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_capacity.kafka.producer.key_hashing import POSITIVE
from kafka_capacity.kafka.producer.topic import TopicMetadata


@dataclass(slots=True, kw_only=True)
class RoundRobinPartitioner:
    """The counters of one producer."""

    counts: dict[str, int] = field(default_factory=dict)

    def partition(self, name: str, topic: TopicMetadata) -> int:
        """Choose the partition of the next record to a topic."""
        count = self.counts.get(name, 0)
        self.counts[name] = count + 1
        return topic.pick(count & POSITIVE)
