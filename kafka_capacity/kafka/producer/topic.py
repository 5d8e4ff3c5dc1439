"""What a producer knows of a topic when it chooses a partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.producer.key_hashing import checked_count


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicMetadata:
    """The partitions of a topic, as ``org.apache.kafka.common.Cluster`` lists them to a partitioner."""

    partitions: int  # how many there are, with a leader or not
    available: tuple[int, ...]  # those with a leader, ascending

    def __post_init__(self) -> None:
        checked_count(self.partitions)
        if any(not 0 <= partition < self.partitions for partition in self.available):
            raise RequestError(
                f"available partitions must be numbered from 0 to {self.partitions - 1}, not {list(self.available)}"
            )

    @classmethod
    def of(cls, partitions: int, available: Iterable[int] | None = None) -> TopicMetadata:
        """Describe a topic; every partition has a leader unless ``available`` says otherwise."""
        numbers = range(partitions) if available is None else sorted(set(available))
        return cls(partitions=partitions, available=tuple(numbers))

    def pick(self, number: int) -> int:
        """Choose by a positive number: among the partitions with a leader, among all if none has one."""
        if self.available:
            return self.available[number % len(self.available)]
        return number % self.partitions
