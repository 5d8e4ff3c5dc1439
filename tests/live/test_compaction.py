"""What compaction leaves of a topic: what savings say, and what real brokers hold while it is written to."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from kafka import KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType

from kafka_capacity.demand.changed import compacted_today
from tests.live.clients import make_topics, stored_bytes
from tests.live.cluster import START_SECONDS, KafkaCluster
from tests.unit.questions.capacity.workloads import MIB, workload

pytestmark = pytest.mark.live

_KEYS, _VALUE_BYTES = 800, 10_000
_ROUNDS_BEFORE, _ROUNDS_AFTER = 8, 3
_ROUND_SECONDS = 20.0  # what is written until the cleaner looks is a small part of it
_LOOK_SECONDS = 0.25
_SEGMENT_BYTES = MIB  # the least that Kafka takes
_OFF_RATIO = 0.15  # what is written until a busy cleaner looks comes on top
_TOPIC = "prices"


def _write(cluster: KafkaCluster, rounds: int, *, seconds: float = 0.0) -> None:
    """Write every key so many times, each time within so many seconds."""
    patience_ms = START_SECONDS * 1000
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers().split(","),
        acks="all",
        batch_size=0,
        delivery_timeout_ms=patience_ms,
        max_block_ms=patience_ms,
    )
    sent = []
    began = time.monotonic()
    for number in range(rounds * _KEYS):
        time.sleep(max(0.0, began + number * seconds / _KEYS - time.monotonic()))
        future = producer.send(_TOPIC, b"x" * _VALUE_BYTES, key=b"%d" % (number % _KEYS), partition=0)
        sent.append(future)
    for future in sent:
        future.get(START_SECONDS)
    producer.close()


def test_brokers_hold_at_most_what_savings_say(tmp_path: Path) -> None:
    settings = {"log.cleaner.backoff.ms": 200, "file.delete.delay.ms": 100}
    with KafkaCluster(tmp_path / "kafka", {1: "a"}, settings=settings) as cluster:
        make_topics(cluster, {_TOPIC: (1, 1)}, segment_bytes=f"{_SEGMENT_BYTES:.0f}")
        _write(cluster, _ROUNDS_BEFORE)
        before = stored_bytes(cluster, _TOPIC)[1]
        made = workload([1.0], size=before, segment=_SEGMENT_BYTES, names=[_TOPIC])
        (predicted,) = compacted_today(made, np.array([1.0 / _ROUNDS_BEFORE]))
        wanted = {"cleanup.policy": "compact,delete"}
        with cluster.admin() as admin:
            admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, _TOPIC, wanted)])
        cluster.wait_for(lambda: stored_bytes(cluster, _TOPIC)[1] < before / 4, "the log is compacted")
        cluster.wait_until_settled(lambda: stored_bytes(cluster, _TOPIC), "nothing more is compacted")
        least = stored_bytes(cluster, _TOPIC)[1]
        held = [least]
        with ThreadPoolExecutor(1) as beside:
            writing = beside.submit(_write, cluster, _ROUNDS_AFTER, seconds=_ROUND_SECONDS)
            while not writing.done():
                held.append(stored_bytes(cluster, _TOPIC)[1])
                time.sleep(_LOOK_SECONDS)
        writing.result()
        print(f"{before / MIB:.1f} MiB, then at most {predicted / MIB:.1f} predicted, {max(held) / MIB:.1f} measured,")
        print(f"and {least / MIB:.1f} to begin with; {len(held)} looks")
        assert predicted == pytest.approx(max(held), rel=_OFF_RATIO)
