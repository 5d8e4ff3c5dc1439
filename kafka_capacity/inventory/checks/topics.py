"""Topics: their names and settings, against their replicas."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.column_values import Ints, encode, ints, known, values
from kafka_capacity.inventory.findings import counted, fatal, info, some, warning
from kafka_capacity.inventory.replica_columns import ReplicaColumns

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
            f"{counted(len(twice), 'topic')} given more than once ({some(twice, len(twice))}); keep one row each",
        )
    illegal = [name for name in names if not _LEGAL_NAME.fullmatch(name) or name in {".", ".."}]
    if illegal:
        yield fatal(
            "illegal_topic_name",
            "topics.topic",
            f"{counted(len(illegal), 'topic name')} that Kafka cannot have ({some(map(repr, illegal), len(illegal))}): "
            f"1 to {MAX_TOPIC_NAME_LENGTH} of the characters a-z, A-Z, 0-9, '.', '_' and '-', and not '.' or '..'",
        )


def check_topic_settings(topics: pa.Table, replicas: ReplicaColumns) -> Iterator[Problem]:
    """Check min.insync.replicas against the replication factor, retention, and that every topic has replicas."""
    names, code = encode(topics.column("topic"))
    lowest, highest = _factors(names, replicas)
    empty = [name for name, most in zip(names, highest, strict=True) if most == 0]
    if empty:
        yield warning(
            "topic_without_replicas",
            "topics.topic",
            f"{counted(len(empty), 'topic')} without any replica ({some(empty, len(empty))}); they are left out",
        )
    single = [name for name, least in zip(names, lowest, strict=True) if least == 1]
    if single:
        yield warning(
            "single_replica",
            "replicas",
            f"{counted(len(single), 'topic')} with a single replica ({some(single, len(single))}): the loss of one "
            "broker takes them offline and may lose their data",
        )
    has_min_isr = known(topics.column("min_insync_replicas"))
    min_isr = ints(topics.column("min_insync_replicas"))[has_min_isr]
    yield from _check_min_isr([names[c] for c in code[has_min_isr]], min_isr, lowest[code[has_min_isr]])
    if not has_min_isr.all():
        count = int((~has_min_isr).sum())
        yield info(
            "min_isr_assumed",
            "topics.min_insync_replicas",
            f"min.insync.replicas is not known of {counted(count, 'topic')}; Kafka's default, 1, is assumed",
        )
    yield from _check_retention(topics)


def _factors(names: list[str], replicas: ReplicaColumns) -> tuple[Ints, Ints]:
    """Give the least and the greatest replication factor of each topic, 0 where it has no replica."""
    factors = replicas.replication_factors()
    topic = replicas.topic[replicas.starts]
    least = np.full(len(replicas.topics), np.iinfo(np.int64).max)
    most = np.zeros(len(replicas.topics), dtype=np.int64)
    np.minimum.at(least, topic, factors)
    np.maximum.at(most, topic, factors)
    place = {name: index for index, name in enumerate(replicas.topics)}
    found = [place.get(name) for name in names]
    return (
        np.array([0 if index is None else least[index] for index in found], dtype=np.int64),
        np.array([0 if index is None else most[index] for index in found], dtype=np.int64),
    )


def _check_min_isr(names: list[str], min_isr: Ints, factor: Ints) -> Iterator[Problem]:
    where = "topics.min_insync_replicas"

    def named(rows: object) -> str:
        chosen = np.flatnonzero(np.asarray(rows))
        shown = (f"{names[i]} ({min_isr[i]} of {factor[i]})" for i in chosen)
        return f"{counted(len(chosen), 'topic')}: {some(shown, len(chosen))}"

    if (low := min_isr < 1).any():
        yield fatal("min_isr_not_positive", where, f"min.insync.replicas below 1 on {named(low)}; Kafka's least is 1")
    if (above := (factor > 0) & (min_isr > factor)).any():
        yield warning(
            "min_isr_above_rf",
            where,
            f"min.insync.replicas above the replication factor on {named(above)}: brokers before 3.7 refuse every "
            "write with acks=all, later ones once a replica is lost; lower it below the factor, to 1 for a single "
            "replica, or add replicas",
        )
    if (equal := (factor > 1) & (min_isr == factor)).any():
        yield warning(
            "min_isr_equals_rf",
            where,
            f"min.insync.replicas equals the replication factor on {named(equal)}: one lost broker stops writes with "
            "acks=all; lower it by one or add a replica",
        )
    if (one := (factor > 1) & (min_isr == 1)).any():
        yield info(
            "min_isr_one",
            where,
            f"min.insync.replicas is 1 on {named(one)}: the leader alone may acknowledge a write, and be lost with it",
        )


def _check_retention(topics: pa.Table) -> Iterator[Problem]:
    for column in ("retention_bytes", "retention_ms"):
        wrong = ints(topics.column(column), null=-1) < -1
        if wrong.any():
            names = values(topics.column("topic").filter(pa.array(wrong)))
            yield warning(
                "absurd_retention",
                f"topics.{column}",
                f"{column} below -1 on {counted(len(names), 'topic')} ({some(names, len(names))}); it is taken for "
                "-1, no limit",
            )
