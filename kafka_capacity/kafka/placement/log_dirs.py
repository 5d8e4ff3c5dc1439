"""Which log directory of its broker a replica goes to (JBOD).

Goals (ordered)
    1. A replica that stays on its broker stays in its directory.
    2. No directory beyond what it may hold.
    3. The directories of a broker equally full, as ratios of their sizes.

Algorithm
    The replicas that come to a broker are taken the largest first; each goes to the directory that is least full with
    it, among those it fits into. Where it fits into none it goes there all the same, and the directory is over its
    limit: the result says so.

Worked example: a broker with directories of 100 and 200 bytes, empty, gets replicas of 60, 50 and 40.

    >>> nowhere, on_it = np.full((3, 1), -1, dtype=np.int32), np.ones((3, 1), dtype=np.int32)
    >>> room = LogDirRoom(
    ...     broker_id=np.array([1, 1], dtype=np.int32), limit_bytes=np.array([100.0, 200.0]),
    ...     before=nowhere, takes_replicas=np.ones(2, dtype=bool))
    >>> placed = place_log_dirs(before=nowhere, after=on_it, size_bytes=np.array([60, 50, 40]), room=room)
    >>> placed.log_dir.ravel().tolist(), placed.bytes_after.tolist()
    ([1, 0, 1], [50.0, 100.0])
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.placement.problem import LogDirRoom

NO_LOG_DIR = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogDirPlacement:
    """Where the replicas of an assignment are on their brokers."""

    # int32[P, W], position of the directory, -1 in the padding, and where a broker's directories or the directory of a
    # replica that stays are not known
    log_dir: Int32s
    bytes_after: Floats  # float64[D], what each directory holds then
    is_over: Flags  # bool[D], more than it may hold


def place_log_dirs(*, before: Int32s, after: Int32s, size_bytes: Ints, room: LogDirRoom) -> LogDirPlacement:
    """Choose log directories for an assignment.

    ``before`` is int32[P, V] and ``after`` int32[P, W], broker ids, padded with -1; ``size_bytes`` int64[P], of one
    replica. Where no directory of a broker takes replicas, it is left to choose.
    """
    log_dir = np.full(after.shape, NO_LOG_DIR, dtype=np.int32)
    stays = np.zeros(after.shape, dtype=np.bool_)
    for column in range(before.shape[1]):
        same = (after == before[:, column : column + 1]) & (after >= 0)
        stays |= same
        known = same & (room.before[:, column : column + 1] >= 0)
        log_dir = np.where(known, room.before[:, column : column + 1], log_dir).astype(np.int32)
    rows, columns = np.nonzero(log_dir >= 0)
    dirs_held = np.bincount(log_dir[rows, columns], weights=size_bytes[rows], minlength=len(room.broker_id))
    held = dirs_held.astype(np.float64)
    rows, columns = np.nonzero((after >= 0) & ~stays)
    order = np.lexsort((rows, -size_bytes[rows], after[rows, columns]))
    rows, columns = rows[order], columns[order]
    brokers, starts = np.unique(after[rows, columns], return_index=True)
    for broker, (start, stop) in zip(brokers.tolist(), pairwise([*starts.tolist(), len(rows)]), strict=True):
        dirs = np.nonzero((room.broker_id == broker) & room.takes_replicas)[0]
        if len(dirs):
            chosen = _fill(size_bytes[rows[start:stop]].tolist(), held[dirs].tolist(), room.limit_bytes[dirs].tolist())
            log_dir[rows[start:stop], columns[start:stop]] = dirs[chosen]
            held += np.bincount(dirs[chosen], weights=size_bytes[rows[start:stop]], minlength=len(held))
    return LogDirPlacement(log_dir=log_dir, bytes_after=held, is_over=held > room.limit_bytes * (1 + 1e-12))


def _fill(sizes: list[int], held: list[float], limit: list[float]) -> Ints:
    """Put replicas, the largest first, into the directory of one broker that is least full with it."""
    # Where no size is known the directories count as equally large.
    width = [size if size not in (0.0, float("inf")) else 1.0 for size in limit]
    width = width if all(size != float("inf") for size in limit) else [1.0] * len(limit)
    numbers = range(len(held))
    chosen = []
    for size in sizes:
        fits = [d for d in numbers if held[d] + size <= limit[d]] or numbers
        best = min(fits, key=lambda d: ((held[d] + size) / width[d], d))
        held[best] += size
        chosen.append(best)
    return np.array(chosen, dtype=np.int64)
