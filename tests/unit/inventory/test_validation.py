"""One broken inventory for each thing that can be found."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import InventoryError
from kafka_capacity.inventory.findings import Findings, Severity
from kafka_capacity.inventory.validation import validate
from tests.builders import DS, GIB, cluster, rows_of, topic, with_rows

PIB = 2**50


def change(raw, name, index, **values):
    """Change some columns of one row of one table."""
    rows = rows_of(raw, name)
    rows[index] |= values
    return with_rows(raw, name, rows)


def change_all(raw, name, **values):
    return with_rows(raw, name, [row | values for row in rows_of(raw, name)])


def drop(raw, name, *indexes):
    return with_rows(raw, name, [row for index, row in enumerate(rows_of(raw, name)) if index not in indexes])


def repeat(raw, name, index):
    rows = rows_of(raw, name)
    return with_rows(raw, name, [*rows, rows[index]])


def with_group(*members, lags=(), group_type="consumer"):
    return cluster(
        groups=[{"group_id": "g", "state": "Stable", "protocol_type": "consumer", "group_type": group_type}],
        members=[{"group_id": "g", "member_id": f"m{i}", "assigned": member} for i, member in enumerate(members)],
        lags=[{"group_id": "g", "topic": "orders", "partition": 0, "lag_records": 1} | lag for lag in lags],
    )


def on(partition, name="orders"):
    return {"topic": name, "partition": partition}


def hour(day, clock="00:00"):
    return datetime.datetime.fromisoformat(f"{day}T{clock}:00+00:00")


CASES = [
    # cluster and day
    (replace(cluster(), cluster=""), "fatal", "cluster_name", "the name of the cluster is empty; give it one"),
    (
        replace(cluster(), cluster="x" * 256),
        "fatal",
        "cluster_name",
        "the name of the cluster has 256 characters; shorten it to 255 or fewer",
    ),
    (
        replace(cluster(), cluster="a\nb"),
        "fatal",
        "cluster_name",
        "the name of the cluster, 'a\\nb', has control characters; remove them",
    ),
    (replace(cluster(), ds="20.11."), "fatal", "day", "ds '20.11.' is not a day; write it as YYYY-MM-DD"),
    (
        replace(cluster(), captured_at="noon"),
        "fatal",
        "captured_at",
        "captured_at 'noon' is not a moment in UTC; write it as 2026-11-20T03:00:00Z",
    ),
    # brokers
    (drop(cluster(), "brokers", *range(6)), "fatal", "no_brokers", "there is no broker; list at least one"),
    (
        repeat(cluster(), "brokers", 2),
        "fatal",
        "duplicate_broker",
        "1 broker id given more than once (3); keep one entry each",
    ),
    (
        change(cluster(), "brokers", 0, broker_id=-1),
        "fatal",
        "negative_broker_id",
        "1 broker id below 0 (-1); Kafka's start at 0",
    ),
    (
        change(cluster(), "brokers", 1, rack=None),
        "warning",
        "rack_missing",
        "1 of 6 brokers without a rack (2): Kafka's rack-aware placement refuses such a mix; set broker.rack on all or "
        "on none",
    ),
    (
        cluster(brokers=5, racks=2),
        "warning",
        "uneven_racks",
        "racks of unequal size ('a' 3, 'b' 2): where the replication factor is 2 or more, each rack holds every "
        "partition, so a broker of 'b' carries 1/2 of them and one of 'a' 1/3; make the racks equal",
    ),
    (
        change(cluster(), "brokers", 0, network_in_bytes_per_second=0.0),
        "fatal",
        "capacity_not_positive",
        "network_in_bytes_per_second must be above 0, got 0 on broker 1; mend or drop it",
    ),
    (
        change(cluster(), "brokers", 0, cpu_cores=float("nan")),
        "fatal",
        "capacity_not_positive",
        "cpu_cores must be above 0, got nan on broker 1; mend or drop it",
    ),
    (
        change(cluster(), "brokers", 2, memory_bytes=-64.0),
        "fatal",
        "capacity_not_positive",
        "memory_bytes must be above 0, got -64 on broker 3; mend or drop it",
    ),
    (
        change(cluster(), "brokers", 2, memory_bytes=2.0**50),
        "warning",
        "absurd_capacity",
        "memory_bytes above 7.03687e+13: 1.1259e+15 on broker 3; check its unit",
    ),
    (
        change(cluster(), "brokers", 0, disk_capacity_bytes=4e18),
        "warning",
        "absurd_capacity",
        "disk_capacity_bytes above 1.15292e+18: 4e+18 on broker 1; check its unit",
    ),
    (
        change(cluster(), "brokers", 5, disk_capacity_bytes=None),
        "info",
        "disk_capacity_unknown",
        "1 broker without disk_capacity_bytes (6): the sizes of their log dirs are used where known, and nobody "
        "can say when the disk of the others is full",
    ),
    # log dirs
    (
        repeat(cluster(), "log_dirs", 0),
        "fatal",
        "duplicate_log_dir",
        "log dirs listed more than once: '/data' of broker 1; keep one row each",
    ),
    (
        with_rows(cluster(), "log_dirs", [*rows_of(cluster(), "log_dirs"), {"broker_id": 99, "path": "/data"}]),
        "warning",
        "log_dir_of_unknown_broker",
        "1 log dir of brokers that are not listed: '/data' of broker 99; they are left out",
    ),
    (
        change(cluster(), "log_dirs", 3, error="KafkaStorageException"),
        "warning",
        "log_dir_offline",
        "1 log dir offline: '/data' of broker 4; their replicas cannot be read, replace the disks before "
        "anything moves",
    ),
    (
        change(cluster(), "log_dirs", 0, total_bytes=0, usable_bytes=0),
        "fatal",
        "log_dir_size",
        "total_bytes must be above 0: '/data' of broker 1; leave it out where unknown",
    ),
    (
        change(cluster(), "log_dirs", 0, usable_bytes=-1),
        "fatal",
        "log_dir_size",
        "usable_bytes below 0: '/data' of broker 1; leave it out where unknown",
    ),
    (
        change(cluster(), "log_dirs", 0, usable_bytes=5 * 10**12),
        "warning",
        "log_dir_usable_above_total",
        "usable_bytes above total_bytes: '/data' of broker 1; check both",
    ),
    # topics
    (
        repeat(cluster(), "topics", 0),
        "fatal",
        "duplicate_topic",
        "1 topic given more than once (orders); keep one row each",
    ),
    (
        cluster(topics=[topic("a/b"), topic(".."), topic("x\n"), topic("é"), topic("y" * 249)]),
        "fatal",
        "illegal_topic_name",
        "4 topic names that Kafka cannot have ('..', 'a/b', 'x\\n', 'é'): 1 to 249 of the characters a-z, A-Z, "
        "0-9, '.', '_' and '-', and not '.' or '..'",
    ),
    (
        cluster(topics=[topic("orders"), topic("empty", partitions=0)]),
        "warning",
        "topic_without_replicas",
        "1 topic without any replica (empty); they are left out",
    ),
    (
        cluster(topics=[topic("orders"), topic("log", rf=1, min_insync_replicas=1)]),
        "warning",
        "single_replica",
        "1 topic with a single replica (log): the loss of one broker takes them offline and may lose their data",
    ),
    (
        cluster(topics=[topic("orders", min_insync_replicas=0)]),
        "fatal",
        "min_isr_not_positive",
        "min.insync.replicas below 1 on 1 topic: orders (0 of 3); Kafka's least is 1",
    ),
    (
        cluster(topics=[topic("orders", min_insync_replicas=4)]),
        "warning",
        "min_isr_above_rf",
        "min.insync.replicas above the replication factor on 1 topic: orders (4 of 3): no write with acks=all can "
        "succeed; lower it or add replicas",
    ),
    (
        cluster(topics=[topic("orders", min_insync_replicas=3)]),
        "warning",
        "min_isr_equals_rf",
        "min.insync.replicas equals the replication factor on 1 topic: orders (3 of 3): one lost broker stops writes "
        "with acks=all; lower it by one or add a replica",
    ),
    (
        cluster(topics=[topic("orders", min_insync_replicas=1)]),
        "info",
        "min_isr_one",
        "min.insync.replicas is 1 on 1 topic: orders (1 of 3): the leader alone may acknowledge a write, and be lost "
        "with it",
    ),
    (
        cluster(topics=[topic("orders", min_insync_replicas=None)]),
        "info",
        "min_isr_assumed",
        "min.insync.replicas is not known of 1 topic; Kafka's default, 1, is assumed",
    ),
    (
        cluster(topics=[topic("orders", settings={"retention_ms": -5})]),
        "warning",
        "absurd_retention",
        "retention_ms below -1 on 1 topic (orders); it is taken for -1, no limit",
    ),
    # replicas
    (
        change(cluster(), "replicas", 0, broker_id=77),
        "fatal",
        "unknown_broker",
        "1 replica on brokers that are not listed (77), of 1 partition (orders-0); add them to the list",
    ),
    (
        change(cluster(), "topics", 0, topic="other"),
        "fatal",
        "unknown_topic",
        "replicas of 1 topic that the table of topics lacks (orders); add a row for each",
    ),
    (
        cluster(topics=[]),
        "fatal",
        "no_replicas",
        "there is no replica; an inventory needs at least one partition",
    ),
    (
        drop(cluster(), "replicas", 3, 4, 5),
        "fatal",
        "partition_gap",
        "partition numbers of 1 topic do not run from 0 without a gap (orders); export every partition of a topic",
    ),
    (
        change(cluster(), "replicas", 0, partition=-1),
        "fatal",
        "partition_gap",
        "partition numbers of 1 topic do not run from 0 without a gap (orders); export every partition of a topic",
    ),
    (
        change(cluster(), "replicas", 2, position=5),
        "fatal",
        "replica_positions",
        "positions do not run from 0 without a gap or a repeat in 1 partition (orders-0); give each its place in "
        "Kafka's list",
    ),
    (
        change(cluster(), "replicas", 2, broker_id=1),
        "fatal",
        "duplicate_replica",
        "a broker holds more than one replica of 1 partition (orders-0); Kafka allows one each",
    ),
    (
        drop(cluster(), "replicas", 2),
        "warning",
        "rf_mismatch",
        "partitions of unequal replication factor in 1 topic (orders): a reassignment may be under way; each partition "
        "keeps its own",
    ),
    (
        drop(cluster(brokers=3), "brokers", 2),
        "fatal",
        "rf_above_brokers",
        "more replicas than the 2 listed brokers on 6 partitions (orders-0, orders-1, orders-2, orders-3, "
        "orders-4 and 1 more); list them all",
    ),
    (
        cluster(racks=2, topics=[topic("orders", partitions=1)]),
        "warning",
        "rf_above_racks",
        "more replicas than racks (2) on 1 partition (orders-0): some racks hold two, and losing one may lose the "
        "majority",
    ),
    # leaders and in-sync replicas
    (
        change(cluster(), "replicas", 1, is_leader=True),
        "fatal",
        "many_leaders",
        "more than one leader on 1 partition (orders-0); flag the one that leads",
    ),
    (
        change(cluster(), "replicas", 0, is_leader=False),
        "warning",
        "leader_missing",
        "no leader on 1 partition (orders-0): they are offline now; their size is taken from the largest replica",
    ),
    (
        change_all(cluster(), "replicas", is_leader=None),
        "info",
        "leader_assumed",
        "the leader of 6 partitions is not known; the first replica is assumed to lead",
    ),
    (
        change(cluster(), "replicas", 0, is_in_sync=False),
        "warning",
        "leader_not_in_isr",
        "the leader is not in the ISR of 1 partition (orders-0): the snapshot was taken during a change; take it again",
    ),
    (
        change(cluster(), "replicas", 1, is_in_sync=False),
        "warning",
        "under_replicated",
        "replicas out of sync on 1 partition (orders-0): a reassignment now adds load to brokers that are behind "
        "already",
    ),
    (
        change_all(cluster(topics=[topic("orders", partitions=1)]), "replicas", is_in_sync=False),
        "warning",
        "isr_empty",
        "no replica in sync on 1 partition (orders-0): no leader can be elected there without losing records",
    ),
    (
        change_all(cluster(), "replicas", is_in_sync=None),
        "info",
        "isr_assumed",
        "the ISR of 6 partitions is not known; all replicas are assumed in sync",
    ),
    # sizes
    (
        change(cluster(), "replicas", 0, size_bytes=None),
        "warning",
        "missing_sizes",
        "the size of 1 replica (5.6%) is not known; they count as 0 bytes, so disk use and moves are "
        "underestimated: add the output of kafka-log-dirs",
    ),
    (
        cluster(topics=[topic("orders", size_bytes=None)]),
        "warning",
        "missing_sizes",
        "the size of 18 replicas (all) is not known; they count as 0 bytes, so disk use and moves are underestimated: "
        "add the output of kafka-log-dirs",
    ),
    (
        change(cluster(), "replicas", 0, size_bytes=-5),
        "fatal",
        "negative_size",
        "sizes below 0 on 1 partition (orders-0); leave them out where unknown",
    ),
    (
        change(cluster(), "replicas", 0, size_bytes=PIB + 1),
        "fatal",
        "absurd_size",
        "replicas above 1 PiB on 1 partition (orders-0); check the unit",
    ),
    (
        change(cluster(), "replicas", 0, size_bytes=4 * 10**12),
        "warning",
        "size_above_capacity",
        "replicas larger than disk_capacity_bytes on 1 broker (broker 1: 4002147483648 of 4000000000000); check the "
        "capacity",
    ),
    (
        change(cluster(), "replicas", 0, size_bytes=4 * 10**12),
        "warning",
        "size_above_log_dir",
        "replicas larger than total_bytes in 1 log dir ('/data' of broker 1: 4002147483648 of 4000000000000); check "
        "total_bytes",
    ),
    (
        change(cluster(), "replicas", 1, size_bytes=3 * GIB),
        "info",
        "follower_size_differs",
        "a follower's size is more than half off its leader's on 1 partition (orders-0); it may be catching up",
    ),
    (
        change(cluster(), "replicas", 1, offset_lag=-1),
        "warning",
        "negative_offset_lag",
        "offset_lag below 0 on 1 partition (orders-0); it counts as 0",
    ),
    (
        change(cluster(), "replicas", 1, log_dir="/gone"),
        "warning",
        "unknown_log_dir",
        "replicas in log dirs that are not listed, of 1 partition (orders-0); add the log dirs of their brokers",
    ),
    # metrics
    (
        cluster(hours=0),
        "warning",
        "no_metrics",
        "there is no history of rates; all traffic counts as 0, so only disks are judged: add the table of metrics",
    ),
    (
        change(cluster(), "metrics", 0, bytes_in_bytes_per_second=-1.0),
        "warning",
        "unusable_rate",
        "1 value of bytes_in_bytes_per_second negative, infinite or not a number; they are left out",
    ),
    (
        change(cluster(), "metrics", 0, bytes_out_bytes_per_second=float("nan")),
        "warning",
        "unusable_rate",
        "1 value of bytes_out_bytes_per_second negative, infinite or not a number; they are left out",
    ),
    (
        change(cluster(), "metrics", 0, bytes_in_bytes_per_second=1e12),
        "warning",
        "absurd_rate",
        "1 value of bytes_in_bytes_per_second above 1e+11 on one partition; check the unit",
    ),
    (
        change(cluster(), "metrics", 0, topic="gone"),
        "warning",
        "metrics_of_unknown_partition",
        "metrics of 1 partition that the inventory lacks (gone-0); they are left out",
    ),
    (
        drop(cluster(), "metrics", *range(168)),
        "warning",
        "partition_without_metrics",
        "no metrics of 1 of 6 partitions (orders-0); their traffic counts as 0",
    ),
    (
        change(cluster(), "metrics", 0, hour=hour("2026-11-12", "23:30")),
        "fatal",
        "hour_not_whole",
        "1 row whose hour is not the start of an hour; give one row for each hour",
    ),
    (
        repeat(cluster(), "metrics", 7),
        "fatal",
        "duplicate_hour",
        "1 row for an hour that is there already, of 1 partition (orders-0); give one row for each hour",
    ),
    (
        drop(cluster(), "metrics", *range(1, 100)),
        "warning",
        "metric_gaps",
        "90.2% of the hours are there (168 hours from the first to the last, 6 partitions); means and peaks rest on "
        "those alone",
    ),
    (
        cluster(hours=100),
        "info",
        "short_history",
        "the history spans 100 hours, less than the 168 of a week; its peak may be missing",
    ),
    (
        replace(cluster(), ds="2026-12-01"),
        "warning",
        "stale_metrics",
        "the newest metrics are 11.0 days older than 2026-12-01; what has changed since is not seen",
    ),
    (
        replace(cluster(), ds="2026-11-18"),
        "warning",
        "future_metrics",
        "144 rows of metrics later than the day 2026-11-18; they count like the others, check ds",
    ),
    # groups
    (
        repeat(with_group(), "groups", 0),
        "fatal",
        "duplicate_group",
        "1 row of groups with the same group_id as another ('g'); keep one",
    ),
    (
        repeat(with_group([on(0)]), "members", 0),
        "fatal",
        "duplicate_member",
        "1 row of members with the same group_id, member_id as another ('g' 'm0'); keep one",
    ),
    (
        with_group(lags=[{}, {}]),
        "fatal",
        "duplicate_lag",
        "1 row of lags with the same group_id, topic, partition as another ('g' 'orders' 0); keep one",
    ),
    (
        drop(with_group([on(0)]), "groups", 0),
        "warning",
        "unknown_group",
        "members of 1 group that the table of groups lacks ('g'); they are left out",
    ),
    (
        with_group([on(0), {"topic": None, "partition": 1}]),
        "fatal",
        "assigned_without_name",
        "1 assigned partition without a topic or a number; give both",
    ),
    (
        with_group([on(0), on(99)], [on(0, "gone")]),
        "warning",
        "assigned_unknown_partition",
        "members are assigned 2 partitions that the inventory lacks (gone-0, orders-99); they are left out",
    ),
    (
        with_group([on(0), on(1)], None, [], [on(1)]),
        "warning",
        "partition_owned_twice",
        "1 partition assigned to more than one member of the same group ('g'); the snapshot was taken during a "
        "rebalance, take it again",
    ),
    (
        with_group(lags=[{"partition": 44}]),
        "warning",
        "lag_of_unknown_partition",
        "lag on 1 partition that the inventory lacks (orders-44); it is left out",
    ),
    (
        with_group(lags=[{"lag_records": -1}]),
        "warning",
        "negative_lag",
        "lag_records below 0 in 1 row: the end of the log was read before the committed offset; it counts as 0",
    ),
    (
        with_group(lags=[{"lag_records": None}]),
        "info",
        "lag_unknown",
        "1 row of lags with neither lag_records nor both offsets; they are left out",
    ),
    (
        with_group(lags=[{"log_start_offset": 8, "log_end_offset": 7}]),
        "warning",
        "log_ends_before_it_starts",
        "log_start_offset above log_end_offset on 1 partition (orders-0); sizes of records are not measured there, "
        "mend the offsets",
    ),
]


@pytest.mark.parametrize(
    ("raw", "severity", "code", "message"), CASES, ids=[f"{i}-{case[2]}" for i, case in enumerate(CASES)]
)
def test_every_kind_of_fault_is_found_and_said(raw, severity, code, message):
    found = validate(raw)
    assert message in [f.message for f in found if f.code == code], list(found)
    assert {f.severity for f in found if f.code == code} == {Severity(severity)}


def test_a_sound_inventory_has_no_findings():
    assert list(validate(cluster())) == []
    assert list(validate(with_group([on(0)], [on(1), on(2)], lags=[{}]))) == []


def test_members_of_a_share_group_may_hold_one_partition_together():
    assert list(validate(with_group([on(0)], [on(0)], group_type="share"))) == []


def test_all_fatal_findings_are_raised_at_once():
    raw = change(repeat(cluster(), "brokers", 0), "replicas", 0, size_bytes=-1)
    with pytest.raises(InventoryError) as caught:
        validate(raw).raise_if_fatal()
    assert str(caught.value) == (
        "1 broker id given more than once (1); keep one entry each\n"
        "sizes below 0 on 1 partition (orders-0); leave them out where unknown"
    )


def test_findings_do_not_depend_on_the_order_of_rows():
    raw = change(change(cluster(racks=2), "replicas", 4, broker_id=50), "metrics", 3, topic="gone")
    turned = raw
    for name in raw.tables:
        turned = with_rows(turned, name, rows_of(raw, name)[::-1])
    assert validate(raw) == validate(turned)


def test_findings_survive_json():
    found = validate(change(cluster(racks=2), "replicas", 4, broker_id=50))
    assert len(found) > 2
    assert Findings.from_json(found.to_json()) == found


def test_a_table_of_another_schema_is_refused():
    tables = {**cluster().tables, "topics": pa.table({"topic": pa.array(["t"])})}
    with pytest.raises(
        InventoryError, match=r"^table 'topics' is not of the inventory's schema: expected topic string"
    ):
        replace(cluster(), tables=tables)


def test_an_unknown_or_missing_table_is_refused():
    with pytest.raises(InventoryError) as caught:
        replace(cluster(), tables={**cluster().tables, "topic": cluster().table("topics")})
    assert str(caught.value) == (
        "an inventory has no table 'topic'; its tables are brokers, log_dirs, topics, replicas, groups, members, lags, "
        "metrics"
    )
    with pytest.raises(InventoryError) as caught:
        replace(cluster(), tables={"brokers": cluster().table("brokers")})
    assert str(caught.value) == "the inventory lacks the table 'topics'; brokers, topics, replicas must be there"


@given(
    name=st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=60), other=st.text(max_size=60)
)
def test_clusters_racks_groups_and_members_may_have_any_text_for_a_name(name, other):
    raw = replace(with_group([on(0)]), cluster=name)
    other = other.encode("utf-8", "replace").decode()
    raw = change_all(raw, "brokers", rack=other or "r", host=other)
    raw = change_all(raw, "groups", group_id=name)
    raw = change_all(raw, "members", group_id=name, member_id=other, host=other)
    assert {f.code for f in validate(raw)} == {"rf_above_racks"}
    assert raw.ds == DS
