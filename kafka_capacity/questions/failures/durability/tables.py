"""The tables of a plan about durability: what topics could lose, in which steps, and what a year costs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafka_capacity.objects.tables import Tables
from kafka_capacity.questions.failures.durability import DurabilityResult
from kafka_capacity.questions.failures.durability.plain import FEWEST_FAILURES, outcome_rows, placement_row, topic_rows


def _text(name: str) -> pa.Field[pa.DataType]:
    return pa.field(name, pa.string(), nullable=False)


def _count(name: str, *, nullable: bool = False) -> pa.Field[pa.DataType]:
    return pa.field(name, pa.int64(), nullable=nullable)


def _flag(name: str) -> pa.Field[pa.DataType]:
    return pa.field(name, pa.bool_(), nullable=False)


def _figure(name: str, *, nullable: bool = True) -> pa.Field[pa.DataType]:
    return pa.field(name, pa.float64(), nullable=nullable)


DURABILITY = pa.schema(
    [
        _text("placement_id"),
        _text("topic"),
        _count("partitions"),
        _count("replication_factor"),
        _count("min_insync_replicas"),
        _flag("is_unclean_allowed"),
        _text("acks"),
        _flag("is_idempotent"),
        _flag("is_explored"),
        _count("setting", nullable=True),
        *(_count(name, nullable=True) for name in FEWEST_FAILURES),
        _count("copysets"),
        _figure("events_per_year"),
        _figure("loss_probability"),
        _figure("lost_bytes_per_year"),
        _figure("lost_tail_bytes_per_year"),
        _count("few_copysets", nullable=True),
        _figure("few_loss_probability"),
        _figure("few_lost_bytes_per_year"),
    ]
)
"""One row a placement and topic. ``…_after`` is the fewest failures after which an outcome is possible, null where as
many as were tried do not do it, and where the topic was not explored. Figures of a year are null where a broker never
has its data again under the throttle; ``few_…`` are those of the same partitions in few copysets."""

DURABILITY_PLACEMENTS = pa.schema(
    [
        _text("placement_id"),
        _flag("is_few_copysets"),
        _count("copysets"),
        _figure("events_per_year"),
        _figure("loss_probability"),
        _figure("lost_bytes_per_year"),
        _figure("longest_repair_seconds"),
        _figure("highest_over_mean", nullable=False),
        _count("moved_bytes"),
    ]
)
"""One row a placement as it is, and one for the same partitions in few copysets: all topics together."""

DURABILITY_OUTCOMES = pa.schema(
    [
        _text("placement_id"),
        _count("setting"),
        _count("replication_factor"),
        _count("min_insync_replicas"),
        _flag("is_unclean_allowed"),
        _text("acks"),
        _flag("is_idempotent"),
        _text("course"),
        _text("outcome"),
        _count("fewest_failures"),
        pa.field("steps", pa.list_(pa.string()), nullable=False),
    ]
)
"""One row a placement, distinct setting of its topics, course and outcome that is possible: a shortest way to it."""

DURABILITY_TABLES: Tables = {
    "durability": (DURABILITY, ("placement_id", "topic")),
    "durability_placements": (DURABILITY_PLACEMENTS, ("placement_id", "is_few_copysets")),
    "durability_outcomes": (DURABILITY_OUTCOMES, ("placement_id", "setting", "course", "outcome")),
}
"""By name: the schema of each table and what it is sorted by."""


def durability_tables(result: DurabilityResult) -> dict[str, pa.Table]:
    """Return the tables of one placement."""
    where = {"placement_id": result.scenario.placement_id}
    rows: dict[str, list[dict[str, Any]]] = {
        "durability": topic_rows(result),
        "durability_placements": [{"is_few_copysets": False, "moved_bytes": 0, **placement_row(result.today)}],
        "durability_outcomes": outcome_rows(result),
    }
    if result.few_copysets is not None:
        few = {"is_few_copysets": True, "moved_bytes": result.moved_bytes, **placement_row(result.few_copysets)}
        rows["durability_placements"].append(few)
    return {
        name: pa.Table.from_pylist([{**where, **row} for row in rows[name]], schema=schema)
        for name, (schema, _) in DURABILITY_TABLES.items()
    }
