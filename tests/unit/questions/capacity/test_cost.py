"""Costs by hand: machines, volumes, traffic between racks, and when a change has paid for itself."""

import math
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from kafka_capacity.demand.disk import time_shares
from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.questions.capacity.cost import (
    break_even_days,
    monthly_cost,
    moved_between_racks,
    traffic_between_racks,
)
from kafka_capacity.questions.capacity.loads import LoadSettings, capacity_use, placed_loads
from kafka_capacity.questions.capacity.options import SizingRequest
from kafka_capacity.questions.capacity.results import MonthlyCost
from tests.shapes import read_shapes
from tests.unit.questions.capacity.workloads import GIB, MIB, brokers, replicas, workload

MONTH = 730 * 3600


def costs(shape, *, bytes_in=(30e6,), bytes_out=(90e6,), rows=((1, 2, 3),), racks="abc", settings=None, **options):
    work = workload(bytes_in, bytes_out, **options)
    list_of = brokers(len(racks), list(racks))
    loads = placed_loads(work, list_of, replicas(*[list(row) for row in rows]), settings or LoadSettings())
    shape = read_shapes()[shape] if isinstance(shape, str) else shape
    traffic = traffic_between_racks(loads)
    cost = monthly_cost(shape, capacity_use(loads, shape), loads, traffic, SizingRequest(today=shape))
    return cost, averages(work, traffic)


def averages(work, traffic):
    """What leaves its rack, on average over the time."""
    shares = time_shares(work.outlook.dates)
    return SimpleNamespace(**{field.name: float(shares @ getattr(traffic, field.name)) for field in fields(traffic)})


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
    cost, _ = costs(replace(read_shapes()["i3en.large"], usd_per_hour=math.nan))
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
        found = averages(work, traffic_between_racks(loads, replication_factor=factor))
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


DATES = ("2026-11-01", "2026-12-01", "2026-12-31", "2027-01-30")
"""Four dates thirty days apart: the first and the last stand for a sixth of the time each, the others for a third."""


def kept(gib, **options):
    """Cost three m5.large with a volume of so many GiB each, that held 85 GiB when they were filled."""
    work = workload((1e6,), (1e6,), size=85 * GIB, retention=85 * GIB / 1e6, dates=DATES, **options)
    loads = placed_loads(work, brokers(3, list("abc")), replicas([1, 2, 3]), LoadSettings())
    shape = read_shapes()["m5.large"]
    use, traffic = capacity_use(loads, shape), traffic_between_racks(loads)

    def cost(*, is_replaced):
        provisioned = None if gib is None else np.full(3, gib * GIB)
        return monthly_cost(
            shape,
            use,
            loads,
            traffic,
            SizingRequest(today=shape),
            provisioned_bytes=provisioned,
            is_replaced=is_replaced,
        )

    return cost


def test_doing_nothing_pays_for_the_volumes_that_there_are():
    # 85 GiB at 85 % need 100 GiB, but 500 are provisioned: 3 x 500 x $0.08.
    assert kept(500, middle=[[1] * 4])(is_replaced=False).disks == pytest.approx(3 * 500 * 0.08)
    assert kept(500, middle=[[1] * 4])(is_replaced=True).disks == pytest.approx(3 * 100 * 0.08)


def test_volumes_that_grow_are_paid_for_while_they_are_large():
    # The log keeps a day, so it doubles with its traffic: 100 GiB on the first two dates and, but for that day's
    # growth, 200 on the others. Half of the time each: 150 on average, where the end alone would be 200.
    month = kept(None, middle=[[1, 1, 2, 2]])(is_replaced=False)
    assert month.disks == pytest.approx(3 * 150 * 0.08, rel=0.02)


def test_a_cut_of_retention_saves_what_is_no_longer_provisioned_or_stored():
    halved = {"middle": [[1] * 4], "retention_changes": [[1, 0.5, 0.5, 0.5]]}
    # Bought: 100 GiB on the first date, and 50 from the second on: 100 / 6 + 50 x 5 / 6.
    assert kept(None, **halved)(is_replaced=True).disks == pytest.approx(3 * (100 / 6 + 50 * 5 / 6) * 0.08)
    # Kept as they are, volumes cannot shrink, and nothing is saved.
    assert kept(100, **halved)(is_replaced=False).disks == pytest.approx(3 * 100 * 0.08)
    # Managed: 85 GiB are stored at first, once.
    cost, _ = costs("express.m7g.large", size=85 * GIB, retention=85 * GIB / 30e6, dates=DATES, **halved)
    assert cost.disks == pytest.approx((85 / 6 + 85 / 2 * 5 / 6) * 0.10)


def test_a_month_costs_the_average_of_what_it_costs_at_each_date():
    cost, _ = costs("m5.large", dates=DATES, middle=[[1, 2, 3, 4]])
    assert cost.total == pytest.approx(float(time_shares(DATES) @ np.array(cost.by_date)))
    assert list(cost.by_date) == sorted(cost.by_date)


def test_fast_volumes_pay_for_operations_too():
    # 1,200 MiB/s at 80 % are 1,500 MiB/s: 1,375 above what is included, and 6,000 operations of 0.25 MiB, 3,000 above.
    rate = 1_200 * MIB
    cost, _ = costs("m7i.16xlarge", bytes_in=(rate,), size=85 * GIB, retention=85 * GIB / rate)
    assert cost.disks == pytest.approx(3 * (100 * 0.08 + 1_375 * 0.04 + 3_000 * 0.005))


def test_io2_is_paid_for_by_operations_alone():
    # The same 1,500 MiB/s: 6,000 operations of 0.25 MiB, none of which comes with the volume.
    rate = 1_200 * MIB
    cost, _ = costs("io2.m7i.16xlarge", bytes_in=(rate,), size=85 * GIB, retention=85 * GIB / rate)
    assert cost.disks == pytest.approx(3 * (100 * 0.125 + 6_000 * 0.065))
