"""What changes to topics make of a cluster; the arithmetic stands beside each figure."""

import dataclasses

import numpy as np
import pytest

from kafka_capacity.demand.changed import ClusterChange, all_of, changed_cluster
from kafka_capacity.demand.disk import partition_sizes
from kafka_capacity.demand.reading import late_read_seconds
from kafka_capacity.demand.workload import Lags
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.kafka.producer.key_hashing import Keys, partitions_of_keys
from tests.builders import cluster, topic
from tests.unit.questions.capacity.workloads import DAY, GIB, MIB, workload

DATES = ("2026-11-20", "2026-11-24", "2026-12-20")
RATE = 70 * GIB / (7 * DAY)  # 70 GiB in a retention of seven days


def changed(change_of, **made):
    """One topic of two partitions with three replicas each, 70 GiB in seven days, after a change."""
    snapshot = build_snapshot(cluster(topics=[topic("t", partitions=2, size_bytes=70 * int(GIB))]))
    work = workload([RATE, RATE], size=70 * GIB, dates=DATES, middle=[[1, 1, 1]], **made)
    change = dataclasses.replace(ClusterChange.nothing(2), **change_of)
    return changed_cluster(snapshot, work, partition_sizes(work), change)


def test_nothing_changes_nothing():
    found = changed({})
    assert (found.sizes / GIB).tolist() == [[[70.0] * 3] * 2] * 2
    assert found.remote_bytes.tolist() == [[0.0] * 3] * 2


def test_a_shorter_retention_leaves_its_days_and_a_segment():
    found = changed({"kept_seconds": np.array([2 * DAY, np.inf])})
    # 2 of 7 days of 70 GiB are 20, and one segment of 1 GiB; the other partition keeps its 70.
    assert (found.workload.size_bytes / GIB).tolist() == [21.0, 70.0]
    assert (found.sizes[:, 0, -1] / GIB).tolist() == pytest.approx([21.0, 70.0])
    assert found.snapshot.size_bytes[0].tolist() == [21 * GIB] * 3


def test_of_a_log_of_one_segment_nothing_is_deleted():
    found = changed({"kept_seconds": np.array([DAY, DAY])}, segment=70 * GIB)
    assert (found.workload.size_bytes / GIB).tolist() == [70.0, 70.0]


def test_compacted_logs_and_such_of_unknown_reach_stay():
    cut = {"kept_seconds": np.array([DAY, DAY])}
    assert (changed(cut, is_compacted=True).workload.size_bytes / GIB).tolist() == [70.0, 70.0]
    endless = changed(cut, retention=np.inf)
    # At 10 GiB a day its 70 reach back seven days, of which one is left.
    assert (endless.workload.size_bytes / GIB).tolist() == pytest.approx([11.0, 11.0])


def test_partitions_that_become_one_hold_and_carry_what_they_did_together():
    lags = Lags(
        groups=("a", "b"),
        group=np.array([0, 0, 1], dtype=np.int32),
        row=np.array([0, 1, 1]),
        seconds=np.array([5.0, 60.0, 7.0]),
    )
    found = changed({"merged_into": np.array([0, 0])}, lags=lags)
    assert found.snapshot.partitions.partition.tolist() == found.workload.partitions.partition.tolist() == [0]
    assert found.snapshot.size_bytes.tolist() == [[140 * GIB] * 3]
    assert (found.sizes / GIB).tolist() == [[[140.0] * 3] * 2]
    assert found.workload.load.bytes_out_peak_bytes_per_second.tolist() == [2 * 2 * RATE]
    assert found.workload.traffic.bytes_in[:, 0].tolist() == pytest.approx([2 * RATE])
    # A group is as far behind as on the worse of both.
    behind = found.workload.lags
    assert (behind.group.tolist(), behind.row.tolist(), behind.seconds.tolist()) == ([0, 1], [0, 0], [60.0, 7.0])


def test_keys_stay_together_where_the_old_number_of_partitions_is_a_multiple_of_the_new():
    keys = Keys.of(f"customer-{number}".encode() for number in range(5_000))
    for before, after in ((240, 5), (12, 4), (9, 3)):
        assert np.array_equal(partitions_of_keys(keys, before) % after, partitions_of_keys(keys, after))


def test_compression_makes_traffic_smaller_at_once_and_logs_as_they_age():
    found = changed({"written_ratio": np.array([0.4, 1.0])})
    assert found.workload.load.bytes_in_mean_bytes_per_second[0] == pytest.approx(0.4 * RATE)
    assert found.workload.traffic.bytes_out[0, 0] == pytest.approx(0.4 * 2 * RATE)
    # After four of seven days 3/7 are old: 70 x (3/7 + 4/7 x 0.4) = 46; after a month all of it is new.
    assert (found.sizes[0, 0] / GIB).tolist() == pytest.approx([70.0, 46.0, 28.0])
    limited = changed({"written_ratio": np.array([0.4, 0.4])}, retention_bytes=70 * GIB)
    assert (limited.sizes[0, 0] / GIB).tolist() == [70.0] * 3  # it is kept for longer instead


