"""What codecs make of the records that a live cluster holds: batches sampled from its logs and compressed again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kafka_capacity.inventory.batch_sampling import sample_topics
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.record_batches import CODECS, Batch, size_with

PARTITIONS = 3  # of a topic that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSample:
    """What was sampled of a topic."""

    topic: str
    codecs: Mapping[str, int]  # stored batches by codec, "uncompressed" among them
    record_count: int  # in all batches
    stored_bytes: int  # of the batches as they are
    bytes_by_codec: Mapping[str, int]  # of the same records in the same batches

    @property
    def batch_count(self) -> int:
        """How many batches were sampled."""
        return sum(self.codecs.values())

    def ratio(self, codec: str) -> float:
        """Return the bytes with a codec over those of today."""
        return self.bytes_by_codec[codec] / self.stored_bytes

    @property
    def best(self) -> str:
        """The codec with the fewest bytes."""
        return min(CODECS, key=lambda codec: self.bytes_by_codec[codec])


def sample_of(topic: str, batches: Sequence[Batch]) -> TopicSample:
    """Compress batches of a topic, at least one, with every codec."""
    sizes = dict.fromkeys(CODECS, 0)
    for batch in batches:
        plain = batch.plain()
        for codec in CODECS:
            sizes[codec] += batch.size_bytes if codec == batch.codec else size_with(codec, plain)
    return TopicSample(
        topic=topic,
        codecs=dict(Counter(batch.codec for batch in batches)),
        record_count=sum(batch.record_count for batch in batches),
        stored_bytes=sum(batch.size_bytes for batch in batches),
        bytes_by_codec=sizes,
    )


def sample_compression(
    connection: KafkaConnection, patterns: Sequence[str] = (), *, progress: Callable[[str], None] = lambda _: None
) -> list[TopicSample]:
    """Sample topics as :func:`~kafka_capacity.inventory.batch_sampling.sample_topics` does; empty ones are left out."""
    sampled = sample_topics(connection, patterns, most_partitions=PARTITIONS, progress=progress)
    return [sample_of(name, [batch for one in parts for batch in one.batches]) for name, _, parts in sampled if parts]
