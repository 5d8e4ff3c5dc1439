"""The tables of a plan about durability: what topics could lose, in which steps, and what a year costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity.objects.tables import Tables, schema_of, table_of_rows
from kafka_capacity.questions.failures.durability import DurabilityResult
from kafka_capacity.questions.failures.durability.plain import outcome_rows, placement_row, topic_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRow:
    """One row a placement and topic.

    ``…_after`` is the fewest failures after which an outcome is possible, null where as many as were tried do not do
    it, and where the topic was not explored. Figures of a year are null where a broker never has its data again under
    the throttle; ``few_…`` are those of the same partitions in few copysets.
    """

    placement_id: str
    topic: str
    partitions: int
    replication_factor: int
    min_insync_replicas: int
    is_unclean_allowed: bool
    acks: str
    is_idempotent: bool
    is_explored: bool
    setting: int | None
    lost_after_crashes: int | None
    lost_after_power_losses: int | None
    lost_silently_after: int | None
    duplicated_after_crashes: int | None
    duplicated_after_producer_restarts: int | None
    refused_after: int | None
    unavailable_after: int | None
    copysets: int
    events_per_year: float | None
    loss_probability: float | None
    lost_bytes_per_year: float | None
    lost_tail_bytes_per_year: float | None
    few_copysets: int | None
    few_loss_probability: float | None
    few_lost_bytes_per_year: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRow:
    """One row a placement as it is, and one for the same partitions in few copysets: all topics together."""

    placement_id: str
    is_few_copysets: bool
    copysets: int
    events_per_year: float | None
    loss_probability: float | None
    lost_bytes_per_year: float | None
    max_repair_seconds: float | None
    highest_over_mean: float
    moved_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """One row a placement, distinct setting of its topics, course and outcome that is possible: a shortest way."""

    placement_id: str
    setting: int
    replication_factor: int
    min_insync_replicas: int
    is_unclean_allowed: bool
    acks: str
    is_idempotent: bool
    course: str
    outcome: str
    fewest_failures: int
    steps: tuple[str, ...]


DURABILITY_TABLES: Tables = {
    "durability": (schema_of(TopicRow), ("placement_id", "topic")),
    "durability_placements": (schema_of(PlacementRow), ("placement_id", "is_few_copysets")),
    "durability_outcomes": (schema_of(OutcomeRow), ("placement_id", "setting", "course", "outcome")),
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
        name: table_of_rows(schema, ({**where, **row} for row in rows[name]))
        for name, (schema, _) in DURABILITY_TABLES.items()
    }
