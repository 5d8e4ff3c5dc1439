"""The days on which logs are full: dates of an outlook, since disks turn there."""

import dataclasses

import numpy as np
import pytest

from kafka_capacity.demand.disk import partition_sizes
from kafka_capacity.demand.events import Launch, RetentionChange
from kafka_capacity.demand.expectation import expect_demand
from kafka_capacity.demand.full_logs import fill_days
from kafka_capacity.demand.settings import DemandSettings
from kafka_capacity.inventory.sizing_workload import log_limits
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from tests.builders import cluster, rows_of, topic, with_rows
from tests.unit.questions.capacity.workloads import DAY, GIB, workload

DATES = ("2026-11-20", "2026-11-30", "2026-12-20")


def filled(size, rate, **limits):
    made = workload(np.broadcast_to(rate, len(size)), size=size, **limits)
    rate, age = made.load.bytes_in_mean_bytes_per_second, made.limits.age_seconds()
    return fill_days(DATES[0], DATES[-1], np.array(size, dtype=float), rate, age, made.limits)


def test_days_on_which_much_is_full_are_dates():
    def days(size, rate, retention, most=np.inf):
        return filled(np.atleast_1d(size), rate, retention=retention, retention_bytes=most)

    # Six more days, and one for the segment; a nearly full one needs none.
    assert days(GIB, GIB / DAY, 7 * DAY) == ("2026-11-27",)
    assert days(12 * GIB, GIB / DAY, 15 * DAY) == ("2026-11-23",)
    assert days(GIB, GIB / DAY, 7 * DAY, most=3 * GIB) == ("2026-11-23",)
    # What is full, silent, has no limit or fills beyond the horizon turns nothing, nor does a hundredth of all.
    assert days([7 * GIB, GIB, GIB], [GIB / DAY, 0.0, GIB / DAY], [7 * DAY, 7 * DAY, np.inf]) == ()
    assert days([600 * GIB, GIB], GIB / DAY * np.ones(2), [7 * DAY, 7 * DAY]) == ()
    assert days(GIB, GIB / DAY, 31 * DAY) == ()
    # Of many days about a sixth of the bytes fill up between two.
    several = np.arange(1, 31) * DAY
    found = days(np.zeros(30), np.full(30, 2**20 / DAY), several, most=2**40 * np.ones(30))
    assert found == ()  # a segment takes longer than the horizon
    found = filled(np.zeros(30), GIB / DAY, retention=several, segment=0)
    assert found == ("2026-12-02", "2026-12-08", "2026-12-12", "2026-12-15", "2026-12-18", "2026-12-20")
    # Sixths of the 465 GiB are 77.5; those of the first so many days are the first numbers that are not smaller.
    assert [sum(range(1, int(day[-2:]) + 11)) for day in found] == [78, 171, 253, 325, 406, 465]


def test_the_day_on_which_a_filling_log_passes_a_size_is_on_a_straight_line():
    turned = filled([2 * GIB], GIB / DAY, retention=15 * DAY)
    assert turned == ("2026-12-04",)
    dates = (*DATES[:2], *turned, DATES[2])
    found = partition_sizes(
        workload([GIB / DAY], size=2 * GIB, retention=15 * DAY, segment=GIB, dates=dates, middle=[[1, 1, 1, 1]])
    )
    assert found[0, 0].tolist() == pytest.approx([2 * GIB, 12 * GIB, 16 * GIB, 16 * GIB])


def test_days_on_which_logs_are_as_long_as_they_get_are_known_beforehand():
    day = 86_400.0
    topics = [
        topic("full", partitions=1, size_bytes=60_000_000, settings={"retention_ms": 3 * 86_400_000}),
        topic("young", partitions=1, size_bytes=8_640_000, settings={"retention_ms": 31 * 86_400_000}),
        topic("kept", partitions=1, size_bytes=8_640_000, settings={"cleanup_policy": "compact"}),
    ]
    raw = cluster(topics=[dataclasses.replace(one, bytes_in=100.0) for one in topics], hours=24)
    raw = with_rows(raw, "topics", [row | {"segment_bytes": 1} for row in rows_of(raw, "topics")])
    snapshot = build_snapshot(raw)
    load = partition_load(raw, snapshot)

    def days(*events):
        still = {"growth_per_year_ratio": 0.0, "growth_high_per_year_ratio": 0.0, "horizon_months": 3}
        settings, limits = DemandSettings(events=events, **still), log_limits(raw, snapshot)
        outlook = [expect_demand(snapshot, load, settings, None, one).outlook.dates for one in (limits, None)]
        return tuple(day for day in outlook[0] if day not in outlook[1])

    # One day of 31 is there; a launch needs the retention of what it is about, when it begins and when it ends.
    assert (snapshot.ds, days()) == ("2026-11-20", ("2026-12-21",))
    start = {"from_date": "2026-12-01", "factor": 2.0}
    assert set(days(Launch(topics="full", to_date="2026-12-10", **start))) - set(days()) == {"2026-12-04", "2026-12-14"}
    assert set(days(Launch(topics="kept", **start))) == set(days())
    # A young log with a shorter retention is full of that sooner, whenever it is changed.
    shorter = RetentionChange(topics="young", from_date="2026-11-25", retention_seconds=10 * day)
    assert set(days(shorter)) - set(days()) == {"2026-11-30"}
