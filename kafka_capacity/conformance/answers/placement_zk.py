"""Answers of :mod:`kafka_capacity.kafka.placement.zk` to the recorded cases of ``AdminUtils``."""

from __future__ import annotations

import numpy as np

from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.zk import ZkRelease, zk_placement


@answers_to("admin_assign_replicas")
def admin_assign_replicas(given: Case) -> Case:
    """Place one topic as Kafka 3.9.2."""
    return _assigned(given, ZkRelease.V3_9)


@answers_to("admin_assign_replicas_0_10")
def admin_assign_replicas_0_10(given: Case) -> Case:
    """Place one topic as Kafka 0.10.2.2."""
    return _assigned(given, ZkRelease.V0_10)


def _assigned(given: Case, release: ZkRelease) -> Case:
    brokers = given["brokers"]
    seed = given.get("rand_seed")
    start_partition = given.get("start_partition_id", -1)
    replicas = zk_placement(
        np.array([broker["id"] for broker in brokers], dtype=np.int32),
        [broker.get("rack") for broker in brokers],
        given["partitions"],
        given["replication_factor"],
        fixed_start_index=given.get("fixed_start_index", -1),
        start_partition=start_partition,
        random=None if seed is None else JavaRandom(seed),
        release=release,
    )
    return {"assignment": [[number, row] for number, row in enumerate(replicas.tolist(), max(0, start_partition))]}
