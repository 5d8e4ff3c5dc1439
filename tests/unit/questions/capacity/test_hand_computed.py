"""One small cluster reckoned by hand, from its traffic to its dollars; the arithmetic stands beside each figure.

    broker 1, rack a     leads orders-0
    broker 2, rack b     leads keys-0 (compacted), follows orders-0
    broker 3, rack c     follows orders-0
    keys-0 has its second replica on broker 1

orders-0 gets 10 MiB/s and is read twice, keys-0 gets 4 MiB/s and is read by nobody. Within the thirty days to the
horizon both double. A group of orders is twelve hours behind.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from kafka_capacity.demand.workload import Lags
from kafka_capacity.hardware.cpu import STATED
from kafka_capacity.hardware.limits import CONDITIONS, RESOURCES, Condition, Limits, Resource
from kafka_capacity.hardware.shapes import TODAY, observed_shape
from kafka_capacity.kafka.storage.page_cache import HEAP_BYTES, SYSTEM_BYTES
from kafka_capacity.questions.capacity.cost import monthly_cost, traffic_between_racks
from kafka_capacity.questions.capacity.judging import judge
from kafka_capacity.questions.capacity.loads import LoadSettings, capacity_use, placed_loads
from kafka_capacity.questions.capacity.options import SizingRequest
from tests.shapes import read_shapes
from tests.unit.questions.capacity.workloads import GIB, MIB, brokers, replicas, workload

NETWORK = 64 * MIB
LATE_SECONDS = 12 * 3600.0
CACHE_BYTES = 600 * GIB


def cluster(shape_name=TODAY):
    work = workload(
        [10 * MIB, 4 * MIB],
        [20 * MIB, 0.0],
        names=["orders", "keys"],
        size=[100 * GIB, 10 * GIB],
        # The log of orders is full: 100 GiB at 10 MiB/s reach back 10,240 s.
        retention=[10_240.0, math.inf],
        is_compacted=[False, True],
        middle=[[1, 2]],
        lags=Lags(
            groups=("late",), group=np.zeros(1, np.int32), row=np.zeros(1, np.int64), seconds=np.array([LATE_SECONDS])
        ),
    )
    three = brokers(
        3, list("abc"), disk_capacity_bytes=300 * GIB, memory_bytes=CACHE_BYTES + HEAP_BYTES + SYSTEM_BYTES,
        network_in_bytes_per_second=NETWORK, network_out_bytes_per_second=NETWORK,
    )  # fmt: skip
    placed = placed_loads(work, three, replicas([1, 2, 3], [2, 1]), LoadSettings())
    known = {"disk_bytes_per_second": 200.0 * MIB, "vcpu": 32.0}
    shape = observed_shape(three, **known) if shape_name == TODAY else read_shapes()[shape_name]
    return work, placed, shape, capacity_use(placed, shape)


def load(use, resource, condition=Condition.NORMAL, *, date):
    return use.load[CONDITIONS.index(condition), RESOURCES.index(resource), 1, date]


def test_disks():
    *_, use = cluster()
    # Today 100 of orders each, and 10 of keys on brokers 1 and 2.
    assert (load(use, Resource.DISK, date=0) / GIB).tolist() == [110.0, 110.0, 100.0]
    # orders keeps the last 10,240 s: at twice the rate nearly twice as much. keys is compacted: as many more keys.
    assert load(use, Resource.DISK, date=1) / GIB == pytest.approx([220.0, 220.0, 200.0], abs=0.5)


def test_processors_of_other_families():
    # Of broker 1: 10 MiB/s produced, 4 replicated and 40 sent, at 30, 30 × 0.15 / 0.7 and 40 ms: 1.926 cores of an m5.
    used = 10 * 0.03 + 4 * 0.03 * 0.15 / 0.7 + 40 * 0.04
    for shape, speed in ((TODAY, 1.0), ("m5.xlarge", 1.0), ("m6i.xlarge", 1.3), ("m7g.xlarge", 1.29)):
        *_, use = cluster(shape)
        assert load(use, Resource.CPU, date=0)[0] == pytest.approx(used / speed)
    # What was measured on cores that are a quarter faster takes a quarter more of an m5's.
    for measured_on, expected in ((1.25, 1.25 * used), (math.nan, used)):
        settings = LoadSettings(cpu=dataclasses.replace(STATED, core_speed_ratio=measured_on))
        work, placed, shape, _ = cluster("m5.xlarge")
        placed = placed_loads(work, placed.brokers, placed.brokers.ids[placed.replicas], settings)
        use = capacity_use(placed, shape)
        assert load(use, Resource.CPU, date=0)[0] == pytest.approx(expected)


def test_network_after_a_loss():
    *_, use = cluster()
    # Broker 1 sends 20 to consumers and 10 to each of two followers, broker 2 the 4 of keys; in the end twice that.
    assert (load(use, Resource.NETWORK_OUT, date=1) / MIB).tolist() == [80.0, 8.0, 0.0]
    # Without broker 1, broker 2 leads orders too: 20 to consumers and 10 to broker 3; nobody follows keys any more.
    after = load(use, Resource.NETWORK_OUT, Condition.BROKER_LOST, date=1)
    assert after[1] / MIB == 2 * (20 + 10)
    # Without broker 2 (or 3) broker 1 sends 20 + 10, and of keys, which it then leads, nothing.
    assert after[0] / MIB == 2 * (20 + 10)


def test_the_day_on_which_the_network_is_passed():
    _, _, shape, use = cluster()
    found = judge(use, Limits(), shape)
    # 70 % of 64 MiB/s are 44.8. 40 MiB/s grow by 40 / 30 a day: 4.8 / (40 / 30) = 3.6 days after 20 November.
    assert next(one.high for one in found.exhaustion if one.resource is Resource.NETWORK_OUT) == "2026-11-23"
    assert found.fits_until == "2026-11-22"
    assert found.tightest.resource is Resource.NETWORK_OUT
    assert found.headroom_ratio == pytest.approx(1 - 80 / 44.8)


def test_a_reader_twelve_hours_behind():
    *_, use = cluster()
    # Broker 1 writes 14 MiB/s: 600 GiB reach back 600 x 1,024 / 14 = 43,886 s, more than 12 h are 43,200 s. At twice
    # the rate they reach back half as far, and the group reads its 20 MiB/s, once what is produced then, from disk.
    assert (load(use, Resource.DISK_IO, date=0) / MIB).tolist() == [14.0, 14.0, 10.0]
    assert (load(use, Resource.DISK_IO, date=1) / MIB).tolist() == [28.0 + 20.0, 28.0, 20.0]
    assert use.fallen_out == (("late", "2026-12-20"),)


def test_bytes_and_dollars_between_racks():
    _, placed, shape, use = cluster("m5.large")
    traffic = traffic_between_racks(placed)
    # Producers and consumers are evenly in three racks: 2/3 of 14 and of 20; copies: 10 to two racks and 4 to one.
    assert traffic.produced / MIB == pytest.approx([14 * 2 / 3, 28 * 2 / 3])
    assert traffic.consumed / MIB == pytest.approx([20 * 2 / 3, 40 * 2 / 3])
    assert traffic.replicated / MIB == pytest.approx([24, 48])
    cost = monthly_cost(shape, use, placed, traffic, SizingRequest(today=shape))
    # (9.33 + 13.33 + 24) MiB/s, 1.5 times that on average, over 730 h, at $0.02 a GiB.
    assert cost.between_racks == pytest.approx((14 * 2 / 3 + 20 * 2 / 3 + 24) * 1.5 * 730 * 3600 / 1024 * 0.02)
    assert cost.brokers == pytest.approx(3 * 730 * 0.096)


def test_dollars_of_disks():
    _, placed, shape, use = cluster("m5.large")
    # At 85 % full: 110 / 0.85 = 129.4 and 100 / 0.85 = 117.6, whole GiB; in the end nearly twice as much: 220 less the
    # 0.2 GiB that were written at the lower rate of the last hours, 258.6 and 235.1. Half of the time each.
    cost = monthly_cost(shape, use, placed, traffic_between_racks(placed), SizingRequest(today=shape))
    assert cost.disks == pytest.approx(((130 + 130 + 118) + (259 + 259 + 236)) / 2 * 0.08)


def test_a_managed_disk_stores_each_record_once():
    _, placed, shape, use = cluster("express.m7g.large")
    cost = monthly_cost(shape, use, placed, traffic_between_racks(placed), SizingRequest(today=shape))
    # 110 GiB at first and 220 in the end, whatever the replicas; replication between racks is free.
    assert cost.disks == pytest.approx((110 + 220) / 2 * 0.10, rel=2e-3)
    assert cost.between_racks == pytest.approx((14 * 2 / 3 + 20 * 2 / 3) * 1.5 * 730 * 3600 / 1024 * 0.02)


def test_the_time_to_recover():
    work, placed, shape, _ = cluster()
    settings = LoadSettings(throttle_bytes_per_second=50 * MIB, recovery_seconds=3_600.0)
    again = placed_loads(work, placed.brokers, replicas([1, 2, 3], [2, 1]), settings)
    use = capacity_use(again, shape)
    # Broker 1 held 110 GiB, and 14 of 50 MiB/s are produced meanwhile: 110 x 1,024 / 36 = 3,129 s.
    assert load(use, Resource.RECOVERY, date=0)[0] == pytest.approx(110 * 1_024 / 36)
    found = judge(use, dataclasses.replace(Limits(), network_ratio=1.0), shape)
    (excuse,) = [one for one in found.excuses if one.constraint == "recovery"]
    # In the end 220 x 1,024 / (50 - 28) = 10,240 s are 2.8 hours.
    assert "would take 2.8 hours to be re-replicated after its loss on 2026-12-20, but 1.0 hours are" in excuse.reason
