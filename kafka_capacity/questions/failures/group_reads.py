"""Which consumer groups read which partitions, and on which partition their coordinator sits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.internal_topics import OFFSETS_TOPIC
from kafka_capacity.kafka.cluster.snapshot import Group, Snapshot
from kafka_capacity.kafka.java.hashing import string_hashes

_LEAST_HASH = np.iinfo(np.int32).min


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupReads:
    """What the groups of a snapshot read.

    A group reads what its members subscribe to and are assigned, and what it has committed offsets of.
    """

    groups: tuple[str, ...]  # the names
    partitions: NDArray[np.int64]  # int64[G], how many partitions each reads
    group: NDArray[np.int32]  # int32[N], groups by partition
    starts: NDArray[np.int64]  # int64[P + 1], where those of each partition begin in `group`
    offsets: slice  # the rows of `__consumer_offsets`; none where it is not there
    coordinator: NDArray[np.int64]  # int64[G], the partition of that topic; 0 where it is not there

    @classmethod
    def of(cls, snapshot: Snapshot) -> GroupReads:
        """Look up the groups of a snapshot."""
        slices = dict(zip(snapshot.partitions.topics, snapshot.partitions.topic_slices(), strict=True))
        parts = [_rows(group, slices) for group in snapshot.groups]
        row = np.concatenate([np.empty(0, dtype=np.int64), *parts])
        group = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
        order = np.argsort(row, kind="stable")
        offsets = slices.get(OFFSETS_TOPIC, slice(0, 0))
        names = tuple(group.group_id for group in snapshot.groups)
        return cls(
            groups=names,
            partitions=np.array([len(part) for part in parts], dtype=np.int64),
            group=group[order],
            starts=np.searchsorted(row[order], np.arange(len(snapshot.partitions) + 1)).astype(np.int64),
            offsets=offsets,
            coordinator=coordinator_partitions(names, offsets.stop - offsets.start),
        )

    def count(self, of: NDArray[np.int64], row: NDArray[np.int64], sets: int) -> NDArray[np.int64]:
        """Count, for each set, how many of some partitions each group reads: int64[S, G].

        Args:
            of: int64[N], the set of each.
            row: int64[N], the partition.
            sets: how many there are.
        """
        groups = len(self.groups)
        counts = self.starts[row + 1] - self.starts[row]
        total = int(counts.sum())
        begin = np.repeat(self.starts[row] - np.concatenate([[0], np.cumsum(counts)[:-1]])[: len(row)], counts)
        reader = self.group[begin + np.arange(total)]
        found = np.bincount(np.repeat(of, counts) * groups + reader, minlength=sets * groups)
        return found.astype(np.int64).reshape(sets, groups)


def coordinator_partitions(groups: tuple[str, ...], count: int) -> NDArray[np.int64]:
    """Return the partition of ``__consumer_offsets`` of each group (``GroupCoordinator.partitionFor``): int64[G].

    >>> coordinator_partitions(("billing", "polygenelubricants"), 50).tolist()
    [9, 0]
    """
    if not count or not groups:
        return np.zeros(len(groups), dtype=np.int64)
    hashes = string_hashes(groups).astype(np.int64)
    # Kafka's Utils.abs gives 0 for the least number, which has no positive counterpart.
    return np.where(hashes == _LEAST_HASH, 0, np.abs(hashes)) % count


def _rows(group: Group, slices: dict[str, slice]) -> NDArray[np.int64]:
    topics = {topic for member in group.members for topic in member.subscribed if topic in slices}
    parts = [np.arange(slices[topic].start, slices[topic].stop) for topic in sorted(topics)]
    single = [pair for member in group.members for pair in member.assigned if pair[0] in slices]
    single += [(lag.topic, lag.partition) for lag in group.lags if lag.topic in slices]
    rows = [slices[topic].start + partition for topic, partition in single if topic not in topics]
    return np.unique(np.concatenate([np.array(rows, dtype=np.int64), *parts]))
