"""Plan a move in waves that a team can run, and stop after any of them.

Goals (ordered)
    1. Every wave, and every prefix of waves, keeps what must hold: each partition is where it was or where it shall
       be, so its replicas and racks are those of before or after; no wave leaves it fewer in-sync replicas than
       ``min.insync.replicas``; no disk and no log directory passes its limit, whichever partition is done first.
    2. What cannot be done so is a value with figures, and everything else is done.
    3. The worst broker is relieved as soon as possible: orders are tried, and compared by that.
    4. The whole is done soon: where brokers are drained, moving their leaders off first is tried, and the faster wins.

Constraints
    The old copy of a partition stays until *all* of its new ones are in sync, and its space is free
    ``file.delete.delay.ms`` later. A copy comes from the current leader. What is produced meanwhile is copied too, and
    listed partitions count against the throttle until the wave is over. See
    :mod:`~kafka_capacity.kafka.reassignment.flow`.

Algorithm
    Each changed partition is one hop. Hops are sorted by an order and cut into waves by what brokers and directories
    can take (:mod:`~kafka_capacity.kafka.reassignment.cut`); all waves are timed at once
    (:mod:`.timing`). Where full disks wait for each other, a partition goes by way of a
    third broker (:mod:`~kafka_capacity.kafka.reassignment.detours`).

Worked example, a partition of 100 MB that moves from broker 2 to broker 3 at 10 MB/s:
    >>> import numpy as np
    >>> from kafka_capacity.kafka.cluster.assignment import Partitions
    >>> from kafka_capacity.kafka.cluster.brokers import Brokers
    >>> from kafka_capacity.kafka.cluster.snapshot import LogDirs
    >>> from kafka_capacity.kafka.reassignment.problem import MoveProblem, Throttle
    >>> one, none = np.zeros(1, dtype=np.int32), np.zeros(0)
    >>> problem = MoveProblem(
    ...     partitions=Partitions(topics=("orders",), topic=one, partition=one),
    ...     brokers=Brokers.of([1, 2, 3]),
    ...     before=np.array([[1, 2]], dtype=np.int32), after=np.array([[1, 3]], dtype=np.int32),
    ...     leader=np.array([1], dtype=np.int32), in_sync=np.array([[True, True]]),
    ...     size_bytes=np.array([100_000_000]), min_insync_replicas=one + 1,
    ...     bytes_in_bytes_per_second=np.array([[0.0], [1e6], [4e6]]), bytes_out_bytes_per_second=np.zeros((3, 1)),
    ...     throttle=Throttle(bytes_per_second=1e7),
    ...     disk_limit_bytes=np.full(3, np.nan), disk_bytes_per_second=np.full(3, np.nan),
    ...     log_dirs=LogDirs(broker_id=none.astype(np.int32), path=(), total_bytes=none, usable_bytes=none),
    ...     log_dir=np.array([[-1, -1]], dtype=np.int32), log_dir_limit_bytes=none)
    >>> schedule = plan_waves(problem)
    >>> schedule.total_seconds, schedule.waves[0].bottleneck_broker, schedule.waves[0].bottleneck_direction
    ((10.0, 12.5, 50.0), 1, 'out')
    >>> schedule.smallest_throttle_bytes_per_second
    (0.0, 2000000.0, 8000000.0)
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.reassignment.draft import Draft, Groundwork, draft, groundwork, leadership_first
from kafka_capacity.kafka.reassignment.problem import EXPECTED, HIGH, MoveProblem, Order
from kafka_capacity.kafka.reassignment.schedule import (
    COPIES,
    Band,
    LeadershipOutcome,
    LengthOutcome,
    OrderOutcome,
    Schedule,
    Wave,
)
from kafka_capacity.kafka.reassignment.timing import Timing, overruns_of, timing_of

ABOUT_EQUAL_RATIO = 0.05
"""Shorter waves are more work: of lengths that cost so little more than the best the longest is taken."""


def plan_waves(problem: MoveProblem) -> Schedule:
    """Plan a move in waves; the same problem gives the same schedule.

    Partitions that cannot move are in none of its waves, and in its refusals.
    """
    lengths = _tried_lengths(problem) if problem.settings.max_wave_seconds is None else ()
    return _best_of_lengths(problem, lengths) if lengths else _schedule(_drafted(problem))


def _tried_lengths(problem: MoveProblem) -> tuple[float, ...]:
    """Return how long waves may be, to choose from: with a window, so long that as many as it takes fill it."""
    lengths, clock = problem.settings.tried_wave_seconds, problem.clock
    if clock is None:
        return lengths
    window, pause = clock.window.seconds, problem.settings.pause_seconds
    counts = [int(-(-window // length)) for length in lengths]
    return tuple(dict.fromkeys(window if n == 1 else window / n - pause for n in counts if window > n * pause))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Drafted:
    """The best draft of a problem, and what it was compared with."""

    ground: Groundwork
    drafts: dict[Order, Draft]
    order: Order
    best: Draft
    leadership: LeadershipOutcome | None = None

    def cost(self) -> tuple[int, float]:
        """Return how many partitions stay put, and the time at peak with that until the worst broker is relieved."""
        stay = sum(len(refusal.rows) for refusal in self.best.refusals)
        return stay, float(self.best.totals()[HIGH]) + (_ended(self.best.relieved_seconds) or 0.0)


def _best_of_lengths(problem: MoveProblem, lengths: tuple[float, ...]) -> Schedule:
    """Try how long waves may be, and say what each length, and no limit, would lead to.

    Short waves are over sooner in all where much is produced to what moves: a copy has to keep up with that from the
    start to the end of its wave, however early it is done itself.
    """
    first = _drafted(_with_waves_of(problem, lengths[0]))
    if sum(kind in COPIES for kind in first.best.kinds) < 2:
        return _schedule(first)
    by_length: dict[float | None, _Drafted] = {lengths[0]: first}
    for seconds in (*lengths[1:], None):
        by_length[seconds] = _drafted(_with_waves_of(problem, seconds, orders=(first.order,)))
    costs = [by_length[seconds].cost() for seconds in lengths]
    chosen = next(s for s, cost in zip(lengths, costs, strict=True) if _is_about(cost, min(costs)))
    best = first if chosen == lengths[0] else _drafted(_with_waves_of(problem, chosen))
    outcomes = tuple(
        LengthOutcome(
            max_wave_seconds=seconds,
            wave_count=len(found.best.kinds),
            total_seconds=_ended(found.best.totals()[EXPECTED]),
            total_high_seconds=_ended(found.best.totals()[HIGH]),
            relieved_seconds=_ended(found.best.relieved_seconds),
        )
        for seconds, found in by_length.items()
    )
    return dataclasses.replace(_schedule(best), lengths=outcomes)


def _with_waves_of(problem: MoveProblem, seconds: float | None, orders: tuple[Order, ...] | None = None) -> MoveProblem:
    settings = dataclasses.replace(
        problem.settings, max_wave_seconds=seconds, tried_wave_seconds=(), orders=orders or problem.settings.orders
    )
    return dataclasses.replace(problem, settings=settings)


def _is_about(cost: tuple[int, float], least: tuple[int, float]) -> bool:
    return cost[0] == least[0] and cost[1] <= least[1] * (1 + ABOUT_EQUAL_RATIO)


def _drafted(problem: MoveProblem) -> _Drafted:
    ground = groundwork(problem)
    drafts = _drafts(ground, problem.settings.orders)
    order = min(drafts, key=lambda order: (drafts[order].relieved_seconds, float(drafts[order].totals()[EXPECTED])))
    found = _Drafted(ground=ground, drafts=drafts, order=order, best=drafts[order])
    if not problem.settings.tries_leadership_first:
        return found
    best, outcome = _leadership(ground, order, found.best)
    return dataclasses.replace(found, best=best, leadership=outcome)


def _drafts(ground: Groundwork, orders: tuple[Order, ...]) -> dict[Order, Draft]:
    """Try every order; one is enough where all fits into one wave."""
    first = draft(ground, orders[0], ground.plain)
    drafts = {orders[0]: first}
    copying = np.unique(first.hops.wave[first.pace.flows.copy_hop])
    for order in orders[1:]:
        drafts[order] = draft(ground, order, ground.plain) if len(copying) > 1 else first
    return drafts


def _leadership(ground: Groundwork, order: Order, plain: Draft) -> tuple[Draft, LeadershipOutcome | None]:
    """Try the same with leaders moved off drained brokers first, and take what is faster."""
    placed = np.zeros(len(ground.diff.is_changed), dtype=np.bool_)
    placed[plain.hops.row] = True
    first = leadership_first(ground, ground.rows[placed[ground.rows]])
    if first is None:
        return plain, None
    other = draft(ground, order, first)
    seconds, other_seconds = float(plain.totals()[EXPECTED]), float(other.totals()[EXPECTED])
    done = np.unique(other.hops.row[other.hops.wave > 0])
    is_chosen = other_seconds < seconds and len(done) >= int(placed.sum())
    outcome = LeadershipOutcome(
        moved_leaders=len(first.first),
        plain_seconds=_ended(seconds),
        leadership_first_seconds=_ended(other_seconds),
        is_chosen=is_chosen,
    )
    return (other if is_chosen else plain), outcome


def _ended(seconds: float) -> float | None:
    return float(seconds) if np.isfinite(seconds) else None


def _band(seconds: Floats) -> Band:
    low, expected, high = (_ended(each) for each in seconds.tolist())
    return low, expected, high


def _three(values: Floats) -> tuple[float, float, float]:
    low, expected, high = values.tolist()
    return low, expected, high


def _schedule(found: _Drafted) -> Schedule:
    ground, best = found.ground, found.best
    problem, worst = ground.problem, ground.worst
    timing = timing_of(problem, best.hops, best.pace, best.starts[EXPECTED], ground.before)
    totals = best.totals()
    smallest = timing.smallest_throttle_bytes_per_second
    return Schedule(
        problem=problem,
        waves=_waves(ground, best, timing),
        total_seconds=_band(totals),
        never_ends=bool(np.isinf(totals[EXPECTED])),
        copied_bytes=float(timing.copied_bytes.sum()),
        smallest_throttle_bytes_per_second=_three(smallest.max(axis=1, initial=0.0)),
        throttles=ground.throttles,
        order=found.order,
        orders=tuple(
            OrderOutcome(
                order=each,
                wave_count=len(tried.kinds),
                total_seconds=_ended(float(tried.totals()[EXPECTED])),
                relieved_seconds=_ended(tried.relieved_seconds),
            )
            for each, tried in found.drafts.items()
        ),
        worst_broker=None if worst.broker is None else int(problem.brokers.ids[worst.broker]),
        worst_resource=worst.resource,
        relieved_seconds=_ended(best.relieved_seconds),
        leadership=found.leadership,
        refusals=best.refusals,
        detours=best.detours,
        brokers=timing.brokers,
        log_dirs=timing.log_dirs,
        overruns=() if problem.clock is None else overruns_of(problem.clock, best.pace),
    )


def _waves(ground: Groundwork, best: Draft, timing: Timing) -> tuple[Wave, ...]:
    """Slice the flat arrays by wave."""
    problem, cells = ground.problem, best.pace.cells
    hops = best.hops.take(np.lexsort((best.hops.row, best.hops.wave)))
    numbers = np.arange(len(best.kinds) + 1)
    of_hops, of_cells = (np.searchsorted(each, numbers) for each in (hops.wave, cells.wave))
    ends, throttles = best.ends(), ground.throttles
    sends, receives = best.pace.out_bytes() > 0, best.pace.in_bytes() > 0
    rates = np.minimum(
        np.where(sends, throttles.out_bytes_per_second[cells.thing], np.inf),
        np.where(receives, throttles.in_bytes_per_second[cells.thing], np.inf),
    )
    waves = []
    for number, kind in enumerate(best.kinds):
        part = slice(of_hops[number], of_hops[number + 1])
        seats = slice(of_cells[number], of_cells[number + 1])
        broker = int(timing.bottleneck_broker[number])
        rate = float(rates[seats].min(initial=np.inf))
        waves.append(
            Wave(
                number=number + 1,
                kind=kind,
                rows=hops.row[part],
                replicas_before=hops.before[part],
                replicas_after=hops.after[part],
                log_dirs_before=hops.before_dir[part],
                log_dirs_after=hops.after_dir[part],
                leaders_before=hops.leader[part],
                leaders_after=hops.leader_after[part],
                elects=hops.elects[part],
                start_seconds=_band(best.starts[:, number]),
                end_seconds=_band(ends[:, number]),
                seconds=_band(best.pace.seconds[:, number]),
                copied_bytes=float(timing.copied_bytes[number]),
                in_flight_bytes=float(timing.in_flight_bytes[number]),
                throttle_bytes_per_second=rate if np.isfinite(rate) else float(problem.throttle.bytes_per_second),
                bottleneck_broker=broker if broker >= 0 else None,
                bottleneck_direction=timing.bottleneck_direction[number],
                smallest_throttle_bytes_per_second=_three(timing.smallest_throttle_bytes_per_second[:, number]),
                broker_ids=timing.brokers.broker_id[seats],
                disk_peak_bytes=timing.brokers.disk_peak_bytes[seats],
            )
        )
    return tuple(waves)
