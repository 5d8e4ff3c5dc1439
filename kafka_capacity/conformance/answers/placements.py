"""Answers of :mod:`kafka_capacity.kafka.placement` to the recorded cases of Kafka's own placements."""

from __future__ import annotations

from functools import partial

import numpy as np

from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.java.hashing import utf16_key
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.generate import generate_order
from kafka_capacity.kafka.placement.striped import StripedReplicaPlacer
from kafka_capacity.kafka.placement.zk import ZkRelease, zk_placement


def _striped(given: Case) -> StripedReplicaPlacer:
    brokers = given["brokers"]
    return StripedReplicaPlacer(
        [broker["id"] for broker in brokers],
        [broker.get("rack") for broker in brokers],
        [bool(broker.get("fenced")) for broker in brokers],
        random=JavaRandom(given["seed"]),
    )


@answers_to("striped_replica_placer")
def striped_replica_placer(given: Case) -> Case:
    """Place topics one after another with one placer."""
    placer = _striped(given)
    return {"calls": [placer.place(call["num_partitions"], call["num_replicas"]).tolist() for call in given["calls"]]}


def _assigned(release: ZkRelease, given: Case) -> Case:
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


answers_to("admin_assign_replicas")(partial(_assigned, ZkRelease.V3_9))
answers_to("admin_assign_replicas_0_10")(partial(_assigned, ZkRelease.V0_10))


@answers_to("reassign_generate")
def reassign_generate(given: Case) -> Case:
    """Propose an assignment for partitions put in a map in the order given."""
    current = {(topic, partition): replicas for topic, partition, replicas in given["current"]}
    names = sorted({topic for topic, _ in current}, key=utf16_key)
    number = {name: index for index, name in enumerate(names)}
    topic = np.array([number[key[0]] for key in current], dtype=np.int32)
    partition = np.array([key[1] for key in current], dtype=np.int32)
    order, deciding = generate_order(names, topic, partition)
    replicas, counts = list(current.values()), np.bincount(topic, minlength=len(names))
    placer = _striped(given)
    proposed = {
        int(index): placer.place(int(counts[index]), len(replicas[row])).tolist()
        for index, row in zip(order, deciding, strict=True)
    }
    return {
        "proposed": [
            [name, partition_number, row]
            for index, name in enumerate(names)
            for partition_number, row in enumerate(proposed[index])
        ]
    }
