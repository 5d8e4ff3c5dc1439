"""Partitions as numbers: those that exist are numbered through, topic by topic, and those that are only claimed follow.

>>> codes = Codes(np.array([2, 3]))
>>> codes.encode(np.array([1, 0, 1]), np.array([0, 1, 7])).tolist()
[2, 1, 5]
>>> codes.topic.tolist(), codes.partition.tolist()
([0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 2, 7])
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Indices, Ints


class Codes:
    """The numbers of partitions, of those that exist and those that are only claimed.

    Args:
        counts: int64[T], how many partitions each topic has.

    Attributes:
        start: int64[T + 1], the number of the first partition of each topic.
        topic: int64[P], the topic of each partition that exists.
        partition: int64[P], its number within the topic.
    """

    def __init__(self, counts: Ints) -> None:
        self.start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
        self.topic = np.repeat(np.arange(len(counts)), counts)
        self.partition = np.arange(self.total) - np.repeat(self.start[:-1], counts)
        self._counts = np.asarray(counts).astype(np.uint64)
        self._extra: dict[tuple[int, int], int] = {}

    @property
    def total(self) -> int:
        """How many partitions exist."""
        return int(self.start[-1])

    def encode(self, topic: Ints, partition: Ints) -> Ints:
        """Number partitions of known topics, existing or not."""
        codes: Ints = self.start[topic]
        codes += partition
        # Taken as unsigned a negative number is beyond every count.
        missing = np.flatnonzero(partition.view(np.uint64) >= self._counts[topic])
        for row in missing.tolist():
            key = (int(topic[row]), int(partition[row]))
            codes[row] = self._extra.setdefault(key, self.total + len(self._extra))
        if len(missing):
            extra = np.array(list(self._extra), dtype=np.int64)
            existing = self.start[-1]
            self.topic = np.concatenate((self.topic[:existing], extra[:, 0]))
            self.partition = np.concatenate((self.partition[:existing], extra[:, 1]))
        return codes

    def in_topics(self, order: Ints) -> Ints:
        """List all partitions that exist, topics in the order given."""
        counts = np.diff(self.start)[order]
        ends = np.cumsum(counts)
        rows = np.arange(int(ends[-1]) if len(ends) else 0)
        listed: Ints = rows + np.repeat(self.start[order] - (ends - counts), counts)
        return listed


_LONGEST_KEY = 1 << 62


def order_by(*keys: Ints) -> Indices:
    """Order rows by several keys, the one that counts most first; no two rows are equal in all of them.

    >>> order_by(np.array([1, 0, 1]), np.array([5, 9, -3])).tolist()
    [1, 2, 0]
    """
    if not len(keys[0]):
        return np.empty(0, dtype=np.intp)
    together = np.zeros(len(keys[0]), dtype=np.int64)
    length = 1
    for key in keys:
        lowest = int(key.min())
        span = int(key.max()) - lowest + 1
        length *= span
        if length >= _LONGEST_KEY:
            return np.lexsort(keys[::-1])
        together = together * span + (key - lowest)
    return np.argsort(together)
