"""Who reads which partition at any moment, and the record of every interruption."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.rebalance.model import NOBODY, Interruptions


class Reading:
    """The readers of a group's partitions while an event runs.

    Args:
        reader: int64[P], who reads each partition at time 0, -1 for nobody.

    Attributes:
        reader: int64[P'], who reads each partition now, -1 while nobody does.

    >>> import numpy as np
    >>> reading = Reading(np.array([0, 0, 1]))
    >>> reading.stop_all_of(0, 2.0)
    >>> reading.start(np.array([0]), 5.0, np.array([1]))
    >>> found = reading.interruptions()
    >>> found.partition.tolist(), found.pause_seconds.tolist(), found.after.tolist()
    ([0, 1], [3.0, inf], [1, -1])
    """

    def __init__(self, reader: NDArray[np.int64]) -> None:
        self.reader = reader.astype(np.int64).copy()
        self._stopped_at = np.where(self.reader == NOBODY, 0.0, np.nan)
        self._before = self.reader.copy()
        self._started_at = np.zeros(len(self.reader))
        self._left_at = np.full(len(self.reader), np.nan)
        self._lefts: list[NDArray[np.float64]] = []
        self._rows: list[NDArray[np.int64]] = []
        self._stops: list[NDArray[np.float64]] = []
        self._starts: list[NDArray[np.float64]] = []
        self._befores: list[NDArray[np.int64]] = []
        self._afters: list[NDArray[np.int64]] = []

    def stop(self, rows: NDArray[np.int64], time_seconds: float | NDArray[np.float64]) -> None:
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

    def start(self, rows: NDArray[np.int64], time_seconds: float, readers: NDArray[np.int64]) -> None:
        """Start reading rows that nobody reads; one whose reader stays is left alone."""
        is_idle = self.reader[rows] == NOBODY
        rows, readers = rows[is_idle], readers[is_idle]
        if not len(rows):
            return
        self._rows.append(rows)
        self._stops.append(self._stopped_at[rows])
        self._starts.append(np.full(len(rows), time_seconds))
        self._befores.append(self._before[rows])
        self._afters.append(readers)
        self._lefts.append(self._left_at[rows])
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
        rows = np.concatenate([*self._rows, still])
        stops = np.concatenate([*self._stops, self._stopped_at[still]])
        order = np.lexsort((rows, stops))
        return Interruptions(
            partition=rows[order],
            stop_seconds=stops[order],
            start_seconds=np.concatenate([*self._starts, np.full(len(still), np.inf)])[order],
            before=np.concatenate([*self._befores, self._before[still]])[order],
            after=np.concatenate([*self._afters, np.full(len(still), NOBODY, dtype=np.int64)])[order],
            left_seconds=np.concatenate([*self._lefts, self._left_at[still]])[order],
        )
