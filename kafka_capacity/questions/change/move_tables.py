"""The tables of a schedule: what was asked and chosen, its waves, and what brokers and directories carry in each.

``wave_moves`` and ``waves`` hold all that the files of a wave are made of: what was approved is what is released.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from kafka_capacity.kafka.reassignment.kafka_json import WaveFiles, WaveRows, files_of, wave_rows
from kafka_capacity.kafka.reassignment.problem import BAND
from kafka_capacity.kafka.reassignment.runbook import runbook_page
from kafka_capacity.kafka.reassignment.schedule import Schedule, Wave

_SECONDS = [f"{edge}_{band}_seconds" for edge in ("start", "end") for band in BAND]
_TOTALS = [f"total_{band}_seconds" for band in BAND]
_SMALLEST = [f"smallest_throttle_{band}_bytes_per_second" for band in BAND]

SCHEDULES = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("wave_count", pa.int32(), nullable=False),
        *(pa.field(name, pa.float64()) for name in _TOTALS),
        pa.field("copied_bytes", pa.float64(), nullable=False),
        *(pa.field(name, pa.float64(), nullable=False) for name in _SMALLEST),
        pa.field("order", pa.string(), nullable=False),
        pa.field("orders", pa.string(), nullable=False),
        pa.field("worst_broker", pa.int32()),
        pa.field("worst_resource", pa.string(), nullable=False),
        pa.field("relieved_seconds", pa.float64()),
        pa.field("leaders_moved_first", pa.int64()),
        pa.field("is_leadership_first", pa.bool_()),
        pa.field("plain_seconds", pa.float64()),
        pa.field("leadership_first_seconds", pa.float64()),
        pa.field("detours", pa.int64(), nullable=False),
        pa.field("refused_partitions", pa.int64(), nullable=False),
        pa.field("refusals", pa.string(), nullable=False),
        pa.field("throttle_bytes_per_second", pa.float64(), nullable=False),
        pa.field("is_throttle_automatic", pa.bool_(), nullable=False),
        pa.field("headroom_ratio", pa.float64(), nullable=False),
        pa.field("max_concurrent_moves_per_broker", pa.int32()),
        pa.field("longest_wave_seconds", pa.float64()),
        pa.field("pause_seconds", pa.float64(), nullable=False),
    ]
)
"""One row a scenario that was scheduled; totals, and the seconds until relief, are null for never.

``orders`` is a JSON list of ``order``, ``wave_count``, ``total_seconds`` and ``relieved_seconds`` (at the expected
rates, null for never); ``refusals`` one of ``constraint``, ``where``, ``needed``, ``available``, ``unit``, ``reason``
and ``partitions``. The four columns about leaders are null where no drained broker leads what is copied.
"""

WAVES = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("wave", pa.int32(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("partitions", pa.int64(), nullable=False),
        *(pa.field(name, pa.float64()) for name in _SECONDS),
        pa.field("copied_bytes", pa.float64(), nullable=False),
        pa.field("in_flight_bytes", pa.float64(), nullable=False),
        pa.field("throttle_bytes_per_second", pa.float64(), nullable=False),
        *(pa.field(name, pa.float64(), nullable=False) for name in _SMALLEST),
        pa.field("bottleneck_broker", pa.int32()),
        pa.field("bottleneck_direction", pa.string()),
        pa.field("fullest_broker", pa.int32()),
        pa.field("fullest_peak_bytes", pa.float64()),
        pa.field("fullest_ratio", pa.float64()),
        pa.field("elections", pa.int64(), nullable=False),
        pa.field("files", pa.string(), nullable=False),
        pa.field("runbook", pa.string(), nullable=False),
    ]
)
"""One row a wave of a scenario; seconds are null for never; ``files`` is a JSON object of names and sha256, ``runbook``
one of :class:`~kafka_capacity.kafka.reassignment.runbook.RunbookWave`.

