"""The tables of a load profile: what the history of a cluster's traffic says, for each thing that carries traffic.

Rates are bytes per second; a percentile is the linear one (Hyndman and Fan's type 7) of the hourly means. What belongs
to several partitions is added up hour by hour before its percentiles are taken: a coincident peak, not the sum of
peaks, which stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

PROFILE_SCHEMA_VERSION = 1  # of the tables of a profile; readers of version N read N-1 too

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

_TEXT, _INT32, _INT64, _FLOAT = pa.string(), pa.int32(), pa.int64(), pa.float64()
_TREND = {"trend_bytes_per_second_per_day": _FLOAT, "peak_hour_utc": _INT32}
_SUM_OF_PEAKS = {"sum_of_peaks_in_bytes_per_second": _FLOAT, "sum_of_peaks_out_bytes_per_second": _FLOAT}
_QUALITY = {
    "known_hours": _INT64,
    "expected_hours": _INT64,
    "coverage_ratio": _FLOAT,
    "longest_gap_hours": _INT64,
    "stale_hours": _INT64,
}


def rate_columns(way: str) -> list[str]:
    """Name the columns that describe one direction, ``in`` or ``out``."""
    return [f"bytes_{way}_{what}_bytes_per_second" for what in ("mean", *QUANTILES, "max")]


def _rates(*ways: str) -> dict[str, pa.DataType]:
    return {column: _FLOAT for way in ways for column in rate_columns(way)}


def _table(
    keys: Mapping[str, pa.DataType], columns: Mapping[str, pa.DataType], known: Mapping[str, pa.DataType] | None = None
) -> tuple[pa.Schema, tuple[str, ...]]:
    """Describe a table by what it is sorted by, the columns that may be null, and those that may not."""
    every = {**keys, **columns, **(known or {})}
    return pa.schema([pa.field(name, kind, nullable=name in columns) for name, kind in every.items()]), tuple(keys)


PROFILE_TABLES: dict[str, tuple[pa.Schema, tuple[str, ...]]] = {
    "profile_partitions": _table(
        {"topic": _TEXT, "partition": _INT32}, {**_rates("in", "out"), **_TREND}, known=_QUALITY
    ),
    "profile_topics": _table({"topic": _TEXT}, {**_rates("in", "out"), **_TREND, **_SUM_OF_PEAKS}),
    "profile_groups": _table({"group_id": _TEXT}, {**_rates("in"), **_TREND}),
    "profile_brokers": _table({"broker_id": _INT32}, {**_rates("written", "led", "read"), **_TREND}),
    "profile_cluster": _table({"cluster": _TEXT}, {**_rates("in", "out"), **_TREND, **_SUM_OF_PEAKS}),
    "profile_seasons": _table(
        {"topic": _TEXT, "hour_of_week": _INT32},
        {"bytes_in_mean_bytes_per_second": _FLOAT, "bytes_out_mean_bytes_per_second": _FLOAT},
    ),
    "profile_days": _table(
        {"topic": _TEXT, "day": pa.date32()},
        {f"bytes_{way}_{what}_bytes_per_second": _FLOAT for way in ("in", "out") for what in ("mean", "max")},
        known={"known_hours": _INT64},
    ),
}
"""By name: the schema of each table and what it is sorted by.

``profile_seasons`` and ``profile_days`` have the whole cluster under the empty name of a topic. Hours of a week count
from Monday 0:00 UTC. ``expected_hours`` runs from the first known hour of a partition to the newest one of the
cluster; ``stale_hours`` is what is missing at that end. A broker's ``written`` is what all its replicas take
in, ``led`` what is produced to the partitions that it leads, ``read`` what consumers read of them.
"""
