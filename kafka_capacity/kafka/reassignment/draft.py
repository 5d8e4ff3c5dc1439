"""One way to do a move: an order of partitions, with leaders moved off first or not, cut into waves and timed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Indices, Int32s
from kafka_capacity.kafka.cluster.assignment import widened
from kafka_capacity.kafka.cluster.diff import AssignmentDiff, diff_assignments
from kafka_capacity.kafka.reassignment.budgets import Budgets, budgets_of, is_endless, uses_of
from kafka_capacity.kafka.reassignment.cells import Flows, copies_of
from kafka_capacity.kafka.reassignment.cut import Uses, cut
from kafka_capacity.kafka.reassignment.detours import find_way_out
from kafka_capacity.kafka.reassignment.hops import NO_WAVE, Hops, State, first_state, hops_between
from kafka_capacity.kafka.reassignment.orders import Pressure, in_order, pressure, relieving_wave
from kafka_capacity.kafka.reassignment.problem import EXPECTED, MoveProblem, Order
from kafka_capacity.kafka.reassignment.refusal import MoveRefusal, no_room, unmovable
from kafka_capacity.kafka.reassignment.schedule import WaveKind
from kafka_capacity.kafka.reassignment.timing import Pace, pace_of, paced_by
from kafka_capacity.kafka.reassignment.traffic import BrokerThrottles, Carried, broker_throttles, carried

_PASSES = 256  # new leaders are chosen in so many passes, each of which sees the load of those before it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Steps:
    """The hops of a plan before they are in waves, and what they use."""

    hops: Hops  # one a partition
    flows: Flows  # what they copy and remove
    uses: Uses  # of budgets
    gains: Uses  # what they give back
    first: Hops  # hops that go before all others, in one wave: leaders that move
    copies: Indices  # intp, which hops copy
    endless: Indices  # intp, which copy and never end
    drops: Indices  # intp, which only remove
    reorders: Indices  # intp, which only reorder


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groundwork:
    """What all drafts of a problem share."""

    problem: MoveProblem  # the move
    state: State  # before any wave
    target: Int32s  # int32[P, W]
    diff: AssignmentDiff  # from the state to the target
    after_dir: Int32s  # int32[P, W], where joining replicas go
    rows: Indices  # intp, the partitions that change and may
    refusals: tuple[MoveRefusal, ...]  # why others may not
    throttles: BrokerThrottles  # of each broker
    before: Carried  # what brokers carry
    budgets: Budgets  # what waves may use
    worst: Pressure  # who is to be relieved
    plain: Steps  # the hops without leaders moved first


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draft:
    """A move in waves, timed."""

    hops: Hops  # all of them in waves
    kinds: tuple[WaveKind, ...]  # of each wave
    pace: Pace  # of the waves
    starts: Floats  # float64[3, N], seconds, infinite where a wave never begins
    refusals: tuple[MoveRefusal, ...]  # why some partitions are in no wave
    detours: tuple[int, ...]  # partitions that go by way of a third broker
    relieved_seconds: float  # until the worst broker is relieved; infinite for never or nobody

    def ends(self) -> Floats:
        """Return float64[3, N], when each wave is over."""
        return self.starts + self.pace.seconds

    def totals(self) -> Floats:
        """Return float64[3], when the last wave is over."""
        ends = self.ends()
        return ends[:, -1] if ends.shape[1] else np.zeros(len(ends))


def groundwork(problem: MoveProblem) -> Groundwork:
    """Work out what does not hang on the order."""
    state = first_state(problem)
    width = state.replicas.shape[1]
    target = widened(problem.after, width)
    diff = diff_assignments(state.replicas, target)
    refusals = unmovable(problem, diff_assignments(problem.before, problem.after))
    may = diff.is_changed.copy()
    may[[row for refusal in refusals for row in refusal.rows]] = False
    before = carried(problem, state.replicas, state.leader, state.log_dir)
    preferred = target[:, 0] if width else problem.leader
    after = carried(problem, target, preferred, None)
    throttles = broker_throttles(problem, before, after)
    budgets = budgets_of(problem, throttles, before)
    if problem.log_dir_after is None:
        dirs = _only_log_dirs(problem, diff)
    else:
        dirs = np.where(diff.added, widened(problem.log_dir_after, width), -1).astype(np.int32)
    rows = np.flatnonzero(may)
    return Groundwork(
        problem=problem,
        state=state,
        target=target,
        diff=diff,
        after_dir=dirs,
        rows=rows,
        refusals=refusals,
        throttles=throttles,
        before=before,
        budgets=budgets,
        worst=pressure(problem, before, after),
        plain=_steps(problem, budgets, hops_between(state, target, rows, dirs), None),
    )


def _only_log_dirs(problem: MoveProblem, diff: AssignmentDiff) -> Int32s:
    """Return int32[P, V] like ``diff.after``, the directory of joining replicas whose broker has but one, -1 else.

    Of several a broker takes the one with the fewest partitions (``LogManager.nextLogDirs``), however large they are.
    """
    owners, first, counts = np.unique(problem.log_dirs.broker_id, return_index=True, return_counts=True)
    owners, first = owners[counts == 1], first[counts == 1]
    if not len(owners):
        return np.full(diff.after.shape, -1, dtype=np.int32)
    place = np.minimum(np.searchsorted(owners, diff.after), len(owners) - 1)
    return np.where(diff.added & (owners[place] == diff.after), first[place], -1).astype(np.int32)


def _steps(problem: MoveProblem, budgets: Budgets, hops: Hops, first: Hops | None) -> Steps:
    flows = copies_of(problem, hops)
    uses, gains = uses_of(problem, hops, flows, budgets.budget)
    never = is_endless(problem, hops, flows, budgets)
    is_copy = flows.joining > 0
    removes = np.zeros(len(hops), dtype=np.bool_)
    removes[flows.gone_hop] = True
    return Steps(
        hops=hops,
        flows=flows,
        uses=uses,
        gains=gains,
        first=hops.take(np.zeros(0, dtype=np.intp)) if first is None else first,
        copies=np.flatnonzero(is_copy & ~never),
        endless=np.flatnonzero(is_copy & never),
        drops=np.flatnonzero(~is_copy & removes),
        reorders=np.flatnonzero(~is_copy & ~removes),
    )


def leadership_first(ground: Groundwork, rows: Indices) -> Steps | None:
    """Return the steps with leaders moved off drained brokers first; ``None`` where there are none to move.

    Every copy of a partition comes from its leader. A broker that is drained leads many of the partitions that leave
    it, and then sends them all alone; with the leaders moved off first, everyone else sends a share. The price is one
    more step: the same replicas in another order, and an election.
    """
    state, moved = lead_away(ground.problem, ground.state, rows, ground.diff)
    if not len(moved):
        return None
    hops = hops_between(state, ground.target, ground.rows, ground.after_dir)
    return _steps(ground.problem, ground.budgets, hops, hops_between(ground.state, state.replicas, moved))


def draft(ground: Groundwork, order: Order, steps: Steps) -> Draft:
    """Cut a move into waves and time them.

    The waves: leaders off drained brokers if wanted, replicas that only go, copies, those that would never end last,
    those on a detour, lists that only change their order.
    """
    problem, budgets = ground.problem, ground.budgets
    hops = steps.hops
    kinds = [WaveKind.LEADERSHIP] if len(steps.first) else []
    wave = np.full(len(hops), NO_WAVE, dtype=np.int32)
    left = budgets.budget
    if len(steps.drops):
        wave[steps.drops] = len(kinds)
        kinds.append(WaveKind.DROP)
        given = np.where(wave[steps.gains.hop] >= 0, steps.gains.cost, 0.0)
        left = left + np.bincount(steps.gains.resource, weights=given, minlength=len(left))
    sequence = in_order(problem, hops, steps.flows, order, ground.worst)
    for some in (steps.copies, steps.endless):
        is_one = np.zeros(len(hops), dtype=np.bool_)
        is_one[some] = True
        done = cut(
            sequence[is_one[sequence]], steps.uses, steps.gains, budgets.with_left(left), is_ration=budgets.is_ration
        )
        left = done.left
        placed = np.flatnonzero(done.wave >= 0)
        wave[placed] = done.wave[placed] + len(kinds)
        kinds += [WaveKind.COPY] * done.wave_count
    stuck = np.flatnonzero(wave[: len(hops)] < 0)
    stuck = stuck[~np.isin(stuck, steps.reorders)]
    way = find_way_out(problem, hops.take(stuck), budgets, left) if len(stuck) else None
    extra = steps.first.in_waves(np.zeros(len(steps.first), dtype=np.int32))
    if way is not None:
        extra = extra.joined(way.hops.in_waves((way.hops.wave + len(kinds)).astype(np.int32)))
        kinds += [WaveKind.DETOUR] * way.wave_count
    if len(steps.reorders):
        wave[steps.reorders] = len(kinds)
        kinds.append(WaveKind.REORDER)
    in_waves, flows = hops.in_waves(wave), steps.flows
    if len(extra) or (wave < 0).any():
        in_waves = in_waves.take(np.flatnonzero(wave >= 0)).joined(extra)
        flows = copies_of(problem, in_waves)
    refused = no_room(problem, way.stuck, way.left) if way is not None else ()
    return _timed(ground, in_waves, flows, tuple(kinds), refused, () if way is None else way.detours)


def _timed(
    ground: Groundwork,
    hops: Hops,
    flows: Flows,
    kinds: tuple[WaveKind, ...],
    refusals: tuple[MoveRefusal, ...],
    detours: tuple[int, ...],
) -> Draft:
    pace = pace_of(ground.problem, hops, flows, len(kinds), ground.throttles, ground.before)
    removes = np.zeros(len(kinds), dtype=np.bool_)
    removes[hops.wave[flows.gone_hop]] = True
    pauses = np.where(removes, ground.problem.settings.pause_seconds, 0.0)  # until the disk space is free
    if ground.problem.clock is not None:
        starts, pace = paced_by(ground.problem.clock, pace, pauses)
    else:  # one after another
        ends = np.cumsum(pace.seconds + pauses, axis=1)
        starts = np.concatenate([np.zeros((len(ends), min(len(pauses), 1))), ends[:, :-1]], axis=1)
    relieving = relieving_wave(ground.problem, hops, flows, len(kinds), ground.worst)
    relieved = np.inf if relieving is None else float(starts[EXPECTED, relieving] + pace.seconds[EXPECTED, relieving])
    return Draft(
        hops=hops,
        kinds=kinds,
        pace=pace,
        starts=starts,
        refusals=(*ground.refusals, *refusals),
        detours=detours,
        relieved_seconds=relieved,
    )


def lead_away(problem: MoveProblem, state: State, rows: Indices, diff: AssignmentDiff) -> tuple[State, Indices]:
    """Return each partition that a drained broker leads and that is copied another leader among those that stay.

    Of the replicas that can take it (in sync, kept, not fenced) the one does that has the least to send. The result is
    the state with new leaders, preferred ones, and the partitions whose leader changed.
    """
    brokers = problem.brokers
    drained = problem.drained()
    leader_at = brokers.index_of(state.leader)
    is_led_away = (leader_at >= 0) & drained[leader_at] & diff.added.any(axis=1)
    # Such a list may go, and not change its order.
    is_led_away &= ~(problem.names_cordoned(state.replicas) | problem.names_fenced(state.replicas))
    chosen = rows[is_led_away[rows]]
    replicas = state.replicas[chosen]
    index = brokers.index_of(replicas)
    usable = (index >= 0) & ~brokers.is_fenced[index] & state.in_sync[chosen] & ~diff.removed[chosen]
    can_go = usable.any(axis=1)
    chosen, index, usable = chosen[can_go], index[can_go], usable[can_go]
    if not len(chosen):
        return state, chosen
    copies = diff.added.sum(axis=1)
    amount = (copies * problem.size_bytes).astype(np.float64)
    stays = np.ones(len(copies), dtype=np.bool_)
    stays[chosen] = False
    sends = brokers.sum_at(state.leader[stays], amount[stays])
    column = _least_loaded(index, usable, amount[chosen], sends)
    return _led_by(state, chosen, column), chosen


def _least_loaded(index: Int32s, usable: Flags, amount: Floats, sends: Floats) -> Indices:
    """Choose a column for each row, the largest amounts first; ``sends`` is what each broker sends already."""
    column = np.zeros(len(index), dtype=np.intp)
    order = np.argsort(-amount, kind="stable")
    passes = min(_PASSES, len(order))
    bounds = np.linspace(0, len(order), passes + 1).astype(np.intp)
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        now = order[begin:end]
        load = np.where(usable[now], sends[index[now]], np.inf)
        column[now] = load.argmin(axis=1)
        sends += np.bincount(index[now, column[now]], weights=amount[now], minlength=len(sends))
    return column


def _led_by(state: State, rows: Indices, column: Indices) -> State:
    """Put the chosen column of some rows first, the others behind it in their order."""
    width = state.replicas.shape[1]
    place = np.tile(np.arange(width), (len(rows), 1))
    place = np.where(place <= column[:, None], place - 1, place)
    place[:, 0] = column
    changed = {}
    for name in ("replicas", "in_sync", "log_dir"):
        matrix = getattr(state, name).copy()
        matrix[rows] = np.take_along_axis(matrix[rows], place, axis=1)
        changed[name] = matrix
    leader = state.leader.copy()
    leader[rows] = changed["replicas"][rows, 0]
    return State(**changed, leader=leader)
