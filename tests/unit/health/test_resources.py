"""Brokers over their limits, and groups that are far behind."""

import dataclasses
import math

import numpy as np
import pytest

from kafka_capacity.demand.workload import Lags, PeakBasis, Traffic
from kafka_capacity.hardware.cpu import CpuCosts
from kafka_capacity.hardware.limits import MIB, Limits
from kafka_capacity.hardware.shapes import hardware, observed_shape
from kafka_capacity.health.check import check_health
from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.problem import Figure, Severity
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import LogDirs
from tests.unit.questions.failures.made_up import loaded, made

GIB = 2**30
COSTS = CpuCosts(
    base_cores=0.0,
    leader_in_seconds_per_mib=0.1,
    follower_in_seconds_per_mib=0.1,
    out_seconds_per_mib=0.0,
    source="made up",
)


def found(
    *,
    disks=(math.nan,) * 6,
    mib_per_second=1.0,
    basis=PeakBasis.SAME_HOURS,
    vcpu=math.nan,
    disk_io=math.nan,
    **limits,
):
    """Problems of six brokers that hold a replica of 1,000 bytes each and have networks of 10 MiB/s."""
    snapshot = made({"orders": [[10, 12, 14], [13, 15, 11]]})
    network = [10.0 * MIB] * 6
    brokers = Brokers.of(
        range(10, 16),
        list("aabbcc"),
        disk_capacity_bytes=disks,
        network_in_bytes_per_second=network,
        network_out_bytes_per_second=network,
    )
    rates = np.full((2, 1), mib_per_second * MIB, dtype=np.float32)
    view = ClusterView.of(
        dataclasses.replace(snapshot, brokers=brokers),
        loaded(2),
        traffic=Traffic(bytes_in=rates, bytes_out=rates, basis=basis),
        has=hardware(observed_shape(brokers, vcpu=vcpu, disk_bytes_per_second=disk_io), brokers),
        costs=COSTS,
        limits=Limits(**limits),
    )
    return {one.code: one for one in check_health(view)}


def test_enough_of_everything_is_no_problem():
    assert found(disks=[1e6] * 6, vcpu=8.0, disk_io=100 * MIB) == {}


def test_what_is_not_known_is_not_judged():
    assert found() == {}
    assert set(found(mib_per_second=1e6, basis=PeakBasis.UNKNOWN)) == set()


def test_full_disks_are_one_problem_with_the_worst_of_them():
    seen = found(disks=[1e6, 1e6, 1e6, 1e6, 1100.0, 1050.0])
    assert set(seen) == {"disk-over-limit"}
    one = seen["disk-over-limit"]
    assert (one.severity, one.where) == (Severity.SERIOUS, "brokers 14, 15")
    assert one.message == (
        "2 of 6 brokers are over the limit of 85 % of disk space, worst is broker 15 (rack c) with 1,000 B of "
        "1.0 KiB, 95 %"
    )
    assert one.figure == Figure(1000.0, 0.85 * 1050.0, "bytes")
    assert found(disks=[1100.0] * 6)["disk-over-limit"].message.startswith("all 6 brokers are over")
    assert found(disks=[*[1e6] * 5, 1050.0])["disk-over-limit"].message.startswith("1 of 6 brokers is over")


def test_a_limit_is_written_as_it_was_chosen():
    one = found(disks=[1180.0] * 6, disk_ratio=0.845)["disk-over-limit"]
    assert "over the limit of 84.5 % of disk space" in one.message


def test_a_broker_that_holds_more_than_its_limit_to_the_byte_is_over_it():
    assert found(disks=[1000 / 0.85] * 6) == {}
    assert set(found(disks=[999 / 0.85] * 6)) == {"disk-over-limit"}


@pytest.mark.parametrize(
    ("rate", "more", "codes"),
    [
        # A leader sends to its consumers and two followers: three times what comes in.
        (2.4, {}, {"network-out-over-limit"}),
        (7.1, {}, {"network-in-over-limit", "network-out-over-limit"}),
        (1.0, {"vcpu": 0.16}, {"cpu-over-limit"}),
        (1.0, {"disk_io": 1.2 * MIB}, {"disk-io-over-limit"}),
    ],
)
def test_each_resource_has_its_limit(rate, more, codes):
    assert set(found(mib_per_second=rate, **more)) == codes


