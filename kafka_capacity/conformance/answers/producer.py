"""Answers of :mod:`kafka_capacity.kafka.producer` to the recorded cases of keys, going round, and sticky partitions."""

from __future__ import annotations

from functools import partial

from kafka_capacity.conformance.models.partitioners import (
    BuiltInPartitioner,
    RoundRobinPartitioner,
    StickyPartitionCache,
    ThreadRandom,
    TopicMetadata,
    load_stats,
)
from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.producer.key_hashing import Keys, murmur2_of_keys, partitions_of_keys

_TOPIC = "topic"


@answers_to("sticky_partition_cache")
def sticky_partition_cache(given: Case) -> Case:
    """Ask for partitions, and close batches."""
    cache = StickyPartitionCache(draw=ThreadRandom(given["thread_seed"]).next_int)
    topic = TopicMetadata.of(given["num_partitions"], given.get("available") or ())
    results = []
    for operation, *arguments in given["ops"]:
        if operation == "available":
            topic = TopicMetadata.of(given["num_partitions"], arguments[0] or ())
        elif operation == "new_batch":
            results.append(cache.next_partition(_TOPIC, topic, arguments[0]))
        else:
            results.append(cache.partition(_TOPIC, topic))
    random = ThreadRandom(given["thread_seed"])
    return {"next_int_draws": [random.next_int() for _ in range(given["draws"])], "results": results}


@answers_to("builtin_partitioner_rack")
@answers_to("builtin_partitioner")
def builtin_partitioner(given: Case) -> Case:
    """Send records, and set load statistics and leaders."""
    draws = iter(given["draws"])
    rack = given["client_rack"] if given.get("rack_aware") else None
    topic = partial(TopicMetadata.of, given["num_partitions"], leader_racks=given.get("leader_racks"))
    partitioner = BuiltInPartitioner(
        sticky_batch_size=given["sticky_batch_size"],
        draw=draws.__next__,
        topic=topic(given.get("available") or ()),
        rack=rack,
    )
    chosen = []
    for operation in given["ops"]:
        if "bytes" in operation:
            enable_switch = operation.get("enable_switch", True)
            chosen.append(partitioner.partition(operation["bytes"], enable_switch=enable_switch))
        elif "queue_sizes" in operation:
            sizes, partition_ids, length = (operation.get(key) for key in ("queue_sizes", "partition_ids", "length"))
            is_near = None if rack is None else [each == rack for each in operation.get("racks") or ()]
            partitioner.stats = None if sizes is None else load_stats(sizes, partition_ids, length, is_near=is_near)
        else:
            partitioner.topic = topic(operation["available"] or ())
    return {"partitions": chosen, "draws_used": len(given["draws"]) - sum(1 for _ in draws)}


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
