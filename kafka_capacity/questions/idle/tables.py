"""The tables of a plan about idle topics.

``idle_topics`` has a row for each, ``idle_brokers`` one for each broker that holds a replica of one, and ``idle_scope``
the one row that says how many topics were looked at.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka_capacity.objects.tables import Tables


def _required(name: str, kind: pa.DataType) -> pa.Field[Any]:
    return pa.field(name, kind, nullable=False)


IDLE_TABLES: Tables = {
    "idle_topics": (
        pa.schema(
            [
                _required("topic", pa.string()),
                _required("partitions", pa.int32()),
                _required("replicas", pa.int32()),
                _required("size_bytes", pa.int64()),
                _required("unknown_size_replicas", pa.int32()),
                _required("broker_ids", pa.list_(pa.int32())),
                _required("is_compacted", pa.bool_()),
                _required("groups", pa.int32()),
                _required("known_hours", pa.int64()),
            ]
        ),
        ("topic",),
    ),
    "idle_brokers": (
        pa.schema(
            [
                _required("broker_id", pa.int32()),
                _required("replicas", pa.int32()),
                _required("size_bytes", pa.int64()),
                _required("held_bytes", pa.int64()),
            ]
        ),
        ("broker_id",),
    ),
    "idle_scope": (
        pa.schema([_required("topics", pa.int32()), _required("not_judged_topics", pa.int32())]),
        ("topics",),
    ),
}
"""By name: the schema of each table and what it is sorted by.

``size_bytes`` is of all replicas, 0 for those that do not tell theirs (``unknown_size_replicas``). ``groups`` counts
the consumer groups that subscribe to a topic or have committed on it. ``known_hours`` is of the partition of which the
fewest are known, both what is written and what is read. ``held_bytes`` is all that a broker holds today. The scope
counts no internal topics.
"""