The fullest broker is the one that comes closest to its disk limit on the way; null where none has a limit.
"""

BROKER_TIMELINE = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("wave", pa.int32(), nullable=False),
        pa.field("broker_id", pa.int32(), nullable=False),
        pa.field("in_bytes", pa.float64(), nullable=False),
        pa.field("out_bytes", pa.float64(), nullable=False),
        pa.field("disk_start_bytes", pa.float64(), nullable=False),
        pa.field("disk_peak_bytes", pa.float64(), nullable=False),
        pa.field("disk_expected_bytes", pa.float64(), nullable=False),
        pa.field("disk_end_bytes", pa.float64(), nullable=False),
        pa.field("disk_limit_bytes", pa.float64()),
        pa.field("throttle_in_bytes_per_second", pa.float64(), nullable=False),
        pa.field("throttle_out_bytes_per_second", pa.float64(), nullable=False),
        pa.field("leaders", pa.int64(), nullable=False),
    ]
)
"""One row a broker that takes part in a wave."""

WAVE_MOVES = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("wave", pa.int32(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("replicas_before", pa.list_(pa.int32()), nullable=False),
        pa.field("replicas_after", pa.list_(pa.int32()), nullable=False),
        pa.field("log_dirs_before", pa.list_(pa.string()), nullable=False),
        pa.field("log_dirs_after", pa.list_(pa.string()), nullable=False),
        pa.field("elects", pa.bool_(), nullable=False),
        pa.field("elects_back", pa.bool_(), nullable=False),
    ]
)
"""One row a partition of a wave: its replica lists when the wave begins and when it is done.

