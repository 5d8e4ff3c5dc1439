"""Limits by hand: each resource, the day it is passed, and the words that say so."""

import dataclasses
import math

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.limits import Condition, FailureTolerance, Limits, Resource
from kafka_capacity.hardware.shapes import DiskKind, Shape
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.questions.capacity.judging import SLOWEST_DISK_BYTES_PER_SECOND, judge
from kafka_capacity.questions.capacity.loads import LoadSettings, capacity_use, placed_loads
from tests.unit.questions.capacity.workloads import GIB, MIB, brokers, replicas, workload

NAN = math.nan


def shape(**figures):
    """A shape with nothing known but what is given."""
    known = {
        "name": "made-up", "provider": "p", "vcpu": NAN, "memory_bytes": NAN, "network_bytes_per_second": NAN,
        "disk_bytes_per_second": NAN, "disk_kind": DiskKind.OWN, "disk_bytes": NAN, "volume": None,
        "client_in_bytes_per_second": NAN, "client_out_bytes_per_second": NAN, "replica_limit": NAN,
        "usd_per_hour": NAN, "usd_per_gib_month": 0.0, "usd_per_gib_in": 0.0, "usd_per_gib_between_racks": NAN,
        "is_replication_free": False, "priced_on": "2026-11-20", "source": "test",
    }  # fmt: skip
    return Shape(**known | figures)


DATES = ("2026-11-20", "2026-12-20")


def judged(*, limits=None, settings=None, growth=(1.0, 1.0), high=None, dates=DATES, size=GIB, **figures):
    """Two brokers in racks a and b; broker 1 leads a partition of 10 MiB/s in, 20 out, that broker 2 follows."""
    work = workload(
        [10 * MIB], size=size, retention=size / (10 * MIB), dates=dates, middle=[growth], high=[high or growth]
    )
    loads = placed_loads(work, brokers(2, ["a", "b"]), replicas([1, 2]), settings or LoadSettings())
    kind = shape(**figures)
    return judge(capacity_use(loads, kind), limits or Limits(), kind)


def test_the_reason_names_other_data_on_disks_that_are_kept():
    work = workload(
        [10 * MIB], size=GIB, retention=GIB / (10 * MIB), dates=DATES, middle=[(1.0, 1.0)], high=[(1.0, 1.0)]
    )
    two = dataclasses.replace(brokers(2, ["a", "b"]), other_bytes=np.array([3.0, 0.0]) * GIB)
    loads = placed_loads(work, two, replicas([1, 2]), LoadSettings())

    def reasons(*, keeps_disks):
        kind = shape(disk_bytes=4 * GIB)
        return [one.reason for one in judge(capacity_use(loads, kind, keeps_disks=keeps_disks), Limits(), kind).excuses]

    (reason,) = reasons(keeps_disks=True)
    assert "would hold 4.0 GiB (3.0 GiB of it other data) on 2026-11-20, but 3.4 GiB are allowed" in reason
    assert not reasons(keeps_disks=False)


@pytest.mark.parametrize(
    ("resource", "figures", "enough", "limits"),
    [
        # 10 in on both, 30 out on the leader; cores: 10 x 0.03 + 30 x 0.04 on it.
        (Resource.NETWORK_OUT, "network_bytes_per_second", 30 * MIB / 0.7, Limits()),
        (Resource.CPU, "vcpu", 1.5 / 0.6, Limits()),
        (Resource.DISK, "disk_bytes", GIB / 0.85, Limits()),
        (Resource.DISK_IO, "disk_bytes_per_second", 10 * MIB / 0.8, Limits()),
        (Resource.CLIENT_IN, "client_in_bytes_per_second", 10 * MIB / 0.75, Limits()),
        (Resource.CLIENT_OUT, "client_out_bytes_per_second", 20 * MIB / 0.75, Limits()),
        (Resource.REPLICAS, "replica_limit", 1.0, Limits()),
    ],
)
def test_each_limit_is_passed_just_above_what_it_allows(resource, figures, enough, limits):
    fits = judged(limits=limits, **{figures: enough * 1.0001})
    assert not fits.excuses
    assert fits.headroom_ratio == pytest.approx(0.0001, rel=0.01)
    assert fits.tightest.resource is resource
    short = judged(limits=limits, **{figures: enough * 0.9999})
    assert short.excuses[0].constraint == resource
    assert short.excuses[0].when == "2026-11-20"
    assert short.fits_until is None


