"""What compression makes of real records: sampled and compressed again here, and compressed by Kafka's own producer."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kafka_capacity.cli.app import load_commands
from kafka_capacity.inventory.compression import sample_compression
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.record_batches import CODECS
from tests.live.clients import make_topics
from tests.live.cluster import KafkaCluster

pytestmark = pytest.mark.live

_PRODUCER = "org.apache.kafka.tools.ProducerPerformance"
_RECORDS = 30_000
_BATCH_BYTES = 64 << 10
_OFF_RATIO = 0.05
"""How far a prediction may be from what was measured."""


def _payloads(file: Path) -> Path:
    """Write lines as applications do: fields that repeat, ids that do not."""
    draw = random.Random(3)
    lines = (
        json.dumps(
            {
                "order": f"{draw.getrandbits(64):016x}",
                "customer": draw.randrange(50_000),
                "country": draw.choice(["de", "fr", "it", "pl"]),
                "items": [{"sku": f"SKU-{draw.randrange(2_000):05}", "count": draw.randrange(1, 9)} for _ in range(4)],
                "comment": " ".join(
                    draw.choice(["please", "leave", "at", "the", "door", "ring", "twice"]) for _ in range(9)
                ),
            }
        )
        for _ in range(2_000)
    )
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def _produce(cluster: KafkaCluster, payloads: Path, codec: str) -> int:
    """Write to a topic of that name with a codec; return the bytes of its log."""
    make_topics(cluster, {codec: (1, 1)})
    properties = {
        "bootstrap.servers": cluster.bootstrap_servers(),
        "acks": "all",
        "compression.type": "none" if codec == "uncompressed" else codec,
        "batch.size": _BATCH_BYTES,
        "linger.ms": 500,
    }
    arguments = [
        "--topic",
        codec,
        "--num-records",
        str(_RECORDS),
        "--throughput",
        "-1",
        "--payload-file",
        str(payloads),
    ]
    pairs = [f"{name}={value}" for name, value in properties.items()]
    cluster.tool(_PRODUCER, *arguments, "--producer-props", *pairs)
    return sum(path.stat().st_size for path in cluster.workdir.rglob(f"{codec}-0/*.log"))


def test_a_sample_tells_what_each_codec_makes_of_a_topic(tmp_path: Path) -> None:
    payloads = _payloads(tmp_path / "payloads.txt")
    with KafkaCluster(tmp_path / "kafka", {1: "a"}) as cluster:
        measured = {codec: _produce(cluster, payloads, codec) for codec in ("uncompressed", *CODECS)}
        connection = KafkaConnection(bootstrap_servers=cluster.bootstrap_servers())
        found = {one.topic: one for one in sample_compression(connection)}
        assert set(found) == set(measured)
        assert [list(found[name].codecs) for name in measured] == [[name] for name in measured]
        for codec in CODECS:
            predicted, real = found["uncompressed"].ratio(codec), measured[codec] / measured["uncompressed"]
            print(f"{codec}: {predicted:.3f} predicted, {real:.3f} measured")
            assert predicted == pytest.approx(real, rel=_OFF_RATIO)
        asked = ["inventory", "compression", "--bootstrap-servers", cluster.bootstrap_servers(), "--topic"]
        done = CliRunner(env={"COLUMNS": "400"}).invoke(load_commands(), [*asked, "uncompr*"])
        assert done.exit_code == 0, done.output
        ratio = min(found["uncompressed"].ratio(codec) for codec in CODECS)
        assert f"Next: kafka-capacity savings SNAPSHOT --compression 'uncompressed={ratio:.2f}'" in done.stdout
        nobody = CliRunner().invoke(load_commands(), [*asked, "clicks.*"])
        assert "--topic: 'clicks.*' matches no topic of the cluster" in nobody.output + str(nobody.exception)
        # From records that are compressed already, to another codec.
        for codec in CODECS:
            predicted, real = found["zstd"].ratio(codec), measured[codec] / measured["zstd"]
            print(f"zstd to {codec}: {predicted:.3f} predicted, {real:.3f} measured")
            assert predicted == pytest.approx(real, rel=_OFF_RATIO)
