"""What codecs make of the records that a live cluster holds: batches sampled from its logs and compressed again.

Read are some places of some partitions of each topic, from their leaders; nothing is committed, and no group is joined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from kafka import TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import KafkaError, for_code
from kafka.protocol.consumer import FetchRequest

from kafka_capacity.errors import RequestError, SourceError
from kafka_capacity.inventory.kafka_admin_session import AdminSession, explain, open_session
from kafka_capacity.inventory.kafka_admin_topics import read_topics
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.record_batches import CODECS, Batch, batches_in, size_with

PARTITIONS = 3  # of a topic that are looked at
PLACES = (0.0, 0.5, 0.9)  # in the log of each, as shares of its offsets: old, middle-aged and new records
PLACE_BYTES = 256 << 10  # that are read at each
_NAMED_VERSION = 12  # the last version of Fetch that names topics, and does not need their ids
_WAIT_MS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSample:
    """What was sampled of a topic.

    Attributes:
        codecs: stored batches by codec, "uncompressed" among them.
        record_count: in all batches.
        stored_bytes: of the batches as they are.
        bytes_by_codec: of the same records in the same batches, by codec.
    """

    topic: str
    codecs: Mapping[str, int]
    record_count: int
    stored_bytes: int
    bytes_by_codec: Mapping[str, int]

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


def sample_topics(
    connection: KafkaConnection, patterns: Sequence[str] = (), *, progress: Callable[[str], None] = lambda _: None
) -> list[TopicSample]:
    """Sample the topics that match one of the patterns (``clicks.*``), or all but Kafka's own; empty ones are left out.

    Raises:
        RequestError: a pattern matches no topic.
        SourceError: the cluster cannot be reached, or does not let us read.
    """
    with open_session(connection) as session:
        topics = [topic for topic in read_topics(session, []) if patterns or not topic["is_internal"]]
        names = [str(topic["name"]) for topic in topics]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise RequestError(f"--topic: {pattern!r} matches no topic of the cluster; correct it")
        found = []
        for topic in topics:
            name = str(topic["name"])
            if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns):
                progress(f"sampling {name}")
                if batches := _sampled(session, connection, topic):
                    found.append(sample_of(name, batches))
        return found


def _sampled(session: AdminSession, connection: KafkaConnection, topic: Mapping[str, Any]) -> list[Batch]:
    leaders = {
        TopicPartition(topic["name"], one["partition_index"]): one["leader_id"]
        for one in topic["partitions"]
        if one["leader_id"] >= 0
    }
    chosen = sorted(leaders)
    chosen = [chosen[place * len(chosen) // PARTITIONS] for place in range(min(PARTITIONS, len(chosen)))]
    if not chosen:
        return []
    first, end = (
        session.ask(
            f"list the offsets of {topic['name']}", session.client.list_partition_offsets, dict.fromkeys(chosen, spec)
        )
        for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
    )
    batches: dict[tuple[int, int], Batch] = {}
    for partition in chosen:
        start, count = first[partition].offset, end[partition].offset - first[partition].offset
        for offset in sorted({start + int(share * count) for share in PLACES}) if count > 0 else ():
            for batch in _fetched(session, connection, partition, leaders[partition], offset):
                batches[partition.partition, batch.base_offset] = batch
    return list(batches.values())


def _fetched(
    session: AdminSession, connection: KafkaConnection, partition: TopicPartition, leader: int, offset: int
) -> list[Batch]:
    topic = FetchRequest.FetchTopic
    wanted = topic.FetchPartition(
        partition=partition.partition,
        current_leader_epoch=-1,
        fetch_offset=offset,
        last_fetched_epoch=-1,
        log_start_offset=-1,
        partition_max_bytes=PLACE_BYTES,
    )
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=_WAIT_MS,
        min_bytes=1,
        max_bytes=PLACE_BYTES,
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        topics=[topic(topic=partition.topic, partitions=[wanted])],
        forgotten_topics_data=[],
        rack_id="",
        max_version=_NAMED_VERSION,
    )

    async def send() -> Any:
        return await session.client._manager.send(request, node_id=leader)

    def ask() -> bytes:
        (answer,) = session.client._manager.run(send).responses[0].partitions
        if answer.error_code:
            raise for_code(answer.error_code)()
        return bytes(answer.records or b"")

    try:
        return list(batches_in(session.try_to_ask(ask)))
    except KafkaError as error:
        where = f"{partition.topic}-{partition.partition} from offset {offset}"
        raise SourceError(f"Kafka at {connection.servers}: read {where}: {explain(error, connection)}") from error
