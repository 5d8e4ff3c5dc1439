"""The tables of an inventory: their Arrow schemas, which are the native snapshot format, version 1.

A native snapshot is a folder (or a prefix in S3) with ``cluster.json`` and one file a table, ``<table>.parquet``,
``<table>.json`` (a list of rows) or ``<table>.csv``. The staged inventory holds the same tables as Parquet with a
manifest.
Sizes are bytes, rates are bytes per second, times are UTC. A null means "not known", and so does a column that is left
out, unless every row must have it: columns may be added without another version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

SCHEMA_VERSION = 1  # of the native snapshot and of the staged inventory; readers of version N read N-1 too


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """One table: its schema, the columns it is sorted by, and whether a snapshot may come without it."""

    name: str
    schema: pa.Schema
    sort_by: tuple[str, ...]
    is_required: bool


def _required(name: str, kind: pa.DataType) -> pa.Field[Any]:
    return pa.field(name, kind, nullable=False)


TABLES: dict[str, TableSpec] = {
    spec.name: spec
    for spec in (
        TableSpec(
            name="brokers",
            schema=pa.schema(
                [
                    _required("broker_id", pa.int32()),
                    pa.field("rack", pa.string()),
                    pa.field("host", pa.string()),
                    pa.field("port", pa.int32()),
                    pa.field("is_fenced", pa.bool_()),
                    pa.field("is_controller", pa.bool_()),
                    pa.field("disk_capacity_bytes", pa.float64()),
                    pa.field("network_in_bytes_per_second", pa.float64()),
                    pa.field("network_out_bytes_per_second", pa.float64()),
                    pa.field("cpu_cores", pa.float64()),
                    pa.field("memory_bytes", pa.float64()),
                ]
            ),
            sort_by=("broker_id",),
            is_required=True,
        ),
        TableSpec(
            name="log_dirs",
            schema=pa.schema(
                [
                    _required("broker_id", pa.int32()),
                    _required("path", pa.string()),
                    pa.field("total_bytes", pa.int64()),
                    pa.field("usable_bytes", pa.int64()),
                    pa.field("error", pa.string()),
                ]
            ),
            sort_by=("broker_id", "path"),
            is_required=False,
        ),
        TableSpec(
            name="topics",
            schema=pa.schema(
                [
                    _required("topic", pa.string()),
                    pa.field("topic_id", pa.string()),
                    pa.field("is_internal", pa.bool_()),
                    pa.field("min_insync_replicas", pa.int32()),
                    pa.field("retention_bytes", pa.int64()),
                    pa.field("retention_ms", pa.int64()),
                    pa.field("segment_bytes", pa.int64()),
                    pa.field("cleanup_policy", pa.string()),
                    pa.field("unclean_leader_election_enable", pa.bool_()),
                ]
            ),
            sort_by=("topic",),
            is_required=True,
        ),
        TableSpec(
            name="replicas",
            schema=pa.schema(
                [
                    _required("topic", pa.string()),
                    _required("partition", pa.int32()),
                    _required("position", pa.int32()),
                    _required("broker_id", pa.int32()),
                    pa.field("is_leader", pa.bool_()),
                    pa.field("is_in_sync", pa.bool_()),
                    pa.field("log_dir", pa.string()),
                    pa.field("size_bytes", pa.int64()),
                    pa.field("offset_lag", pa.int64()),
                ]
            ),
            sort_by=("topic", "partition", "position"),
            is_required=True,
        ),
        TableSpec(
            name="groups",
            schema=pa.schema(
                [
                    _required("group_id", pa.string()),
                    pa.field("state", pa.string()),
                    pa.field("group_type", pa.string()),
                    pa.field("protocol_type", pa.string()),
                    pa.field("assignor", pa.string()),
                ]
            ),
            sort_by=("group_id",),
            is_required=False,
        ),
        TableSpec(
            name="members",
            schema=pa.schema(
                [
                    _required("group_id", pa.string()),
                    _required("member_id", pa.string()),
                    pa.field("client_id", pa.string()),
                    pa.field("host", pa.string()),
                    pa.field("instance_id", pa.string()),
                    pa.field("rack", pa.string()),
                    pa.field("subscribed", pa.list_(pa.string())),
                    pa.field(
                        "assigned",
                        pa.list_(pa.struct([pa.field("topic", pa.string()), pa.field("partition", pa.int32())])),
                    ),
                ]
            ),
            sort_by=("group_id", "member_id"),
            is_required=False,
        ),
        TableSpec(
            name="lags",
            schema=pa.schema(
                [
                    _required("group_id", pa.string()),
                    _required("topic", pa.string()),
                    _required("partition", pa.int32()),
                    pa.field("committed_offset", pa.int64()),
                    pa.field("log_end_offset", pa.int64()),
                    pa.field("lag_records", pa.int64()),
                    pa.field("log_start_offset", pa.int64()),
                ]
            ),
            sort_by=("group_id", "topic", "partition"),
            is_required=False,
        ),
        TableSpec(
            name="metrics",
            schema=pa.schema(
                [
                    _required("topic", pa.string()),
                    _required("partition", pa.int32()),
                    _required("hour", pa.timestamp("s", tz="UTC")),
                    pa.field("bytes_in_bytes_per_second", pa.float32()),
                    pa.field("bytes_out_bytes_per_second", pa.float32()),
                ]
            ),
            sort_by=("topic", "partition", "hour"),
            is_required=False,
        ),
        TableSpec(
            name="broker_metrics",
            schema=pa.schema(
                [
                    _required("broker_id", pa.int32()),
                    _required("hour", pa.timestamp("s", tz="UTC")),
                    pa.field("cpu_cores_used", pa.float32()),
                    pa.field("leader_in_bytes_per_second", pa.float32()),
                    pa.field("follower_in_bytes_per_second", pa.float32()),
                    pa.field("out_bytes_per_second", pa.float32()),
                ]
            ),
            sort_by=("broker_id", "hour"),
            is_required=False,
        ),
        TableSpec(
            name="history",
            schema=pa.schema(
                [
                    _required("topic", pa.string()),
                    _required("day", pa.timestamp("s", tz="UTC")),
                    pa.field("bytes_in_bytes_per_second", pa.float32()),
                    pa.field("bytes_out_bytes_per_second", pa.float32()),
                ]
            ),
            sort_by=("topic", "day"),
            is_required=False,
        ),
    )
}
"""Every table by name. ``replicas.position`` is the place in Kafka's replica list: 0 is the preferred leader.

``metrics`` has a row for each hour and partition, of the last weeks; ``broker_metrics`` one for each hour and broker:
what it used of its processors, and what went through it at the same time (``out`` is what it sent to consumers and
followers). ``history`` has one for each day and topic, of the last months or years: means over the day, which begins at
midnight UTC. Topics that are gone may stay in it.
"""


def empty_table(name: str) -> pa.Table:
    """Return a table of the inventory without rows."""
    return TABLES[name].schema.empty_table()
