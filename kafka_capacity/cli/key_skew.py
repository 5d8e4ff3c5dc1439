"""Key skew, as sentences, a table and JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kafka_capacity.cli.console import print_data, print_lines
from kafka_capacity.inventory.key_skew import FACTORS, SALTS, KeySkew
from kafka_capacity.report.tables import cells, column, table
from kafka_capacity.text import format_percent, plural
from kafka_capacity.text.names import clipped

UNEVEN_RATIO = 1.5  # of the fullest partition over the mean, from which a topic is worth a sentence
_KEY_LENGTH = 40


def _fullest_at(factor: int) -> Callable[[KeySkew], float | None]:
    return lambda one: one.fullest.get(one.partition_count * factor)


_COLUMNS = (
    column("topic", "Topic", "name", lambda one: one.topic),
    column("partitions", "Partitions", "count", lambda one: one.partition_count),
    column("records", "Sampled", "count", lambda one: one.record_count),
    column("keys", "Distinct keys", "count", lambda one: one.keys),
    column("without", "Without a key", "percent", lambda one: one.without_key_ratio),
    column("largest", "Largest key", "percent", lambda one: one.top[0][1] if one.top else None),
    *(column(f"fullest{factor}", f"Fullest ×{factor}", "percent", _fullest_at(factor)) for factor in FACTORS),
    column("salted", "Salted", "percent", lambda one: one.salted.get(one.partition_count)),
)


def as_json(skews: Sequence[KeySkew]) -> dict[str, Any]:
    """Return what was measured; keys as text, other bytes than text as escapes."""
    return {
        "topics": [
            {
                "topic": one.topic,
                "partitions": one.partition_count,
                "records": one.record_count,
                "keys": one.keys,
                "without_key_ratio": one.without_key_ratio,
                "top": [{"key": _shown(key), "ratio": ratio} for key, ratio in one.top],
                "fullest_ratio": {str(count): ratio for count, ratio in one.fullest.items()},
                "salted_fullest_ratio": {str(count): ratio for count, ratio in one.salted.items()},
            }
            for one in skews
        ]
    }


def _shown(key: bytes) -> str:
    return key.decode("utf-8", errors="backslashreplace")


def sentences(skews: Sequence[KeySkew]) -> list[str]:
    """Return what is uneven, the worst first, and what would help; one sentence where nothing is."""
    uneven = [
        (one.fullest[one.partition_count] * one.partition_count, one)
        for one in skews
        if one.fullest and one.partition_count > 1
    ]
    found = [
        _sentence(one, ratio)
        for ratio, one in sorted(uneven, key=lambda each: (-each[0], each[1].topic))
        if ratio >= UNEVEN_RATIO
    ]
    return found or [
        f"The keys of {plural(len(skews), 'topic')} spread evenly over partitions, or records have no keys."
    ]


def _sentence(one: KeySkew, ratio: float) -> str:
    count = one.partition_count
    text = (
        f"{one.topic}: the fullest of {plural(count, 'partition')} gets {format_percent(one.fullest[count])} of the "
        f"bytes with a key, {ratio:.1f}× the mean"
    )
    if one.is_bound_by_a_key:
        key, share = one.top[0]
        return (
            f"{text}. More partitions won't help: the key {clipped(_shown(key), _KEY_LENGTH)} alone has "
            f"{format_percent(share)}. If it were spread over {SALTS} salted keys, the fullest partition would get "
            f"{format_percent(one.salted[count])}."
        )
    more = count * FACTORS[1]
    return f"{text}; with {more} partitions it would get {format_percent(one.fullest[more])}."


def print_skews(skews: Sequence[KeySkew], *, is_quiet: bool) -> None:
    """Print the answer and the table; the first sentence alone where that is asked for."""
    said = sentences(skews)
    print_lines(said[:1] if is_quiet else said)
    if is_quiet or not skews:
        return
    note = (
        "Shares of the bytes that have a key: the largest key, and the fullest partition with today's partitions, "
        f"with more, and with the largest key spread over {SALTS}. Partitioned as by Kafka's default partitioner, "
        "murmur2."
    )
    print_data(table("Key skew", _COLUMNS, [cells(_COLUMNS, one) for one in skews], note=note))