def test_network_in_binds_where_more_comes_in_than_goes_out():
    work = workload([10 * MIB], [0.0])
    loads = placed_loads(work, brokers(1), replicas([1]), LoadSettings())
    kind = shape(network_bytes_per_second=14 * MIB)
    (excuse,) = judge(capacity_use(loads, kind), Limits(tolerance=FailureTolerance.NONE), kind).excuses
    assert excuse.reason == (
        "broker 1 would receive 10.0 MiB/s at peak on 2026-11-20, but 9.8 MiB/s are allowed (70 % of 14.0 MiB/s)"
    )


def test_amounts_that_would_read_the_same_are_written_with_more_digits():
    (excuse,) = judged(disk_bytes=0.27 * GIB / 0.85, size=0.31 * GIB).excuses
    assert "would hold 317.4 MiB on 2026-11-20, but 276.5 MiB are allowed (85 % of 325.3 MiB)" in excuse.reason


def test_the_loss_of_a_broker_has_its_own_limit_and_names_what_is_lost():
    # Broker 2 without 1: 20 MiB/s to consumers. Normal: broker 1 sends 30.
    lax = Limits(network_ratio=1.0, lost_ratio=1.0)
    assert not judged(limits=lax, network_bytes_per_second=30 * MIB).excuses
    work = workload([10 * MIB, 10 * MIB], [20 * MIB, 20 * MIB])
    loads = placed_loads(work, brokers(2, ["a", "b"]), replicas([1, 2], [2, 1]), LoadSettings())
    kind = shape(network_bytes_per_second=39 * MIB)
    found = judge(capacity_use(loads, kind), lax, kind)
    (excuse,) = found.excuses
    assert "after the loss of broker" in excuse.reason
    assert excuse.where.endswith("broker-lost")
    assert (excuse.needed, excuse.available) == (40 * MIB, 39 * MIB)
    both = Limits(network_ratio=1.0, lost_ratio=1.0, tolerance=FailureTolerance.ONE_RACK)
    rack = judge(capacity_use(loads, kind), both, kind)
    assert [excuse.reason.split("loss of ")[1].split()[0] for excuse in rack.excuses] == ["broker", "rack"]
    none = Limits(network_ratio=1.0, tolerance=FailureTolerance.NONE)
    assert not judge(capacity_use(loads, kind), none, kind).excuses


def test_movement_counts_when_asked_for():
    settings = LoadSettings(throttle_bytes_per_second=15 * MIB)
    assert not judged(settings=settings, network_bytes_per_second=48 * MIB).excuses
    excuses = judged(settings=settings, limits=Limits(is_move_included=True), network_bytes_per_second=48 * MIB).excuses
    assert [e.where.rpartition(", ")[2] for e in excuses] == ["moving"]
    assert excuses[0].reason == (
        "broker 1 (rack a) would send 45.0 MiB/s at peak while a reassignment runs on 2026-11-20, "
        "but 43.2 MiB/s are allowed (90 % of 48.0 MiB/s)"
    )


def test_what_a_launch_passes_is_passed_on_its_first_day():
    # Doubled from one day to the next: 30 MiB/s out, 45 are allowed.
    dates = ("2026-11-20", "2026-12-06", "2026-12-07", "2026-12-20")
    found = judged(growth=(1.0, 1.0, 2.0, 2.0), dates=dates, network_bytes_per_second=45 * MIB / 0.7)
    out = next(one for one in found.exhaustion if one.resource is Resource.NETWORK_OUT)
    assert (out.middle, out.high) == ("2026-12-07", "2026-12-07")
    assert found.fits_until == "2026-12-06"


def test_the_day_of_exhaustion_is_between_the_dates():
    # 30 MiB/s out grows to 60 in 30 days; 45 are allowed: half way. At the high estimate it grows to 90: a quarter.
    found = judged(growth=(1.0, 2.0), high=(1.0, 3.0), network_bytes_per_second=45 * MIB / 0.7)
    out = next(one for one in found.exhaustion if one.resource is Resource.NETWORK_OUT)
    assert (out.middle, out.high) == ("2026-12-05", "2026-11-27")
    assert (out.condition, out.broker) == (Condition.NORMAL, 1)
    assert found.fits_until == "2026-11-26"  # the day before
    assert found.excuses[0].reason.endswith("; the limit is exceeded on 2026-11-27")
    assert found.excuses[0].needed == pytest.approx(90 * MIB)


