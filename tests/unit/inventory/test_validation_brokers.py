"""One broken inventory for each thing that can be found of a cluster, its brokers and directories."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_capacity.inventory.validation import validate
from tests.builders import GIB, cluster, rows_of, topic, with_rows
from tests.unit.inventory.broken import FAULT, assert_found, change, drop, ids, repeat

PIB = 2**50

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
        "captured_at 'noon' is not a time in UTC; write it as 2026-11-20T03:00:00Z",
    ),
    # brokers
    (drop(cluster(), "brokers", *range(6)), "fatal", "no_brokers", "there are no brokers; list at least one"),
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
        change(cluster(), "brokers", 0, network_in_bytes_per_second=0.0),
        "fatal",
        "capacity_not_positive",
        "network_in_bytes_per_second must be above 0, got 0 on broker 1; correct or drop it",
    ),
    (
        change(cluster(), "brokers", 0, cpu_cores=float("nan")),
        "fatal",
        "capacity_not_positive",
        "cpu_cores must be above 0, got nan on broker 1; correct or drop it",
    ),
    (
        change(cluster(), "brokers", 2, memory_bytes=-64.0),
        "fatal",
        "capacity_not_positive",
        "memory_bytes must be above 0, got -64 on broker 3; correct or drop it",
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
        "1 broker without disk_capacity_bytes (6): the sizes of their log dirs are used where known; for the others "
        "it is unknown when a disk is full",
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
        "serious",
        "log_dir_offline",
        "1 log dir offline: '/data' of broker 4; replicas there cannot be read and stay out of sync, replace the disks",
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
    (
        change(cluster(), "brokers", 1, disk_capacity_bytes=8e12),
        "warning",
        "disk_capacity_and_log_dirs_differ",
        "disk_capacity_bytes is not what the log dirs have in total, 7.3 TiB and 3.6 TiB on broker 2; the smaller is "
        "used: correct the other",
    ),
    (
        change(cluster(), "log_dirs", 0, usable_bytes=0),
        "warning",
        "replicas_below_log_dirs",
        "3.6 TiB are in use in 1 log dir ('/data' of broker 1) that no replica holds: they count as other data, "
        "which stays where it is; if replicas are missing or their sizes too small, complete replicas and size_bytes",
    ),
    (
        change(cluster(), "brokers", 0, network_in_bytes_per_second=1250.0),
        "warning",
        "absurd_capacity",
        "network_in_bytes_per_second below 10000: 1250 on broker 1; check its unit",
    ),
]


def test_replicas_whose_log_dir_is_not_known_are_not_missing():
    raw = change(cluster(), "log_dirs", 0, usable_bytes=0)
    assert "replicas_below_log_dirs" in {one.code for one in validate(raw)}
    rows = [row | {"log_dir": None} for row in rows_of(raw, "replicas")]
    assert "replicas_below_log_dirs" not in {one.code for one in validate(with_rows(raw, "replicas", rows))}


def test_log_dirs_on_one_volume_are_not_held_against_each_other():
    """Each tells what is in use of the whole volume, with what is in the other one."""
    raw = cluster(topics=[topic("orders", size_bytes=300 * GIB)], brokers=3)
    total = 4 * 10**12

    def told(usable):
        dirs = [
            {"broker_id": broker, "path": path, "total_bytes": total, "usable_bytes": usable}
            for broker in (1, 2, 3)
            for path in ("/data", "/more")
        ]
        rows = rows_of(raw, "replicas")
        halves = [{**row, "log_dir": ("/data", "/more")[row["partition"] % 2]} for row in rows]
        found = validate(with_rows(with_rows(raw, "log_dirs", dirs), "replicas", halves))
        return [one.message for one in found if one.code == "replicas_below_log_dirs"]

    held = 6 * 300 * GIB  # by each broker, half in each directory
    assert told(total - held) == []
    (message,) = told(total - held - 10**12)
    assert message.startswith("2.7 TiB are in use in 3 log dirs ('/data' of broker 1, ")


@pytest.mark.parametrize(FAULT, CASES, ids=ids(CASES))
def test_every_fault_of_brokers_is_found_and_said(raw, severity, code, message):
    assert_found(raw, severity, code, message)
