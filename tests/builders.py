"""Small inventories in a few words: ``cluster(brokers=6, racks=3, topics=[topic("orders", partitions=12)])``."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.tables import TABLES

GIB = 2**30
DS = "2026-11-20"


@dataclass(frozen=True, kw_only=True)
class TopicSpec:
    """A topic to build; replica r of partition p goes to broker ``(p + r) mod brokers``, unless ``replicas`` says."""

    name: str
    partitions: int = 6
    rf: int = 3
    size_bytes: int | None = GIB
    min_insync_replicas: int | None = 2
    bytes_in: float = 1000.0
    bytes_out: float = 2000.0
    replicas: Sequence[Sequence[int]] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def topic(name: str, **options: Any) -> TopicSpec:
    """Describe what a topic is like."""
    return TopicSpec(name=name, **options)


def table(name: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Make a table of the inventory from rows; columns left out are null."""
    return pa.Table.from_pylist([dict(row) for row in rows], schema=TABLES[name].schema)


def rows_of(raw: RawInventory, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table, to change and put back with :func:`with_rows`."""
    return raw.table(name).to_pylist()


def with_rows(raw: RawInventory, name: str, rows: Sequence[Mapping[str, Any]]) -> RawInventory:
    """Return the inventory with other rows in one table."""
    return replace(raw, tables={**raw.tables, name: table(name, rows)})


def cluster(
    *,
    brokers: int = 6,
    racks: int | None = 3,
    topics: Sequence[TopicSpec] = (TopicSpec(name="orders"),),
    hours: int = 168,
    cluster: str = "payments",
    ds: str = DS,
    first_broker_id: int = 1,
    disk_capacity_bytes: float | None = 4e12,
    **tables: Sequence[Mapping[str, Any]],
) -> RawInventory:
    """Build an inventory without any finding, one log dir a broker; other tables are given as rows."""
    ids = [first_broker_id + index for index in range(brokers)]
    total_bytes = int(disk_capacity_bytes or 4e12)
    made: dict[str, Sequence[Mapping[str, Any]]] = {
        "brokers": [_broker(i, index, racks, disk_capacity_bytes) for index, i in enumerate(ids)],
        "log_dirs": [
            {"broker_id": i, "path": "/data", "total_bytes": total_bytes, "usable_bytes": total_bytes} for i in ids
        ],
        "topics": [_topic_row(spec) for spec in topics],
        "replicas": [row for spec in topics for row in _replica_rows(spec, ids)],
        "metrics": [row for spec in topics for row in _metric_rows(spec, ds, hours)],
    }
    return RawInventory(
        cluster=cluster,
        ds=ds,
        captured_at=f"{ds}T03:00:00Z",
        source="files",
        kafka_version="4.3.0",
        tables={name: table(name, rows) for name, rows in (made | tables).items()},
    )


def _broker(broker_id: int, index: int, racks: int | None, disk: float | None) -> dict[str, Any]:
    return {
        "broker_id": broker_id,
        "rack": None if not racks else chr(ord("a") + index % racks),
        "host": f"kafka-{broker_id}.example.com",
        "port": 9092,
        "is_fenced": False,
        "is_controller": index == 0,
        "disk_capacity_bytes": disk,
        "network_in_bytes_per_second": 1.25e9,
        "network_out_bytes_per_second": 1.25e9,
        "cpu_cores": 16.0,
    }


def _topic_row(spec: TopicSpec) -> dict[str, Any]:
    row = {
        "topic": spec.name,
        "is_internal": spec.name.startswith("__"),
        "min_insync_replicas": spec.min_insync_replicas,
        "retention_bytes": -1,
        "retention_ms": 604_800_000,
        "segment_bytes": GIB,
        "cleanup_policy": "delete",
        "unclean_leader_election_enable": False,
    }
    return row | dict(spec.settings)


def _replica_rows(spec: TopicSpec, ids: Sequence[int]) -> list[dict[str, Any]]:
    lists = spec.replicas
    if lists is None:
        lists = [[ids[(p + r) % len(ids)] for r in range(spec.rf)] for p in range(spec.partitions)]
    return [
        {
            "topic": spec.name,
            "partition": partition,
            "position": position,
            "broker_id": broker_id,
            "is_leader": position == 0,
            "is_in_sync": True,
            "log_dir": "/data",
            "size_bytes": spec.size_bytes,
            "offset_lag": 0,
        }
        for partition, brokers in enumerate(lists)
        for position, broker_id in enumerate(brokers)
    ]


def _metric_rows(spec: TopicSpec, ds: str, hours: int) -> list[dict[str, Any]]:
    end = datetime.datetime.combine(datetime.date.fromisoformat(ds), datetime.time(), datetime.UTC)
    count = spec.partitions if spec.replicas is None else len(spec.replicas)
    return [
        {
            "topic": spec.name,
            "partition": partition,
            "hour": end - datetime.timedelta(hours=hours - index),
            "bytes_in_bytes_per_second": spec.bytes_in,
            "bytes_out_bytes_per_second": spec.bytes_out,
        }
        for partition in range(count)
        for index in range(hours)
    ]
