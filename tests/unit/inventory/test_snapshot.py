from __future__ import annotations

import math

import numpy as np
import pytest

from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.tables import UNKNOWN_PATH
from kafka_capacity.inventory.validation import validate
from kafka_capacity.kafka.cluster.snapshot import PartitionLag
from tests.builders import GIB, cluster, rows_of, topic, with_rows


def two_topics():
    return cluster(
        brokers=4,
        racks=2,
        topics=[
            topic("b", replicas=[[1, 2, 3], [2, 3, 4]], settings={"retention_ms": 1000, "cleanup_policy": "compact"}),
            topic("a", replicas=[[4, 1]], size_bytes=7, min_insync_replicas=None),
        ],
    )


def test_partitions_are_sorted_and_padded():
    snapshot = build_snapshot(two_topics())
    assert snapshot.partitions.topics == ("a", "b")
    assert [snapshot.partitions.name(row) for row in range(3)] == ["a-0", "b-0", "b-1"]
    assert snapshot.replicas.tolist() == [[4, 1, -1], [1, 2, 3], [2, 3, 4]]
    assert snapshot.size_bytes.tolist() == [[7, 7, 0], [GIB] * 3, [GIB] * 3]
    assert snapshot.in_sync.tolist() == [[True, True, False], [True] * 3, [True] * 3]
    assert snapshot.leader.tolist() == [4, 1, 2]
    assert snapshot.log_dir.tolist() == [[3, 0, -1], [0, 1, 2], [1, 2, 3]]
    assert snapshot.brokers.racks == ("a", "b", "a", "b")
    assert (snapshot.replicas.dtype, snapshot.log_dir.dtype, snapshot.leader.dtype) == (np.int32,) * 3


