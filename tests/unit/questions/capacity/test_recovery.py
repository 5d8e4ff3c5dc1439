"""How long recovery from a lost broker or disk may take."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kafka_capacity.demand.workload import HIGH
from kafka_capacity.hardware.limits import NEVER_SECONDS, RESOURCES, Limits, Resource
from kafka_capacity.hardware.shapes import observed_shape
from kafka_capacity.questions.capacity.judging import judge
from kafka_capacity.questions.capacity.loads import LoadSettings, capacity_use, placed_loads
from tests.shapes import read_shapes
from tests.unit.questions.capacity.money import asked
from tests.unit.questions.capacity.test_options import sized
from tests.unit.questions.capacity.workloads import GIB, brokers, replicas, workload


def test_a_lost_broker_takes_what_it_held_over_what_the_throttle_leaves():
    # 100 GiB over 50 MB/s less the 10 MB/s that come in meanwhile, and without end where 50 come in.
    settings = LoadSettings(throttle_bytes_per_second=50e6, recovery_seconds=3_600.0)
    work = workload((10e6,), size=100 * GIB, retention=100 * GIB / 10e6, middle=[[1, 5]])
    use = capacity_use(
        placed_loads(work, brokers(3, list("abc")), replicas([1, 2]), settings), read_shapes()["m5.large"]
    )
    found = use.load[0, RESOURCES.index(Resource.RECOVERY), HIGH]
    assert found[0, 0] == pytest.approx(100 * GIB / 40e6)
    assert found[1, 0] == NEVER_SECONDS
    assert found[0, 2] == 0.0


def test_no_broker_copies_faster_than_its_network():
    work = workload((10e6,), size=100 * GIB, retention=100 * GIB / 10e6)
    given = LoadSettings(throttle_bytes_per_second=1e12, recovery_seconds=3_600.0, volume_recovery_seconds=3_600.0)
    placed = placed_loads(work, brokers(3, list("abc")), replicas([1, 2]), given)
    shape = dataclasses.replace(read_shapes()["m5.large"], fullest_volume_ratio=0.5)
    use = capacity_use(placed, shape)
    network = use.capacity[RESOURCES.index(Resource.NETWORK_IN), 0]
    whole, half = (
        use.load[0, RESOURCES.index(one), HIGH, 0, 0] for one in (Resource.RECOVERY, Resource.VOLUME_RECOVERY)
    )
    assert whole == pytest.approx(100 * GIB / (network - 10e6))
    assert half == pytest.approx(50 * GIB / (network - 10e6))


def test_a_lost_disk_takes_what_it_held_and_a_volume_that_is_the_only_one_all():
    # The fullest of today's disks has 40 % of what its broker holds and gets: 40 GiB over 50 MB/s less 4 of 10 MB/s.
    settings = LoadSettings(throttle_bytes_per_second=50e6, volume_recovery_seconds=800.0)
    work = workload((10e6,), size=100 * GIB, retention=100 * GIB / 10e6)
    placed = placed_loads(work, brokers(3, list("abc")), replicas([1, 2]), settings)
    several = dataclasses.replace(observed_shape(placed.brokers, vcpu=16.0), fullest_volume_ratio=0.4)
    use = capacity_use(placed, several)
    assert use.load[0, RESOURCES.index(Resource.VOLUME_RECOVERY), HIGH, 0, 0] == pytest.approx(40 * GIB / 46e6)
    (excuse,) = [one for one in judge(use, Limits(), several).excuses if one.constraint == "volume_recovery"]
    assert "would take 0.3 hours to re-replicate the fullest of its disks after the loss of that on" in excuse.reason
    single = capacity_use(placed, read_shapes()["m5.large"])
    assert single.load[0, RESOURCES.index(Resource.VOLUME_RECOVERY), HIGH, 0, 0] == pytest.approx(100 * GIB / 40e6)
    assert not np.isfinite(single.capacity[RESOURCES.index(Resource.RECOVERY)]).any()
    assert asked(volume_recovery_hours=0.5).loads.volume_recovery_seconds == 1_800.0


def test_a_time_to_recover_binds_with_its_reason_and_more_brokers_keep_it():
    # 16 partitions of 1 GiB, three replicas, on 3 brokers: 16 GiB each. Over 50 MB/s that is 344 s.
    request = asked(recovery_hours=0.05)
    assert request.loads.recovery_seconds == 180.0
    loads = LoadSettings(throttle_bytes_per_second=50e6, recovery_seconds=180.0)
    results, advice = sized(bytes_in=10.0, partitions=16, growth=(1.0, 1.0), loads=loads)
    found = {result.option_id: result for result in results}
    (excuse,) = [one for one in found["003-brokers.today"].excuses if one.constraint == "recovery"]
    assert "would take 0.10 hours to be re-replicated after its loss on " in excuse.reason
    assert excuse.needed == pytest.approx(16 * GIB / 50e6, rel=1e-3)
    assert advice.recommended not in (None, "003-brokers.today")
    assert all(one.resource is not Resource.RECOVERY for result in sized()[0] for one in result.exhaustion)
