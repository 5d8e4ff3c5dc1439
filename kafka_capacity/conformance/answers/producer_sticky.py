"""Answers of :mod:`kafka_capacity.producer` to the recorded cases of sticky partitions."""

from __future__ import annotations

from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.producer.sticky_cache import StickyPartitionCache
from kafka_capacity.producer.thread_random import ThreadRandom
from kafka_capacity.producer.topic import TopicMetadata

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
    draws = ThreadRandom(given["thread_seed"]).next_ints(given["draws"])
    return {"next_int_draws": draws.tolist(), "results": results}
