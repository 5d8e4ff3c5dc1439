"""The tables of a plan: their Arrow schemas, and how results become rows of them.

A result leaves an executor as a small bundle of Arrow tables; the same functions serve Spark and the command line, so
both store the same bytes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.reassignment.schedule import Schedule
from kafka_capacity.objects.tables import Tables
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.growing import new_partitions
from kafka_capacity.proposal.log_dirs import joining_dirs
from kafka_capacity.proposal.scenario import PlacementResult
from kafka_capacity.questions.change.move_tables import MOVE_TABLES, list_column, path_lists, schedule_tables

_METRIC_TYPES: dict[str, pa.DataType] = {
    "broker_count": pa.int32(),
    "moved_replicas": pa.int64(),
    "moved_bytes": pa.int64(),
    "moved_bytes_low": pa.int64(),
    "moved_bytes_high": pa.int64(),
    "seeds_tried": pa.int32(),
    "changed_partitions": pa.int64(),
    "leaders_changed": pa.int64(),
    "total_replicas": pa.int64(),
    "total_bytes": pa.int64(),
    "lower_bound_bytes": pa.int64(),
    "lower_bound_kind": pa.string(),
    "gap_ratio": pa.float64(),
    "balance_before": pa.float64(),
    "balance_after": pa.float64(),
    "leader_balance_after": pa.float64(),
    "duration_seconds": pa.float64(),
    "duration_peak_seconds": pa.float64(),
    "bottleneck_broker": pa.int32(),
    "bottleneck_direction": pa.string(),
    "smallest_throttle_bytes_per_second": pa.float64(),
    "smallest_throttle_peak_bytes_per_second": pa.float64(),
    "unreachable_partitions": pa.int64(),
    "created_partitions": pa.int64(),
}

SCENARIOS = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("placer", pa.string(), nullable=False),
        pa.field("target_broker_count", pa.int32(), nullable=False),
        pa.field("target_broker_ids", pa.list_(pa.int32()), nullable=False),
        pa.field("target_racks", pa.list_(pa.string()), nullable=False),
        pa.field("replication_factor", pa.int32()),
        pa.field("throttle_bytes_per_second", pa.float64(), nullable=False),
        pa.field("rack_rule", pa.string(), nullable=False),
        pa.field("balance", pa.string(), nullable=False),
        pa.field("tolerance_ratio", pa.float64(), nullable=False),
        pa.field("disk_limit_ratio", pa.float64(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("fits", pa.bool_(), nullable=False),
        pa.field("excuses", pa.string(), nullable=False),
        *(pa.field(name, kind) for name, kind in _METRIC_TYPES.items()),
        pa.field("standing", pa.string()),
    ]
)
"""One row a scenario; ``excuses`` and ``standing`` are JSON lists; the metrics are null when Kafka would refuse.

``standing`` is what was broken before as well and is no worse after the change; it is null in plans of before.
"""

MOVES = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("leader", pa.int32(), nullable=False),
        pa.field("replicas_before", pa.list_(pa.int32()), nullable=False),
        pa.field("replicas_after", pa.list_(pa.int32()), nullable=False),
        pa.field("added", pa.list_(pa.int32()), nullable=False),
        pa.field("removed", pa.list_(pa.int32()), nullable=False),
        pa.field("size_bytes", pa.int64(), nullable=False),
        pa.field("moved_bytes", pa.int64(), nullable=False),
        pa.field("is_leader_changed", pa.bool_(), nullable=False),
        pa.field("log_dirs_before", pa.list_(pa.string()), nullable=False),
        pa.field("log_dirs_after", pa.list_(pa.string()), nullable=False),
    ]
)
"""One row a partition whose replica list changes; ``leader`` is who leads now, -1 for nobody.

``log_dirs_after`` names the directory of each replica that joins a broker with several, ``log_dirs_before`` the one
that it comes back to, null where the broker may choose.
"""

BROKER_LOAD = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("broker_id", pa.int32(), nullable=False),
        pa.field("rack", pa.string()),
        pa.field("is_new", pa.bool_(), nullable=False),
        pa.field("is_removed", pa.bool_(), nullable=False),
        *(
            pa.field(name, pa.int64(), nullable=False)
            for name in (
                "replicas_before",
                "replicas_after",
                "leaders_before",
                "leaders_after",
                "bytes_before",
                "bytes_after",
                "move_in_bytes",
                "move_out_bytes",
            )
        ),
        *(
            pa.field(name, pa.float64(), nullable=False)
            for name in ("peak_in_before", "peak_in_after", "peak_out_before", "peak_out_after")
        ),
        pa.field("disk_capacity_bytes", pa.float64()),
        pa.field("network_in_bytes_per_second", pa.float64()),
        pa.field("network_out_bytes_per_second", pa.float64()),
    ]
)
"""One row a broker of a scenario, observed and proposed ones together; peaks are bytes per second."""

RESULT_TABLES: Tables = {
    "scenarios": (SCENARIOS, ("scenario_id",)),
    "moves": (MOVES, ("scenario_id", "topic", "partition")),
    "broker_load": (BROKER_LOAD, ("scenario_id", "broker_id")),
}
"""Those that every plan has."""

NEW_PARTITIONS = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("count_before", pa.int32(), nullable=False),
        pa.field("count_after", pa.int32(), nullable=False),
        pa.field("moved_keys_ratio", pa.float64(), nullable=False),
        pa.field("command", pa.string(), nullable=False),
        pa.field("replicas", pa.list_(pa.list_(pa.int32()))),
    ]
)
"""One row a topic that gets more partitions before anything moves.

