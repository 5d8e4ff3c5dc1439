"""Answers of :mod:`kafka_capacity.kafka.placement.generate` to the recorded cases of ``--generate``."""

from __future__ import annotations

import numpy as np

from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.java.hashing import utf16_key
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.generate import generate_order
from kafka_capacity.kafka.placement.striped import StripedReplicaPlacer


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
    brokers = given["brokers"]
    placer = StripedReplicaPlacer(
        [broker["id"] for broker in brokers],
        [broker.get("rack") for broker in brokers],
        [bool(broker.get("fenced")) for broker in brokers],
        random=JavaRandom(given["seed"]),
    )
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
