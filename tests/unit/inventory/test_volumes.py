"""What is in use on volumes beside replicas, and log directories that share one."""

import numpy as np
import pytest

from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.validation import validate
from kafka_capacity.inventory.volumes import volume_of
from kafka_capacity.kafka.reassignment.kafka_json import has_several
from tests.builders import cluster, rows_of, topic, with_rows

GIB = 2**30
_ODD = 12_288  # what is told to the byte is no round number


def dirs(broker, *usable, total=100 * GIB):
    return [
        {"broker_id": broker, "path": f"/data{n}", "total_bytes": total, "usable_bytes": each}
        for n, each in enumerate(usable)
    ]


def told(log_dirs, *, brokers=2, capacity=None, larger=0, log_dir="/data{}"):
    """Return the inventory of a topic with two partitions of 10 GiB, on brokers 1 and 2 each."""
    raw = cluster(brokers=brokers, racks=None, topics=[topic("orders", replicas=[[1, 2]] * 2, size_bytes=10 * GIB)])
    replicas = [
        {**row, "log_dir": log_dir and log_dir.format(row["partition"]), "size_bytes": 10 * GIB}
        for row in rows_of(raw, "replicas")
    ]
    for row in replicas:
        row["size_bytes"] += larger if row["broker_id"] == 2 else 0
    listed = [{**row, "disk_capacity_bytes": capacity} for row in rows_of(raw, "brokers")]
    for name, rows in (("log_dirs", log_dirs), ("replicas", replicas), ("brokers", listed)):
        raw = with_rows(raw, name, rows)
    return raw


def other_gib(raw):
    return (build_snapshot(raw).brokers.other_bytes / GIB).round(2).tolist()


def test_other_data_is_what_is_in_use_and_no_replica_holds():
    raw = told([*dirs(1, 70 * GIB, 90 * GIB), *dirs(2, 90 * GIB, 90 * GIB)])
    assert other_gib(raw) == [20.0, 0.0]
    np.testing.assert_array_equal(build_snapshot(raw).log_dirs.other_bytes / GIB, [20.0, 0.0, 0.0, 0.0])


def test_what_followers_hold_more_than_leaders_is_other_data():
    assert other_gib(told([*dirs(1, 90 * GIB, 90 * GIB), *dirs(2, None, None)], larger=3 * GIB)) == [0.0, 6.0]


def test_a_capacity_that_leaves_other_data_out_is_not_lessened_by_it_again():
    full = [*dirs(1, 40 * GIB, 90 * GIB), *dirs(2, 90 * GIB, 90 * GIB)]
    assert other_gib(told(full, capacity=150.0 * GIB)) == [0.0, 0.0]
    assert other_gib(told(full, capacity=180.0 * GIB)) == [30.0, 0.0]


def test_less_than_a_hundredth_of_a_disk_says_nothing():
    assert other_gib(told([*dirs(1, 89 * GIB, 89.5 * GIB), *dirs(2, 88 * GIB, 89 * GIB)])) == [0.0, 3.0]


def test_nothing_is_known_of_volumes_that_do_not_tell():
    raw = told([*dirs(1, None, 10 * GIB), *dirs(2, 90 * GIB, 50 * GIB)], brokers=3, log_dir=None)
    np.testing.assert_array_equal(other_gib(raw), [np.nan, 40.0, np.nan])
    assert np.isnan(build_snapshot(raw).log_dirs.other_bytes).all()  # nobody knows in which of them replicas are


def test_log_dirs_that_tell_the_same_to_the_byte_are_on_one_volume_which_counts_once():
    # Broker 2 is new and nearly empty: its paths are those of broker 1, so that it is taken to be like it.
    shared = [*dirs(1, 75 * GIB + _ODD, 75 * GIB + _ODD), *dirs(2, 99 * GIB, 99 * GIB)]
    snapshot = build_snapshot(told(shared))
    assert (snapshot.brokers.disk_capacity_bytes / GIB).tolist() == [100.0, 100.0]
    assert (snapshot.brokers.other_bytes / GIB).round(2).tolist() == [5.0, 0.0]
    assert not has_several(snapshot.log_dirs, snapshot.brokers.ids).any()  # what limits them is the limit of the broker
    (finding,) = [one for one in validate(told(shared)) if one.code == "log_dirs_share_volume"]
    assert finding.message == (
        "2 log dirs on the same volume as another one, which counts once: '/data1' of broker 1, '/data1' of broker 2"
    )


