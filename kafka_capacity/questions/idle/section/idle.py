"""Idle topics: what they hold, where, and what removing them would free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_capacity.questions.idle.decide import known_bytes, largest_first
from kafka_capacity.questions.idle.share import IDLE
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import column, table
from kafka_capacity.report.view import ReportView

MAX_ROWS = 50
"""Of each table, those with the most bytes."""
MAX_BROKERS = 12
"""That one cell names."""

_TOPICS = (
    column("topic", "Topic", "name"),
    column("partitions", "Partitions", "count"),
    column("replicas", "Replicas", "count"),
    column("size_bytes", "Bytes, all replicas", "bytes"),
    column("brokers", "Brokers"),
    column("quiet_seconds", "Last use at least this long ago", "duration"),
    column("groups", "Groups that name it", "count"),
    column("is_compacted", "Compacted", "yes"),
)
_BROKERS = (
    column("broker_id", "Broker", "id"),
    column("replicas", "Replicas", "count"),
    column("size_bytes", "Freed", "bytes"),
    column("ratio", "Of what it holds", "percent"),
)


@section(IDLE.name, title="Idle topics", order=37)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the answer and the tables; nothing where a plan says nothing of it."""
    answer = view.decision["answers"].get(IDLE.name)
    if answer is None:
        return None
    topics = largest_first(view.inputs.tables["idle_topics"])
    brokers = largest_first(view.inputs.tables["idle_brokers"])
    note = (
        "Nothing says what else a topic is for: compacted ones may hold state that is read only when its owner starts."
    )
    return {
        "sentences": [answer["headline"], *answer["reasons"]],
        "tables": [
            table("Idle topics", _TOPICS, list(map(_topic, topics[:MAX_ROWS])), note=note + _left_out(topics)),
            table(
                "What removing them would free",
                _BROKERS,
                list(map(_broker, brokers[:MAX_ROWS])),
                note=_left_out(brokers).strip() or None,
            ),
        ]
        if topics
        else [],
    }


def _topic(row: dict[str, Any]) -> dict[str, Any]:
    named, more = row["broker_ids"][:MAX_BROKERS], len(row["broker_ids"][MAX_BROKERS:])
    brokers = ", ".join(map(str, named)) + (f" and {more:,} more" if more else "")
    return {**row, "size_bytes": known_bytes(row), "brokers": brokers, "quiet_seconds": row["known_hours"] * 3600}


def _broker(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "ratio": row["size_bytes"] / row["held_bytes"] if row["held_bytes"] else None}


def _left_out(rows: Sequence[Any]) -> str:
    more = len(rows) - MAX_ROWS
    return f" {more:,} more with fewer bytes are not listed." if more > 0 else ""