``log_dirs_after`` says where replicas that join shall go, ``log_dirs_before`` the same on the way back, null where the
broker may choose; the last two whether the preferred leader must be elected afterwards.
"""

LOG_DIR_TIMELINE = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("wave", pa.int32(), nullable=False),
        pa.field("broker_id", pa.int32(), nullable=False),
        pa.field("path", pa.string(), nullable=False),
        pa.field("start_bytes", pa.float64(), nullable=False),
        pa.field("peak_bytes", pa.float64(), nullable=False),
        pa.field("end_bytes", pa.float64(), nullable=False),
        pa.field("limit_bytes", pa.float64()),
    ]
)
"""One row a log directory that takes part in a wave."""

MOVE_TABLES: dict[str, tuple[pa.Schema, tuple[str, ...]]] = {
    "schedules": (SCHEDULES, ("scenario_id",)),
    "waves": (WAVES, ("scenario_id", "wave")),
    "wave_moves": (WAVE_MOVES, ("scenario_id", "wave", "topic", "partition")),
    "broker_timeline": (BROKER_TIMELINE, ("scenario_id", "wave", "broker_id")),
    "log_dir_timeline": (LOG_DIR_TIMELINE, ("scenario_id", "wave", "broker_id", "path")),
}
"""Every table of a schedule: its schema and what it is sorted by."""


def list_column(matrix: np.ndarray, keep: np.ndarray) -> pa.Array:
    """Turn the kept cells of each row into a list column, without a Python object a cell."""
    offsets = np.concatenate([[0], np.cumsum(keep.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(matrix[keep].astype(np.int32)))


def schedules_table(scenario_id: str, schedule: Schedule) -> pa.Table:
    """Return the one row of ``schedules``."""
    throttle, settings, leaders = schedule.problem.throttle, schedule.problem.settings, schedule.leadership
    refusals = [
        {
            **{name: value for name, value in dataclasses.asdict(each).items() if name != "rows"},
            "partitions": len(each.rows),
        }
        for each in schedule.refusals
    ]
    row = {
        "scenario_id": scenario_id,
        "wave_count": len(schedule.waves),
        **dict(zip(_TOTALS, schedule.total_seconds, strict=True)),
        "copied_bytes": schedule.copied_bytes,
        **dict(zip(_SMALLEST, schedule.smallest_throttle_bytes_per_second, strict=True)),
        "order": str(schedule.order),
        "orders": json.dumps([dataclasses.asdict(each) for each in schedule.orders], sort_keys=True),
        "worst_broker": schedule.worst_broker,
        "worst_resource": schedule.worst_resource,
        "relieved_seconds": schedule.relieved_seconds,
        "leaders_moved_first": leaders.moved_leaders if leaders else None,
        "is_leadership_first": leaders.is_chosen if leaders else None,
        "plain_seconds": leaders.plain_seconds if leaders else None,
        "leadership_first_seconds": leaders.leadership_first_seconds if leaders else None,
        "detours": len(schedule.detours),
        "refused_partitions": sum(len(each.rows) for each in schedule.refusals),
        "refusals": json.dumps(refusals, sort_keys=True, ensure_ascii=False),
        "throttle_bytes_per_second": throttle.bytes_per_second,
        "is_throttle_automatic": throttle.is_automatic,
        "headroom_ratio": throttle.headroom_ratio,
        "max_concurrent_moves_per_broker": settings.max_concurrent_moves_per_broker,
        "longest_wave_seconds": settings.longest_wave_seconds,
        "pause_seconds": settings.pause_seconds,
    }
    return pa.Table.from_pylist([row], schema=SCHEDULES)


def waves_table(scenario_id: str, schedule: Schedule, said: Sequence[WaveRows]) -> pa.Table:
    """Return the rows of ``waves`` of one schedule; ``said`` is what the files of each wave hold."""
    limits = dict(zip(schedule.problem.brokers.ids.tolist(), schedule.problem.disk_limit_bytes.tolist(), strict=True))
    rows = []
    for wave, of_wave in zip(schedule.waves, said, strict=True):
        files = files_of(of_wave)
        page = json.dumps(runbook_page(schedule, wave, files).as_dict(), sort_keys=True, ensure_ascii=False)
        rows.append({**_wave_row(scenario_id, wave, files, limits), "runbook": page})
    return pa.Table.from_pylist(rows, schema=WAVES)


def wave_moves_table(scenario_id: str, schedule: Schedule, listed: Sequence[WaveRows]) -> pa.Table:
    """Return the rows of ``wave_moves`` of one schedule; ``listed`` is what the files of each wave hold."""
    partitions = schedule.problem.partitions
    topics = pa.array(partitions.topics, pa.string())
    tables = [WAVE_MOVES.empty_table()]
    for wave, said in zip(schedule.waves, listed, strict=True):
        columns = [
            pa.array([scenario_id] * len(said.rows), pa.string()),
            pa.array(np.full(len(said.rows), wave.number, dtype=np.int32)),
            topics.take(pa.array(partitions.topic[said.rows])),
            pa.array(partitions.partition[said.rows]),
            *(list_column(matrix, matrix >= 0) for matrix in (said.replicas_before, said.replicas_after)),
            path_lists(said.log_dirs_before, said.replicas_before >= 0, said.paths),
            path_lists(said.log_dirs_after, said.replicas_after >= 0, said.paths),
            pa.array(said.elects),
            pa.array(said.elects_back),
        ]
        arrays = [column.cast(field.type) for column, field in zip(columns, WAVE_MOVES, strict=True)]
        tables.append(pa.Table.from_arrays(arrays, schema=WAVE_MOVES))
    return pa.concat_tables(tables).combine_chunks()


def path_lists(log_dirs: np.ndarray, keep: np.ndarray, paths: tuple[str, ...]) -> pa.Array:
    """Turn the kept cells of each row into lists of paths, null where a cell is -1."""
    places = list_column(log_dirs, keep)
    chosen = places.values.to_numpy()
    names = pa.array(paths, pa.string()).take(pa.array(chosen, mask=chosen < 0))
    return pa.ListArray.from_arrays(places.offsets, names)


def _wave_row(scenario_id: str, wave: Wave, files: WaveFiles, limits: dict[int, float]) -> dict[str, object]:
    limit = np.array([limits[broker] for broker in wave.broker_ids.tolist()], dtype=np.float64)
    known = np.isfinite(limit) & (limit > 0)
    ratio = np.where(known, wave.disk_peak_bytes / np.where(known, limit, 1.0), -1.0)
    fullest = int(ratio.argmax()) if known.any() else None
    return {
        "scenario_id": scenario_id,
        "wave": wave.number,
        "kind": str(wave.kind),
        "partitions": len(wave.rows),
        **dict(zip(_SECONDS, (*wave.start_seconds, *wave.end_seconds), strict=True)),
        "copied_bytes": wave.copied_bytes,
        "in_flight_bytes": wave.in_flight_bytes,
        "throttle_bytes_per_second": wave.throttle_bytes_per_second,
        **dict(zip(_SMALLEST, wave.smallest_throttle_bytes_per_second, strict=True)),
        "bottleneck_broker": wave.bottleneck_broker,
        "bottleneck_direction": wave.bottleneck_direction,
        "fullest_broker": None if fullest is None else int(wave.broker_ids[fullest]),
        "fullest_peak_bytes": None if fullest is None else float(wave.disk_peak_bytes[fullest]),
        "fullest_ratio": None if fullest is None else float(ratio[fullest]),
        "elections": int(wave.elects.sum()),
        "files": json.dumps({each.name: each.sha256 for each in files.listed()}, sort_keys=True),
    }


def broker_timeline_table(scenario_id: str, schedule: Schedule) -> pa.Table:
    """Return the rows of ``broker_timeline`` of one schedule."""
    line, throttles = schedule.brokers, schedule.throttles
    place = schedule.problem.brokers.index_of(line.broker_id)
    return _timeline(
        BROKER_TIMELINE,
        line,
        scenario_id=pa.array([scenario_id] * len(line.wave), pa.string()),
        throttle_in_bytes_per_second=pa.array(throttles.in_bytes_per_second[place]),
        throttle_out_bytes_per_second=pa.array(throttles.out_bytes_per_second[place]),
    )


def log_dir_timeline_table(scenario_id: str, schedule: Schedule) -> pa.Table:
    """Return the rows of ``log_dir_timeline`` of one schedule."""
    line, dirs = schedule.log_dirs, schedule.problem.log_dirs
    return _timeline(
        LOG_DIR_TIMELINE,
        line,
        scenario_id=pa.array([scenario_id] * len(line.wave), pa.string()),
        broker_id=pa.array(dirs.broker_id[line.log_dir], pa.int32()),
        path=pa.array([dirs.path[at] for at in line.log_dir.tolist()], pa.string()),
    )


def _timeline(schema: pa.Schema, line: object, **given: pa.Array) -> pa.Table:
    """Return a table whose columns are given, or else the arrays of ``line``; what is not finite is null."""
    arrays = []
    for field in schema:
        if field.name in given:
            arrays.append(given[field.name])
            continue
        values = getattr(line, field.name)
        arrays.append(pa.array(values, field.type, mask=~np.isfinite(values) if field.nullable else None))
    return pa.Table.from_arrays(arrays, schema=schema)


def schedule_tables(scenario_id: str, schedule: Schedule | None) -> dict[str, pa.Table]:
    """Return all tables of one schedule, empty ones where there is none."""
    if schedule is None:
        return {name: schema.empty_table() for name, (schema, _) in MOVE_TABLES.items()}
    said = [wave_rows(schedule, wave) for wave in schedule.waves]
    return {
        "schedules": schedules_table(scenario_id, schedule),
        "waves": waves_table(scenario_id, schedule, said),
        "wave_moves": wave_moves_table(scenario_id, schedule, said),
        "broker_timeline": broker_timeline_table(scenario_id, schedule),
        "log_dir_timeline": log_dir_timeline_table(scenario_id, schedule),
    }
