"""Which log directory a new replica goes to, where a broker has several that are known.

Left to itself a broker takes the directory with the fewest partitions (``LogManager.nextLogDirs``), however large they
are. A reassignment may name the directory instead, and so it does here: the largest replica first, each into the
directory that is the emptiest for its size.
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Indices, Int32s
from kafka_capacity.kafka.cluster.diff import AssignmentDiff
from kafka_capacity.kafka.reassignment.flow import runs
from kafka_capacity.kafka.reassignment.problem import MoveProblem


def choose_log_dirs(problem: MoveProblem, diff: AssignmentDiff, log_dir: Int32s, dir_bytes: Floats) -> Int32s:
    """Return int32[P, V] like ``diff.after``, the directory of each joining replica, -1 where none is known.

    ``log_dir`` is like ``diff.before``, where replicas are; ``dir_bytes`` float64[D], what each directory holds.
    """
    chosen = np.full(diff.after.shape, -1, dtype=np.int32)
    count = len(problem.log_dirs.path)
    if not count:
        return chosen
    rows, columns = np.nonzero(diff.removed & (log_dir >= 0))
    gone = np.bincount(log_dir[rows, columns], weights=problem.size_bytes[rows].astype(np.float64), minlength=count)
    level = np.where(problem.log_dirs.takes_replicas, dir_bytes - gone, np.inf)
    rows, columns = np.nonzero(diff.added)
    size = problem.size_bytes[rows].astype(np.float64)
    chosen[rows, columns] = _deal(problem, diff.after[rows, columns], size, level)
    return chosen


def emptiest_dir(problem: MoveProblem, broker_id: int, free_bytes: Floats) -> int:
    """Return the directory of one broker with the most room, -1 where it has none that is known."""
    own = np.flatnonzero(problem.log_dirs.broker_id == broker_id)
    free = np.where(problem.log_dirs.takes_replicas[own], free_bytes[own], -np.inf)
    return int(own[np.argmax(free)]) if len(own) else -1


def _deal(problem: MoveProblem, broker_id: Int32s, size_bytes: Floats, level: Floats) -> Int32s:
    """Deal replicas out, a round a replica of each broker: as many rounds as a broker with directories receives."""
    order = np.lexsort((problem.log_dirs.total_bytes, problem.log_dirs.broker_id))
    owners = problem.log_dirs.broker_id[order]
    starts, lengths = runs(owners)
    table = np.full((len(starts), int(lengths.max())), -1, dtype=np.int32)
    table[np.repeat(np.arange(len(starts)), lengths), _rank(starts, lengths)] = order
    with_dirs = owners[starts]
    place = np.minimum(np.searchsorted(with_dirs, broker_id), len(with_dirs) - 1)
    picked = np.full(len(broker_id), -1, dtype=np.int32)
    known = np.flatnonzero(with_dirs[place] == broker_id)
    alone = known[(table[place[known]] >= 0).sum(axis=1) == 1]
    picked[alone] = table[place[alone], 0]
    several = known[picked[known] < 0]
    several = several[np.lexsort((-size_bytes[several], place[several]))]
    rank = _rank(*runs(place[several]))
    total = problem.log_dirs.total_bytes
    volume = np.where(np.isfinite(total) & (total > 0), total, 1.0)
    by_round = several[np.argsort(rank, kind="stable")]
    for now in np.split(by_round, np.cumsum(np.bincount(rank))[:-1]):
        own = table[place[now]]
        filled = np.where(own >= 0, (level[own] + size_bytes[now, None]) / volume[own], np.inf)
        best = own[np.arange(len(now)), np.argmin(filled, axis=1)]
        picked[now] = best
        level[best] += size_bytes[now]
    return picked


def _rank(starts: Indices, lengths: Indices) -> Indices:
    """Return each entry's position in its run."""
    return np.asarray(np.arange(lengths.sum()) - np.repeat(starts, lengths), dtype=np.intp)
