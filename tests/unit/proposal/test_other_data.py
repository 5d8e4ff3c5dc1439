"""Disks that hold more than replicas: placements, waves, sizing and health go by what these leave."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.hardware.limits import RESOURCES, Resource
from kafka_capacity.hardware.shapes import observed_shape
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import RackRule
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.questions.capacity.loads import LoadSettings, capacity_use, placed_loads
from kafka_capacity.questions.change.move_schedule import MoveSettings, scheduled
from tests.builders import cluster, rows_of, topic, with_rows
from tests.unit.proposal.snapshots import GIB, scenario
from tests.unit.questions.capacity.workloads import brokers, replicas, workload

MADE = np.array([[2]] * 2 + [[1], [3]] * 5, dtype=np.int32)  # two partitions on broker 2, five on each of the others


def with_other(*other_gib, size_gib=1, partitions=12, disk_gib=20):
    """Return snapshot and load of brokers with so much other data each, and partitions of one replica."""
    spec = topic("orders", partitions=partitions, rf=1, bytes_in=0.0, size_bytes=size_gib * GIB)
    raw = cluster(brokers=len(other_gib), racks=None, topics=[spec], disk_capacity_bytes=float(disk_gib * GIB))
    held = np.bincount([row["broker_id"] for row in rows_of(raw, "replicas")], minlength=len(other_gib) + 1)
    rows = [
        {**row, "usable_bytes": row["total_bytes"] - int((held[row["broker_id"]] * size_gib + other) * GIB)}
        for row, other in zip(rows_of(raw, "log_dirs"), other_gib, strict=True)
    ]
    raw = with_rows(raw, "log_dirs", rows)
    snapshot = build_snapshot(raw)
    assert (snapshot.brokers.other_bytes / GIB).tolist() == list(other_gib)
    return snapshot, partition_load(raw, snapshot)


def asked(count, **changes):
    return scenario(count, racks=0, disk=20.0 * GIB, **{"tolerance_ratio": 0.3, "rack_rule": RackRule.OFF, **changes})


def test_what_would_not_fit_beside_other_data_is_refused_with_its_sentence():
    snapshot, load = with_other(0, 16, 0)
    result = evaluate_placement(snapshot, load, asked(3), made=MADE)
    excuse, on_the_way = result.excuses
    assert (excuse.broker_id, excuse.needed, excuse.available) == (2, 2.0 * GIB, 1.0 * GIB)
    assert excuse.reason == (
        "broker 2 would hold 2.0 GiB but may be filled to 1.0 GiB (85 % of its disk, less 16.0 GiB of other data): "
        "1.0 GiB too much; a disk limit of 90 % instead of 85 % would be enough"
    )
    assert on_the_way.reason.endswith("but its disk has 4.0 GiB beside 16.0 GiB of other data")
    higher = evaluate_placement(snapshot, load, asked(3, disk_limit_ratio=0.9), made=MADE)
    assert [one.constraint for one in higher.excuses] == ["disk_on_the_way"]


def test_larger_disks_that_would_do_have_room_for_other_data_too():
    snapshot, load = with_other(0, 19, 0)
    excuse, _ = evaluate_placement(snapshot, load, asked(3), made=MADE).excuses
    # 21 GiB are 85 % of 24.7 GiB, which is 1.24 times as large.
    assert excuse.reason.endswith(
        "less 19.0 GiB of other data): 4.0 GiB too much; disks 1.24 times as large would be enough"
    )
    target = asked(3).target
    for factor, fits in ((1.24, True), (1.23, False)):
        other = replace(target, disk_capacity_bytes=target.disk_capacity_bytes * factor)
        assert evaluate_placement(snapshot, load, asked(3, target=other), made=MADE).fits == fits


def test_whoever_holds_no_replica_passes_no_limit_and_asks_for_no_higher_one():
    snapshot, load = with_other(0, 19, 0)
    made = np.where(MADE == 2, 1, MADE)
    result = evaluate_placement(snapshot, load, asked(3, disk_limit_ratio=0.3), made=made)
    assert {one.broker_id for one in result.excuses if one.constraint == "disk"} == {1}
    # Seven GiB of twenty, whatever is on broker 2.
    assert result.excuses[0].reason.endswith("a disk limit of 35 % instead of 30 % would be enough")
    assert evaluate_placement(snapshot, load, asked(3, disk_limit_ratio=0.35), made=made).fits


def test_a_broker_that_takes_the_place_of_a_full_one_makes_it_no_worse_in_its_waves_either():
    snapshot, load = with_other(0, 4, 4, size_gib=4)
    replaced = asked(3, replaced=((1, 4),), is_judged_against_today=True)
    target = snapshot.brokers.take(np.array([1, 2])).joined(Brokers.of([4], disk_capacity_bytes=[20.0 * GIB]))
    moved = np.where(snapshot.replicas == 1, 4, snapshot.replicas).astype(np.int32)
    result = evaluate_placement(snapshot, load, replace(replaced, target=target), made=moved)
    assert [(one.broker_id, one.needed / GIB, one.before / GIB) for one in result.standing if one.broker_id == 4] == [
        (4, 16.0, 16.0)
    ]
    judged, schedule = scheduled(snapshot, load, result, MoveSettings())
    assert judged.fits
    assert not schedule.refusals


def test_new_brokers_have_as_much_other_data_as_the_median_one():
    snapshot, load = with_other(2, 4, 6)
    result = evaluate_placement(snapshot, load, asked(5))
    assert (result.loads.brokers.other_bytes / GIB).tolist() == [2.0, 4.0, 6.0, 4.0, 4.0]


def test_waves_leave_room_for_other_data_on_the_way():
    snapshot, load = with_other(14, 0, 14, size_gib=1)
    # Brokers 1 and 3, with 4 GiB each, swap what they hold: 3 GiB are free, so it takes more than one wave.
    swapped = np.where(snapshot.replicas == 1, 3, np.where(snapshot.replicas == 3, 1, snapshot.replicas))
    result = evaluate_placement(snapshot, load, asked(3, disk_limit_ratio=1.0), made=swapped.astype(np.int32))
    assert [one.constraint for one in result.excuses] == ["disk_on_the_way"] * 2
    assert "but its disk has 6.0 GiB beside 14.0 GiB of other data" in result.excuses[0].reason
    _, schedule = scheduled(snapshot, load, result, MoveSettings())
    assert len(schedule.waves) > 1
    levels = np.concatenate([wave.disk_peak_bytes for wave in schedule.waves])
    assert 18 * GIB <= levels.max() <= 20 * GIB  # with the other data, as the disk tells


@settings(max_examples=40, deadline=None)
@given(
    other=st.lists(st.integers(0, 16), min_size=4, max_size=6),
    limit=st.sampled_from([0.6, 0.85, 1.0]),
    gone=st.integers(0, 1),
)
def test_what_fits_keeps_the_limit_with_all_that_is_on_the_disks(other, limit, gone):
    snapshot, load = with_other(*other)
    result = evaluate_placement(snapshot, load, asked(len(other) - gone, disk_limit_ratio=limit))
    loads = result.loads
    in_use = loads.bytes_after + loads.brokers.other_bytes
    is_over = (in_use > limit * 20 * GIB * (1 + 1e-12)) & (loads.bytes_after > 0)
    assert is_over.any() == ("disk" in {one.constraint for one in result.excuses})


def test_sizing_counts_other_data_on_disks_that_brokers_keep():
    three = replace(brokers(3), other_bytes=np.array([5.0, 0.0, np.nan]) * GIB)
    placed = placed_loads(workload([0.0], [0.0]), three, replicas([1, 2, 3]), LoadSettings())
    shape = observed_shape(three)
    empty = capacity_use(placed_loads(workload([0.0], [0.0]), three, replicas([2, 3]), LoadSettings()), shape)
    assert empty.load[0, RESOURCES.index(Resource.DISK), 0, 0].tolist() == [0.0, GIB, GIB]  # as in a planned move
    kept, new = (
        capacity_use(placed, shape, keeps_disks=each).load[0, RESOURCES.index(Resource.DISK), 0, 0]
        for each in (True, False)
    )
    assert (kept - new).tolist() == [5.0 * GIB, 0.0, 0.0]
