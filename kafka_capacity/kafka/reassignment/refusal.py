"""Why some partitions are in no wave: a value with figures, never an exception."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import AssignmentDiff
from kafka_capacity.kafka.reassignment.problem import MoveProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRefusal:
    """One constraint that keeps partitions where they are."""

    constraint: str  # its short name: `leader`, `fenced`, `cordoned`, `in_sync`, `min_isr`, `disk` or `log_dir`
    where: str  # the broker, the directory, or the topics
    needed: float  # how much it would take, in `unit`; of a disk, for the first of the partitions to fit
    available: float  # how much is available
    unit: str  # what the two figures count
    reason: str  # a sentence for people, with the numbers in it
    rows: tuple[int, ...]  # the partitions that stay, positions in the problem


def _some(problem: MoveProblem, rows: NDArray[np.intp]) -> str:
    names = [problem.partitions.name(row) for row in rows[:3].tolist()]
    rest = len(rows) - len(names)
    return ", ".join(names) + (f" and {rest:,} more" if rest else "")


def unmovable(problem: MoveProblem, diff: AssignmentDiff) -> tuple[MoveRefusal, ...]:
    """List what Kafka would never complete, or what would leave partitions with too few in-sync replicas.

    Each partition is named once, under the first constraint that it breaks.
    """
    refusals = []
    free = np.ones(len(diff.is_changed), dtype=np.bool_)
    for constraint, broken, unit, why in _rules(problem, diff):
        rows = np.flatnonzero(broken & free & diff.is_changed)
        free[rows] = False
        if not len(rows):
            continue
        refusals.append(
            MoveRefusal(
                constraint=constraint,
                where=_some(problem, rows),
                needed=float(len(rows)),
                available=0.0,
                unit=unit,
                reason=f"{len(rows):,} partition{'' if len(rows) == 1 else 's'} ({_some(problem, rows)}): {why}",
                rows=tuple(rows.tolist()),
            )
        )
    return tuple(refusals)


def _rules(problem: MoveProblem, diff: AssignmentDiff) -> list[tuple[str, NDArray[np.bool_], str, str]]:
    joining, leaving = diff.added.sum(axis=1), diff.removed.sum(axis=1)
    held = problem.before >= 0
    in_sync = (problem.in_sync & held).sum(axis=1)
    kept_in_sync = (problem.in_sync & held & ~diff.removed).sum(axis=1)
    kept_behind = (held & ~problem.in_sync & ~diff.removed).any(axis=1)
    in_sync_after = kept_in_sync + joining
    return [
        ("leader", (problem.leader < 0) & (joining > 0), "partitions", "there is no leader to copy from"),
        (
            "fenced",
            (diff.added & _at(problem.brokers, problem.brokers.is_fenced, diff.after)).any(axis=1),
            "partitions",
            "the destination broker is fenced, so nothing can get in sync there",
        ),
        ("cordoned", problem.names_cordoned(diff.after), "partitions", _WHY_CORDONED),
        (
            # PartitionReassignmentReplicas: who takes away more than it adds wants the whole target in sync.
            "in_sync",
            (joining < leaving) & kept_behind,
            "partitions",
            "more replicas are removed than added while others are out of sync, and Kafka does not complete such a "
            "move",
        ),
        (
            "min_isr",
            (in_sync_after < problem.min_insync_replicas) & (in_sync_after < in_sync),
            "partitions",
            "fewer replicas would be in sync than min.insync.replicas requires; lower it first, or keep more replicas",
        ),
    ]


def _at(brokers: Brokers, is_so: NDArray[np.bool_], matrix: NDArray[np.int32]) -> NDArray[np.bool_]:
    index = brokers.index_of(matrix)
    return np.asarray((index >= 0) & is_so[index], dtype=np.bool_)


_WHY_CORDONED = (
    "Kafka 4.4 rejects a replica list with a broker all of whose log directories are cordoned, even one that is "
    "already in the list; uncordon one, or leave the broker out"
)


def no_room(
    problem: MoveProblem, rows: NDArray[np.intp], *, where: str, constraint: str, level: float, limit: float
) -> MoveRefusal:
    """Describe that a disk, of a broker or a directory, never has room for some partitions, at least one.

    ``level`` is what it holds when all that can move has moved, ``limit`` what it may hold, in bytes.
    """
    sizes = problem.size_bytes[rows].astype(np.float64)
    needed = level + float(sizes.min())
    count = len(rows)
    return MoveRefusal(
        constraint=constraint,
        where=where,
        needed=needed,
        available=limit,
        unit="bytes",
        reason=(
            f"{where} may hold {_amount(limit)} but holds {_amount(level)} until others make room, which they "
            f"cannot: {count:,} partition{'' if count == 1 else 's'} of {_amount(float(sizes.sum()))} "
            f"({_some(problem, rows)}) cannot go there; with {_amount(needed - limit)} more the first can, with "
            f"{_amount(level + float(sizes.sum()) - limit)} more all can, and some may by a detour if another broker "
            "has room"
        ),
        rows=tuple(rows.tolist()),
    )


def _amount(size_bytes: float) -> str:
    for unit, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(size_bytes) >= size:
            return f"{size_bytes / size:,.1f} {unit}"
    return f"{size_bytes:,.0f} B"
