"""The week of a cluster: from hourly metrics and from a profile, with holes filled."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa

from kafka_capacity.inventory.chosen_hours import gather_hours
from kafka_capacity.inventory.column_values import PartitionIndex
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.inventory.week_traffic import WEEK_HOURS, filled_week, week_of_metrics, week_of_profile

MONDAY = datetime.datetime(2026, 11, 16, tzinfo=datetime.UTC)


class Raw:
    """An inventory with nothing but metrics."""

    def __init__(self, rows, hours=None):
        columns = {"topic": "a", "partition": 0, "bytes_out_bytes_per_second": 0.0}
        self.metrics = pa.Table.from_pylist([{**columns, **row} for row in rows], schema=TABLES["metrics"].schema)
        self.hours = hours

    def table(self, _):
        return self.metrics


def hour(number, rate, partition=0):
    return {
        "hour": MONDAY + datetime.timedelta(hours=number),
        "bytes_in_bytes_per_second": rate,
        "partition": partition,
    }


def test_hours_of_several_weeks_are_averaged_and_partitions_added_up():
    week = week_of_metrics(Raw([hour(3, 10.0), hour(3, 5.0, 1), hour(3 + 168, 30.0), hour(3 + 168, 5.0, 1)]))
    assert week[3] == 25.0
    assert np.isnan(np.delete(week, 3)).all()


def test_an_hour_of_which_partitions_are_missing_is_left_out():
    rows = [hour(number, 1.0, partition) for number in (0, 1) for partition in range(10)]
    week = week_of_metrics(Raw([*rows[:-2], hour(1, float("nan"), 9)]))
    assert week[0] == 10.0
    assert np.isnan(week[1])


def test_chosen_hours_give_the_same_week():
    raw = Raw([hour(number, float(number), partition) for number in range(30) for partition in (0, 1)])
    index = PartitionIndex.of(("a",), np.zeros(2, dtype=np.int64), np.arange(2))
    chosen = gather_hours(lambda: [raw.metrics], index)
    np.testing.assert_array_equal(week_of_metrics(Raw([], chosen)), week_of_metrics(raw))


def test_holes_take_the_same_time_of_other_days_then_the_mean():
    week = np.full(WEEK_HOURS, np.nan)
    week[[2, 26]] = 10.0, 30.0
    filled = filled_week(week)
    assert filled[[2, 26, 50]].tolist() == [10.0, 30.0, 20.0]
    assert filled[0] == 20.0
    assert filled_week(np.full(WEEK_HOURS, np.nan)) is None


def test_a_profile_has_the_week_of_the_cluster_under_no_topic():
    seasons = pa.table(
        {
            "topic": ["", "", "a"],
            "hour_of_week": pa.array([0, 167, 5], pa.int32()),
            "bytes_in_mean_bytes_per_second": [7.0, 9.0, 1.0],
        }
    )
    week = week_of_profile(seasons)
    assert (week[0], week[167]) == (7.0, 9.0)
    assert np.isnan(week[1:167]).all()
