"""What a plan answers about idle topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kafka_capacity.health.problem import Problem, info, some
from kafka_capacity.inventory.topic_use import LEAST_HOURS
from kafka_capacity.questions.answer import Answer
from kafka_capacity.text import format_bytes, plural


def decide_idle(tables: Mapping[str, pa.Table]) -> Answer:
    """Return the answer that the tables hold."""
    (scope,) = tables["idle_scope"].to_pylist()
    topics = largest_first(tables["idle_topics"])
    missing = scope["not_judged_topics"]
    are = f"{plural(missing, 'topic')} {'is' if missing == 1 else 'are'}"
    reason = f"{are} not judged: no use is visible, but fewer than {LEAST_HOURS} hours of reads and writes are known."
    return Answer(
        headline=_headline(topics, scope["topics"], scope["topics"] - missing),
        reasons=(reason,) if missing else (),
        problems=(_problem(topics, tables["idle_brokers"].to_pylist()),) if topics else (),
        unknown=(f"whether {are} idle",) if missing else (),
    )


def largest_first(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of topics or brokers, those with the most bytes first."""
    return sorted(table.to_pylist(), key=lambda row: -int(row["size_bytes"]))


def known_bytes(topic: Mapping[str, Any]) -> int | None:
    """Return what a topic holds; ``None`` where no replica tells."""
    return None if topic["unknown_size_replicas"] == topic["replicas"] else int(topic["size_bytes"])


def _headline(topics: list[dict[str, Any]], count: int, judged: int) -> str:
    if topics:
        return f"{_idle(topics)}; {_held(topics)}."
    if not judged:
        return f"Which of {plural(count, 'topic')} are idle cannot be determined." if count else "There are no topics."
    each = "the only judged topic" if judged == 1 else f"each of the {judged:,} judged topics"
    return f"No topic is idle: {each} was written to, read from, or has subscribers that have committed offsets."


def _idle(topics: list[dict[str, Any]]) -> str:
    hours = min(row["known_hours"] for row in topics)
    count = len(topics)
    are, them = ("is", "it") if count == 1 else ("are", "them")
    return (
        f"{plural(count, 'topic')} {are} idle: nobody has written to or read from {them} for at least {hours:,} hours"
    )


def _held(topics: list[dict[str, Any]]) -> str:
    size = format_bytes(sum(row["size_bytes"] for row in topics))
    unsized = sum(row["unknown_size_replicas"] for row in topics)
    more = f", {unsized:,} of unknown size" if unsized else ""
    subject = "it holds" if len(topics) == 1 else "they hold"
    return f"{subject} {size} in {plural(sum(row['replicas'] for row in topics), 'replica')}{more}"


def _problem(topics: list[dict[str, Any]], brokers: list[dict[str, Any]]) -> Problem:
    most = max(brokers, key=lambda row: (row["size_bytes"], -row["broker_id"]))
    freed = f"; that frees {format_bytes(most['size_bytes'])} on broker {most['broker_id']}, the most of any broker"
    return info(
        "idle-topics",
        some(row["topic"] for row in topics),
        f"{_idle(topics)}; {_held(topics)}",
        f"ask their owners and remove what nobody needs{freed if most['size_bytes'] else ''}",
        partitions=sum(row["partitions"] for row in topics),
    )
