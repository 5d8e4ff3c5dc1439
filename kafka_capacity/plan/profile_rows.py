"""Daily totals of all that carries traffic, as the tables of a load profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_capacity.demand.totals import (
    HOURS,
    WEEK,
    HourlyTotals,
    TotalsProfile,
    day_means,
    describe,
    scaled,
    week_means,
)
from kafka_capacity.inventory.column_values import encode
from kafka_capacity.objects.profile_tables import QUANTILES, rate_columns

Columns = dict[str, Any]


def profile_tables(
    cluster: str, *, partitions: pa.Table, topics: pa.Table, brokers: pa.Table, leaders: pa.Table, groups: pa.Table
) -> dict[str, pa.Table]:
    """Make the tables of a profile.

    Args:
        cluster: its name.
        partitions: ``profile_partitions``.
        topics: daily totals of ``in`` and ``out`` by topic.
        brokers: of ``written`` by broker, over all its replicas.
        leaders: of ``led`` and ``read`` by broker, over the partitions that it leads.
        groups: of ``in`` by consumer group.
    """
    whole = all_together(topics, ("in", "out"))
    peaks, all_peaks = _sums_of_peaks(partitions)
    led = described(leaders, "broker_id", ("led", "read")).drop_columns(
        ["trend_bytes_per_second_per_day", "peak_hour_utc"]
    )
    return {
        "profile_partitions": partitions,
        "profile_topics": described(topics, "topic", ("in", "out")).join(peaks, "topic"),
        "profile_groups": described(groups, "group_id", ("in",)),
        "profile_brokers": described(brokers, "broker_id", ("written",)).join(led, "broker_id"),
        "profile_cluster": _with(
            described(whole, "topic", ("in", "out")).drop_columns(["topic"]), cluster=cluster, **all_peaks
        ),
        "profile_seasons": season_rows(pa.concat_tables([topics, whole.cast(topics.schema)])),
        "profile_days": day_rows(pa.concat_tables([topics, whole.cast(topics.schema)])),
    }


def _sums_of_peaks(partitions: pa.Table) -> tuple[pa.Table, dict[str, float]]:
    """Add up the partitions' own 99th percentiles by topic and in all: what no moment need ever see."""
    names, number = encode(partitions.column("topic"))
    columns: Columns = {"topic": pa.array(names, pa.string())}
    whole = {}
    for way in ("in", "out"):
        peak = np.nan_to_num(partitions.column(f"bytes_{way}_p99_bytes_per_second").to_numpy())
        order = np.lexsort((peak, number))
        total = np.bincount(number[order], weights=peak[order], minlength=len(names))
        columns[f"sum_of_peaks_{way}_bytes_per_second"] = pa.array(total)
        whole[f"sum_of_peaks_{way}_bytes_per_second"] = float(total.sum())
    return pa.table(columns), whole


def _with(table: pa.Table, **values: str | float) -> pa.Table:
    for name, value in values.items():
        table = table.append_column(name, pa.array([value] * len(table)))
    return table


def totals_of(table: pa.Table, key: str, way: str) -> tuple[list[Any], HourlyTotals]:
    """Take one way (such as ``in``) of daily totals in any order, with the sorted names of what they are of."""
    names, number = encode(table.column(key))
    day = table.column("day").cast(pa.int32()).to_numpy().astype(np.int64)
    order = np.lexsort((day, number))
    rates = scaled(_hours(table, f"{way}_sum"), _hours(table, f"{way}_known"), _ints(table.column("partitions")))
    return names, HourlyTotals(key=number[order], key_count=len(names), day=day[order], rates=rates[order])


def all_together(table: pa.Table, ways: Sequence[str]) -> pa.Table:
    """Add the totals of all topics up to those of the cluster, under the empty name."""
    day, row = np.unique(table.column("day").cast(pa.int32()).to_numpy(), return_inverse=True)
    columns: Columns = {
        "topic": pa.array([""] * len(day), pa.string()),
        "day": pa.array(day, pa.int32()).cast(pa.date32()),
        "partitions": pa.array(_added(row, _ints(table.column("partitions"))[:, None], len(day))[:, 0]),
    }
    for way in ways:
        for what in ("sum", "known"):
            columns[f"{way}_{what}"] = _as_lists(_added(row, _hours(table, f"{way}_{what}"), len(day)))
    return pa.table(columns)


def described(table: pa.Table, key: str, ways: Sequence[str]) -> pa.Table:
    """Describe each thing: rates of every way, trend and peak hour of the first."""
    columns: Columns = {}
    for position, way in enumerate(ways):
        names, totals = totals_of(table, key, way)
        profile = describe(totals, tuple(QUANTILES.values()))
        columns[key] = pa.array(names)
        columns |= dict(zip(rate_columns(way), _rate_arrays(profile), strict=True))
        if position == 0:
            columns["trend_bytes_per_second_per_day"] = _known(profile.trend)
            columns["peak_hour_utc"] = pa.array(profile.peak_hour, pa.int32(), mask=profile.peak_hour < 0)
    return pa.table(columns)


def season_rows(table: pa.Table) -> pa.Table:
    """Give ``profile_seasons`` of daily totals by topic."""
    means = {}
    for way in ("in", "out"):
        names, totals = totals_of(table, "topic", way)
        means[way] = week_means(totals)
    return pa.table(
        {
            "topic": pa.array(np.repeat(np.array(names, dtype=object), WEEK), pa.string()),
            "hour_of_week": pa.array(np.tile(np.arange(WEEK), len(names)), pa.int32()),
            **{f"bytes_{way}_mean_bytes_per_second": _known(mean.reshape(-1)) for way, mean in means.items()},
        }
    )


def day_rows(table: pa.Table) -> pa.Table:
    """Give ``profile_days`` of daily totals by topic."""
    columns: Columns = {}
    for way in ("in", "out"):
        names, totals = totals_of(table, "topic", way)
        is_known = ~np.isnan(totals.rates)
        highest = np.where(is_known, totals.rates, -1.0).max(axis=1)
        columns["topic"] = pa.array([names[i] for i in totals.key.tolist()], pa.string())
        columns["day"] = pa.array(totals.day, pa.int32()).cast(pa.date32())
        columns[f"bytes_{way}_mean_bytes_per_second"] = _known(day_means(totals))
        columns[f"bytes_{way}_max_bytes_per_second"] = _known(np.where(highest >= 0, highest, np.nan))
        if way == "in":
            columns["known_hours"] = pa.array(is_known.sum(axis=1), pa.int64())
    return pa.table(columns)


def _rate_arrays(profile: TotalsProfile) -> list[pa.Array[Any]]:
    return [_known(values) for values in (profile.mean, *profile.percentiles, profile.highest)]


def _known(values: NDArray[np.float64]) -> pa.Array[Any]:
    return pa.array(values, pa.float64(), mask=np.isnan(values))


def _ints(column: pa.ChunkedArray[Any]) -> NDArray[np.int64]:
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _hours(table: pa.Table, column: str) -> NDArray[np.int64]:
    flat = table.column(column).combine_chunks().flatten()
    return np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.int64).reshape(len(table), HOURS)


def _added(row: NDArray[np.intp], values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    total = np.zeros((count, values.shape[1]), dtype=np.int64)
    np.add.at(total, row, values)
    return total


def _as_lists(matrix: NDArray[np.int64]) -> pa.Array[Any]:
    offsets = pa.array(np.arange(0, matrix.size + 1, HOURS, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array(matrix.reshape(-1), pa.int64()))
