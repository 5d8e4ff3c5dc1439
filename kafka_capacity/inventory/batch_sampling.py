"""Batches sampled from the logs of a live cluster: some places of some partitions, read from their leaders.

Nothing is committed, and no group is joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from kafka import TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import KafkaError, for_code
from kafka.protocol.consumer import FetchRequest

from kafka_capacity.errors import RequestError, SourceError
from kafka_capacity.inventory.kafka_admin_session import AdminSession, explain, open_session
from kafka_capacity.inventory.kafka_admin_topics import leaders_of, read_topics
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.record_batches import Batch, batches_in

PLACES = (0.0, 0.5, 0.9)  # in the log of each partition, as shares of its offsets: old, middle-aged and new records
PLACE_BYTES = 256 << 10  # that are read at each
_NAMED_VERSION = 12  # the last version of Fetch that names topics, and does not need their ids
_WAIT_MS = 500


@dataclass(frozen=True, slots=True)
class PartitionSample:
    """What was sampled of one partition that has records."""

    offsets: int  # in its log, from the first to the end; with compaction or transactions more than it has records
    batches: tuple[Batch, ...]  # in the order of their offsets, each once


def sample_topics(
    connection: KafkaConnection,
    patterns: Sequence[str],
    *,
    most_partitions: int,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[str, int, list[PartitionSample]]]:
    """Sample the topics that match one of the patterns (``clicks.*``), or without any all but Kafka's own.

    Of each topic at most ``most_partitions`` are looked at, spread over its numbers; ``progress`` is told of it.

    Yields:
        The name of a topic, how many partitions it has, and a sample of each that has records, of those looked at.

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
        for topic in topics:
            name = str(topic["name"])
            if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns):
                progress(f"sampling {name}")
                yield name, len(topic["partitions"]), _sampled(session, connection, topic, most_partitions)


def _sampled(
    session: AdminSession, connection: KafkaConnection, topic: Mapping[str, Any], most_partitions: int
) -> list[PartitionSample]:
    leaders = leaders_of([topic])
    led = sorted(leaders)
    count = min(most_partitions, len(led))
    chosen = [led[place * len(led) // count] for place in range(count)]
    if not chosen:
        return []
    first, end = (
        session.ask(
            f"list the offsets of {topic['name']}", session.client.list_partition_offsets, dict.fromkeys(chosen, spec)
        )
        for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
    )
    found = []
    for partition in chosen:
        start, offsets = first[partition].offset, end[partition].offset - first[partition].offset
        batches: dict[int, Batch] = {}
        for offset in sorted({start + int(share * offsets) for share in PLACES}) if offsets > 0 else ():
            for batch in _fetched(session, connection, partition, leaders[partition], offset):
                batches[batch.base_offset] = batch
        if batches:
            found.append(PartitionSample(offsets, tuple(batches[at] for at in sorted(batches))))
    return found


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

    def ask() -> bytes:
        (answer,) = session.send(request, leader).responses[0].partitions
        if answer.error_code:
            raise for_code(answer.error_code)()
        return bytes(answer.records or b"")

    try:
        return list(batches_in(session.try_to_ask(ask)))
    except KafkaError as error:
        where = f"{partition.topic}-{partition.partition} from offset {offset}"
        raise SourceError(f"Kafka at {connection.servers}: read {where}: {explain(error, connection)}") from error
