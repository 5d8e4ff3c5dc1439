"""What idle topics hold, and where; which are idle says :mod:`kafka_capacity.inventory.topic_use`."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa

from kafka_capacity.inventory.column_values import ReplicaColumns
from kafka_capacity.inventory.topic_use import named_topics, topic_use
from kafka_capacity.kafka.arrays import Flags
from kafka_capacity.questions.idle.tables import IDLE_TABLES
from kafka_capacity.questions.question import Basis


def evaluate_idle(basis: Basis) -> dict[str, pa.Table]:
    """Return the tables about idle topics."""
    use = topic_use(basis.raw, basis.snapshot, basis.profile_partitions, basis.profile_days)
    replicas = ReplicaColumns.of(basis.raw.table("replicas"))
    scope = {"topics": [int((~use.is_own).sum())], "not_judged_topics": [int(use.is_not_judged.sum())]}
    return {
        "idle_topics": _topics(basis, replicas, use.is_idle, use.known_hours.tolist()),
        "idle_brokers": _brokers(replicas, use.is_idle),
        "idle_scope": pa.table(scope, schema=IDLE_TABLES["idle_scope"][0]),
    }


def _topics(basis: Basis, replicas: ReplicaColumns, is_idle: Flags, known_hours: list[int]) -> pa.Table:
    snapshot = basis.snapshot
    names, count = snapshot.partitions.topics, len(snapshot.partitions.topics)
    partitions = np.bincount(snapshot.partitions.topic, minlength=count)
    held = np.bincount(replicas.topic, minlength=count)
    unsized = np.bincount(replicas.topic[~replicas.known("size_bytes")], minlength=count)
    sizes = np.zeros(count, dtype=np.int64)
    np.add.at(sizes, replicas.topic, replicas.ints("size_bytes"))
    groups = Counter(topic for group in snapshot.groups for topic in named_topics(group))
    rows = [
        {
            "topic": names[place],
            "partitions": int(partitions[place]),
            "replicas": int(held[place]),
            "size_bytes": int(sizes[place]),
            "unknown_size_replicas": int(unsized[place]),
            "broker_ids": np.unique(replicas.broker[replicas.topic == place]).tolist(),
            "is_compacted": bool(snapshot.topics.is_compacted[place]),
            "groups": groups[names[place]],
            "known_hours": known_hours[place],
        }
        for place in np.flatnonzero(is_idle).tolist()
    ]
    return pa.Table.from_pylist(rows, schema=IDLE_TABLES["idle_topics"][0])


def _brokers(replicas: ReplicaColumns, is_idle: Flags) -> pa.Table:
    ids, place = np.unique(replicas.broker, return_inverse=True)
    is_freed = is_idle[replicas.topic]
    size = replicas.ints("size_bytes")
    freed, held = np.zeros(len(ids), dtype=np.int64), np.zeros(len(ids), dtype=np.int64)
    np.add.at(freed, place[is_freed], size[is_freed])
    np.add.at(held, place, size)
    count = np.bincount(place[is_freed], minlength=len(ids))
    rows = {"broker_id": ids, "replicas": count, "size_bytes": freed, "held_bytes": held}
    return pa.table(rows).filter(pa.array(count > 0)).cast(IDLE_TABLES["idle_brokers"][0])
