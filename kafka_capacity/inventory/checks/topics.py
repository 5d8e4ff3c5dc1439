"""Topics: their names and settings, against their replicas."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem, fatal, info, some, warning
from kafka_capacity.inventory.column_values import ReplicaColumns, encode, ints, known, values
from kafka_capacity.text import plural

MAX_TOPIC_NAME_LENGTH = 249  # Kafka's Topic.MAX_NAME_LENGTH
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def check_topic_names(topics: pa.Table) -> Iterator[Problem]:
    """Check that each topic is listed once, under a name that Kafka can have."""
    column = topics.column("topic")
    names, code = encode(column)
    twice = [names[c] for c in np.flatnonzero(np.bincount(code, minlength=len(names)) > 1)]
    if twice:
        yield fatal(
            "duplicate_topic",
            "topics.topic",
            f"{plural(len(twice), 'topic')} given more than once ({some(twice, len(twice))}); keep one row each",
        )
    illegal = [name for name in names if not _LEGAL_NAME.fullmatch(name) or name in {".", ".."}]
    if illegal:
        yield fatal(
            "illegal_topic_name",
            "topics.topic",
            f"{plural(len(illegal), 'topic name')} that Kafka cannot have ({some(map(repr, illegal), len(illegal))}): "
            f"1 to {MAX_TOPIC_NAME_LENGTH} of the characters a-z, A-Z, 0-9, '.', '_' and '-', and not '.' or '..'",
        )


def check_topic_settings(topics: pa.Table, replicas: ReplicaColumns) -> Iterator[Problem]:
    """Check min.insync.replicas and retention, and that every topic has replicas."""
    held = set(replicas.topics)
    empty = [name for name in encode(topics.column("topic"))[0] if name not in held]
    if empty:
        yield warning(
            "topic_without_replicas",
            "topics.topic",
            f"{plural(len(empty), 'topic')} without any replica ({some(empty, len(empty))}); they are left out",
        )
    has_min_isr = known(topics.column("min_insync_replicas"))
    low = has_min_isr & (ints(topics.column("min_insync_replicas"), null=1) < 1)
    if low.any():
        wrong = topics.filter(pa.array(low))
        shown = (
            f"{name} ({least})"
            for name, least in zip(
                values(wrong.column("topic")), values(wrong.column("min_insync_replicas")), strict=True
            )
        )
        yield fatal(
            "min_isr_not_positive",
            "topics.min_insync_replicas",
            f"min.insync.replicas below 1 on {plural(len(wrong), 'topic')}: {some(shown, len(wrong))}; Kafka's "
            "minimum is 1",
        )
    if not has_min_isr.all():
        count = int((~has_min_isr).sum())
        yield info(
            "min_isr_assumed",
            "topics.min_insync_replicas",
            f"min.insync.replicas of {plural(count, 'topic')} is unknown; Kafka's default, 1, is assumed",
        )
    yield from _check_retention(topics)


def _check_retention(topics: pa.Table) -> Iterator[Problem]:
    for column in ("retention_bytes", "retention_ms"):
        wrong = ints(topics.column(column), null=-1) < -1
        if wrong.any():
            names = values(topics.column("topic").filter(pa.array(wrong)))
            yield warning(
                "absurd_retention",
                f"topics.{column}",
                f"{column} below -1 on {plural(len(names), 'topic')} ({some(names, len(names))}); it is treated as "
                "-1, no limit",
            )
