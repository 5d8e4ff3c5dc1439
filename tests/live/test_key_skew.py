"""How evenly real keys fill the partitions of real topics: by a sample, and by their logs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from kafka import KafkaProducer
from typer.testing import CliRunner

from kafka_capacity.cli.app import load_commands
from kafka_capacity.cli.sampled_records import key_sentences
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.key_skew import sample_keys
from tests.live.clients import make_topics
from tests.live.cluster import START_SECONDS, KafkaCluster

pytestmark = pytest.mark.live

_PARTITIONS = 6
_RECORDS = 60_000
_HOT_RATIO = 0.3
_OFF = 0.03
"""Of all records: how far a sampled share may be from that of the logs."""


def _produce(cluster: KafkaCluster, topic: str) -> None:
    """Write records with keys of a few thousand customers, one of whom writes much."""
    draw = random.Random(11)
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers().split(","), linger_ms=100, max_block_ms=START_SECONDS * 1000
    )
    for _ in range(_RECORDS):
        customer = 0 if draw.random() < _HOT_RATIO else draw.randrange(1, 4_000)
        producer.send(topic, b"x" * 200, key=b"customer-%d" % customer)
    producer.flush()
    producer.close()


def _fullest_by_the_logs(cluster: KafkaCluster, topic: str, partitions: int) -> float:
    sizes = [
        sum(path.stat().st_size for path in cluster.workdir.rglob(f"{topic}-{number}/*.log"))
        for number in range(partitions)
    ]
    return max(sizes) / sum(sizes)


def test_a_sample_tells_what_the_fullest_partition_gets_today_and_of_twice_as_many(tmp_path: Path) -> None:
    with KafkaCluster(tmp_path / "kafka", {1: "a"}) as cluster:
        make_topics(cluster, {"orders": (_PARTITIONS, 1), "more": (2 * _PARTITIONS, 1)})
        for topic in ("orders", "more"):
            _produce(cluster, topic)
        (found,) = sample_keys(KafkaConnection(bootstrap_servers=cluster.bootstrap_servers()), ["orders"])
        (said,) = key_sentences([found])
        print(said)
        asked = ["inventory", "keys", "--bootstrap-servers", cluster.bootstrap_servers(), "--topic", "ord*"]
        done = CliRunner(env={"COLUMNS": "400"}).invoke(load_commands(), asked)
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith(said)
        assert "Key skew" in done.stdout
        assert found.top[0][0] == b"customer-0"
        assert found.top[0][1] == pytest.approx(_HOT_RATIO, abs=_OFF)
        for topic, count in (("orders", _PARTITIONS), ("more", 2 * _PARTITIONS)):
            measured = _fullest_by_the_logs(cluster, topic, count)
            print(f"{count} partitions: {found.fullest[count]:.3f} predicted, {measured:.3f} measured")
            assert found.fullest[count] == pytest.approx(measured, abs=_OFF)
