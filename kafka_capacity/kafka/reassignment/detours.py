"""A way out where full disks wait for each other: one partition goes by way of a third broker.

Worked example: brokers 1 and 2 are full, a partition of 1 shall go to 2 and one of 2 to 1. Neither disk has room for a
new copy while the old one stays. If broker 3 has room, the first goes there, 1 has room for the second, and then 2 for
the first. It is copied twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s
from kafka_capacity.kafka.reassignment.budgets import Budgets, lacking_room, uses_of
from kafka_capacity.kafka.reassignment.cells import copies_of
from kafka_capacity.kafka.reassignment.cut import cut
from kafka_capacity.kafka.reassignment.hops import NO_WAVE, Hops
from kafka_capacity.kafka.reassignment.problem import MoveProblem

_MAX_DETOURS = 64  # of one plan; whoever needs more should add a disk
_ATTEMPTS = 8
_MAX_TRIED = 128
"""Partitions that are looked at for one detour, the smallest first: what those cannot, larger ones hardly can."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WayOut:
    """What detours make possible."""

    hops: Hops  # those that can go, in waves from 0
    wave_count: int  # how many waves
    stuck: Hops  # those that still cannot
    left: Floats  # float64[R], what is left of each resource
    detours: tuple[int, ...]  # the partitions that go by way of a third broker


def find_way_out(problem: MoveProblem, stuck: Hops, budgets: Budgets, left: Floats) -> WayOut:
    """Try to move hops that no wave has room for, since all wait for a disk, with what is left of the budgets.

    The way leaves no partition at a third broker; if need be nothing moves.
    """
    nothing = WayOut(hops=stuck.take(np.zeros(0, dtype=np.intp)), wave_count=0, stuck=stuck, left=left, detours=())
    if not problem.settings.allows_detours:
        return nothing
    excluded: set[int] = set()
    for _ in range(_ATTEMPTS):
        way = _attempt(problem, stuck, budgets, left, excluded)
        halfway = set(way.stuck.row.tolist()) & set(way.detours)
        if not halfway:
            return way
        excluded |= halfway
    return nothing


def _attempt(problem: MoveProblem, stuck: Hops, budgets: Budgets, left: Floats, excluded: set[int]) -> WayOut:
    pending, done = stuck, stuck.take(np.zeros(0, dtype=np.intp))
    number = 0
    detours: list[int] = []
    drained = problem.drained()
    while len(pending):
        uses, gains = uses_of(problem, pending, copies_of(problem, pending), budgets.budget)
        order = np.argsort(problem.size_bytes[pending.row], kind="stable")
        result = cut(order, uses, gains, budgets.with_left(left), is_ration=budgets.is_ration)
        left = result.left
        goes = result.wave[: len(pending)] >= 0
        done = done.joined(pending.in_waves((result.wave[: len(pending)] + number).astype(np.int32)).take(goes))
        pending, number = pending.take(~goes), number + result.wave_count
        if not len(pending) or len(detours) >= _MAX_DETOURS:
            break
        found = _first_detour(problem, pending, left, excluded | set(detours), drained)
        if found is None:
            break
        at, there, onwards = found
        uses, gains = uses_of(problem, there, copies_of(problem, there), budgets.budget)
        for given, sign in ((uses, -1.0), (gains, 1.0)):
            change = np.bincount(given.resource, weights=given.cost, minlength=len(left))
            left = left + sign * np.where(budgets.is_ration, 0.0, change)
        done = done.joined(there.in_waves(np.array([number], dtype=np.int32)))
        number += 1
        detours.append(int(pending.row[at]))
        pending = pending.take(np.arange(len(pending)) != at).joined(onwards)
    return WayOut(hops=done, wave_count=number, stuck=pending, left=left, detours=tuple(detours))


