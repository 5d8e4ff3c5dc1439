"""The tables of a plan: their Arrow schemas, and how results become rows of them.

A result leaves an executor as a small bundle of Arrow tables; the same functions serve Spark and the command line, so
both store the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.cluster.brokers import DISK_AND_NETWORK
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.reassignment.schedule import Schedule
from kafka_capacity.objects.tables import (
    Int32,
    Tables,
    cells_of,
    columns_of,
    schema_of,
    table_of_columns,
    table_of_rows,
)
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.expansion import new_partitions
from kafka_capacity.proposal.log_dirs import joining_dirs
from kafka_capacity.proposal.scenario import BrokerLoads, PlacementMetrics, PlacementResult
from kafka_capacity.questions.change.move_tables import MOVE_TABLES, list_column, path_lists, schedule_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRow:
    """What was asked of a scenario, and whether it fits; ``excuses`` is a JSON list."""

    scenario_id: str
    placer: str
    target_broker_count: Int32
    target_broker_ids: tuple[Int32, ...]
    target_racks: tuple[str | None, ...]
    replication_factor: Int32 | None
    throttle_bytes_per_second: float
    rack_rule: str
    balance: str
    tolerance_ratio: float
    disk_limit_ratio: float
    seed: int
    fits: bool
    excuses: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One row a partition whose replica list changes; ``leader`` is who leads now, -1 for nobody.

    ``log_dirs_after`` names the directory of each replica that joins a broker with several, ``log_dirs_before`` the one
    that it comes back to, null where the broker may choose.
    """

    scenario_id: str
    topic: str
    partition: Int32
    leader: Int32
    replicas_before: tuple[Int32, ...]
    replicas_after: tuple[Int32, ...]
    added: tuple[Int32, ...]
    removed: tuple[Int32, ...]
    size_bytes: int
    moved_bytes: int
    is_leader_changed: bool
    log_dirs_before: tuple[str | None, ...]
    log_dirs_after: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicGrowth:
    """One row a topic that gets more partitions before anything moves.

    ``moved_keys_ratio`` is the share of records with keys that go to another partition from then on; ``command`` makes
    the partitions where the placement wants them, which ``replicas`` lists; an older plan does not.
    """

    scenario_id: str
    topic: str
    count_before: Int32
    count_after: Int32
    moved_keys_ratio: float
    command: str
    replicas: tuple[tuple[Int32, ...], ...] | None


_METRICS = columns_of(PlacementMetrics, int32=("broker_count", "seeds_tried", "bottleneck_broker"), is_nullable=True)
SCENARIOS = pa.schema([*columns_of(ScenarioRow), *_METRICS, pa.field("standing", pa.string())])
"""One row a scenario: :class:`ScenarioRow`, then its metrics, which are null when Kafka would refuse.

``standing`` is a JSON list of what was broken before as well and is no worse after the change; it is null in plans of
before.
"""
MOVES = schema_of(Move)
_OF_BROKERS = (*DISK_AND_NETWORK, "other_bytes")
BROKER_LOAD = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("broker_id", pa.int32(), nullable=False),
        pa.field("rack", pa.string()),
        *columns_of(BrokerLoads, without=("brokers",)),
        *(pa.field(name, pa.float64()) for name in _OF_BROKERS),
    ]
)
"""One row a broker of a scenario, observed and proposed ones together; peaks are bytes per second."""
NEW_PARTITIONS = schema_of(TopicGrowth)

RESULT_TABLES: Tables = {
    "scenarios": (SCENARIOS, ("scenario_id",)),
    "moves": (MOVES, ("scenario_id", "topic", "partition")),
    "broker_load": (BROKER_LOAD, ("scenario_id", "broker_id")),
}
"""Those that every plan has."""

PLAN_TABLES: Tables = {**RESULT_TABLES, **MOVE_TABLES, "new_partitions": (NEW_PARTITIONS, ("scenario_id", "topic"))}
"""Every table about placement and its schedule; an older plan may lack those that are not :data:`RESULT_TABLES`."""


def scenario_table(result: PlacementResult) -> pa.Table:
    """Return the one row of ``scenarios``."""
    scenario = result.scenario
    asked = filled(
        ScenarioRow,
        scenario,
        target_broker_count=len(scenario.target),
        target_broker_ids=tuple(scenario.target.ids.tolist()),
        target_racks=scenario.target.racks,
        fits=result.fits,
        excuses=_as_json(result.excuses),
    )
    metrics = cells_of(result.metrics)
    return table_of_rows(SCENARIOS, [{**cells_of(asked), **metrics, "standing": _as_json(result.standing)}])


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
    columns = {
        "scenario_id": result.scenario.scenario_id,
        "topic": pa.array(partitions.topics, pa.string()).take(pa.array(partitions.topic[rows])),
        "partition": partitions.partition[rows],
        "leader": snapshot.leader[rows],
        "replicas_before": list_column(before, before >= 0),
        "replicas_after": list_column(after, after >= 0),
        "added": list_column(after, diff.added[rows]),
        "removed": list_column(before, diff.removed[rows]),
        "size_bytes": size,
        "moved_bytes": size * diff.added[rows].sum(axis=1),
        "is_leader_changed": diff.leader_changed[rows],
        "log_dirs_before": path_lists(dirs_before[rows], before >= 0, paths),
        "log_dirs_after": path_lists(dirs_after[rows], after >= 0, paths),
    }
    return table_of_columns(MOVES, len(rows), columns)


def broker_load_table(result: PlacementResult) -> pa.Table:
    """Return the rows of ``broker_load`` of one result."""
    loads = result.loads
    if loads is None:
        return BROKER_LOAD.empty_table()
    brokers = loads.brokers
    given = {
        "scenario_id": result.scenario.scenario_id,
        "broker_id": brokers.ids,
        "rack": list(brokers.racks),
        **{name: getattr(brokers, name) for name in _OF_BROKERS},
    }
    return table_of_columns(BROKER_LOAD, len(brokers), given, of=loads)


def new_partitions_table(result: PlacementResult) -> pa.Table:
    """Return the rows of ``new_partitions`` of one result."""
    if result.expanded is None:
        return NEW_PARTITIONS.empty_table()
    made, scenario_id = new_partitions(result.expanded), result.scenario.scenario_id
    rows = [filled(TopicGrowth, one, scenario_id=scenario_id, command=one.command()) for one in made]
    return table_of_rows(NEW_PARTITIONS, rows)


def result_tables(
    result: PlacementResult, snapshot: Snapshot, *, has_moves: bool, schedule: Schedule | None = None
) -> dict[str, pa.Table]:
    """Return all tables of one result: ``moves`` only if asked for, those of waves only with a schedule."""
    return {
        "scenarios": scenario_table(result),
        "moves": moves_table(result, snapshot) if has_moves else MOVES.empty_table(),
        "broker_load": broker_load_table(result),
        "new_partitions": new_partitions_table(result),
        **schedule_tables(result.scenario.scenario_id, schedule),
    }
