"""Why some partitions are in no wave: a value with figures, never an exception."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Indices
from kafka_capacity.kafka.cluster.diff import AssignmentDiff
from kafka_capacity.kafka.cluster.release import KAFKA_3_7
from kafka_capacity.kafka.reassignment.budgets import lacking_room
from kafka_capacity.kafka.reassignment.hops import Hops
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


def _some(problem: MoveProblem, rows: Indices) -> str:
    names = [problem.partitions.name(row) for row in rows[:3].tolist()]
    rest = len(rows) - len(names)
    return ", ".join(names) + (f" and {rest:,} more" if rest else "")


def unmovable(problem: MoveProblem, diff: AssignmentDiff) -> tuple[MoveRefusal, ...]:
    """List what Kafka would never complete, or what would leave partitions with too few in-sync replicas.

    Each partition is named once, under the first constraint that it breaks.
    """
    refusals = []
    free = np.ones(len(diff.is_changed), dtype=np.bool_)
    for constraint, broken, why in _rules(problem, diff):
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
                unit="partitions",
                reason=f"{len(rows):,} partition{'' if len(rows) == 1 else 's'} ({_some(problem, rows)}): {why}",
                rows=tuple(rows.tolist()),
            )
        )
    return tuple(refusals)


def _rules(problem: MoveProblem, diff: AssignmentDiff) -> list[tuple[str, Flags, str]]:
    joining, leaving = diff.added.sum(axis=1), diff.removed.sum(axis=1)
    to_fenced = diff.added & np.isin(diff.after, problem.brokers.ids[problem.brokers.is_fenced])
    held = problem.before >= 0
    in_sync = (problem.in_sync & held).sum(axis=1)
    kept_in_sync = (problem.in_sync & held & ~diff.removed).sum(axis=1)
    kept_behind = (held & ~problem.in_sync & ~diff.removed).any(axis=1)
    in_sync_after = kept_in_sync + joining
    least = problem.min_insync_replicas
    if problem.release >= KAFKA_3_7:  # `Partition.effectiveMinIsr`
        least = np.minimum(least, (diff.after >= 0).sum(axis=1))
    return [
        ("leader", (problem.leader < 0) & (joining > 0), "there is no leader to copy from"),
        ("fenced", to_fenced.any(axis=1), "the destination broker is fenced, so nothing can get in sync there"),
        (
            "fenced",
            problem.names_fenced(diff.after),
            "kafka-reassign-partitions.sh takes no replica list with a broker that is down, even one that is already "
            "in the list; bring it back, or leave the broker out",
        ),
        (
            "cordoned",
            problem.names_cordoned(diff.after),
            "Kafka 4.4 rejects a replica list with a broker all of whose log directories are cordoned, even one that "
            "is already in the list; uncordon one, or leave the broker out",
        ),
        (
            # PartitionReassignmentReplicas: who takes away more than it adds wants the whole target in sync.
            "in_sync",
            (joining < leaving) & kept_behind,
            "more replicas are removed than added while others are out of sync, and Kafka does not complete such a "
            "move",
        ),
        (
            "min_isr",
            (in_sync_after < least) & (in_sync_after < in_sync),
            "fewer replicas would be in sync than min.insync.replicas requires; lower it first, or keep more replicas",
        ),
    ]


def no_room(problem: MoveProblem, stuck: Hops, left: Floats) -> tuple[MoveRefusal, ...]:
    """Name the disks and directories that never have room for partitions that are stuck: of each the first one.

    ``left`` is float64[R], what is left of each resource when all that can move has moved.
    """
    brokers, dirs = problem.brokers, problem.log_dirs
    on_disk, in_dir = lacking_room(problem, stuck, left)
    rows, column = np.nonzero(on_disk | in_dir)
    rows, first = np.unique(rows, return_index=True)
    column = column[first]
    disk, log_dir = brokers.index_of(stuck.after[rows, column]), stuck.after_dir[rows, column]
    resources = np.where(on_disk[rows, column], disk, len(brokers) + log_dir)
    names = [f"broker {broker}" for broker in brokers.ids.tolist()]
    names += [f"log dir {path} of broker {broker}" for path, broker in zip(dirs.path, dirs.broker_id, strict=True)]
    limits = np.concatenate([problem.disk_limit_bytes, problem.log_dir_limit_bytes])
    found = []
    for resource in np.unique(resources).tolist():
        own, limit = stuck.row[rows[resources == resource]], float(limits[resource])
        level, sizes = limit - float(left[resource]), problem.size_bytes[own].astype(np.float64)
        needed, count = level + float(sizes.min()), len(own)
        filled = f"may hold {_amount(limit)} but holds {_amount(level)}"
        if _amount(limit) == _amount(level):
            filled = f"is as full as it may be with {_amount(level)}"
        found.append(
            MoveRefusal(
                constraint="disk" if resource < len(brokers) else "log_dir",
                where=names[resource],
                needed=needed,
                available=limit,
                unit="bytes",
                reason=(
                    f"{names[resource]} {filled} until others make room, "
                    f"which they cannot: {count:,} partition{'' if count == 1 else 's'} of "
                    f"{_amount(float(sizes.sum()))} ({_some(problem, own)}) cannot go there; with "
                    f"{_amount(needed - limit)} more the first can, with "
                    f"{_amount(level + float(sizes.sum()) - limit)} more all can, and some may by a detour if another "
                    "broker has room"
                ),
                rows=tuple(own.tolist()),
            )
        )
    return tuple(found)


def _amount(size_bytes: float) -> str:
    for unit, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(size_bytes) >= size:
            return f"{size_bytes / size:,.1f} {unit}"
    return f"{size_bytes:,.0f} B"