def test_paths_that_are_apart_on_one_broker_are_so_on_all():
    by_chance = [*dirs(1, 75 * GIB + _ODD, 75 * GIB + _ODD), *dirs(2, 80 * GIB, 90 * GIB)]
    assert (build_snapshot(told(by_chance)).brokers.disk_capacity_bytes / GIB).tolist() == [200.0, 200.0]


def test_what_is_written_between_two_readings_is_no_difference():
    busy = [*dirs(1, 75 * GIB + _ODD, 75 * GIB + _ODD), *dirs(2, 60 * GIB, 60 * GIB - 7 * 10**6)]
    assert (build_snapshot(told(busy)).brokers.disk_capacity_bytes / GIB).tolist() == [100.0, 100.0]


def test_dirs_that_share_a_volume_beside_another_one_have_a_part_of_it_each():
    mixed = [*dirs(1, 70 * GIB + _ODD, 70 * GIB + _ODD, 99 * GIB), *dirs(2, 75 * GIB + _ODD, 75 * GIB + _ODD, 60 * GIB)]
    snapshot = build_snapshot(told(mixed))
    log_dirs = snapshot.log_dirs
    assert (snapshot.brokers.disk_capacity_bytes / GIB).tolist() == [200.0, 200.0]
    assert has_several(log_dirs, snapshot.brokers.ids).all()
    # Each holds 10 GiB, and has a half of what 80 GiB hold beside: of other data, 10 GiB on broker 1.
    np.testing.assert_allclose(log_dirs.total_bytes[:3] / GIB, [50.0, 50.0, 100.0])
    np.testing.assert_allclose(log_dirs.known_other_bytes[:3] / GIB, [5.0, 5.0, 1.0], atol=0.01)
    room = log_dirs.replica_room_bytes(0.85)[:2] / GIB
    np.testing.assert_allclose(room.sum(), 85.0 - 10.0, atol=0.01)


def test_what_is_known_of_one_volume_counts_where_another_one_is_silent():
    assert other_gib(told([*dirs(1, None, 60 * GIB), *dirs(2, 90 * GIB, 90 * GIB)])) == [30.0, 0.0]


@pytest.mark.parametrize(
    "usable",
    [
        pytest.param(75 * 10**9, id="written by hand"),
        pytest.param(75 * GIB, id="a whole number of GiB"),
        pytest.param(98 * GIB + _ODD, id="two disks that are empty"),
        pytest.param(None, id="not told"),
    ],
)
def test_what_may_be_two_disks_counts_twice(usable):
    raw = told([*dirs(1, usable, usable), *dirs(2, 90 * GIB, 90 * GIB)])
    assert (build_snapshot(raw).brokers.disk_capacity_bytes / GIB).tolist() == [200.0, 200.0]
    assert "log_dirs_share_volume" not in {one.code for one in validate(raw)}


def test_the_order_in_which_log_dirs_are_listed_does_not_matter():
    alike = [*dirs(1, 75 * GIB + _ODD, 75 * GIB + _ODD), *reversed(dirs(2, 60 * GIB, 60 * GIB))]
    listed = [*alike, *dirs(3, 50 * GIB, 51 * GIB)]
    raw = with_rows(cluster(brokers=3), "log_dirs", listed)
    assert volume_of(raw.table("log_dirs")).tolist() == [0, 1, 2, 3, 4, 5]  # apart on broker 3
    raw = with_rows(cluster(brokers=3), "log_dirs", alike)
    assert volume_of(raw.table("log_dirs")).tolist() == [0, 0, 2, 2]