def test_the_order_of_rows_does_not_matter():
    raw = two_topics()
    turned = raw
    for name in raw.tables:
        turned = with_rows(turned, name, rows_of(raw, name)[::-1])
    one, other = build_snapshot(raw), build_snapshot(turned)
    for name in ("replicas", "in_sync", "size_bytes", "log_dir", "leader"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert one.log_dirs.path == other.log_dirs.path
    assert partition_load(raw, one).bytes_in_mean_bytes_per_second.tobytes() == (
        partition_load(turned, other).bytes_in_mean_bytes_per_second.tobytes()
    )


def test_topic_settings_follow_the_topics():
    topics = build_snapshot(two_topics()).topics
    assert topics.min_insync_replicas.tolist() == [1, 2]
    assert topics.retention_seconds.tolist() == [604800.0, 1.0]
    assert topics.is_compacted.tolist() == [False, True]
    assert all(math.isnan(limit) for limit in topics.retention_bytes)


def test_what_is_not_known_is_assumed_as_the_findings_say():
    raw = two_topics()
    rows = rows_of(raw, "replicas")
    for row in rows:
        row |= {"is_leader": None, "is_in_sync": None, "size_bytes": None, "log_dir": None}
    rows[0] |= {"is_leader": False, "is_in_sync": False}
    snapshot = build_snapshot(with_rows(raw, "replicas", rows))
    assert snapshot.leader.tolist() == [4, -1, 2]
    assert snapshot.in_sync.tolist() == [[True, True, False], [False] * 3, [True] * 3]
    assert snapshot.size_bytes.sum() == 0
    assert (snapshot.log_dir == -1).all()


def test_what_is_on_a_fenced_broker_leads_nothing_and_is_not_in_sync_beside_others():
    """Whether the inventory says nothing of it, or what was so before."""
    raw = two_topics()
    fenced = with_rows(
        raw, "brokers", [row | {"is_fenced": row["broker_id"] in (1, 4)} for row in rows_of(raw, "brokers")]
    )
    unknown = [row | {"is_leader": None, "is_in_sync": None} for row in rows_of(raw, "replicas")]
    for given in (fenced, with_rows(fenced, "replicas", unknown)):
        snapshot = build_snapshot(given)
        # Of a-0 nobody lives: who was in sync last waits for its return.
        assert snapshot.leader.tolist() == [-1, 2, 2]
        assert snapshot.in_sync.tolist() == [[True, True, False], [False, True, True], [True, True, False]]


@pytest.mark.parametrize("is_isr_known", [False, True])
def test_what_is_in_a_log_dir_that_failed_is_not_assumed_in_sync(is_isr_known):
    """A broker that lost one of its log dirs lives on, and its replicas there have left the ISR."""
    raw = cluster(brokers=3, topics=[topic("a", partitions=2, rf=1), topic("b", partitions=1, rf=2)])
    dirs = [(1, "/good", None), (1, "/bad", "KafkaStorageException"), (2, "/good", None), (3, "/good", None)]
    rows = [{"broker_id": broker, "path": path, "error": error} for broker, path, error in dirs]
    raw = with_rows(raw, "log_dirs", rows)
    held = [("a", 0, 0, 1, "/bad"), ("a", 1, 0, 1, "/good"), ("b", 0, 0, 1, "/bad"), ("b", 0, 1, 2, "/good")]
    columns = ("topic", "partition", "position", "broker_id", "log_dir")
    told = {"is_in_sync": True, "is_leader": None} if is_isr_known else {}
    raw = with_rows(raw, "replicas", [dict(zip(columns, row, strict=True)) | told for row in held])
    snapshot = build_snapshot(raw)

    assert snapshot.leader.tolist() == ([1, 1, 1] if is_isr_known else [-1, 1, 2])
    assert snapshot.in_sync.tolist() == [[True, False], [True, False], [is_isr_known, True]]
    messages = [one.message for one in validate(raw) if one.code == "isr_assumed"]
    assert messages == (
        []
        if is_isr_known
        else [
            "the ISR of 3 partitions is unknown; all replicas are assumed in sync, but for the 2 in log dirs that are "
            "offline"
        ]
    )


def test_what_nobody_leads_is_led_by_nobody_however_few_replicas_it_has():
    raw = two_topics()
    rows = [row | {"is_leader": False} if row["topic"] == "a" else row for row in rows_of(raw, "replicas")]
    assert build_snapshot(with_rows(raw, "replicas", rows)).leader.tolist() == [-1, 1, 2]


def test_log_dirs_stand_in_for_an_unknown_capacity():
    raw = two_topics()
    raw = with_rows(raw, "brokers", [row | {"disk_capacity_bytes": None} for row in rows_of(raw, "brokers")])
    log_dirs = rows_of(raw, "log_dirs")
    log_dirs.append({"broker_id": 1, "path": "/more", "total_bytes": 10})
    log_dirs.append({"broker_id": 2, "path": "/more", "total_bytes": None})
    capacity = build_snapshot(with_rows(raw, "log_dirs", log_dirs)).brokers.disk_capacity_bytes
    assert capacity[0] == 4e12 + 10
    assert math.isnan(capacity[1])
    assert capacity[2] == 4e12


def test_no_broker_has_more_space_than_its_log_dirs():
    raw = two_topics()
    rows = [row | {"disk_capacity_bytes": 8e12 if row["broker_id"] == 1 else 3e12} for row in rows_of(raw, "brokers")]
    assert build_snapshot(with_rows(raw, "brokers", rows)).brokers.disk_capacity_bytes.tolist() == [4e12, *[3e12] * 3]


def test_nothing_new_goes_to_a_log_dir_that_failed_and_a_broker_without_another_is_down():
    dirs = (
        (1, "/a", "KAFKA_STORAGE_ERROR"),
        (1, "/b", None),
        (2, "/a", "KafkaStorageError"),
        (3, UNKNOWN_PATH, "late"),
    )
    raw = cluster(brokers=4, topics=[topic("orders")])
    rows = [{"broker_id": broker, "path": path, "error": error} for broker, path, error in dirs]
    snapshot = build_snapshot(with_rows(raw, "log_dirs", rows))

    assert snapshot.log_dirs.takes_replicas.tolist() == [False, True, False, True]
    assert not snapshot.log_dirs.is_cordoned.any()  # nobody said so
    assert snapshot.brokers.is_fenced.tolist() == [False, True, False, False]  # who is silent may be well
    assert not snapshot.brokers.is_cordoned.any()


def test_a_broker_is_cordoned_where_all_its_log_dirs_are():
    raw = two_topics()
    dirs = [(1, "/a", True), (1, "/b", True), (2, "/a", True), (2, "/b", False), (3, "/a", True), (3, "/b", None)]
    rows = [{"broker_id": broker, "path": path, "is_cordoned": cordoned} for broker, path, cordoned in dirs]
    snapshot = build_snapshot(with_rows(raw, "log_dirs", rows))

    assert snapshot.brokers.is_cordoned.tolist() == [True, False, False, False]


def test_groups_come_with_members_and_lag():
    raw = cluster(
        groups=[
            {
                "group_id": "g",
                "state": "Stable",
                "group_type": "Classic",
                "protocol_type": "consumer",
                "assignor": "range",
            },
            {"group_id": "empty"},
        ],
        members=[
            {
                "group_id": "g",
                "member_id": "m",
                "client_id": "c",
                "rack": "a",
                "subscribed": ["orders", "gone"],
                "assigned": [{"topic": "orders", "partition": 2}, {"topic": "gone", "partition": 0}],
            },
            {"group_id": "stranger", "member_id": "m"},
        ],
        lags=[
            {"group_id": "g", "topic": "orders", "partition": 2, "committed_offset": 5, "log_end_offset": 9},
            {"group_id": "g", "topic": "orders", "partition": 1, "lag_records": -3},
            {"group_id": "g", "topic": "orders", "partition": 0, "committed_offset": 5},
            {"group_id": "g", "topic": "gone", "partition": 0, "lag_records": 8},
        ],
    )
    empty, group = build_snapshot(raw).groups
    assert (empty.group_id, empty.state, empty.group_type, empty.members, empty.lags) == ("empty", "", "", (), ())
    assert group.group_type == "classic"
    assert group.assignor == "range"
    assert group.members[0].subscribed == ("gone", "orders")
    assert group.members[0].assigned == (("orders", 2),)
    assert group.lags == (
        PartitionLag(topic="orders", partition=1, committed_offset=-1, lag_records=0),
        PartitionLag(topic="orders", partition=2, committed_offset=5, lag_records=4),
    )


def test_an_inventory_without_replicas_is_empty():
    snapshot = build_snapshot(cluster(topics=[]))
    assert snapshot.replicas.shape == (0, 0)
    assert partition_load(cluster(topics=[]), snapshot).hours == 0


def test_load_is_mean_and_99th_percentile_of_the_hours_that_are_known():
    raw = cluster(topics=[topic("t", partitions=2)], hours=200)
    rows = rows_of(raw, "metrics")
    for index, row in enumerate(rows[:200]):
        row["bytes_in_bytes_per_second"] = float(index)
    rows[0]["bytes_in_bytes_per_second"] = None
    rows[1]["bytes_in_bytes_per_second"] = float("nan")
    rows[2]["bytes_in_bytes_per_second"] = -4.0
    rows[3]["bytes_in_bytes_per_second"] = 1e30
    rows.append(rows[0] | {"topic": "gone", "bytes_in_bytes_per_second": 1e9})
    raw = with_rows(raw, "metrics", rows)
    load = partition_load(raw, build_snapshot(raw))
    known = np.arange(4, 200, dtype=np.float64)
    assert load.bytes_in_mean_bytes_per_second.tolist() == [known.mean(), 1000.0]
    assert load.bytes_in_peak_bytes_per_second.tolist() == [np.percentile(known, 99), 1000.0]
    assert load.bytes_out_peak_bytes_per_second.tolist() == [2000.0, 2000.0]
    assert load.hours == 200


@pytest.mark.parametrize("hours", [0, 1])
def test_hours_are_counted(hours):
    raw = cluster(hours=hours)
    assert partition_load(raw, build_snapshot(raw)).hours == hours
