"""The steps that partitions take, as arrays: one hop a partition, two where one goes by way of a third broker."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Indices, Int32s
from kafka_capacity.kafka.cluster.assignment import widened
from kafka_capacity.kafka.cluster.columns import change_columns, join_columns
from kafka_capacity.kafka.cluster.diff import AssignmentDiff, diff_assignments
from kafka_capacity.kafka.reassignment.problem import MoveProblem

NO_WAVE = -1  # the wave of a hop that is in none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class State:
    """Where the replicas of a problem are at some moment, and who leads."""

    replicas: Int32s  # int32[P, W]
    in_sync: Flags  # bool[P, W]
    log_dir: Int32s  # int32[P, W]
    leader: Int32s  # int32[P]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hops:
    """M changes of one partition's replica list each."""

    row: Indices  # intp[M], which partition
    before: Int32s  # int32[M, W], its replicas
    after: Int32s  # int32[M, V], those wanted
    before_dir: Int32s  # int32[M, W], the directory of each replica of `before`, -1 where that is not known
    after_dir: Int32s  # int32[M, V], the directory that each joining replica goes to, -1 where the broker chooses
    leader: Int32s  # int32[M], who leads when the hop begins, -1 for nobody
    leader_after: Int32s  # int32[M], who leads after it, and after the election where one is needed
    # bool[M], whether the preferred leader must be elected: the old leader stays a replica, not the first
    elects: Flags
    followers: Int32s  # int32[M], in-sync followers when it begins
    wave: Int32s  # int32[M], `NO_WAVE` where it is in none

    def __len__(self) -> int:
        return len(self.row)

    def diff(self) -> AssignmentDiff:
        """Compare before and after."""
        return diff_assignments(self.before, self.after)

    def take(self, chosen: Indices | Flags) -> Hops:
        """Return some of them."""
        return change_columns(self, lambda column: column[chosen])

    def in_waves(self, wave: Int32s) -> Hops:
        """Return the same hops in other waves."""
        return replace(self, wave=wave)

    def joined(self, other: Hops) -> Hops:
        """Put others after these."""
        return join_columns([self, other])


def first_state(problem: MoveProblem) -> State:
    """Return the state before any wave, in matrices as wide as the wider of before and after."""
    width = max(problem.before.shape[1], problem.after.shape[1])
    return State(
        replicas=widened(problem.before, width),
        in_sync=np.pad(problem.in_sync, ((0, 0), (0, width - problem.in_sync.shape[1]))),
        log_dir=widened(problem.log_dir, width),
        leader=problem.leader,
    )


def hops_between(state: State, target: Int32s, rows: Indices, after_dir: Int32s | None = None) -> Hops:
    """Return the hops that bring some partitions from a state to their targets, int32[P, W], as wide as the state.

    Joining replicas go to ``after_dir``, int32[P, W].
    """
    before, after, leader = state.replicas[rows], target[rows], state.leader[rows]
    is_follower = state.in_sync[rows] & (before >= 0) & (before != leader[:, None])
    is_behind = np.where((before >= 0) & ~state.in_sync[rows], before, -2)
    # The controller keeps a leader that stays, and takes the first in-sync replica of the target where it goes.
    candidates = (after >= 0) & ~(after[:, :, None] == is_behind[:, None, :]).any(axis=2)
    first = after[np.arange(len(rows)), candidates.argmax(axis=1)] if after.shape[1] else leader
    stays = (after == leader[:, None]).any(axis=1)
    can_elect = candidates[:, 0] if after.shape[1] else np.zeros(len(rows), dtype=np.bool_)
    led = (leader >= 0) & candidates.any(axis=1)
    elects = led & stays & can_elect & (first != leader)
    dirs = np.full(before.shape, -1, dtype=np.int32) if after_dir is None else after_dir[rows]
    return Hops(
        row=rows,
        before=before,
        after=after,
        before_dir=state.log_dir[rows],
        after_dir=dirs,
        leader=leader,
        leader_after=np.where(elects | (led & ~stays), first, leader).astype(np.int32),
        elects=elects,
        followers=is_follower.sum(axis=1, dtype=np.int32),
        wave=np.full(len(rows), NO_WAVE, dtype=np.int32),
    )
