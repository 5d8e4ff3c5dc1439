"""The tables of a load profile: what the history of a cluster's traffic says, for each thing that carries traffic.

Rates are bytes per second; a percentile is the linear one (Hyndman and Fan's type 7) of the hourly means. What belongs
to several partitions is added up hour by hour before its percentiles are taken: a coincident peak, not the sum of
peaks, which stands beside it.
"""

from __future__ import annotations

import pyarrow as pa

PROFILE_SCHEMA_VERSION = 1  # of the tables of a profile; readers of version N read N-1 too

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def _text(name: str) -> pa.Field[pa.DataType]:
    return pa.field(name, pa.string(), nullable=False)


def rate_columns(way: str) -> list[str]:
    """Name the columns that describe one direction, ``in`` or ``out``."""
    return [f"bytes_{way}_{what}_bytes_per_second" for what in ("mean", *QUANTILES, "max")]


def _rates(*ways: str) -> list[pa.Field[pa.DataType]]:
    return [pa.field(column, pa.float64()) for way in ways for column in rate_columns(way)]


_QUALITY: list[pa.Field[pa.DataType]] = [
    pa.field("known_hours", pa.int64(), nullable=False),
    pa.field("expected_hours", pa.int64(), nullable=False),
    pa.field("coverage_ratio", pa.float64(), nullable=False),
    pa.field("longest_gap_hours", pa.int64(), nullable=False),
    pa.field("stale_hours", pa.int64(), nullable=False),
]
_TREND: list[pa.Field[pa.DataType]] = [
    pa.field("trend_bytes_per_second_per_day", pa.float64()),
    pa.field("peak_hour_utc", pa.int32()),
]
_SUM_OF_PEAKS = [
    pa.field("sum_of_peaks_in_bytes_per_second", pa.float64()),
    pa.field("sum_of_peaks_out_bytes_per_second", pa.float64()),
]

PROFILE_TABLES: dict[str, tuple[pa.Schema, tuple[str, ...]]] = {
    "profile_partitions": (
        pa.schema(
            [
                _text("topic"),
                pa.field("partition", pa.int32(), nullable=False),
                *_rates("in", "out"),
                *_TREND,
                *_QUALITY,
            ]
        ),
        ("topic", "partition"),
    ),
    "profile_topics": (pa.schema([_text("topic"), *_rates("in", "out"), *_TREND, *_SUM_OF_PEAKS]), ("topic",)),
    "profile_groups": (pa.schema([_text("group_id"), *_rates("in"), *_TREND]), ("group_id",)),
    "profile_brokers": (
        pa.schema([pa.field("broker_id", pa.int32(), nullable=False), *_rates("written", "led", "read"), *_TREND]),
        ("broker_id",),
    ),
    "profile_cluster": (pa.schema([_text("cluster"), *_rates("in", "out"), *_TREND, *_SUM_OF_PEAKS]), ("cluster",)),
    "profile_seasons": (
        pa.schema(
            [
                _text("topic"),
                pa.field("hour_of_week", pa.int32(), nullable=False),
                pa.field("bytes_in_mean_bytes_per_second", pa.float64()),
                pa.field("bytes_out_mean_bytes_per_second", pa.float64()),
            ]
        ),
        ("topic", "hour_of_week"),
    ),
    "profile_days": (
        pa.schema(
            [
                _text("topic"),
                pa.field("day", pa.date32(), nullable=False),
                pa.field("bytes_in_mean_bytes_per_second", pa.float64()),
                pa.field("bytes_in_max_bytes_per_second", pa.float64()),
                pa.field("bytes_out_mean_bytes_per_second", pa.float64()),
                pa.field("bytes_out_max_bytes_per_second", pa.float64()),
                pa.field("known_hours", pa.int64(), nullable=False),
            ]
        ),
        ("topic", "day"),
    ),
}
"""By name: the schema of each table and what it is sorted by.

``profile_seasons`` and ``profile_days`` have the whole cluster under the empty name of a topic. Hours of a week count
from Monday 0:00 UTC. ``expected_hours`` runs from the first known hour of a partition to the newest one of the
cluster; ``stale_hours`` is what is missing at that end. A broker's ``written`` is what all its replicas take
in, ``led`` what is produced to the partitions that it leads, ``read`` what consumers read of them.
"""
