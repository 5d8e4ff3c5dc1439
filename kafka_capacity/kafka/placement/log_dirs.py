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

    >>> placed = place_log_dirs(
    ...     before=np.full((3, 1), -1, dtype=np.int32), log_dir_before=np.full((3, 1), -1, dtype=np.int32),
    ...     after=np.ones((3, 1), dtype=np.int32), size_bytes=np.array([60, 50, 40]),
    ...     broker_id=np.array([1, 1], dtype=np.int32), limit_bytes=np.array([100.0, 200.0]))
    >>> placed.log_dir.ravel().tolist(), placed.bytes_after.tolist()
    ([1, 0, 1], [50.0, 100.0])
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints

NO_LOG_DIR = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogDirPlacement:
    """Where the replicas of an assignment are on their brokers."""

    # int32[P, W], position of the directory, -1 in the padding, and where a broker's directories or the directory of a
    # replica that stays are not known
    log_dir: Int32s
    bytes_after: Floats  # float64[D], what each directory holds then
    is_over: Flags  # bool[D], more than it may hold


def place_log_dirs(
    *,
    before: Int32s,
    log_dir_before: Int32s,
    after: Int32s,
    size_bytes: Ints,
    broker_id: Int32s,
    limit_bytes: Floats,
    takes_replicas: Flags | None = None,
) -> LogDirPlacement:
    """Choose log directories for an assignment.

    Args:
        before: int32[P, V], broker ids, padded with -1.
        log_dir_before: int32[P, V], positions in ``broker_id``, -1 where not known.
        after: int32[P, W], broker ids, padded with -1.
        size_bytes: int64[P], of one replica.
        broker_id: int32[D], whose each directory is; directories of brokers that are still to be bought count too.
        limit_bytes: float64[D], what each may hold, infinite or NaN where that is not known.
        takes_replicas: bool[D], which a replica may come to; ``None`` for all. Where a broker has none of them, it is
            left to choose.
    """
    is_open = np.ones(len(broker_id), dtype=np.bool_) if takes_replicas is None else takes_replicas
    limit = np.where(np.isnan(limit_bytes), np.inf, limit_bytes)
    log_dir = np.full(after.shape, NO_LOG_DIR, dtype=np.int32)
    stays = np.zeros(after.shape, dtype=np.bool_)
    for column in range(before.shape[1]):
        same = (after == before[:, column : column + 1]) & (after >= 0)
        stays |= same
        known = same & (log_dir_before[:, column : column + 1] >= 0)
        log_dir = np.where(known, log_dir_before[:, column : column + 1], log_dir).astype(np.int32)
    rows, columns = np.nonzero(log_dir >= 0)
    held = np.bincount(log_dir[rows, columns], weights=size_bytes[rows], minlength=len(broker_id)).astype(np.float64)
    rows, columns = np.nonzero((after >= 0) & ~stays)
    order = np.lexsort((rows, -size_bytes[rows], after[rows, columns]))
    rows, columns = rows[order], columns[order]
    brokers, starts = np.unique(after[rows, columns], return_index=True)
    for broker, (start, stop) in zip(brokers.tolist(), pairwise([*starts.tolist(), len(rows)]), strict=True):
        dirs = np.nonzero((broker_id == broker) & is_open)[0]
        if len(dirs):
            chosen = _fill(size_bytes[rows[start:stop]].tolist(), held[dirs].tolist(), limit[dirs].tolist())
            log_dir[rows[start:stop], columns[start:stop]] = dirs[chosen]
            held += np.bincount(dirs[chosen], weights=size_bytes[rows[start:stop]], minlength=len(held))
    return LogDirPlacement(log_dir=log_dir, bytes_after=held, is_over=held > limit * (1 + 1e-12))


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
