"""Tiered storage (KIP-405): what savings say of brokers, the store and a move, and what real brokers do.

The store is a folder: ``LocalTieredStorage``, which is among Kafka's own tests.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka import TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType

from kafka_capacity.demand.changed import kept_today
from kafka_capacity.inventory.kafka_admin import read_cluster
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.raw import RawInventory
from tests.live import kafka_jars
from tests.live.clients import produce_over_days, stored_bytes
from tests.live.cluster import KafkaCluster
from tests.unit.questions.capacity.workloads import DAY, MIB, workload

pytestmark = pytest.mark.live

_DAYS, _KEPT_DAYS, _RETENTION_DAYS = 10, 3, 30
_SEGMENT_BYTES = MIB  # the least that Kafka takes
_OFF_RATIO = 0.05
_TOPIC = "clicks"


def _settings(store: Path) -> dict[str, object]:
    return {
        "remote.log.storage.system.enable": "true",
        "remote.log.storage.manager.class.name": "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
        "rsm.config.dir": store,
        "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        "rlmm.config.remote.log.metadata.topic.replication.factor": 1,
        "rlmm.config.remote.log.metadata.topic.num.partitions": 1,
        "remote.log.manager.task.interval.ms": 500,
        "log.retention.check.interval.ms": 1000,
        "log.initial.task.delay.ms": 1000,
        "file.delete.delay.ms": 100,
    }


def _read(cluster: KafkaCluster) -> RawInventory:
    return read_cluster(KafkaConnection(bootstrap_servers=cluster.bootstrap_servers()), cluster="live", ds="2026-11-20")


def _uploaded(store: Path) -> int:
    return sum(path.stat().st_size for path in store.rglob("*.log") if _TOPIC in str(path))


def test_brokers_the_store_and_a_move_hold_what_savings_say(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    with KafkaCluster(
        tmp_path / "kafka", {1: "a", 2: "b"}, settings=_settings(store), version=kafka_jars.VERSION
    ) as cluster:
        with cluster.admin() as admin:
            admin.create_topics(
                {
                    _TOPIC: {
                        "assignments": {0: [1]},
                        "configs": {
                            "segment.bytes": f"{_SEGMENT_BYTES:.0f}",
                            "retention.ms": f"{_RETENTION_DAYS * DAY * 1000:.0f}",
                        },
                    }
                }
            )
        written = produce_over_days(cluster, _TOPIC, _DAYS)
        before = stored_bytes(cluster, _TOPIC)[1]
        assert before >= written
        made = workload(
            [before / (_DAYS * DAY)],
            size=before,
            retention=_RETENTION_DAYS * DAY,
            segment=_SEGMENT_BYTES,
            names=[_TOPIC],
        )
        (local,) = kept_today(made, made.limits.retention_seconds * (_KEPT_DAYS / _RETENTION_DAYS))
        asked = {"remote.storage.enable": "true", "local.retention.ms": f"{_KEPT_DAYS * DAY * 1000:.0f}"}
        with cluster.admin() as admin:
            admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, _TOPIC, asked)])
        cluster.wait_for(lambda: stored_bytes(cluster, _TOPIC)[1] < before / 2, "segments are uploaded and deleted")
        cluster.wait_until_settled(lambda: (stored_bytes(cluster, _TOPIC), _uploaded(store)), "no more segments go")
        kept, uploaded = stored_bytes(cluster, _TOPIC)[1], _uploaded(store)
        print(f"{before / MIB:.1f} MiB, then on the broker {local / MIB:.1f} predicted, {kept / MIB:.1f} measured;")
        print(f"in the store {before / MIB:.1f} predicted, {uploaded / MIB:.1f} measured")
        assert local == pytest.approx(kept, rel=_OFF_RATIO)
        assert before == pytest.approx(uploaded, rel=_OFF_RATIO)  # all but the segment that is written to
        (topic,) = [row for row in _read(cluster).table("topics").to_pylist() if row["topic"] == _TOPIC]
        assert (topic["remote_storage_enable"], topic["local_retention_ms"]) == (True, _KEPT_DAYS * DAY * 1000)

        with cluster.admin() as admin:
            admin.alter_partition_reassignments({TopicPartition(_TOPIC, 0): [2]})
        cluster.wait_for(lambda: set(stored_bytes(cluster, _TOPIC)) == {2}, "the partition is moved")
        moved = stored_bytes(cluster, _TOPIC)[2]
        print(f"moved {kept / MIB:.1f} MiB predicted, {moved / MIB:.1f} measured")
        assert moved == pytest.approx(kept, rel=_OFF_RATIO)
