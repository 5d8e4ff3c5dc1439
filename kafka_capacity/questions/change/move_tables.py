"""The tables of a schedule: what was asked and chosen, its waves, and what brokers and directories carry in each.

``wave_moves`` and ``waves`` hold all that the files of a wave are made of: what was approved is what is released.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.reassignment.clock import Clock
from kafka_capacity.kafka.reassignment.kafka_json import WaveFiles, WaveRows, files_of, has_several, wave_rows
from kafka_capacity.kafka.reassignment.problem import BAND, EXPECTED
from kafka_capacity.kafka.reassignment.runbook import runbook_page
from kafka_capacity.kafka.reassignment.schedule import Schedule, Wave
from kafka_capacity.objects.tables import Int32, Tables, schema_of, table_of_columns, table_of_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRow:
    """One row a scenario that was scheduled; totals, and the seconds until relief, are null for never.

    The smallest throttles, above which all waves end, are null where none helps.

    ``orders`` is a JSON list of ``order``, ``wave_count``, ``total_seconds`` and ``relieved_seconds`` (at the expected
    rates, null for never); ``refusals`` one of ``constraint``, ``where``, ``needed``, ``available``, ``unit``,
    ``reason`` and ``partitions``; ``lengths`` one of the fields of
    :class:`~kafka_capacity.kafka.reassignment.schedule.LengthOutcome`, null in older plans; ``window`` is the part of
    each day in which waves may run, as ``22:00-06:00`` in UTC, null for all of it. The four columns about leaders are
    null where no drained broker leads what is copied.
    """

    scenario_id: str
    wave_count: Int32
    total_low_seconds: float | None
    total_expected_seconds: float | None
    total_high_seconds: float | None
    copied_bytes: float
    smallest_throttle_low_bytes_per_second: float | None
    smallest_throttle_expected_bytes_per_second: float | None
    smallest_throttle_high_bytes_per_second: float | None
    order: str
    orders: str
    worst_broker: Int32 | None
    worst_resource: str
    relieved_seconds: float | None
    leaders_moved_first: int | None
    is_leadership_first: bool | None
    plain_seconds: float | None
    leadership_first_seconds: float | None
    detours: int
    refused_partitions: int
    refusals: str
    throttle_bytes_per_second: float
    is_throttle_automatic: bool
    headroom_ratio: float
    max_concurrent_moves_per_broker: Int32 | None
    max_wave_seconds: float | None
    pause_seconds: float
    lengths: str | None = None
    window: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveRow:
    """One row a wave of a scenario; seconds are null for never, the smallest throttles where none helps.

    ``files`` is a JSON object of names and sha256, ``runbook`` one of
    :class:`~kafka_capacity.kafka.reassignment.runbook.RunbookWave`. It takes ``expected_seconds``, also after one that
    never ends, so that it begins at no time. The fullest broker is the one that comes closest to
    its disk limit on the way; null where none has a limit. With a window ``starts_at`` and ``ends_at`` are when it is
    expected to run, ``closes_at`` when the window closes in which it begins: ISO 8601 in UTC, null without a window.
    """

    scenario_id: str
    wave: Int32
    kind: str
    partitions: int
    start_low_seconds: float | None
    start_expected_seconds: float | None
    start_high_seconds: float | None
    end_low_seconds: float | None
    end_expected_seconds: float | None
    end_high_seconds: float | None
    copied_bytes: float
    in_flight_bytes: float
    throttle_bytes_per_second: float
    smallest_throttle_low_bytes_per_second: float | None
    smallest_throttle_expected_bytes_per_second: float | None
    smallest_throttle_high_bytes_per_second: float | None
    bottleneck_broker: Int32 | None
    bottleneck_direction: str | None
    fullest_broker: Int32 | None
    fullest_peak_bytes: float | None
    fullest_ratio: float | None
    elections: int
    files: str
    runbook: str
    starts_at: str | None = None
    ends_at: str | None = None
    closes_at: str | None = None
    low_seconds: float | None = None
    expected_seconds: float | None = None
    high_seconds: float | None = None
    fullest_log_dir: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerInWave:
    """One row a broker that takes part in a wave."""

    scenario_id: str
    wave: Int32
    broker_id: Int32
    in_bytes: float
    out_bytes: float
    disk_start_bytes: float
    disk_peak_bytes: float
    disk_expected_bytes: float
    disk_end_bytes: float
    disk_limit_bytes: float | None
    throttle_in_bytes_per_second: float
    throttle_out_bytes_per_second: float
    leaders: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveMove:
    """One row a partition of a wave: its replica lists when the wave begins and when it is done.

    ``log_dirs_after`` says where replicas that join shall go, ``log_dirs_before`` the same on the way back, null where
    the broker may choose; the last two whether the preferred leader must be elected afterwards.
    """

    scenario_id: str
    wave: Int32
    topic: str
    partition: Int32
    replicas_before: tuple[Int32, ...]
    replicas_after: tuple[Int32, ...]
    log_dirs_before: tuple[str | None, ...]
    log_dirs_after: tuple[str | None, ...]
    elects: bool
    elects_back: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDirInWave:
    """One row a log directory that takes part in a wave."""

    scenario_id: str
    wave: Int32
    broker_id: Int32
    path: str
    start_bytes: float
    peak_bytes: float
    end_bytes: float
    limit_bytes: float | None


SCHEDULES, WAVES, WAVE_MOVES = schema_of(ScheduleRow), schema_of(WaveRow), schema_of(WaveMove)
BROKER_TIMELINE, LOG_DIR_TIMELINE = schema_of(BrokerInWave), schema_of(LogDirInWave)

MOVE_TABLES: Tables = {
    "schedules": (SCHEDULES, ("scenario_id",)),
    "waves": (WAVES, ("scenario_id", "wave")),
    "wave_moves": (WAVE_MOVES, ("scenario_id", "wave", "topic", "partition")),
    "broker_timeline": (BROKER_TIMELINE, ("scenario_id", "wave", "broker_id")),
    "log_dir_timeline": (LOG_DIR_TIMELINE, ("scenario_id", "wave", "broker_id", "path")),
}


def list_column(matrix: np.ndarray, keep: np.ndarray) -> pa.Array:
    """Turn the kept cells of each row into a list column, without a Python object a cell."""
    offsets = np.concatenate([[0], np.cumsum(keep.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(matrix[keep].astype(np.int32)))


def _schedule_row(scenario_id: str, schedule: Schedule) -> ScheduleRow:
    throttle, settings, leaders = schedule.problem.throttle, schedule.problem.settings, schedule.leadership
    refusals = [
        {
            **{name: value for name, value in dataclasses.asdict(each).items() if name != "rows"},
            "partitions": len(each.rows),
        }
        for each in schedule.refusals
    ]
    return filled(
        ScheduleRow,
        schedule,
        scenario_id=scenario_id,
        wave_count=len(schedule.waves),
        **_band("total_{}_seconds", schedule.total_seconds),
        **_band(_SMALLEST, schedule.smallest_throttle_bytes_per_second),
        orders=json.dumps([dataclasses.asdict(each) for each in schedule.orders], sort_keys=True),
        leaders_moved_first=leaders.moved_leaders if leaders else None,
        is_leadership_first=leaders.is_chosen if leaders else None,
        plain_seconds=leaders.plain_seconds if leaders else None,
        leadership_first_seconds=leaders.leadership_first_seconds if leaders else None,
        detours=len(schedule.detours),
        refused_partitions=sum(len(each.rows) for each in schedule.refusals),
        refusals=json.dumps(refusals, sort_keys=True, ensure_ascii=False),
        throttle_bytes_per_second=throttle.bytes_per_second,
        is_throttle_automatic=throttle.is_automatic,
        headroom_ratio=throttle.headroom_ratio,
        max_concurrent_moves_per_broker=settings.max_concurrent_moves_per_broker,
        max_wave_seconds=settings.max_wave_seconds,
        pause_seconds=settings.pause_seconds,
        window=None if settings.window is None else settings.window.text,
        lengths=json.dumps([dataclasses.asdict(each) for each in schedule.lengths], sort_keys=True),
    )


_SMALLEST = "smallest_throttle_{}_bytes_per_second"


def _band(name: str, values: Sequence[float | None]) -> dict[str, Any]:
    """Return a figure at the low, the expected and the high rates, as columns of one name."""
    return {name.format(band): value for band, value in zip(BAND, values, strict=True)}


def _wave_moves(scenario_id: str, schedule: Schedule, listed: Sequence[WaveRows]) -> pa.Table:
    """Return the rows of ``wave_moves``; ``listed`` is what the files of each wave hold."""
    partitions = schedule.problem.partitions
    topics = pa.array(partitions.topics, pa.string())
    tables = [WAVE_MOVES.empty_table()]
    for wave, own in zip(schedule.waves, listed, strict=True):
        columns = {
            "scenario_id": scenario_id,
            "wave": wave.number,
            "topic": topics.take(pa.array(partitions.topic[own.rows])),
            "partition": partitions.partition[own.rows],
            "replicas_before": list_column(own.replicas_before, own.replicas_before >= 0),
            "replicas_after": list_column(own.replicas_after, own.replicas_after >= 0),
            "log_dirs_before": path_lists(own.log_dirs_before, own.replicas_before >= 0, own.paths),
            "log_dirs_after": path_lists(own.log_dirs_after, own.replicas_after >= 0, own.paths),
        }
        tables.append(table_of_columns(WAVE_MOVES, len(own.rows), columns, of=own))
    return pa.concat_tables(tables).combine_chunks()


def path_lists(log_dirs: np.ndarray, keep: np.ndarray, paths: tuple[str, ...]) -> pa.Array:
    """Turn the kept cells of each row into lists of paths, null where a cell is -1."""
    places = list_column(log_dirs, keep)
    chosen = places.values.to_numpy()
    names = pa.array(paths, pa.string()).take(pa.array(chosen, mask=chosen < 0))
    return pa.ListArray.from_arrays(places.offsets, names)


def _wave_row(scenario_id: str, schedule: Schedule, wave: Wave, files: WaveFiles) -> WaveRow:
    problem = schedule.problem
    broker, path, peak, ratio = _fullest(schedule, wave)
    return filled(
        WaveRow,
        wave,
        scenario_id=scenario_id,
        wave=wave.number,
        partitions=len(wave.rows),
        **_band("start_{}_seconds", wave.start_seconds),
        **_band("end_{}_seconds", wave.end_seconds),
        **_band("{}_seconds", wave.seconds),
        **_band(_SMALLEST, wave.smallest_throttle_bytes_per_second),
        fullest_broker=broker,
        fullest_log_dir=path,
        fullest_peak_bytes=peak,
        fullest_ratio=ratio,
        elections=int(wave.elects.sum()),
        files=json.dumps({each.name: each.sha256 for each in files.listed()}, sort_keys=True),
        runbook=json.dumps(dataclasses.asdict(runbook_page(schedule, wave, files)), sort_keys=True, ensure_ascii=False),
        **_times(wave, problem.clock),
    )


def _fullest(schedule: Schedule, wave: Wave) -> tuple[int | None, str | None, float | None, float | None]:
    """Return which broker, and which log dir where it has several, comes closest to its limit, its bytes and ratio."""
    problem, timeline, dirs = schedule.problem, schedule.log_dirs, schedule.problem.log_dirs
    at = np.flatnonzero((timeline.wave == wave.number) & has_several(dirs, dirs.broker_id)[timeline.log_dir])
    of_brokers = problem.disk_limit_bytes[problem.brokers.index_of(wave.broker_ids)]
    limit = np.concatenate([of_brokers, timeline.limit_bytes[at]])
    peak = np.concatenate([wave.disk_peak_bytes, timeline.peak_bytes[at]])
    known = np.isfinite(limit) & (limit > 0)
    if not known.any():
        return None, None, None, None
    ratio = np.where(known, peak / np.where(known, limit, 1.0), -1.0)
    found = int(ratio.argmax())
    figures = float(peak[found]), float(ratio[found])
    if found < len(of_brokers):
        return int(wave.broker_ids[found]), None, *figures
    place = int(timeline.log_dir[at[found - len(of_brokers)]])
    return int(dirs.broker_id[place]), dirs.path[place], *figures


def _times(wave: Wave, clock: Clock | None) -> dict[str, str | None]:
    """Return when a wave runs by the clock, as columns; without a window they are null."""
    start, end = wave.start_seconds[EXPECTED], wave.end_seconds[EXPECTED]
    if clock is None:
        return {}
    times = {"starts_at": start, "ends_at": end, "closes_at": clock.closes(start)}
    return {name: clock.moment(seconds) for name, seconds in times.items()}


def schedule_tables(scenario_id: str, schedule: Schedule | None) -> dict[str, pa.Table]:
    """Return all tables of one schedule, empty ones where there is none."""
    if schedule is None:
        return {name: schema.empty_table() for name, (schema, _) in MOVE_TABLES.items()}
    listed = [wave_rows(schedule, wave) for wave in schedule.waves]
    rows = [
        _wave_row(scenario_id, schedule, wave, files_of(own)) for wave, own in zip(schedule.waves, listed, strict=True)
    ]
    brokers, throttles, dirs = schedule.brokers, schedule.throttles, schedule.log_dirs
    place, named = schedule.problem.brokers.index_of(brokers.broker_id), schedule.problem.log_dirs
    of_brokers = {
        "scenario_id": scenario_id,
        "throttle_in_bytes_per_second": throttles.in_bytes_per_second[place],
        "throttle_out_bytes_per_second": throttles.out_bytes_per_second[place],
    }
    of_dirs = {
        "scenario_id": scenario_id,
        "broker_id": named.broker_id[dirs.log_dir],
        "path": [named.path[at] for at in dirs.log_dir.tolist()],
    }
    return {
        "schedules": table_of_rows(SCHEDULES, [_schedule_row(scenario_id, schedule)]),
        "waves": table_of_rows(WAVES, rows),
        "wave_moves": _wave_moves(scenario_id, schedule, listed),
        "broker_timeline": table_of_columns(BROKER_TIMELINE, len(brokers.wave), of_brokers, of=brokers),
        "log_dir_timeline": table_of_columns(LOG_DIR_TIMELINE, len(dirs.wave), of_dirs, of=dirs),
    }
