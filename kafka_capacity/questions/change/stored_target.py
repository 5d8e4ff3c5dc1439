"""The whole target of an option from its stored moves and today's assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.assignment import NO_BROKER, Partitions, replica_matrix
from kafka_capacity.questions.change.stored_waves import log_dirs_of, partitions_of, replicas_of

Target = tuple[Partitions, NDArray[np.int32], NDArray[np.int32], tuple[str, ...]]


def stored_target(
    partitions: Partitions, replicas: NDArray[np.int32], moves: pa.Table, added: Sequence[Mapping[str, Any]] = ()
) -> Target | None:
    """Return the whole target: its partitions, int32[P, W] who holds them, int32[P, W] and paths of log dirs.

    It follows from who holds the partitions today, and from one scenario's rows of ``moves`` and ``new_partitions``.

    Returns:
        A directory is -1 where the broker may choose; ``None`` where a plan of an earlier version does not tell who
        holds the new partitions.
    """
    if any(row.get("replicas") is None for row in added):
        return None
    if added:
        partitions, replicas = _expanded(partitions, replicas, added)
    before, after = replicas_of(moves.column("replicas_before")), replicas_of(moves.column("replicas_after"))
    dirs, paths = np.full_like(after, -1), tuple[str, ...]()
    if "log_dirs_after" in moves.column_names:
        (_, dirs), paths = log_dirs_of(moves, before, after)
    rows = _rows_of(partitions, partitions_of(moves.column("topic"), moves.column("partition")))
    width = max(replicas.shape[1], after.shape[1])
    target = np.full((len(partitions), width), NO_BROKER, dtype=np.int32)
    target[:, : replicas.shape[1]] = replicas
    places = np.full_like(target, -1)
    target[rows] = NO_BROKER
    target[rows, : after.shape[1]], places[rows, : dirs.shape[1]] = after, dirs
    return partitions, target, places, paths


def _keys(partitions: Partitions, topics: Sequence[str]) -> NDArray[np.int64]:
    """Return one number for each partition that sorts as topic, by its place in ``topics``, and number do."""
    place = {name: number for number, name in enumerate(topics)}
    topic = np.array([place[name] for name in partitions.topics], dtype=np.int64)
    return np.asarray((topic[partitions.topic] << 32) | partitions.partition, dtype=np.int64)


def _rows_of(partitions: Partitions, wanted: Partitions) -> NDArray[np.intp]:
    return np.searchsorted(_keys(partitions, partitions.topics), _keys(wanted, partitions.topics))


def _expanded(
    partitions: Partitions, replicas: NDArray[np.int32], added: Sequence[Mapping[str, Any]]
) -> tuple[Partitions, NDArray[np.int32]]:
    """Return the assignment with the partitions that are made before anything moves."""
    place = {name: number for number, name in enumerate(partitions.topics)}
    made = replica_matrix([brokers for row in added for brokers in row["replicas"]])
    counts = [len(row["replicas"]) for row in added]
    numbers = [number for row in added for number in range(row["count_before"], row["count_after"])]
    topic = np.concatenate([partitions.topic, np.repeat([place[row["topic"]] for row in added], counts)])
    number = np.concatenate([partitions.partition, np.array(numbers, dtype=np.int32)])
    matrix = np.full((len(topic), max(made.shape[1], replicas.shape[1])), NO_BROKER, dtype=np.int32)
    matrix[: len(replicas), : replicas.shape[1]] = replicas
    matrix[len(replicas) :, : made.shape[1]] = made
    order = np.lexsort((number, topic))
    expanded = Partitions(
        topics=partitions.topics, topic=topic[order].astype(np.int32), partition=number[order].astype(np.int32)
    )
    return expanded, matrix[order]
