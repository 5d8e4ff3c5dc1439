"""Idle topics: what they hold, where, and what removing them would free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.questions.idle.decide import known_bytes, largest_first
from kafka_capacity.questions.idle.share import IDLE
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import Column, cells, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text.wording import few_names

MAX_ROWS = 50  # of each table, those with the most bytes
MAX_BROKERS = 12  # that one cell names


TOPICS = (
    column("topic", "Topic", "name"),
    column("partitions", "Partitions", "count"),
    column("replicas", "Replicas", "count"),
    column("size_bytes", "Bytes, all replicas", "bytes", known_bytes),
    column("brokers", "Brokers", "text", lambda row: few_names(row["broker_ids"], MAX_BROKERS)),
    column("quiet_seconds", "Unused for at least", "duration", lambda row: row["known_hours"] * 3600),
    column("groups", "Subscribed groups", "count"),
    column("is_compacted", "Compacted", "yes"),
)
"""One row an idle topic: made of a row of ``idle_topics``."""
BROKERS = (
    column("broker_id", "Broker", "id"),
    column("replicas", "Replicas", "count"),
    column("size_bytes", "Freed", "bytes"),
    column(
        "ratio",
        "Share of its data",
        "percent",
        lambda row: row["size_bytes"] / row["held_bytes"] if row["held_bytes"] else None,
    ),
)
"""One row a broker: made of a row of ``idle_brokers``."""


@section(IDLE.name, title="Idle topics", order=37, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the answer and the tables; nothing where a plan says nothing of it."""
    answer = view.decision["answers"].get(IDLE.name)
    if answer is None:
        return None
    topics = largest_first(view.inputs.tables["idle_topics"])
    brokers = largest_first(view.inputs.tables["idle_brokers"])
    note = (
        "Check what a topic is for before you remove it: compacted ones may hold state that is read only when its "
        "owner starts."
    )
    return {
        "line": answer["headline"],
        "sentences": answer["reasons"],
        "tables": [
            idle_table("Idle topics", TOPICS, topics, note=note),
            idle_table("What removing them would free", BROKERS, brokers),
        ]
        if topics
        else [],
    }


def idle_table(
    caption: str, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], *, note: str = "", most: int = MAX_ROWS
) -> dict[str, Any]:
    """Return the rows with the most bytes, and how many there are beside them."""
    more = len(rows) - most
    left_out = f"{more:,} more with fewer bytes are not listed." if more > 0 else ""
    notes = " ".join(text for text in (note, left_out) if text)
    return table(caption, columns, [cells(columns, row) for row in rows[:most]], note=notes or None)
