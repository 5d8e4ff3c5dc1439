"""What compression would make of a cluster's records, as a table, as JSON, and as options of ``savings``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_capacity.cli.console import print_data, print_lines
from kafka_capacity.inventory.compression import TopicSample
from kafka_capacity.inventory.record_batches import CODECS
from kafka_capacity.report.tables import cells, column, table
from kafka_capacity.text import format_bytes, format_percent, listed, plural

MIN_SAVED_RATIO = 0.05  # what a codec must save of a topic for it to be worth an option
_MAX_OPTIONS = 20
_COLUMNS = (
    column("topic", "Topic", "name", lambda one: one.topic),
    column("codecs", "Codec today", "text", lambda one: listed(sorted(one.codecs))),
    column("batches", "Batches", "count", lambda one: one.batch_count),
    column("records", "Records per batch", "count", lambda one: one.record_count / one.batch_count),
    column("bytes", "Sampled", "bytes", lambda one: one.stored_bytes),
    *(column(codec, codec, "percent", lambda one, codec=codec: one.ratio(codec)) for codec in CODECS),
    column("best", "Smallest", "text", lambda one: one.best),
)


def as_json(samples: Sequence[TopicSample]) -> dict[str, Any]:
    """Return what was measured, bytes by codec."""
    return {
        "topics": [
            {
                "topic": one.topic,
                "batches_by_codec": dict(one.codecs),
                "records": one.record_count,
                "stored_bytes": one.stored_bytes,
                "bytes_by_codec": dict(one.bytes_by_codec),
            }
            for one in samples
        ]
    }


def headline(samples: Sequence[TopicSample]) -> str:
    """Return the answer: what the best codec for all makes of what was sampled."""
    if not samples:
        return "Nothing was sampled: no topic has records."
    stored = sum(one.stored_bytes for one in samples)
    best = min(CODECS, key=lambda codec: sum(one.bytes_by_codec[codec] for one in samples))
    ratio = sum(one.bytes_by_codec[best] for one in samples) / stored
    if ratio > 1 - MIN_SAVED_RATIO:
        return f"Compression would save little: {best} shrinks the sample to {format_percent(ratio)}."
    return (
        f"{best} would shrink the sample to {format_percent(ratio)} of what was sampled, {format_bytes(stored)} of "
        f"{plural(len(samples), 'topic')}."
    )


def options(samples: Sequence[TopicSample]) -> list[str]:
    """Return options of ``savings``, those that save most first: each topic with its best codec."""
    worth = [one for one in samples if one.ratio(one.best) <= 1 - MIN_SAVED_RATIO]
    ranked = sorted(worth, key=lambda one: (one.ratio(one.best), one.topic))
    return [f"--compression '{one.topic}={max(one.ratio(one.best), 0.01):.2f}'" for one in ranked[:_MAX_OPTIONS]]


def print_samples(samples: Sequence[TopicSample], *, is_quiet: bool) -> None:
    """Print the answer, the table, and what to do with it; the answer alone where that is asked for."""
    print_lines([headline(samples)])
    if is_quiet or not samples:
        return
    rows = [cells(_COLUMNS, one) for one in samples]
    note = "Relative to today's bytes, with today's batches; a producer that compresses fits more records into a batch."
    print_data(table("Compressed size by codec", _COLUMNS, rows, note=note))
    if found := options(samples):
        print_lines(["", f"Next: kafka-capacity savings SNAPSHOT {' '.join(found)}"])
