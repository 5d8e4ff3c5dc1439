"""Who reads which partition at any moment, and the record of every interruption."""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Ints
from kafka_capacity.kafka.cluster.columns import change_columns, join_columns
from kafka_capacity.kafka.rebalance.model import NOBODY, Interruptions


class Reading:
    """The readers of a group's partitions while an event runs.

    Attributes:
        reader: int64[P'], who reads each partition now, at first at time 0, -1 while nobody does.

    >>> import numpy as np
    >>> reading = Reading(np.array([0, 0, 1]))
    >>> reading.stop_all_of(0, 2.0)
    >>> reading.start(np.array([0]), 5.0, np.array([1]))
    >>> found = reading.interruptions()
    >>> found.partition.tolist(), found.pause_seconds.tolist(), found.after.tolist()
    ([0, 1], [3.0, inf], [1, -1])
    """

    def __init__(self, reader: Ints) -> None:
        self.reader = reader.astype(np.int64).copy()
        self._stopped_at = np.where(self.reader == NOBODY, 0.0, np.nan)
        self._before = self.reader.copy()
        self._started_at = np.zeros(len(self.reader))
        self._left_at = np.full(len(self.reader), np.nan)
        self._over: list[Interruptions] = []

    def stop(self, rows: Ints, time_seconds: float | Floats) -> None:
        """Stop reading rows that are read; others are left alone."""
        is_read = self.reader[rows] != NOBODY
        when = np.broadcast_to(np.asarray(time_seconds, dtype=np.float64), rows.shape)[is_read]
        rows = rows[is_read]
        # Who is stopped on its way to start has read nothing.
        self._stopped_at[rows] = np.maximum(when, self._started_at[rows])
        self._before[rows] = self.reader[rows]
        self._left_at[rows] = np.nan
        self.reader[rows] = NOBODY

    def stop_all_of(self, member: int, time_seconds: float) -> None:
        """Let a member go away: it stops all that it reads, and what it was about to give up later."""
        self.stop(np.flatnonzero(self.reader == member), time_seconds)
        was_last = (self.reader == NOBODY) & (self._before == member)
        later = was_last & (self._stopped_at > time_seconds)
        self._stopped_at[later] = np.maximum(time_seconds, self._started_at[later])
        self._left_at[was_last & np.isnan(self._left_at)] = time_seconds

    def start(self, rows: Ints, time_seconds: float, readers: Ints) -> None:
        """Start reading rows that nobody reads; one whose reader stays is left alone."""
        is_idle = self.reader[rows] == NOBODY
        rows, readers = rows[is_idle], readers[is_idle]
        if not len(rows):
            return
        self._over.append(self._interrupted(rows, time_seconds, readers))
        self.reader[rows] = readers
        self._started_at[rows] = time_seconds

    def grow(self, count: int, time_seconds: float) -> None:
        """Add partitions that nobody reads yet."""
        self.reader = np.concatenate([self.reader, np.full(count, NOBODY, dtype=np.int64)])
        self._before = np.concatenate([self._before, np.full(count, NOBODY, dtype=np.int64)])
        self._started_at = np.concatenate([self._started_at, np.zeros(count)])
        self._left_at = np.concatenate([self._left_at, np.full(count, np.nan)])
        self._stopped_at = np.concatenate([self._stopped_at, np.full(count, time_seconds)])

    def interruptions(self) -> Interruptions:
        """Return all interruptions so far; those that still last end never."""
        still = np.flatnonzero(self.reader == NOBODY)
        lasting = self._interrupted(still, np.inf, np.full(len(still), NOBODY, dtype=np.int64))
        every = join_columns([*self._over, lasting])
        order = np.lexsort((every.partition, every.stop_seconds))
        return change_columns(every, lambda column: column[order])

    def _interrupted(self, rows: Ints, until: float, readers: Ints) -> Interruptions:
        return Interruptions(
            partition=rows,
            stop_seconds=self._stopped_at[rows],
            start_seconds=np.full(len(rows), until),
            before=self._before[rows],
            after=readers,
            left_seconds=self._left_at[rows],
        )
