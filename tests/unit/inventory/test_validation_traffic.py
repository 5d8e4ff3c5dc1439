"""One broken inventory for each thing that can be found of metrics and groups."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_capacity.inventory.validation import validate
from tests.builders import cluster, with_rows
from tests.unit.inventory.broken import FAULT, assert_found, change, drop, hour, ids, on, repeat, with_group

PIB = 2**50


def without_reads(raw):
    """Nobody tells what consumers read."""
    rows = [{**row, "bytes_out_bytes_per_second": None} for row in raw.table("metrics").to_pylist()]
    return with_rows(raw, "metrics", rows)


def without_traffic(raw):
    """All rates are 0."""
    rows = [{**row, "bytes_in_bytes_per_second": 0.0} for row in raw.table("metrics").to_pylist()]
    return with_rows(raw, "metrics", rows)


def with_history(times):
    """The history has so many times what the metrics have."""
    raw = cluster()
    days = sorted({row["hour"].date() for row in raw.table("metrics").to_pylist()})
    total = sum(row["bytes_in_bytes_per_second"] for row in raw.table("metrics").to_pylist()) / 168
    at = [hour(str(day)) for day in days]
    rates = {"bytes_in_bytes_per_second": total * times, "bytes_out_bytes_per_second": 0.0}
    return with_rows(raw, "history", [{"topic": "orders", "day": day, **rates} for day in at])


CASES = [
    # metrics
    (
        without_traffic(cluster()),
        "serious",
        "all_rates_zero",
        "bytes_in is 0 in every row although replicas hold data; check where the rates were read",
    ),
    (
        cluster(hours=0),
        "warning",
        "no_metrics",
        "there are no rates; where earlier inventories of the cluster had none either, all traffic counts as 0 and "
        "only the disks of today are judged: add the table of metrics",
    ),
    (
        change(cluster(), "metrics", 0, bytes_in_bytes_per_second=-1.0),
        "warning",
        "unusable_rate",
        "1 value of bytes_in_bytes_per_second negative, infinite or not a number; they are left out",
    ),
    (
        change(cluster(), "metrics", 0, bytes_out_bytes_per_second=float("nan")),
        "warning",
        "unusable_rate",
        "1 value of bytes_out_bytes_per_second negative, infinite or not a number; they are left out",
    ),
    (
        without_reads(cluster()),
        "warning",
        "missing_rates",
        "no row has bytes_out_bytes_per_second: what consumers read counts as 0, and network and CPU load is "
        "underestimated; add it",
    ),
    (
        change(cluster(), "metrics", 0, bytes_in_bytes_per_second=1e12),
        "warning",
        "absurd_rate",
        "1 value of bytes_in_bytes_per_second above 1e+11 on one partition; they are left out, check the unit",
    ),
    (
        change(cluster(), "metrics", 0, topic="gone"),
        "warning",
        "metrics_of_unknown_partition",
        "metrics of 1 partition that the inventory lacks (gone-0); they are left out",
    ),
    (
        drop(cluster(), "metrics", *range(168)),
        "warning",
        "partition_without_metrics",
        "no metrics of 1 of 6 partitions (orders-0); their traffic counts as 0",
    ),
    (
        change(cluster(), "metrics", 0, hour=hour("2026-11-12", "23:30")),
        "fatal",
        "hour_not_whole",
        "1 row whose hour is not the start of an hour; give one row for each hour",
    ),
    (
        repeat(cluster(), "metrics", 7),
        "fatal",
        "duplicate_hour",
        "1 row for a duplicate hour of 1 partition (orders-0); give one row for each hour",
    ),
    (
        drop(cluster(), "metrics", *range(1, 100)),
        "warning",
        "metric_gaps",
        "90.2 % of the hours are present (168 hours from the first to the last, 6 partitions); means and peaks are "
        "based only on those",
    ),
    (
        with_history(86_400),
        "serious",
        "history_differs",
        "on the 7 days that metrics know as well, the history has 86,400 times their traffic: growth and dates that "
        "rest on it are wrong",
    ),
    (
        with_history(1 / 1024),
        "serious",
        "history_differs",
        "on the 7 days that metrics know as well, the history has only 1 in 1,024 bytes of their traffic: growth and "
        "dates that rest on it are wrong",
    ),
    (
        cluster(hours=100),
        "info",
        "short_history",
        "the history spans 100 hours, less than the 168 of a week; its peak may be missing",
    ),
    (
        replace(cluster(), ds="2026-12-01"),
        "warning",
        "stale_metrics",
        "the newest metrics are 11.0 days older than 2026-12-01; changes since then are not included",
    ),
    (
        replace(cluster(), ds="2026-11-18"),
        "warning",
        "future_metrics",
        "144 rows of metrics later than the day 2026-11-18; they are used like the others, check ds",
    ),
    # groups
    (
        repeat(with_group(), "groups", 0),
        "fatal",
        "duplicate_group",
        "1 row of groups with the same group_id as another ('g'); keep one",
    ),
    (
        repeat(with_group([on(0)]), "members", 0),
        "fatal",
        "duplicate_member",
        "1 row of members with the same group_id, member_id as another ('g' 'm0'); keep one",
    ),
    (
        with_group(lags=[{}, {}]),
        "fatal",
        "duplicate_lag",
        "1 row of lags with the same group_id, topic, partition as another ('g' 'orders' 0); keep one",
    ),
    (
        drop(with_group([on(0)]), "groups", 0),
        "warning",
        "unknown_group",
        "members of 1 group that the table of groups lacks ('g'); they are left out",
    ),
    (
        with_group([on(0), {"topic": None, "partition": 1}]),
        "fatal",
        "assigned_without_name",
        "1 assigned partition without a topic or a number; give both",
    ),
    (
        with_group([on(0), on(99)], [on(0, "gone")]),
        "warning",
        "assigned_unknown_partition",
        "members are assigned 2 partitions that the inventory lacks (gone-0, orders-99); they are left out",
    ),
    (
        with_group([on(0), on(1)], None, [], [on(1)]),
        "warning",
        "partition_owned_twice",
        "1 partition assigned to more than one member of the same group ('g'); the snapshot was taken during a "
        "rebalance, take it again",
    ),
    (
        with_group(lags=[{"partition": 44}]),
        "warning",
        "lag_of_unknown_partition",
        "lag on 1 partition that the inventory lacks (orders-44); it is left out",
    ),
    (
        with_group(lags=[{"lag_records": -1}]),
        "warning",
        "negative_lag",
        "lag_records below 0 in 1 row: the end of the log was read before the committed offset; it counts as 0",
    ),
    (
        with_group(lags=[{"lag_records": None}]),
        "info",
        "lag_unknown",
        "1 row of lags with neither lag_records nor both offsets; they are left out",
    ),
    (
        with_group(lags=[{"log_start_offset": 8, "log_end_offset": 7}]),
        "warning",
        "log_ends_before_it_starts",
        "log_start_offset above log_end_offset on 1 partition (orders-0); sizes of records are not measured there, "
        "fix the offsets",
    ),
    # producers
    (
        cluster(producers=[{"topic": "gone", "bytes_per_second": 1.0}]),
        "warning",
        "producers_of_unknown_topic",
        "producers of 1 topic that the inventory lacks (gone); they are left out",
    ),
    (
        cluster(producers=[{"topic": "orders", "bytes_per_second": -1.0}]),
        "warning",
        "unusable_producer_rate",
        "1 value of bytes_per_second negative, infinite or not a number; they are left out",
    ),
    (
        cluster(producers=[{"topic": "orders", "bytes_per_second": 1e14}]),
        "warning",
        "absurd_producer_rate",
        "1 value of bytes_per_second above 1e+13 of one topic; check the unit",
    ),
]


@pytest.mark.parametrize(FAULT, CASES, ids=ids(CASES))
def test_every_fault_of_traffic_and_groups_is_found_and_said(raw, severity, code, message):
    assert_found(raw, severity, code, message)


@pytest.mark.parametrize("times", [0.3, 1.0, 3.0])
def test_a_history_of_about_the_same_traffic_is_right(times):
    assert "history_differs" not in {one.code for one in validate(with_history(times))}
