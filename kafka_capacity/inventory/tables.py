"""The tables of an inventory: their Arrow schemas, which are the native snapshot format, version 1.

A snapshot has them as files (:mod:`kafka_capacity.inventory.files`), a staged inventory as Parquet with a manifest.
Sizes are bytes, rates are bytes per second, times are UTC. A null means "not known", and so does a column that is left
out, unless every row must have it: columns may be added without another version.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity.objects.tables import table_of_columns

UNKNOWN_PATH = "(unknown)"  # stands in `log_dirs` for the directories of a broker that did not say which it has
SCHEMA_VERSION = 1  # of the native snapshot and of the staged inventory; readers of version N read N-1 too


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """One table: its schema, the columns it is sorted by, and whether a snapshot may come without it."""

    schema: pa.Schema
    sort_by: tuple[str, ...]
    is_required: bool


_TEXT, _FLAG, _MOMENT = pa.string(), pa.bool_(), pa.timestamp("s", tz="UTC")
_INT32, _INT64, _FLOAT32, _FLOAT64 = pa.int32(), pa.int64(), pa.float32(), pa.float64()


def _table(
    keys: Mapping[str, pa.DataType],
    columns: Mapping[str, pa.DataType],
    *,
    sorted_keys: int | None = None,
    is_required: bool = False,
) -> TableSpec:
    """Describe a table by the columns that every row must have, the first of which it is sorted by, and the others."""
    fields = [pa.field(column, kind, nullable=column in columns) for column, kind in {**keys, **columns}.items()]
    return TableSpec(schema=pa.schema(fields), sort_by=tuple(keys)[:sorted_keys], is_required=is_required)


TABLES: dict[str, TableSpec] = {
    "brokers": _table(
        {"broker_id": _INT32},
        {
            "rack": _TEXT,
            "host": _TEXT,
            "port": _INT32,
            "is_fenced": _FLAG,
            "is_controller": _FLAG,
            "disk_capacity_bytes": _FLOAT64,
            "network_in_bytes_per_second": _FLOAT64,
            "network_out_bytes_per_second": _FLOAT64,
            "cpu_cores": _FLOAT64,
            "memory_bytes": _FLOAT64,
        },
        is_required=True,
    ),
    "log_dirs": _table(
        {"broker_id": _INT32, "path": _TEXT},
        {"total_bytes": _INT64, "usable_bytes": _INT64, "error": _TEXT, "is_cordoned": _FLAG},
    ),
    "topics": _table(
        {"topic": _TEXT},
        {
            "topic_id": _TEXT,
            "is_internal": _FLAG,
            "min_insync_replicas": _INT32,
            "retention_bytes": _INT64,
            "retention_ms": _INT64,
            "segment_bytes": _INT64,
            "cleanup_policy": _TEXT,
            "unclean_leader_election_enable": _FLAG,
            "compression_type": _TEXT,
            "remote_storage_enable": _FLAG,
            "local_retention_ms": _INT64,
            "remote_copy_lag_ms": _INT64,
            "remote_copy_lag_bytes": _INT64,
            "remote_bytes": _INT64,
        },
        is_required=True,
    ),
    "replicas": _table(
        {"topic": _TEXT, "partition": _INT32, "position": _INT32, "broker_id": _INT32},
        {"is_leader": _FLAG, "is_in_sync": _FLAG, "log_dir": _TEXT, "size_bytes": _INT64, "offset_lag": _INT64},
        sorted_keys=3,
        is_required=True,
    ),
    "groups": _table(
        {"group_id": _TEXT},
        {
            "state": _TEXT,
            "group_type": _TEXT,
            "protocol_type": _TEXT,
            "assignor": _TEXT,
            "num_standby_replicas": _INT32,
            "subtopologies": pa.list_(
                pa.struct([("subtopology", _TEXT), ("topics", pa.list_(_TEXT)), ("changelogs", pa.list_(_TEXT))])
            ),
        },
    ),
    "members": _table(
        {"group_id": _TEXT, "member_id": _TEXT},
        {
            "client_id": _TEXT,
            "host": _TEXT,
            "instance_id": _TEXT,
            "rack": _TEXT,
            "subscribed": pa.list_(_TEXT),
            "assigned": pa.list_(pa.struct([("topic", _TEXT), ("partition", _INT32)])),
            "process_id": _TEXT,
            "standby_tasks": pa.list_(pa.struct([("subtopology", _TEXT), ("partition", _INT32)])),
        },
    ),
    "lags": _table(
        {"group_id": _TEXT, "topic": _TEXT, "partition": _INT32},
        {"committed_offset": _INT64, "log_end_offset": _INT64, "lag_records": _INT64, "log_start_offset": _INT64},
    ),
    "metrics": _table(
        {"topic": _TEXT, "partition": _INT32, "hour": _MOMENT},
        {"bytes_in_bytes_per_second": _FLOAT32, "bytes_out_bytes_per_second": _FLOAT32},
    ),
    "broker_metrics": _table(
        {"broker_id": _INT32, "hour": _MOMENT},
        {
            "cpu_cores_used": _FLOAT32,
            "leader_in_bytes_per_second": _FLOAT32,
            "follower_in_bytes_per_second": _FLOAT32,
            "out_bytes_per_second": _FLOAT32,
        },
    ),
    "producers": _table({"topic": _TEXT}, {"client_id": _TEXT, "rack": _TEXT, "bytes_per_second": _FLOAT64}),
    "quorum_replicas": _table(
        {"node_id": _INT32, "is_voter": _FLAG},
        {
            "directory_id": _TEXT,
            "rack": _TEXT,
            "host": _TEXT,
            "port": _INT32,
            "is_active": _FLAG,
            "log_end_offset": _INT64,
            "lag_records": _INT64,
            "behind_seconds": _FLOAT64,
            "is_named": _FLAG,
            "auto_joins": _FLAG,
            "kraft_version": _INT32,
        },
    ),
    "history": _table(
        {"topic": _TEXT, "day": _MOMENT},
        {"bytes_in_bytes_per_second": _FLOAT32, "bytes_out_bytes_per_second": _FLOAT32},
    ),
}
"""Every table by name. ``replicas.position`` is the place in Kafka's replica list: 0 is the preferred leader.
``topics.remote_bytes`` is what the object store holds of a topic in tiered storage, as its leaders measure it.
``metrics`` has a row for each hour and partition, of the last weeks; ``broker_metrics`` one for each hour and broker:
what it used of its processors, and what went through it at the same time (``out`` is what it sent to consumers and
followers). ``producers`` has a row for each topic, client id and rack: what clients of that id sent to it on average
over the last days, as they count it. ``quorum_replicas`` has the voters and the observers of the metadata quorum,
brokers among the latter: how far each is behind the active controller, whether ``controller.quorum.voters`` names it,
whether it would make itself a voter (``controller.quorum.auto.join.enable``), and, in each row, the ``kraft.version``
of the cluster. ``history`` has one for each day and topic, of the last months or years: means over the day, which
begins at midnight UTC. Topics that are gone may stay in it.

Of a streams group ``subtopologies`` are what it runs, with the topics that each reads and those that keep the changes
of its state; ``assigned`` are the partitions of a member's active tasks.
"""


def empty_table(name: str) -> pa.Table:
    """Return a table of the inventory without rows."""
    return TABLES[name].schema.empty_table()


def table_of(name: str, columns: Mapping[str, Any]) -> pa.Table:
    """Make a table of the inventory as :func:`table_of_columns` does; columns that are not given are null."""
    schema = TABLES[name].schema
    rows = len(next(iter(columns.values())))
    return table_of_columns(schema, rows, {**dict.fromkeys(schema.names), **columns})


def moment_of(text: str) -> datetime.datetime | None:
    """Return a day or time that is written as ISO 8601, ``None`` for any other text."""
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class StoredReplica:
    """What a broker says about one replica that it holds."""

    log_dir: str
    size_bytes: int
    offset_lag: int
