"""Answers of :mod:`kafka_capacity.kafka.java` to the recorded cases of the JDK."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.java.hash_map import JavaHashMap
from kafka_capacity.kafka.java.hashing import (
    integer_hash,
    optional_string_hash,
    string_hash,
    topic_id_partition_hash,
    topic_partition_hash,
    uuid_hash,
)
from kafka_capacity.kafka.java.random import JavaRandom

HASHES: dict[str, Callable[[Any], int]] = {
    "int": integer_hash,
    "optional_string": optional_string_hash,
    "string": string_hash,
    "topic_id_partition": topic_id_partition_hash,
    "topic_partition": topic_partition_hash,
    "uuid": uuid_hash,
}


@answers_to("java_random")
def java_random(given: Case) -> Case:
    """Call one generator again and again."""
    random = JavaRandom(given["seed"])
    results: list[Any] = []
    for operation, *arguments in given["ops"]:
        if operation == "shuffle":
            items = list(arguments[0])
            random.shuffle(items)
            results.append(items)
        else:
            results.append(getattr(random, operation)(*arguments))
    return {"results": results}


@answers_to("java_hash")
def java_hash(given: Case) -> Case:
    """Hash keys of one type."""
    hash_of = HASHES[given["type"]]
    return {"hashes": [hash_of(key) for key in given["keys"]]}


@answers_to("java_hashmap_order")
def java_hashmap_order(given: Case) -> Case:
    """Fill a hash map call by call and walk over it."""
    keys = JavaHashMap[Any, None](HASHES[given["type"]], given.get("initial_capacity"))
    for operation, key in given["ops"]:
        key = tuple(key) if isinstance(key, list) else key
        if operation == "put":
            keys.put(key, None)
        elif operation == "compute":
            keys.compute_if_absent(key, lambda: None)
        else:
            keys.remove(key)
    return {"order": _as_json(keys), "order_after_copy": _as_json(keys.copy())}


def _as_json(keys: JavaHashMap[Any, None]) -> list[Any]:
    return [list(key) if isinstance(key, tuple) else key for key in keys]