def test_compaction_leaves_up_to_twice_the_newest_records_and_a_segment():
    before = changed({})
    found = changed({"compacted_ratio": np.array([0.2, 0.9])})
    held, segment = before.workload.size_bytes, before.workload.limits.segment_bytes
    assert found.workload.size_bytes.tolist() == [int(held[0] * 0.4 + segment[0]), held[1]]
    assert found.sizes[0] == pytest.approx(before.sizes[0] * 0.4 + segment[0])
    assert (found.sizes[1] == before.sizes[1]).all()
    # What goes by its age first is not deleted twice, and traffic stays.
    both = changed({"compacted_ratio": np.array([0.2, 1.0]), "kept_seconds": np.array([DAY, np.inf])})
    alone = changed({"kept_seconds": np.array([DAY, np.inf])})
    assert both.workload.size_bytes[0] == min(alone.workload.size_bytes[0], found.workload.size_bytes[0])
    assert (found.workload.traffic.bytes_in == before.workload.traffic.bytes_in).all()
    # Kafka compacts nothing that is tiered.
    tiered = {"is_tiered": np.array([True, True])}
    assert (changed({"compacted_ratio": np.array([0.2, 0.2]), **tiered}).sizes == changed(tiered).sizes).all()


def test_a_tiered_topic_is_sent_once_more_and_stored_once():
    both = np.ones(2, dtype=bool)
    found = changed({"local_seconds": np.full(2, DAY), "is_tiered": both})
    assert (found.sizes[:, 0, 0] / GIB).tolist() == pytest.approx([11.0, 11.0])
    assert (found.remote_bytes[0] / GIB).tolist() == pytest.approx([140.0] * 3)
    # Consumers read twice what is produced, and the store gets it once more.
    assert found.workload.traffic.bytes_out[:, 0].tolist() == pytest.approx([3 * RATE] * 2)
    assert found.workload.load.bytes_out_mean_bytes_per_second.tolist() == pytest.approx([2 * RATE] * 2)
    # With a retention of three days as well, three of seven are stored, and one more segment of each.
    cut = changed({"local_seconds": np.full(2, DAY), "is_tiered": both, "kept_seconds": np.full(2, 3 * DAY)})
    assert (cut.remote_bytes[0] / GIB).tolist() == pytest.approx([62.0] * 3)
    assert (cut.sizes == found.sizes).all()


def test_fewer_replicas_are_the_first_of_each_list():
    found = changed({"max_replicas": np.array([2, 3], dtype=np.int32)})
    assert found.snapshot.replicas.tolist() == [[1, 2, -1], [2, 3, 4]]
    assert found.snapshot.size_bytes[0].tolist() == [70 * GIB, 70 * GIB, 0]
    assert found.snapshot.leader.tolist() == [1, 2]


def test_removed_topics_are_gone():
    names = ["a", "b", "b"]
    snapshot = build_snapshot(cluster(topics=[topic("a", partitions=1), topic("b", partitions=2)]))
    work = workload([MIB] * 3, names=names)
    change = dataclasses.replace(ClusterChange.nothing(3), is_removed=np.array([True, False, False]))
    found = changed_cluster(snapshot, work, partition_sizes(work), change)
    assert found.snapshot.partitions.topics == found.workload.partitions.topics == ("b",)
    assert found.workload.partitions.topic.tolist() == [0, 0]
    assert len(found.snapshot.topics.min_insync_replicas) == 1
    assert found.sizes.shape[0] == len(found.workload.size_bytes) == len(found.snapshot.leader) == 2


def test_of_two_changes_the_one_that_goes_further_counts():
    one = dataclasses.replace(ClusterChange.nothing(2), kept_seconds=np.array([DAY, 2 * DAY]), shapes=("m",))
    two = dataclasses.replace(ClusterChange.nothing(2), kept_seconds=np.array([2 * DAY, DAY]), shapes=("m", "n"))
    found = all_of([one, two], 2)
    assert found.kept_seconds.tolist() == [DAY, DAY]
    assert found.shapes == ("m", "n")


def test_how_far_back_is_read():
    hours = np.full((4, 168), 10.0, dtype=np.float32)
    read = hours.copy()
    read[1] = 0.0
    read[1, 23::24] = 240.0  # once a day, what came since
    read[2, 100] += 10.0 * 72  # three days once more, for once
    read[3] = 0.0
    found = late_read_seconds(hours, read) / 3600
    # At once; 23 hours wait for the 24th; the three days, whatever was read before; nobody.
    assert found[:2].tolist() == [1.0, 24.0]
    assert 72 <= found[2] <= 73
    assert found[3] == 1.0
