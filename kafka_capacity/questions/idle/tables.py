"""The tables of a plan about idle topics."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_capacity.objects.tables import Int32, Tables, schema_of


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleTopic:
    """One row an idle topic.

    ``size_bytes`` is of all replicas, 0 for those that do not tell theirs (``unknown_size_replicas``). ``groups``
    counts the consumer groups that subscribe to it or have committed on it. ``known_hours`` is of the partition of
    which the fewest are known, both what is written and what is read.
    """

    topic: str
    partitions: Int32
    replicas: Int32
    size_bytes: int
    unknown_size_replicas: Int32
    broker_ids: tuple[Int32, ...]
    is_compacted: bool
    groups: Int32
    known_hours: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleBroker:
    """One row a broker that holds a replica of an idle topic; ``held_bytes`` is all that it holds today."""

    broker_id: Int32
    replicas: Int32
    size_bytes: int
    held_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleScope:
    """The one row that says how many topics were looked at; internal topics do not count."""

    topics: Int32
    not_judged_topics: Int32


IDLE_TABLES: Tables = {
    "idle_topics": (schema_of(IdleTopic), ("topic",)),
    "idle_brokers": (schema_of(IdleBroker), ("broker_id",)),
    "idle_scope": (schema_of(IdleScope), ("topics",)),
}