def _first_detour(
    problem: MoveProblem, pending: Hops, left: Floats, excluded: set[int], drained: Flags
) -> tuple[int, Hops, Hops] | None:
    """Find the smallest partition that can wait elsewhere and whose going makes room for others."""
    brokers, size = problem.brokers, problem.size_bytes[pending.row].astype(np.float64)
    lacks = np.logical_or(*lacking_room(problem, pending, left))
    usable = brokers.takes_replicas & ~drained
    racks, widest = brokers.rack_indexes(), float(left[: len(brokers)][usable].max(initial=-np.inf))
    wanted = np.unique(pending.after[lacks])
    gives_room = np.any(pending.diff().removed & np.isin(pending.before, wanted), axis=1)
    may = gives_room & lacks.any(axis=1) & (size <= widest) & ~np.isin(pending.row, sorted(excluded))
    chosen = np.flatnonzero(may)
    for at in chosen[np.argsort(size[chosen], kind="stable")][:_MAX_TRIED].tolist():
        detour = _by_way_of(problem, pending, at, lacks[at], left, usable, racks)
        if detour is not None:
            return at, *detour
    return None


def _by_way_of(
    problem: MoveProblem, pending: Hops, at: int, lacks: Flags, left: Floats, usable: Flags, racks: Int32s
) -> tuple[Hops, Hops] | None:
    """Return the hop to other brokers than those that lack room, and the hop from there on."""
    brokers = problem.brokers
    hop = pending.take(np.array([at]))
    size = float(problem.size_bytes[hop.row[0]])
    after, middle, middle_dir = hop.after[0], hop.after[0].copy(), hop.after_dir[0].copy()

    def rack_count(replicas: Int32s) -> int:
        at_brokers = brokers.index_of(replicas[replicas >= 0])
        return len(set(racks[at_brokers].tolist()))

    is_third = usable & ~np.isin(brokers.ids, hop.before[0]) & ~np.isin(brokers.ids, after)
    room = np.where(is_third, left[: len(brokers)], -np.inf)
    for column in np.flatnonzero(lacks).tolist():
        for candidate in np.argsort(-room, kind="stable").tolist():
            if room[candidate] < size:
                return None
            tried = middle.copy()
            tried[column] = brokers.ids[candidate]
            log_dir = _emptiest_dir(problem, int(brokers.ids[candidate]), left[len(brokers) :])
            has_dir = log_dir < 0 or left[len(brokers) + log_dir] >= size
            if has_dir and rack_count(tried) >= rack_count(after):
                middle, room[candidate] = tried, -np.inf
                middle_dir[column] = log_dir
                break
        else:
            return None
    return _two_hops(hop, middle, middle_dir)


def _emptiest_dir(problem: MoveProblem, broker_id: int, free_bytes: Floats) -> int:
    """Return the directory of one broker with the most room, -1 where it has none that is known."""
    own = np.flatnonzero(problem.log_dirs.broker_id == broker_id)
    free = np.where(problem.log_dirs.takes_replicas[own], free_bytes[own], -np.inf)
    return int(own[np.argmax(free)]) if len(own) else -1


def _two_hops(hop: Hops, middle: Int32s, middle_dir: Int32s) -> tuple[Hops, Hops]:
    before, after = hop.before[0], hop.after[0]
    leader, preferred = int(hop.leader[0]), int(hop.leader_after[0])
    # Where the leader goes, the first in-sync replica leads: who stands at the place of the one wanted.
    leads = leader if leader in middle.tolist() else int(middle[after.tolist().index(preferred)])
    held = dict(zip(before.tolist(), hop.before_dir[0].tolist(), strict=True))
    dirs = [held.get(broker, int(chosen)) for broker, chosen in zip(middle.tolist(), middle_dir.tolist(), strict=True)]
    hop = hop.in_waves(np.array([NO_WAVE], dtype=np.int32))
    there = replace(
        hop,
        after=middle[None],
        after_dir=middle_dir[None],
        leader_after=np.array([leads], dtype=np.int32),
        elects=np.zeros(1, dtype=np.bool_),
    )
    onwards = replace(
        hop,
        before=middle[None],
        before_dir=np.array([dirs], dtype=np.int32),
        leader=np.array([leads], dtype=np.int32),
        followers=np.array([int((middle >= 0).sum()) - 1], dtype=np.int32),
    )
    return there, onwards
