"""Topics: their names and settings, against their replicas."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem, fatal, problem_of, warning
from kafka_capacity.inventory.column_values import ReplicaColumns, encode, ints, values
from kafka_capacity.inventory.snapshot import is_retention_assumed
from kafka_capacity.kafka.java.hashing import is_uuid
from kafka_capacity.text import plural

MAX_TOPIC_NAME_LENGTH = 249  # Kafka's Topic.MAX_NAME_LENGTH
LEAST_RETENTION_MS = 60_000  # less is a unit mistaken: hours, days or seconds
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def check_topic_names(topics: pa.Table) -> Iterator[Problem]:
    """Check that each topic is listed once, under a name and an id that Kafka can have."""
    names, code = encode(topics.column("topic"))
    twice = [names[c] for c in np.flatnonzero(np.bincount(code, minlength=len(names)) > 1)]
    message = "{count} given more than once ({names}); keep one row each"
    yield from problem_of(twice, "topic", fatal, "duplicate_topic", "topics.topic", message)
    ids = {one for one in values(topics.column("topic_id")) if one is not None}
    wrong = [repr(one) for one in sorted(ids) if not is_uuid(one)]
    message = "{count} that Kafka cannot have ({names}); write it as kafka-topics.sh prints it, or leave it out"
    yield from problem_of(wrong, "topic id", fatal, "illegal_topic_id", "topics.topic_id", message)
    illegal = [repr(name) for name in names if not _LEGAL_NAME.fullmatch(name) or name in {".", ".."}]
    message = (
        f"{{count}} that Kafka cannot have ({{names}}): 1 to {MAX_TOPIC_NAME_LENGTH} of the characters a-z, A-Z, 0-9, "
        "'.', '_' and '-', and not '.' or '..'"
    )
    yield from problem_of(illegal, "topic name", fatal, "illegal_topic_name", "topics.topic", message)


def check_topic_settings(topics: pa.Table, replicas: ReplicaColumns) -> Iterator[Problem]:
    """Check min.insync.replicas and retention, and that every topic has replicas."""
    held = set(replicas.partitions.topics)
    empty = [name for name in encode(topics.column("topic"))[0] if name not in held]
    message = "{count} without any replica ({names}); they are left out"
    yield from problem_of(empty, "topic", warning, "topic_without_replicas", "topics.topic", message)
    where, least = "topics.min_insync_replicas", topics.column("min_insync_replicas")
    wrong = topics.filter(pa.array(ints(least, null=1) < 1)).select(["topic", "min_insync_replicas"]).to_pylist()
    shown = [f"{row['topic']} ({row['min_insync_replicas']})" for row in wrong]
    message = "min.insync.replicas below 1 on {count}: {names}; Kafka's minimum is 1"
    yield from problem_of(shown, "topic", fatal, "min_isr_not_positive", where, message)
    if least.null_count:
        unknown = plural(least.null_count, "topic")
        message = f"min.insync.replicas of {unknown} is unknown; Kafka's default, 1, is assumed"
        yield warning("min_isr_assumed", where, message)
    without = values(topics.column("topic").filter(pa.array(is_retention_assumed(topics))))
    message = "retention of {count} is unknown ({names}); Kafka's default of 7 days is assumed, give retention_ms"
    yield from problem_of(without, "topic", warning, "retention_assumed", "topics.retention_ms", message)
    retention = ints(topics.column("retention_ms"), null=-1)
    short = [
        f"{name}: {milliseconds:,} ms"
        for name, milliseconds in zip(values(topics.column("topic")), retention.tolist(), strict=True)
        if 0 < milliseconds < LEAST_RETENTION_MS
    ]
    message = "retention_ms of less than a minute on {count} ({names}); check the unit, Kafka's is milliseconds"
    yield from problem_of(short, "topic", warning, "short_retention", "topics.retention_ms", message)
    for column in ("retention_bytes", "retention_ms"):
        names = values(topics.column("topic").filter(pa.array(ints(topics.column(column), null=-1) < -1)))
        message = f"{column} below -1 on {{count}} ({{names}}); it is treated as -1, no limit"
        yield from problem_of(names, "topic", warning, "absurd_retention", f"topics.{column}", message)
