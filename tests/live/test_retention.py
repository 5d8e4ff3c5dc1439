"""What a cut of retention leaves of a topic: what savings say, and what real brokers keep."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka.admin import ConfigResource, ConfigResourceType

from kafka_capacity.demand.changed import kept_today
from tests.live.clients import make_topics, produce_over_days, stored_bytes
from tests.live.cluster import KafkaCluster
from tests.unit.questions.capacity.workloads import DAY, MIB, workload

pytestmark = pytest.mark.live

_DAYS, _KEPT_DAYS = 10, 3
_SEGMENT_BYTES = MIB  # the least that Kafka takes
_OFF_RATIO = 0.05
_TOPIC = "clicks"


def test_brokers_keep_what_savings_say(tmp_path: Path) -> None:
    settings = {"log.retention.check.interval.ms": 1000, "log.initial.task.delay.ms": 1000, "file.delete.delay.ms": 100}
    with KafkaCluster(tmp_path / "kafka", {1: "a"}, settings=settings) as cluster:
        make_topics(
            cluster, {_TOPIC: (1, 1)}, segment_bytes=f"{_SEGMENT_BYTES:.0f}", retention_ms=f"{30 * DAY * 1000:.0f}"
        )
        written = produce_over_days(cluster, _TOPIC, _DAYS)
        before = stored_bytes(cluster, _TOPIC)[1]
        assert before >= written
        made = workload(
            [before / (_DAYS * DAY)], size=before, retention=30 * DAY, segment=_SEGMENT_BYTES, names=[_TOPIC]
        )
        (predicted,) = kept_today(made, made.limits.retention_seconds * (_KEPT_DAYS / 30))
        kept_ms = f"{_KEPT_DAYS * DAY * 1000:.0f}"
        with cluster.admin() as admin:
            admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, _TOPIC, {"retention.ms": kept_ms})])
        cluster.wait_for(lambda: stored_bytes(cluster, _TOPIC)[1] < before / 2, "segments are deleted")
        cluster.wait_until_settled(lambda: stored_bytes(cluster, _TOPIC)[1], "no more segments are deleted")
        measured = stored_bytes(cluster, _TOPIC)[1]
        print(f"{before / MIB:.1f} MiB, then {predicted / MIB:.1f} predicted, {measured / MIB:.1f} measured")
        assert predicted == pytest.approx(measured, rel=_OFF_RATIO)
