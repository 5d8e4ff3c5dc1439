"""One broken inventory for each thing that can be found of topics, replicas, leaders and sizes."""

from __future__ import annotations

import pytest

from tests.builders import GIB, cluster, topic
from tests.unit.inventory.broken import FAULT, assert_found, change, change_all, drop, ids, repeat

PIB = 2**50

CASES = [
    # topics
    (
        repeat(cluster(), "topics", 0),
        "fatal",
        "duplicate_topic",
        "1 topic given more than once (orders); keep one row each",
    ),
    (
        cluster(topics=[topic("a", settings={"topic_id": "orders"}), topic("b", settings={"topic_id": "-" * 22})]),
        "fatal",
        "illegal_topic_id",
        "1 topic id that Kafka cannot have ('orders'); write it as kafka-topics.sh prints it, or leave it out",
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
        cluster(topics=[topic("orders", min_insync_replicas=0)]),
        "fatal",
        "min_isr_not_positive",
        "min.insync.replicas below 1 on 1 topic: orders (0); Kafka's minimum is 1",
    ),
    (
        cluster(topics=[topic("orders", min_insync_replicas=None)]),
        "warning",
        "min_isr_assumed",
        "min.insync.replicas of 1 topic is unknown; Kafka's default, 1, is assumed",
    ),
    (
        cluster(topics=[topic("orders", settings={"retention_ms": -5})]),
        "warning",
        "absurd_retention",
        "retention_ms below -1 on 1 topic (orders); it is treated as -1, no limit",
    ),
    # replicas
    (
        change(cluster(), "replicas", 0, broker_id=77),
        "fatal",
        "unknown_broker",
        "1 replica on brokers that are not listed (77), of 1 partition (orders-0); add a row for each to the table of "
        "brokers, with is_fenced true where it is down",
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
        "there are no replicas; an inventory needs at least one partition",
    ),
    (
        drop(cluster(), "replicas", 3, 4, 5),
        "fatal",
        "partition_gap",
        "partition numbers of 1 topic do not run from 0 without gaps (orders); export every partition of a topic",
    ),
    (
        change(cluster(), "replicas", 0, partition=-1),
        "fatal",
        "partition_gap",
        "partition numbers of 1 topic do not run from 0 without gaps (orders); export every partition of a topic",
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
    # leaders and in-sync replicas
    (
        change(cluster(), "replicas", 1, is_leader=True),
        "fatal",
        "many_leaders",
        "more than one leader on 1 partition (orders-0); flag the one that leads",
    ),
    (
        change_all(cluster(), "replicas", is_leader=None),
        "info",
        "leader_assumed",
        "the leader of 6 partitions is unknown; the first replica is assumed to lead",
    ),
    (
        change(cluster(), "replicas", 0, is_in_sync=False),
        "warning",
        "leader_not_in_isr",
        "the leader is not in the ISR of 1 partition (orders-0): the snapshot was taken during a change; take it again",
    ),
    (
        change_all(cluster(), "replicas", is_in_sync=None),
        "info",
        "isr_assumed",
        "the ISR of 6 partitions is unknown; all replicas are assumed in sync",
    ),
    # sizes
    (
        change(cluster(), "replicas", 0, size_bytes=None),
        "info",
        "sizes_estimated",
        "the size of 1 replica is unknown; it counts as much as other replicas of the same partition",
    ),
    (
        cluster(topics=[topic("orders", size_bytes=None)]),
        "warning",
        "missing_sizes",
        "the size of 6 partitions (all) is unknown; they count as 0 bytes, so disk use and moves are underestimated: "
        "add the output of kafka-log-dirs of every broker",
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
        "size_above_log_dir",
        "replicas larger than total_bytes in 1 log dir ('/data' of broker 1: 3.640 TiB of 3.638 TiB); check "
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
]


@pytest.mark.parametrize(FAULT, CASES, ids=ids(CASES))
def test_every_fault_of_partitions_is_found_and_said(raw, severity, code, message):
    assert_found(raw, severity, code, message)