def test_a_log_dir_that_is_full_is_found_where_its_broker_is_not():
    snapshot = made({"orders": [[10, 12], [10, 12]]}, sizes=[900 * GIB, 50 * GIB])
    dirs = LogDirs(
        broker_id=np.array([10, 10, 12], dtype=np.int32),
        path=("/d0", "/d1", "/d0"),
        total_bytes=np.full(3, 1000.0 * GIB),
        usable_bytes=np.full(3, np.nan),
    )

    def found(log_dir, code="log-dir-over-limit"):
        one = dataclasses.replace(snapshot, log_dirs=dirs, log_dir=np.array(log_dir, dtype=np.int32))
        view = ClusterView.of(one, loaded(2), has=hardware(observed_shape(one.brokers), one.brokers))
        return [problem for problem in check_health(view) if problem.code == code]

    # The only log dir of a broker is its disk.
    (problem,) = found([[0, 2], [1, 2]])
    assert (problem.where, problem.severity) == ("broker 10", Severity.SERIOUS)
    assert problem.message == (
        "1 of 3 log dirs is over the limit of 85 % of its disk, worst is /d0 of broker 10 (rack a) with 900.0 GiB of "
        "1,000.0 GiB, 90 %"
    )
    assert problem.figure == Figure(900.0 * GIB, 850.0 * GIB, "bytes")
    # Where one of a broker's replicas may be anywhere, none of its log dirs is judged.
    assert found([[0, 2], [-1, 2]]) == []
    assert len(found([[1, 2], [1, 2]])) == 1
    # What is over its limit is said once; what will be before its broker is, as sizing reckons, is said too.
    assert found([[0, 2], [1, 2]], "log-dirs-uneven") == []
    snapshot = made({"orders": [[10, 12], [10, 12]]}, sizes=[700 * GIB, 50 * GIB])
    (uneven,) = found([[0, 2], [1, 2]], "log-dirs-uneven")
    assert (uneven.where, uneven.severity) == ("broker 10", Severity.WARNING)
    assert uneven.message.startswith(
        "1 log dir is much fuller than the broker as a whole, worst is /d0 of broker 10 at 70 %, the broker at 38 %: "
    )
    snapshot = made({"orders": [[10, 12], [10, 12]]}, sizes=[700 * GIB, 550 * GIB])
    assert found([[0, 2], [1, 2]], "log-dirs-uneven") == []


def test_groups_that_are_hours_behind_are_serious_and_the_worst_is_named():
    snapshot = made({"orders": [[10, 12, 14], [13, 15, 11]]})
    lags = Lags(
        groups=("billing", "search", "audit", "fraud"),
        group=np.array([0, 0, 1, 2, 3], dtype=np.int32),
        row=np.array([0, 1, 0, 0, 1]),
        seconds=np.array([10.0, 7200.0, 3600.0, 900.0, 599.0]),
    )
    seen = {one.code: one for one in check_health(ClusterView.of(snapshot, loaded(2), lags=lags))}
    assert set(seen) == {"groups-hours-behind", "groups-behind"}
    serious, minor = seen["groups-hours-behind"], seen["groups-behind"]
    assert (serious.severity, serious.where) == (Severity.SERIOUS, "groups billing, search")
    assert serious.message == "2 consumer groups are more than 1 h behind, the worst is billing with 2 h"
    assert serious.figure == Figure(7200.0, 3600.0, "seconds")
    assert (minor.severity, minor.message) == (Severity.WARNING, "consumer group audit is 15 min behind")


@pytest.mark.parametrize(
    ("lost", "message", "where"),
    [
        ({"billing": 1.0}, "1 record was deleted before consumer group billing had read it", "group billing"),
        (
            {"audit": 20.0, "billing": 1300.0},
            "1,320 records were deleted before 2 consumer groups had read them, the worst is billing with 1,300",
            "groups billing, audit",
        ),
    ],
)
def test_records_that_were_deleted_before_a_group_had_read_them_are_serious(lost, message, where):
    snapshot = made({"orders": [[10, 12, 14], [13, 15, 11]]})
    none, entries = np.zeros(0), {"row": np.zeros(0, np.int64), "group": np.zeros(0, np.int32)}
    lags = Lags(groups=("audit", "billing"), seconds=none, lost_records=lost, **entries)
    (found,) = check_health(ClusterView.of(snapshot, loaded(2), lags=lags))
    assert (found.code, found.severity, found.where) == ("records-lost", Severity.SERIOUS, where)
    assert (found.message, found.figure) == (message, Figure(sum(lost.values()), 0.0, "records"))


def test_amounts_and_shares_that_would_read_the_same_are_written_with_more_digits():
    (one,) = found(disks=[*[1e12] * 5, 1000 / 0.8504]).values()
    assert one.message.endswith(" with 1,000 B of 1.1 KiB, 85.04 %")
