"""Plans to report on: made-up snapshots, evaluated by the real thing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import LogDirs, PartitionLoad, Snapshot, Topics
from kafka_capacity.kafka.placement import Balance, PlacementProblem, RackRule, placer
from kafka_capacity.kafka.placement.registry import FEWEST_BYTES
from kafka_capacity.kafka.reassignment.problem import WaveSettings
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.grid import GridRequest, placement_grid
from kafka_capacity.questions.change.move_schedule import MoveSettings, schedule_of
from kafka_capacity.questions.change.tables import PLAN_TABLES, result_tables
from kafka_capacity.report.inputs import ReportInputs
from tests.report.group_plans import many_groups

GIB = 2**30
TIB = 2**40
DS = "2026-11-20"
PLAN_ID = "0123456789abcdef"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClusterSpec:
    """A cluster in a few words; sizes and rates are skewed, and the same for the same spec."""

    brokers: int = 6
    racks: Sequence[str] | None = ("eu-1a", "eu-1b", "eu-1c")
    topics: Sequence[str] = ("orders", "payments", "shipments")
    partitions: int = 24
    rf: int = 3
    mean_size_bytes: float = 4 * GIB
    mean_rate: float = 100_000.0
    hours: int = 672
    disk_capacity_bytes: float | None = 4e12
    network_bytes_per_second: float | None = 1.25e9


def make_snapshot(spec: ClusterSpec, *, cluster: str = "payments") -> tuple[Snapshot, PartitionLoad]:
    """Build a snapshot with its traffic."""
    rng = np.random.default_rng(7)
    names = tuple(sorted(spec.topics))
    count = len(names) * spec.partitions
    partitions = Partitions(
        topics=names,
        topic=np.repeat(np.arange(len(names)), spec.partitions).astype(np.int32),
        partition=np.tile(np.arange(spec.partitions), len(names)).astype(np.int32),
    )
    ids = list(range(1, spec.brokers + 1))
    brokers = Brokers.of(
        ids,
        None if spec.racks is None else [spec.racks[i % len(spec.racks)] for i in range(len(ids))],
        disk_capacity_bytes=[spec.disk_capacity_bytes] * len(ids),
        network_in_bytes_per_second=[spec.network_bytes_per_second] * len(ids),
        network_out_bytes_per_second=[spec.network_bytes_per_second] * len(ids),
    )
    size = (rng.lognormal(0.0, 0.9, count) * spec.mean_size_bytes).astype(np.int64)
    rate = rng.lognormal(0.0, 1.0, count) * spec.mean_rate
    replicas = placer("zk").place(_first_placement(partitions, brokers, spec.rf))
    snapshot = Snapshot(
        cluster=cluster,
        ds=DS,
        brokers=brokers,
        log_dirs=LogDirs(
            broker_id=np.array(ids, dtype=np.int32),
            path=("/data",) * len(ids),
            total_bytes=np.full(len(ids), np.nan),
            usable_bytes=np.full(len(ids), np.nan),
        ),
        partitions=partitions,
        topics=_topics(len(names)),
        replicas=replicas,
        in_sync=replicas >= 0,
        size_bytes=np.where(replicas >= 0, size[:, None], 0),
        log_dir=np.zeros_like(replicas),
        leader=replicas[:, 0].copy(),
    )
    if not spec.hours:
        return snapshot, PartitionLoad.unknown(count)
    load = PartitionLoad(
        bytes_in_mean_bytes_per_second=rate,
        bytes_in_peak_bytes_per_second=rate * 2.1,
        bytes_out_mean_bytes_per_second=rate * 2,
        bytes_out_peak_bytes_per_second=rate * 4.5,
        hours=spec.hours,
    )
    return snapshot, load


def _first_placement(partitions: Partitions, brokers: Brokers, rf: int) -> PlacementProblem:
    count = len(partitions)
    return PlacementProblem(
        partitions=partitions,
        before=np.full((count, rf), -1, dtype=np.int32),
        leader=np.full(count, -1, dtype=np.int32),
        size_bytes=np.zeros(count, dtype=np.int64),
        bytes_in_bytes_per_second=np.zeros(count),
        target=brokers,
        replication_factor=np.full(count, rf, dtype=np.int32),
        seed=3,
        rack_rule=RackRule.STRICT,
        balance=Balance.REPLICAS,
        tolerance_ratio=0.0,
    )


def _topics(count: int) -> Topics:
    return Topics(
        min_insync_replicas=np.full(count, 2, dtype=np.int32),
        is_min_isr_assumed=np.zeros(count, dtype=np.bool_),
        is_internal=np.zeros(count, dtype=np.bool_),
        retention_bytes=np.full(count, np.nan),
        retention_seconds=np.full(count, 604_800.0),
        is_compacted=np.zeros(count, dtype=np.bool_),
        allows_unclean_election=np.zeros(count, dtype=np.bool_),
        is_unclean_assumed=np.zeros(count, dtype=np.bool_),
    )


def make_inputs(
    spec: ClusterSpec | None = None,
    *,
    cluster: str = "payments",
    broker_counts: Sequence[int] = (7,),
    placers: Sequence[str] = ("fewest-bytes", "zk"),
    new_broker_racks: Sequence[str] = (),
    replication_factor: int | None = None,
    throttle: float = 50e6,
    tolerance_ratio: float = 0.1,
    findings: Sequence[dict[str, str]] = (),
    groups: Mapping[str, pa.Table] | None = None,
    skipped_groups: Sequence[dict[str, str]] = (),
    waves: WaveSettings | None = None,
    throttles: Sequence[float] = (),
    observed: tuple[Snapshot, PartitionLoad] | None = None,
    **changes: Any,
) -> ReportInputs:
    """Evaluate a plan and give what a report is made of; with ``waves``, in which waves its own moves are done."""
    snapshot, load = observed or make_snapshot(spec or ClusterSpec(), cluster=cluster)
    grid = GridRequest(
        broker_counts=tuple(broker_counts),
        new_broker_racks=tuple(new_broker_racks),
        placers=tuple(placers),
        replication_factor=replication_factor,
        throttle_bytes_per_second=throttle,
        throttles_bytes_per_second=tuple(throttles),
        rack_rule=RackRule.STRICT,
        balance=Balance.BYTES,
        tolerance_ratio=tolerance_ratio,
        disk_limit_ratio=0.85,
        seed=0,
    )
    results = [evaluate_placement(snapshot, load, one) for one in placement_grid(snapshot.brokers, grid)]
    given: dict[str, Any] = {
        "tables": {
            **merge_tables(
                (
                    result_tables(
                        result,
                        snapshot,
                        has_moves=True,
                        schedule=schedule_of(snapshot, load, result, MoveSettings(waves=waves))
                        if waves is not None and result.scenario.placer == FEWEST_BYTES
                        else None,
                    )
                    for result in results
                ),
                PLAN_TABLES,
            ),
            **(groups or {}),
        },
        "cluster": cluster,
        "ds": DS,
        "plan_id": PLAN_ID,
        "request": {
            "cluster": cluster,
            "broker_counts": list(broker_counts),
            "placers": list(placers),
            "replication_factor": replication_factor,
            "throttle_bytes_per_second": throttle,
            "throttles_bytes_per_second": list(throttles),
            "disk_limit_ratio": 0.85,
        },
        "snapshot_facts": facts(snapshot, load) | ({"skipped_groups": list(skipped_groups)} if skipped_groups else {}),
        "findings": tuple(findings),
        "provenance": {"code_version": "1.0.0", "model_version": "1", "inventory_manifest_sha256": "ab" * 32},
        "links": {"report_uri": "https://reports.example.com/plan/index.html"},
        "generated_at": f"{DS}T00:00:00+00:00",
    }
    return ReportInputs(**(given | changes))


def facts(snapshot: Snapshot, load: PartitionLoad) -> dict[str, Any]:
    """Return of a snapshot what the inventory's stage says of it."""
    brokers = snapshot.brokers
    return {
        "brokers": [
            {
                "broker_id": int(brokers.ids[i]),
                "rack": brokers.racks[i],
                "disk_capacity_bytes": None,
                "network_in_bytes_per_second": None,
                "network_out_bytes_per_second": None,
            }
            for i in range(len(brokers))
        ],
        "broker_count": len(brokers),
        "topic_count": len(snapshot.partitions.topics),
        "partition_count": len(snapshot.partitions),
        "replica_count": int((snapshot.replicas >= 0).sum()),
        "total_bytes": int(snapshot.size_bytes.sum()),
        "rate_history_hours": load.hours,
        "source": "files",
        "captured_at": f"{DS}T00:00:00+00:00",
        "kafka_version": "4.3.0",
        "manifest_sha256": "ab" * 32,
    }


