"""Daily totals of all that carries traffic, as the tables of a load profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.calendar_days import WEEK_HOURS
from kafka_capacity.demand.totals import HourlyTotals, day_means, describe, scaled, week_means
from kafka_capacity.inventory.column_values import encode, ints
from kafka_capacity.inventory.history import hours_of
from kafka_capacity.objects.profile_tables import QUANTILES, rate_columns
from kafka_capacity.plan.traffic_profile import added, nullable

Columns = dict[str, Any]


def profile_tables(
    cluster: str, *, partitions: pa.Table, topics: pa.Table, brokers: pa.Table, leaders: pa.Table, groups: pa.Table
) -> dict[str, pa.Table]:
    """Make the tables of a profile from ``profile_partitions`` and daily totals.

    These are of ``in`` and ``out`` by topic, of ``in`` by consumer group, and by broker of ``written`` over all its
    replicas and of ``led`` and ``read`` over the partitions that it leads.
    """
    # Those of the cluster, under the empty name.
    whole = added("topics", [topics.set_column(0, "topic", pa.array([""] * len(topics), pa.string()))])
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
    total, known = (hours_of(table, f"{way}_{what}", np.int64) for what in ("sum", "known"))
    rates = scaled(total, known, ints(table.column("partitions")))
    return names, HourlyTotals(key=number[order], key_count=len(names), day=day[order], rates=rates[order])


def described(table: pa.Table, key: str, ways: Sequence[str]) -> pa.Table:
    """Describe each thing: rates of every way, trend and peak hour of the first."""
    columns: Columns = {}
    for position, way in enumerate(ways):
        names, totals = totals_of(table, key, way)
        profile = describe(totals, tuple(QUANTILES.values()))
        columns[key] = pa.array(names)
        rates = (profile.mean, *profile.percentiles, profile.highest)
        columns |= dict(zip(rate_columns(way), map(nullable, rates), strict=True))
        if position == 0:
            columns["trend_bytes_per_second_per_day"] = nullable(profile.trend)
            columns["peak_hour_utc"] = pa.array(profile.peak_hour, pa.int32(), mask=profile.peak_hour < 0)
    return pa.table(columns)


def season_rows(table: pa.Table) -> pa.Table:
    """Return ``profile_seasons`` of daily totals by topic."""
    means = {}
    for way in ("in", "out"):
        names, totals = totals_of(table, "topic", way)
        means[way] = week_means(totals)
    return pa.table(
        {
            "topic": pa.array(np.repeat(np.array(names, dtype=object), WEEK_HOURS), pa.string()),
            "hour_of_week": pa.array(np.tile(np.arange(WEEK_HOURS), len(names)), pa.int32()),
            **{f"bytes_{way}_mean_bytes_per_second": nullable(mean.reshape(-1)) for way, mean in means.items()},
        }
    )


def day_rows(table: pa.Table) -> pa.Table:
    """Return ``profile_days`` of daily totals by topic."""
    columns: Columns = {}
    for way in ("in", "out"):
        names, totals = totals_of(table, "topic", way)
        is_known = ~np.isnan(totals.rates)
        highest = np.where(is_known, totals.rates, -1.0).max(axis=1)
        columns["topic"] = pa.array([names[i] for i in totals.key.tolist()], pa.string())
        columns["day"] = pa.array(totals.day, pa.int32()).cast(pa.date32())
        columns[f"bytes_{way}_mean_bytes_per_second"] = nullable(day_means(totals))
        columns[f"bytes_{way}_max_bytes_per_second"] = nullable(np.where(highest >= 0, highest, np.nan))
        if way == "in":
            columns["known_hours"] = pa.array(is_known.sum(axis=1), pa.int64())
    return pa.table(columns)
