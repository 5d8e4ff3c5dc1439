"""Which log directory a new replica goes to, where nobody says so.

Left to itself a broker takes the directory with the fewest partitions (``LogManager.nextLogDirs``), however large they
are. Where brokers have several, whoever asks for a move says which (:mod:`kafka_capacity.kafka.placement.log_dirs`).
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Int32s
from kafka_capacity.kafka.cluster.diff import AssignmentDiff
from kafka_capacity.kafka.reassignment.problem import MoveProblem


def only_log_dirs(problem: MoveProblem, diff: AssignmentDiff) -> Int32s:
    """Return int32[P, V] like ``diff.after``, the directory of joining replicas whose broker has but one, -1 else."""
    owners, first, counts = np.unique(problem.log_dirs.broker_id, return_index=True, return_counts=True)
    owners, first = owners[counts == 1], first[counts == 1]
    if not len(owners):
        return np.full(diff.after.shape, -1, dtype=np.int32)
    place = np.minimum(np.searchsorted(owners, diff.after), len(owners) - 1)
    return np.where(diff.added & (owners[place] == diff.after), first[place], -1).astype(np.int32)


def emptiest_dir(problem: MoveProblem, broker_id: int, free_bytes: Floats) -> int:
    """Return the directory of one broker with the most room, -1 where it has none that is known."""
    own = np.flatnonzero(problem.log_dirs.broker_id == broker_id)
    free = np.where(problem.log_dirs.takes_replicas[own], free_bytes[own], -np.inf)
    return int(own[np.argmax(free)]) if len(own) else -1