def changed_rows(inputs: ReportInputs, change: Callable[[dict[str, Any]], None]) -> ReportInputs:
    """Return the inputs with each row of ``scenarios`` changed in place by a function."""
    rows = inputs.tables["scenarios"].to_pylist()
    for row in rows:
        change(row)
    table = pa.Table.from_pylist(rows, schema=inputs.tables["scenarios"].schema)
    return dataclasses.replace(inputs, tables={**inputs.tables, "scenarios": table})


@lru_cache(maxsize=1)
def large_inputs() -> ReportInputs:
    """Return a plan as people will have it: 12 brokers to 15, 6,000 partitions, 40 groups; 9 brokers do not do."""
    words = ("orders", "payments", "clicks", "shipments", "inventory", "billing", "search", "audit", "sessions", "mail")
    kinds = ("events", "commands", "changelog", "dlq", "snapshots", "v2.events", "v2.commands", "metrics", "raw", "agg")
    spec = ClusterSpec(
        brokers=12,
        topics=[f"{word}.{kind}" for word in words for kind in kinds],
        partitions=60,
        mean_size_bytes=1.5 * GIB,
        mean_rate=20_000.0,
        disk_capacity_bytes=5e12,
    )
    return make_inputs(
        spec,
        broker_counts=(9, 15),
        placers=("fewest-bytes", "generate", "striped", "zk"),
        tolerance_ratio=0.02,
        groups=many_groups(risky=10, others=30),
        waves=WaveSettings(max_concurrent_moves_per_broker=40),
        findings=(
            {
                "severity": "info",
                "code": "no-consumer-rates",
                "where": "metrics.bytes_out",
                "message": "12 topics have no consumer rates; they count as not read",
            },
            {
                "severity": "warning",
                "code": "under-replicated",
                "where": "replicas.is_in_sync",
                "message": "3 partitions have fewer in-sync replicas than min.insync.replicas: billing.raw-4, "
                "billing.raw-9, mail.dlq-2; fix them before moving anything",
            },
        ),
    )
