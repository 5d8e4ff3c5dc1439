"""Answers of :mod:`kafka_capacity.kafka.producer` to the recorded cases of hashing keys and of going round."""

from __future__ import annotations

from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.producer.key_hashing import Keys, murmur2_of_keys, partitions_of_keys
from kafka_capacity.kafka.producer.roundrobin import RoundRobinPartitioner
from kafka_capacity.kafka.producer.topic import TopicMetadata


@answers_to("murmur2")
def murmur2(given: Case) -> Case:
    """Hash keys, and give their partitions."""
    keys = Keys.of(map(bytes.fromhex, given["keys_hex"]))
    return {
        "murmur2": murmur2_of_keys(keys).tolist(),
        "partition": partitions_of_keys(keys, given["num_partitions"]).tolist(),
    }


@answers_to("roundrobin_partitioner")
def roundrobin_partitioner(given: Case) -> Case:
    """Send records to topics."""
    topics = {t["name"]: TopicMetadata.of(t["partitions"], t.get("available") or ()) for t in given["topics"]}
    partitioner = RoundRobinPartitioner()
    return {"partitions": [partitioner.partition(name, topics[name]) for name in given["sends"]]}
