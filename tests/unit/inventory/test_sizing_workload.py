"""From tables to the workload of sizing: hours, limits, lags."""

import dataclasses
import datetime

import numpy as np
import pytest

from kafka_capacity.demand.disk import partition_sizes
from kafka_capacity.demand.events import Launch
from kafka_capacity.demand.expectation import expect_demand
from kafka_capacity.demand.settings import DemandSettings
from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.example import make_example
from kafka_capacity.inventory.group_facts import group_facts
from kafka_capacity.inventory.sizing_workload import hourly_traffic, sizing_workload
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from tests.builders import cluster, rows_of, topic, with_rows


def made(raw, settings=None):
    snapshot = build_snapshot(raw)
    load = partition_load(raw, snapshot)
    outlook = expect_demand(snapshot, load, settings or DemandSettings()).outlook
    return sizing_workload(
        raw, snapshot, load, outlook, hourly_traffic(raw, snapshot, load), group_facts(raw, snapshot, load)
    )


def small(**settings):
    return cluster(topics=[topic("a", partitions=2, settings=settings), topic("b", partitions=1)], hours=48)


def test_hours_come_in_order_and_unknown_ones_count_the_mean():
    raw = small()
    rows = rows_of(raw, "metrics")
    for row in rows:
        row["bytes_in_bytes_per_second"] = 100.0 + row["partition"]
    rows[0]["bytes_in_bytes_per_second"] = None
    rows[1]["bytes_out_bytes_per_second"] = 7.0
    work = made(with_rows(raw, "metrics", list(reversed(rows))))
    assert work.traffic.basis is PeakBasis.SAME_HOURS
    assert work.traffic.bytes_in.shape == (3, 48)
    assert work.traffic.bytes_in[0].tolist() == [100.0] * 48
    assert work.traffic.bytes_out[0, 1] == 7.0


def test_a_running_launch_counts_once_in_peaks_and_means():
    # Seven days, of which three came at three times the 70 bytes a second of the others.
    raw = cluster(topics=[topic("a", partitions=1), topic("b", partitions=1)], hours=7 * 24)
    rows = rows_of(raw, "metrics")
    hours = sorted({row["hour"] for row in rows})
    for row in rows:
        is_on = row["topic"] == "a" and row["hour"] >= hours[4 * 24]
        row["bytes_in_bytes_per_second"] = 210.0 if is_on else 70.0
    raw = with_rows(raw, "metrics", rows)
    snapshot = build_snapshot(raw)
    load = partition_load(raw, snapshot)
    assert load.bytes_in_mean_bytes_per_second == pytest.approx([130.0, 70.0])
    day = datetime.date.fromisoformat(snapshot.ds)
    event = Launch(
        topics="a",
        from_date=(day - datetime.timedelta(days=3)).isoformat(),
        to_date=(day + datetime.timedelta(days=9)).isoformat(),
        factor=3.0,
    )
    still = {"growth_per_year_ratio": 0.0, "growth_high_per_year_ratio": 0.0, "horizon_months": 1}
    outlook = expect_demand(snapshot, load, DemandSettings(events=(event,), **still)).outlook
    work = sizing_workload(
        raw, snapshot, load, outlook, hourly_traffic(raw, snapshot, load), group_facts(raw, snapshot, load)
    )
    ratio = outlook.rate_ratio[outlook.class_of]
    assert work.load.bytes_in_mean_bytes_per_second[:, None] * ratio == pytest.approx(
        np.array([[210.0, 210.0, 70.0, 70.0], [70.0] * 4])
    )
    peak = np.percentile(work.traffic.bytes_in, 99, axis=1)
    assert peak[:, None] * ratio == pytest.approx(np.array([[210.0, 210.0, 70.0, 70.0], [70.0] * 4]))


def test_too_few_hours_leave_the_peaks():
    work = made(cluster(hours=5))
    assert work.traffic.basis is PeakBasis.SUM_OF_PEAKS
    assert work.traffic.bytes_in.shape[1] == 1
    assert made(cluster(hours=0)).traffic.basis is PeakBasis.UNKNOWN


def test_limits_of_topics_reach_their_partitions():
    work = made(small(retention_ms=3_600_000, retention_bytes=5, segment_bytes=1000))
    assert work.limits.retention_seconds.tolist() == [3600.0, 3600.0, 604_800.0]
    assert work.limits.retention_bytes.tolist() == [5.0, 5.0, np.inf]
    assert work.limits.segment_bytes.tolist() == [1000.0, 1000.0, 2.0**30]
    unknown = made(small(retention_ms=None, segment_bytes=None))
    assert unknown.limits.retention_seconds[0] == 604_800.0  # as Kafka's default
    assert made(small(retention_ms=-1)).limits.retention_seconds[0] == np.inf
    assert made(small(retention_ms=None, cleanup_policy="compact")).limits.retention_seconds[0] == np.inf
    assert unknown.limits.segment_bytes[0] == 2.0**30


def test_repartition_topics_hold_as_much_as_today_for_streams_purges_them():
    unlimited = {"retention_ms": -1, "retention_bytes": -1}
    names = ("counts-by-key-repartition", "counts")
    raw = cluster(topics=[topic(name, partitions=2, settings=unlimited) for name in names], hours=48)
    still = DemandSettings(growth_per_year_ratio=0.0, growth_high_per_year_ratio=0.0, horizon_months=12)
    work = made(raw, still)
    sizes = partition_sizes(work)[:, :, [0, -1]]
    is_theirs = np.array([work.partitions.topics[place] == names[0] for place in work.partitions.topic])
    assert sizes[is_theirs][..., 1] == pytest.approx(sizes[is_theirs][..., 0])
    assert (sizes[~is_theirs][..., 1] > 2 * sizes[~is_theirs][..., 0]).all()


def test_lags_are_those_of_the_groups():
    raw = make_example("metrics-uneven")
    work = made(raw)
    assert len(work.lags.groups) > 0
    assert (work.lags.seconds > 0).all()
    assert work.lags.row.max() < len(work.partitions)
    assert work.lags.group.max() < len(work.lags.groups)


@pytest.mark.parametrize("field", ["bytes_in", "bytes_out"])
def test_peaks_of_one_partition_are_those_of_the_load(field):
    from kafka_capacity.hardware.flows import percentile

    work = made(make_example("metrics-uneven"))
    peak = getattr(work.load, f"{field}_peak_bytes_per_second")
    assert percentile(getattr(work.traffic, field)) == pytest.approx(peak, rel=1e-3)


def test_the_same_inventory_gives_the_same_workload():
    first, second = (made(small()) for _ in range(2))
    for field in dataclasses.fields(first):
        if isinstance(getattr(first, field.name), np.ndarray):
            assert np.array_equal(getattr(first, field.name), getattr(second, field.name))
