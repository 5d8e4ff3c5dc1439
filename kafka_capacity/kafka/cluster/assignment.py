"""Who holds which replica, as one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kafka_capacity.kafka.arrays import Int32s

NO_BROKER = np.int32(-1)
"""Pads the rows of a replica matrix; also the leader of a partition that has none (as on Kafka's wire)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partitions:
    """The partitions of a cluster, sorted by topic name, then partition number."""

    topics: tuple[str, ...]  # the topic names, sorted
    topic: Int32s  # int32[P], position of the partition's topic in `topics`
    partition: Int32s  # int32[P], the partition number inside its topic

    def __len__(self) -> int:
        return len(self.topic)

    def topic_slices(self) -> list[slice]:
        """Return the rows of each topic, in the order of :attr:`topics`."""
        bounds = np.searchsorted(self.topic, np.arange(len(self.topics) + 1))
        return [slice(a, b) for a, b in pairwise(bounds.tolist())]

    def counts(self) -> dict[str, int]:
        """Count the partitions of each topic."""
        counts = np.bincount(self.topic, minlength=len(self.topics)).tolist()
        return dict(zip(self.topics, counts, strict=True))

    def name(self, row: int) -> str:
        """Name one partition as Kafka's tools print it, ``topic-partition``."""
        return f"{self.topics[int(self.topic[row])]}-{int(self.partition[row])}"


def replica_matrix(rows: Sequence[Sequence[int]]) -> Int32s:
    """Pack replica lists of any length into int32[P, max length], padded with :data:`NO_BROKER`."""
    width = max((len(row) for row in rows), default=0)
    matrix = np.full((len(rows), width), NO_BROKER, dtype=np.int32)
    for index, row in enumerate(rows):
        matrix[index, : len(row)] = row
    return matrix


def widened(matrix: Int32s, width: int) -> Int32s:
    """Pad a matrix with :data:`NO_BROKER` (or, of directories, none)."""
    return np.pad(matrix, ((0, 0), (0, width - matrix.shape[1])), constant_values=-1)


def replica_lists(matrix: Int32s) -> list[list[int]]:
    """Unpack a replica matrix into lists without the padding, the preferred leader first."""
    return [[broker for broker in row if broker >= 0] for row in matrix.tolist()]


def replication_factors(matrix: Int32s) -> Int32s:
    """Count the replicas of each partition: int32[P]."""
    return np.asarray((matrix >= 0).sum(axis=1, dtype=np.int32), dtype=np.int32)
