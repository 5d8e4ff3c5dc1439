"""What clients do to a cluster in the live tests: make topics, write, read."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient

from tests.live.cluster import START_SECONDS, KafkaCluster


def make_topics(cluster: KafkaCluster, topics: Mapping[str, tuple[int, int]], **configs: str) -> None:
    """Make topics of so many partitions and replicas; configs with underscores for dots."""
    settings = {name.replace("_", "."): value for name, value in configs.items()}
    wanted = {
        name: {"num_partitions": partitions, "replication_factor": replicas, "configs": settings}
        for name, (partitions, replicas) in topics.items()
    }
    with cluster.admin() as admin:
        admin.create_topics(wanted, wait_for_metadata=True)


def produce(
    cluster: KafkaCluster, topic: str, bytes_by_partition: Mapping[int, int], seed: int = 7, *, is_text: bool = False
) -> None:
    """Write about so many bytes to each partition, in records of 10 kB, and wait for all acks.

    Records do not compress, or are a line of letters each.
    """
    draw = random.Random(seed)
    servers = cluster.bootstrap_servers().split(",")
    patience_ms = START_SECONDS * 1000
    producer = KafkaProducer(
        bootstrap_servers=servers, acks="all", delivery_timeout_ms=patience_ms, max_block_ms=patience_ms
    )
    sent = []
    try:
        for partition, total in bytes_by_partition.items():
            for number in range(max(total // 10_000, 1)):
                key = f"{partition}-{number}".encode()  # compacted topics want one
                value = b"x" * 10_000 if is_text else draw.randbytes(10_000)
                sent.append(producer.send(topic, value, key=key, partition=partition))
        for future in sent:
            future.get(START_SECONDS)
    finally:
        producer.close()


def produce_over_days(cluster: KafkaCluster, topic: str, days: float) -> int:
    """Write 80 MB to a topic's first partition, with times at a steady rate up to now, one record to a batch.

    Returns:
        the bytes of the values.
    """
    count, value, now = 2_000, b"x" * 40_000, time.time()
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers().split(","),
        acks="all",
        batch_size=0,
        delivery_timeout_ms=START_SECONDS * 1000,
        max_block_ms=START_SECONDS * 1000,
    )
    for number in range(count):
        age_seconds = days * 86_400 * (1 - number / count)
        producer.send(topic, value, partition=0, timestamp_ms=round((now - age_seconds) * 1000))
    producer.flush()
    producer.close()
    return count * len(value)


def replica_sizes(admin: KafkaAdminClient, brokers: Iterable[int]) -> dict[tuple[str, int, int], int]:
    """Return the size of every replica by topic, partition and broker."""
    sizes: dict[tuple[str, int, int], int] = {}
    for broker in brokers:
        (answer,) = admin.describe_log_dirs(brokers=[broker])
        for log_dir in answer["log_dirs"]:
            for topic in log_dir["topics"]:
                for partition in topic["partitions"]:
                    key = (topic["name"], partition["partition_index"], broker)
                    sizes[key] = int(partition["partition_size"])
    return sizes


def stored_bytes(cluster: KafkaCluster, topic: str) -> dict[int, int]:
    """Return what each broker holds of a topic, by its id; brokers without it are left out."""
    held: dict[int, int] = {}
    with cluster.admin() as admin:
        for (name, _, broker), size in replica_sizes(admin, cluster.racks).items():
            if name == topic:
                held[broker] = held.get(broker, 0) + size
    return held


@contextmanager
def consumer(cluster: KafkaCluster, topic: str, group: str, **options: Any) -> Iterator[KafkaConsumer]:
    """Join a group, read something, commit, and stay a member."""
    client = KafkaConsumer(
        topic,
        bootstrap_servers=cluster.bootstrap_servers().split(","),
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_interval_ms=3_600_000,  # it stays although nobody polls
        **options,
    )
    try:
        cluster.wait_for(lambda: _read_some(client), f"{group} reads {topic}")
        client.commit()
        yield client
    finally:
        client.close(autocommit=False)


def _read_some(client: KafkaConsumer) -> bool:
    return bool(client.poll(timeout_ms=500, max_records=20))
