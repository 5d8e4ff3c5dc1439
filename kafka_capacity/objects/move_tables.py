"""The tables of a schedule: its waves, and what every broker carries in each of them."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from kafka_capacity.reassignment.kafka_json import WaveFiles, wave_files
from kafka_capacity.reassignment.problem import BAND
from kafka_capacity.reassignment.schedule import Schedule, Wave

_SECONDS = [f"{edge}_{band}_seconds" for edge in ("start", "end") for band in BAND]

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
        *(pa.field(f"smallest_throttle_{band}_bytes_per_second", pa.float64(), nullable=False) for band in BAND),
        pa.field("bottleneck_broker", pa.int32()),
        pa.field("bottleneck_direction", pa.string()),
        pa.field("fullest_broker", pa.int32()),
        pa.field("fullest_peak_bytes", pa.float64()),
        pa.field("fullest_ratio", pa.float64()),
        pa.field("elections", pa.int64(), nullable=False),
        pa.field("files", pa.string(), nullable=False),
    ]
)
"""One row a wave of a scenario; seconds are null for never; ``files`` is a JSON object of names and sha256.

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
        pa.field("leaders", pa.int64(), nullable=False),
    ]
)
"""One row a broker that takes part in a wave."""

MOVE_TABLES = {
    "waves": (WAVES, ("scenario_id", "wave")),
    "broker_timeline": (BROKER_TIMELINE, ("scenario_id", "wave", "broker_id")),
}
"""Every table of a schedule: its schema and what it is sorted by."""


def waves_table(scenario_id: str, schedule: Schedule) -> pa.Table:
    """Give the rows of ``waves`` of one schedule."""
    limits = dict(zip(schedule.problem.brokers.ids.tolist(), schedule.problem.disk_limit_bytes.tolist(), strict=True))
    rows = [_wave_row(scenario_id, wave, wave_files(schedule, wave), limits) for wave in schedule.waves]
    return pa.Table.from_pylist(rows, schema=WAVES)


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
        **{
            f"smallest_throttle_{band}_bytes_per_second": smallest
            for band, smallest in zip(BAND, wave.smallest_throttle_bytes_per_second, strict=True)
        },
        "bottleneck_broker": wave.bottleneck_broker,
        "bottleneck_direction": wave.bottleneck_direction,
        "fullest_broker": None if fullest is None else int(wave.broker_ids[fullest]),
        "fullest_peak_bytes": None if fullest is None else float(wave.disk_peak_bytes[fullest]),
        "fullest_ratio": None if fullest is None else float(ratio[fullest]),
        "elections": int(wave.elects.sum()),
        "files": json.dumps({each.name: each.sha256 for each in files.listed()}, sort_keys=True),
    }


def broker_timeline_table(scenario_id: str, schedule: Schedule) -> pa.Table:
    """Give the rows of ``broker_timeline`` of one schedule."""
    line = schedule.brokers
    arrays = []
    for field in BROKER_TIMELINE:
        if field.name == "scenario_id":
            arrays.append(pa.array([scenario_id] * len(line.wave), pa.string()))
            continue
        values = getattr(line, field.name)
        mask = ~np.isfinite(values) if field.nullable else None
        arrays.append(pa.array(values, field.type, mask=mask))
    return pa.Table.from_arrays(arrays, schema=BROKER_TIMELINE)


def schedule_tables(scenario_id: str, schedule: Schedule) -> dict[str, pa.Table]:
    """Give all tables of one schedule."""
    return {
        "waves": waves_table(scenario_id, schedule),
        "broker_timeline": broker_timeline_table(scenario_id, schedule),
    }
