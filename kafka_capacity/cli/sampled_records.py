"""What records sampled from a cluster say, as sentences, a table and JSON: of compression, and of key skew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kafka_capacity.cli.console import print_data, print_lines
from kafka_capacity.inventory.compression import TopicSample
from kafka_capacity.inventory.key_skew import FACTORS, SALTS, KeySkew
from kafka_capacity.inventory.record_batches import CODECS
from kafka_capacity.report.tables import cells, column, table
from kafka_capacity.text import format_bytes, format_percent, listed, plural
from kafka_capacity.text.names import clipped

MIN_SAVED_RATIO = 0.05  # what a codec must save of a topic for it to be worth an option
_MAX_OPTIONS = 20
_CODEC_COLUMNS = (
    column("topic", "Topic", "name", lambda one: one.topic),
    column("codecs", "Codec today", "text", lambda one: listed(sorted(one.codecs))),
    column("batches", "Batches", "count", lambda one: one.batch_count),
    column("records", "Records per batch", "count", lambda one: one.record_count / one.batch_count),
    column("bytes", "Sampled", "bytes", lambda one: one.stored_bytes),
    *(column(codec, codec, "percent", lambda one, codec=codec: one.ratio(codec)) for codec in CODECS),
    column("best", "Smallest", "text", lambda one: one.best),
)


def compression_document(samples: Sequence[TopicSample]) -> dict[str, Any]:
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


def compression_headline(samples: Sequence[TopicSample]) -> str:
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


def compression_options(samples: Sequence[TopicSample]) -> list[str]:
    """Return options of ``savings``, those that save most first: each topic with its best codec."""
    worth = [one for one in samples if one.ratio(one.best) <= 1 - MIN_SAVED_RATIO]
    ranked = sorted(worth, key=lambda one: (one.ratio(one.best), one.topic))
    return [f"--compression '{one.topic}={max(one.ratio(one.best), 0.01):.2f}'" for one in ranked[:_MAX_OPTIONS]]


def print_samples(samples: Sequence[TopicSample], *, is_quiet: bool) -> None:
    """Print the answer, the table, and what to do with it; the answer alone where that is asked for."""
    print_lines([compression_headline(samples)])
    if is_quiet or not samples:
        return
    rows = [cells(_CODEC_COLUMNS, one) for one in samples]
    note = "Relative to today's bytes, with today's batches; a producer that compresses fits more records into a batch."
    print_data(table("Compressed size by codec", _CODEC_COLUMNS, rows, note=note))
    if found := compression_options(samples):
        print_lines(["", f"Next: kafka-capacity savings SNAPSHOT {' '.join(found)}"])


UNEVEN_RATIO = 1.5  # of the fullest partition over the mean, from which a topic is worth a sentence
_KEY_LENGTH = 40


def _fullest_at(factor: int) -> Callable[[KeySkew], float | None]:
    return lambda one: one.fullest.get(one.partition_count * factor)


_KEY_COLUMNS = (
    column("topic", "Topic", "name", lambda one: one.topic),
    column("partitions", "Partitions", "count", lambda one: one.partition_count),
    column("records", "Sampled", "count", lambda one: one.record_count),
    column("keys", "Distinct keys", "count", lambda one: one.keys),
    column("without", "Without a key", "percent", lambda one: one.without_key_ratio),
    column("largest", "Largest key", "percent", lambda one: one.top[0][1] if one.top else None),
    *(column(f"fullest{factor}", f"Fullest ×{factor}", "percent", _fullest_at(factor)) for factor in FACTORS),
    column("salted", "Salted", "percent", lambda one: one.salted.get(one.partition_count)),
)


def keys_document(skews: Sequence[KeySkew]) -> dict[str, Any]:
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


def key_sentences(skews: Sequence[KeySkew]) -> list[str]:
    """Return what is uneven, the worst first, and what would help; one sentence where nothing is."""
    uneven = [
        (one.fullest[one.partition_count] * one.partition_count, one)
        for one in skews
        if one.fullest and one.partition_count > 1
    ]
    found = [
        _key_sentence(one, ratio)
        for ratio, one in sorted(uneven, key=lambda each: (-each[0], each[1].topic))
        if ratio >= UNEVEN_RATIO
    ]
    return found or [
        f"The keys of {plural(len(skews), 'topic')} spread evenly over partitions, or records have no keys."
    ]


def _key_sentence(one: KeySkew, ratio: float) -> str:
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
    said = key_sentences(skews)
    print_lines(said[:1] if is_quiet else said)
    if is_quiet or not skews:
        return
    note = (
        "Shares of the bytes that have a key: the largest key, and the fullest partition with today's partitions, "
        f"with more, and with the largest key spread over {SALTS}. Partitioned as by Kafka's default partitioner, "
        "murmur2."
    )
    print_data(table("Key skew", _KEY_COLUMNS, [cells(_KEY_COLUMNS, one) for one in skews], note=note))