def test_what_is_not_known_is_named_and_not_judged():
    found = judged(disk_bytes=2 * GIB)
    assert found.not_judged == (Resource.NETWORK_IN, Resource.NETWORK_OUT, Resource.CPU)
    assert [one.resource for one in found.exhaustion] == [Resource.DISK]
    nothing = judged()
    assert nothing.headroom_ratio is None
    assert nothing.tightest is None


def test_a_quota_that_is_not_known_is_not_judged_and_never_passed_over():
    managed = {"has_quotas": True, "disk_kind": DiskKind.MANAGED, "replica_limit": 1_000.0}
    assert judged(**managed).not_judged == (Resource.CLIENT_IN, Resource.CLIENT_OUT)
    both = {"client_in_bytes_per_second": 1e9, "client_out_bytes_per_second": 1e9}
    assert judged(**managed, **both).not_judged == ()
    attached = judged(has_quotas=True, network_bytes_per_second=1e9, disk_bytes=10 * GIB, disk_bytes_per_second=1e9)
    assert attached.not_judged == (Resource.CLIENT_IN,)


def test_disk_throughput_that_is_not_known_is_judged_only_within_what_the_slowest_disk_takes():
    # 10 MiB/s in: 80 MB/s are allowed of the slowest disk's 100.
    allowed = 0.8 * SLOWEST_DISK_BYTES_PER_SECOND / (10 * MIB)
    assert Resource.DISK_IO not in judged(growth=(1.0, 0.999 * allowed)).not_judged
    assert Resource.DISK_IO in judged(growth=(1.0, 1.001 * allowed)).not_judged
    known = judged(growth=(1.0, 1.001 * allowed), disk_bytes_per_second=1e9)
    assert Resource.DISK_IO not in known.not_judged


def test_a_machine_that_can_do_nothing_is_no_division_by_zero():
    found = judged(vcpu=0.0)
    assert found.excuses[0].constraint == "cpu"
    assert found.headroom_ratio == -math.inf


def test_limits_are_shares():
    with pytest.raises(RequestError, match=r"network_limit_ratio: 1\.5 is invalid"):
        parse_plan_request({"cluster": "payments", "network_limit_ratio": 1.5})


@pytest.mark.parametrize("more", [1.0, 1.3, 2.0, 10.0])
def test_more_demand_never_makes_it_fit_and_never_adds_headroom(more):
    base = judged(growth=(1.0, 1.5), network_bytes_per_second=70 * MIB, vcpu=4.0)
    expanded = judged(growth=(more, 1.5 * more), network_bytes_per_second=70 * MIB, vcpu=4.0)
    assert expanded.headroom_ratio <= base.headroom_ratio
    assert bool(expanded.excuses) >= bool(base.excuses)


def test_more_brokers_never_lose_headroom_when_replicas_are_even():
    found = []
    for count in (2, 3, 4, 6, 12):
        work = workload([MIB] * 12)
        rows = [[1 + p % count, 1 + (p + 1) % count] for p in range(12)]
        loads = placed_loads(work, brokers(count), replicas(*rows), LoadSettings())
        kind = shape(network_bytes_per_second=100 * MIB, vcpu=8.0, disk_bytes=100 * GIB)
        found.append(judge(capacity_use(loads, kind), Limits(), kind).headroom_ratio)
    assert found == sorted(found)
    assert len(set(np.round(found, 6))) == 5


def test_units_scale_out_of_every_judgement():
    """Demand and capacity in units ten times as small: the same headroom and the same days."""
    found = []
    for unit in (1.0, 10.0):
        work = workload([10 * MIB * unit], size=GIB * unit, segment=GIB * unit, middle=[[1, 4]])
        loads = placed_loads(work, brokers(2, ["a", "b"]), replicas([1, 2]), LoadSettings())
        kind = shape(network_bytes_per_second=100 * MIB * unit, disk_bytes=20 * GIB * unit)
        judgement = judge(capacity_use(loads, kind), Limits(), kind)
        found.append((round(judgement.headroom_ratio, 6), judgement.exhaustion, judgement.fits_until))
    assert found[0] == found[1]
