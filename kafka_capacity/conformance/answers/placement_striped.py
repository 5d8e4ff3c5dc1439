"""Answers of :mod:`kafka_capacity.kafka.placement.striped` to the recorded cases of ``StripedReplicaPlacer``."""

from __future__ import annotations

from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.java.random import JavaRandom
from kafka_capacity.kafka.placement.striped import StripedReplicaPlacer


@answers_to("striped_replica_placer")
def striped_replica_placer(given: Case) -> Case:
    """Place topics one after another with one placer."""
    brokers = given["brokers"]
    placer = StripedReplicaPlacer(
        [broker["id"] for broker in brokers],
        [broker.get("rack") for broker in brokers],
        [bool(broker.get("fenced")) for broker in brokers],
        random=JavaRandom(given["seed"]),
    )
    return {"calls": [placer.place(call["num_partitions"], call["num_replicas"]).tolist() for call in given["calls"]]}