``moved_keys_ratio`` is the share of records with keys that go to another partition from then on; ``command`` makes the
partitions where the placement wants them, which ``replicas`` lists; an older plan does not.
"""

PLAN_TABLES: Tables = {
    **RESULT_TABLES,
    **MOVE_TABLES,
    "new_partitions": (NEW_PARTITIONS, ("scenario_id", "topic")),
}
"""Every table about placement and its schedule; an older plan may lack those that are not :data:`RESULT_TABLES`."""


def scenario_table(result: PlacementResult) -> pa.Table:
    """Return the one row of ``scenarios``."""
    scenario = result.scenario
    row = {
        "scenario_id": scenario.scenario_id,
        "placer": scenario.placer,
        "target_broker_count": len(scenario.target),
        "target_broker_ids": scenario.target.ids.tolist(),
        "target_racks": list(scenario.target.racks),
        "replication_factor": scenario.replication_factor,
        "throttle_bytes_per_second": scenario.throttle_bytes_per_second,
        "rack_rule": str(scenario.rack_rule),
        "balance": str(scenario.balance),
        "tolerance_ratio": scenario.tolerance_ratio,
        "disk_limit_ratio": scenario.disk_limit_ratio,
        "seed": scenario.seed,
        "fits": result.fits,
        "excuses": _as_json(result.excuses),
        "standing": _as_json(result.standing),
        **(dataclasses.asdict(result.metrics) if result.metrics is not None else dict.fromkeys(_METRIC_TYPES)),
    }
    return pa.Table.from_pylist([row], schema=SCENARIOS)


def _as_json(excuses: Sequence[Excuse]) -> str:
    return json.dumps([excuse.as_dict() for excuse in excuses], sort_keys=True, ensure_ascii=False)


def moves_table(result: PlacementResult, snapshot: Snapshot) -> pa.Table:
    """Return the rows of ``moves`` of one result."""
    if result.diff is None:
        return MOVES.empty_table()
    snapshot = result.start(snapshot)
    diff, partitions = result.diff, snapshot.partitions
    rows = np.nonzero(diff.is_changed)[0]
    before, after = diff.before[rows], diff.after[rows]
    size = snapshot.partition_size_bytes()[rows]
    dirs_before, dirs_after, paths = joining_dirs(result, snapshot)
    columns = [
        pa.array([result.scenario.scenario_id] * len(rows), pa.string()),
        pa.array(partitions.topics, pa.string()).take(pa.array(partitions.topic[rows])),
        pa.array(partitions.partition[rows]),
        pa.array(snapshot.leader[rows]),
        list_column(before, before >= 0),
        list_column(after, after >= 0),
        list_column(after, diff.added[rows]),
        list_column(before, diff.removed[rows]),
        pa.array(size),
        pa.array(size * diff.added[rows].sum(axis=1)),
        pa.array(diff.leader_changed[rows]),
        path_lists(dirs_before[rows], before >= 0, paths),
        path_lists(dirs_after[rows], after >= 0, paths),
    ]
    arrays = [column.cast(field.type) for column, field in zip(columns, MOVES, strict=True)]
    return pa.Table.from_arrays(arrays, schema=MOVES)


def broker_load_table(result: PlacementResult) -> pa.Table:
    """Return the rows of ``broker_load`` of one result."""
    loads = result.loads
    if loads is None:
        return BROKER_LOAD.empty_table()
    brokers = loads.brokers

    def known(values: np.ndarray) -> pa.Array:
        return pa.array(values, pa.float64(), mask=~np.isfinite(values))

    given = {
        "scenario_id": pa.array([result.scenario.scenario_id] * len(brokers), pa.string()),
        "broker_id": pa.array(brokers.ids),
        "rack": pa.array(brokers.racks, pa.string()),
        "disk_capacity_bytes": known(brokers.disk_capacity_bytes),
        "network_in_bytes_per_second": known(brokers.network_in_bytes_per_second),
        "network_out_bytes_per_second": known(brokers.network_out_bytes_per_second),
    }
    arrays = [given.get(field.name) for field in BROKER_LOAD]
    filled = [
        array if array is not None else pa.array(getattr(loads, field.name), field.type)
        for array, field in zip(arrays, BROKER_LOAD, strict=True)
    ]
    return pa.Table.from_arrays(filled, schema=BROKER_LOAD)


def new_partitions_table(result: PlacementResult) -> pa.Table:
    """Return the rows of ``new_partitions`` of one result."""
    if result.grown is None:
        return NEW_PARTITIONS.empty_table()
    rows = [
        {
            "scenario_id": result.scenario.scenario_id,
            "topic": one.topic,
            "count_before": one.count_before,
            "count_after": one.count_after,
            "moved_keys_ratio": one.moved_keys_ratio,
            "command": one.command(),
            "replicas": [list(brokers) for brokers in one.replicas],
        }
        for one in new_partitions(result.grown)
    ]
    return pa.Table.from_pylist(rows, schema=NEW_PARTITIONS)


def result_tables(
    result: PlacementResult, snapshot: Snapshot, *, has_moves: bool, schedule: Schedule | None = None
) -> dict[str, pa.Table]:
    """Return all tables of one result.

    Args:
        result: of a scenario.
        snapshot: the cluster as it is.
        has_moves: without it ``moves`` stays empty.
        schedule: of the result; without it the tables of waves stay empty.
    """
    return {
        "scenarios": scenario_table(result),
        "moves": moves_table(result, snapshot) if has_moves else MOVES.empty_table(),
        "broker_load": broker_load_table(result),
        "new_partitions": new_partitions_table(result),
        **schedule_tables(result.scenario.scenario_id, schedule),
    }
