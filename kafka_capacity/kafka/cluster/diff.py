"""What changes between two assignments of the same partitions.

Goals (ordered)
    1. Count what Kafka will do: a replica *moves* when a broker that did not hold it must copy it whole.
    2. Say from whom to whom: the source of every copy is the partition's current leader (a reassignment is fetched
       from the leader, never from the replica that goes away).

Worked example:
    >>> import numpy as np
    >>> before = np.array([[1, 2], [2, 3]], dtype=np.int32)
    >>> after = np.array([[1, 4], [3, 2]], dtype=np.int32)
    >>> diff = diff_assignments(before, after)
    >>> diff.added.tolist(), diff.removed.tolist()
    ([[False, True], [False, False]], [[False, True], [False, False]])
    >>> diff.moved_replicas, diff.changed_partitions, diff.preferred_leaders_changed
    (1, 2, 1)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import widened
from kafka_capacity.kafka.cluster.brokers import Brokers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AssignmentDiff:
    """The difference of two replica matrices with the same rows."""

    before: Int32s  # int32[P, W]
    after: Int32s  # int32[P, V]
    added: Flags  # bool[P, V], this replica of `after` is on a broker that holds none in `before`
    removed: Flags  # bool[P, W], this replica of `before` is on a broker that holds none in `after`
    is_changed: Flags  # bool[P], the replica list differs, be it only in its order
    leader_changed: Flags  # bool[P], the preferred leader (the first replica) differs

    @property
    def moved_replicas(self) -> int:
        """How many replicas must be copied."""
        return int(self.added.sum())

    @property
    def deleted_replicas(self) -> Ints:
        """Return int64[P], how many replicas of each partition go without another one in their place."""
        fewer = self.removed.sum(axis=1) - self.added.sum(axis=1)
        return np.asarray(np.maximum(fewer, 0), dtype=np.int64)

    @property
    def changed_partitions(self) -> int:
        """How many replica lists differ."""
        return int(self.is_changed.sum())

    @property
    def preferred_leaders_changed(self) -> int:
        """How many preferred leaders differ."""
        return int(self.leader_changed.sum())

    def moved_bytes(self, size_bytes: Ints) -> int:
        """Sum what must be copied; ``size_bytes`` is int64[P], the size of one replica."""
        return int((self.added.sum(axis=1) * size_bytes).sum())

    def in_bytes(self, brokers: Brokers, size_bytes: Ints) -> Ints:
        """Return int64[B], what each broker of ``brokers`` must fetch."""
        rows, columns = np.nonzero(self.added)
        return brokers.sum_at(self.after[rows, columns], size_bytes[rows]).astype(np.int64)

    def out_bytes(self, brokers: Brokers, leader: Int32s, size_bytes: Ints) -> Ints:
        """Return int64[B], what each broker must send, the current leader being the source.

        A partition without a leader (-1) cannot be copied: its bytes are in no broker's sum.
        """
        copies = self.added.sum(axis=1)
        rows = np.nonzero(copies)[0]
        return brokers.sum_at(leader[rows], copies[rows] * size_bytes[rows]).astype(np.int64)


def _is_in(matrix: Int32s, other: Int32s) -> Flags:
    """Return bool like ``matrix``: the broker stands in the same row of ``other``."""
    found = np.zeros(matrix.shape, dtype=np.bool_)
    for column in range(other.shape[1]):
        found |= matrix == other[:, column : column + 1]
    return found & (matrix >= 0)


def diff_assignments(before: Int32s, after: Int32s) -> AssignmentDiff:
    """Compare two replica matrices, padded with -1, of the same partitions row by row: int32[P, W] and int32[P, V]."""
    width = max(before.shape[1], after.shape[1])
    before_wide, after_wide = widened(before, width), widened(after, width)
    differs = (before_wide != after_wide).any(axis=1)
    first_differs = before_wide[:, 0] != after_wide[:, 0] if width else np.zeros(len(before), dtype=np.bool_)
    return AssignmentDiff(
        before=before,
        after=after,
        added=(after >= 0) & ~_is_in(after, before),
        removed=(before >= 0) & ~_is_in(before, after),
        is_changed=differs,
        leader_changed=first_differs,
    )


def replicas_per_broker(brokers: Brokers, matrix: Int32s) -> Ints:
    """Count the replicas on each broker: int64[B]."""
    return bytes_per_broker(brokers, matrix, np.ones(len(matrix), dtype=np.int64))


def bytes_per_broker(brokers: Brokers, matrix: Int32s, size_bytes: Ints) -> Ints:
    """Sum the replica bytes on each broker: int64[B]; ``size_bytes`` is int64[P], the size of one replica."""
    return brokers.sum_held(matrix, size_bytes).astype(np.int64)


def preferred_leaders_per_broker(brokers: Brokers, matrix: Int32s) -> Ints:
    """Count the partitions that each broker is the preferred leader of: int64[B]."""
    first = matrix[:, 0] if matrix.shape[1] else np.empty(0, dtype=np.int32)
    return brokers.sum_at(first, np.ones(len(first))).astype(np.int64)
