"""Costs by hand: machines, volumes, traffic between racks, and when a change has paid for itself."""

import math

import numpy as np
import pytest

from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.hardware.limits import Limits
from kafka_capacity.questions.capacity.cost import (
    break_even_days,
    monthly_cost,
    moved_between_racks,
    traffic_between_racks,
)
from kafka_capacity.questions.capacity.loads import LoadSettings, capacity_use, placed_loads
from kafka_capacity.questions.capacity.results import MonthlyCost
from tests.shapes import read_shapes
from tests.unit.questions.capacity.workloads import GIB, MIB, brokers, replicas, workload

MONTH = 730 * 3600


def costs(name, *, bytes_in=(30e6,), bytes_out=(90e6,), rows=((1, 2, 3),), racks="abc", settings=None, **options):
    work = workload(bytes_in, bytes_out, **options)
    list_of = brokers(len(racks), list(racks))
    loads = placed_loads(work, list_of, replicas(*[list(row) for row in rows]), settings or LoadSettings())
    shape = read_shapes()[name]
    traffic = traffic_between_racks(work, loads)
    return monthly_cost(shape, capacity_use(work, loads, shape), loads, work, traffic, Limits(), 1), traffic


def test_traffic_between_racks_is_that_of_the_published_example():
    # 30 MB/s, replication factor 3, three groups, three zones: 140 MB/s, about $88,300 a year at $0.02 a GB.
    cost, traffic = costs("m5.large")
    assert traffic.produced == pytest.approx(20e6)
    assert traffic.replicated == pytest.approx(60e6)
    assert traffic.consumed == pytest.approx(60e6)
    assert cost.between_racks == pytest.approx(140e6 * MONTH / GIB * 0.02)
    assert pytest.approx(88_300, rel=1e-3) == 140e6 * 365 * 86_400 / 1e9 * 0.02


def test_replication_between_brokers_of_one_rack_costs_nothing():
    assert costs("m5.large", racks="aab", rows=((1, 2, 3),))[1].replicated == pytest.approx(30e6)
    assert costs("m5.large", racks="aaa")[1] == costs("m5.large", racks=["a"] * 3)[1]
    assert costs("m5.large", racks="aaa")[0].between_racks == 0.0
    assert costs("kafka.m5.large")[0].between_racks == pytest.approx(80e6 * MONTH / GIB * 0.02)


def test_reading_in_the_own_rack_costs_only_where_there_is_no_replica():
    inside = LoadSettings(is_read_in_rack=True)
    assert costs("m5.large", settings=inside)[1].consumed == 0.0
    assert costs("m5.large", rows=((1, 2),), settings=inside)[1].consumed == pytest.approx(30e6)


def test_machines_and_volumes():
    # 85 GiB held may fill 85 %: 100 GiB each. 30 MB/s written are below what is included.
    cost, _ = costs("m5.large", size=85 * GIB, retention=85 * GIB / 30e6)
    assert cost.brokers == pytest.approx(3 * 0.096 * 730)
    assert cost.disks == pytest.approx(3 * 100 * 0.08)
    # 160 MiB/s at 80 % are 200 MiB/s: 75 above what is included.
    rate = 160 * MIB
    cost, _ = costs("m5.4xlarge", bytes_in=(rate,), size=85 * GIB, retention=85 * GIB / rate)
    assert cost.disks == pytest.approx(3 * (100 * 0.08 + 75 * 0.04))


def test_managed_disks_store_each_record_once_and_take_their_share_of_what_comes_in():
    cost, _ = costs("express.m7g.large", size=100 * GIB, retention=100 * GIB / 30e6)
    assert cost.disks == pytest.approx(100 * 0.10)
    assert cost.ingest == pytest.approx(30e6 * MONTH / GIB * 0.01)


def test_an_unknown_price_is_an_unknown_cost():
    cost, _ = costs("i3en.large")
    assert math.isnan(cost.brokers)
    assert math.isnan(cost.total)


def test_growth_counts_on_average_over_the_time():
    assert costs("m5.large", middle=[[1, 2]])[1].ingest == pytest.approx(45e6)


def test_dates_that_are_near_to_each_other_do_not_count_more_than_the_time_between_them():
    # Three times as much on one day of thirty, in steps of a day: 28 days at 1, two halves of a step, one at 3.
    dates = ("2026-11-01", "2026-11-10", "2026-11-11", "2026-11-12", "2026-12-01")
    cost, traffic = costs("m5.large", dates=dates, middle=[[1, 1, 3, 1, 1]])
    assert traffic.ingest == pytest.approx(30e6 * (28 + 2 * 2) / 30)
    assert cost.between_racks == pytest.approx(140e6 * (28 + 2 * 2) / 30 * MONTH / GIB * 0.02)


def test_an_added_topic_counts_for_the_time_that_it_is_there():
    added = AddedTopic(
        name="new", from_date="2026-11-11", partitions=3, replication_factor=3,
        bytes_in_peak_bytes_per_second=12e6, bytes_in_mean_bytes_per_second=6e6,
        bytes_out_peak_bytes_per_second=0.0, bytes_out_mean_bytes_per_second=0.0, retention_seconds=86_400.0,
    )  # fmt: skip
    _, traffic = costs("m5.large", dates=("2026-11-01", "2026-11-10", "2026-11-11", "2026-12-01"),
                       middle=[[1, 1, 1, 1]], added=(added,))  # fmt: skip
    # Twenty days of thirty, and half of the one on which it comes.
    assert traffic.ingest == pytest.approx(30e6 + 6e6 * 20.5 / 30)


def test_an_added_topic_is_copied_to_other_racks_as_often_as_its_factor_and_the_racks_make_it():
    added = AddedTopic(
        name="new", from_date="2026-11-20", partitions=3, replication_factor=3,
        bytes_in_peak_bytes_per_second=12e6, bytes_in_mean_bytes_per_second=6e6,
        bytes_out_peak_bytes_per_second=0.0, bytes_out_mean_bytes_per_second=0.0, retention_seconds=86_400.0,
    )  # fmt: skip
    for racks, factor, copies in (("abc", None, 2.0), ("abc", 2, 1.0), ("abcd", 9, 3.0), ("aabb", None, 4 / 3)):
        work = workload((0.0,), (0.0,), added=(added,))
        loads = placed_loads(work, brokers(len(racks), list(racks)), replicas([1]), LoadSettings())
        found = traffic_between_racks(work, loads, replication_factor=factor)
        assert found.replicated == pytest.approx(6e6 * copies)


def test_moves_between_racks_follow_the_leader():
    observed, target = brokers(3, ["a", "b", "a"]), brokers(4, ["a", "b", "a", "b"])
    after = replicas([1, 4], [2, 4], [1, 3])
    added = np.array([[False, True], [False, True], [False, True]])
    leader = np.array([1, 2, -1], dtype=np.int32)
    found = moved_between_racks(observed, target, leader, after, added, np.array([5, 7, 11]))
    assert found == 5.0  # the second stays in rack b, the third has no leader


def test_break_even_needs_a_known_saving():
    def month(total):
        return MonthlyCost(brokers=total, disks=0.0, between_racks=0.0, ingest=0.0)

    assert break_even_days(0.0, month(10.0), month(5.0)) == 0.0
    assert break_even_days(math.nan, month(10.0), month(5.0)) is None
    assert break_even_days(5.0, month(math.nan), month(5.0)) is None
    assert break_even_days(5.0, month(5.0), month(5.0)) is None
