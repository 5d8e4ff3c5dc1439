"""From a placement to the waves that carry it out: what is asked of a move, and the schedule of one result."""

from __future__ import annotations

import dataclasses
import math
from enum import StrEnum

import numpy as np

from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.placement.registry import FEWEST_BYTES
from kafka_capacity.kafka.reassignment.problem import (
    DEFAULT_HEADROOM_RATIO,
    Order,
    Throttle,
    WaveSettings,
    move_problem,
)
from kafka_capacity.kafka.reassignment.schedule import Schedule, Wave
from kafka_capacity.kafka.reassignment.waves import plan_waves
from kafka_capacity.proposal.constraints.brokers import DISK, DISK_ON_THE_WAY
from kafka_capacity.proposal.constraints.kinds import baseline
from kafka_capacity.proposal.constraints.moves import (
    ALL_AT_ONCE,
    LOG_DIR,
    THROTTLE,
    WINDOW,
    no_throttle_helps,
    too_little_left,
)
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.log_dirs import held_today
from kafka_capacity.proposal.scenario import PlacementResult
from kafka_capacity.text.amounts import format_throttle, format_throttle_above
from kafka_capacity.text.times import format_duration
from kafka_capacity.text.wording import plural

SCHEDULED_UP_TO = 20_000
"""Moved replicas up to which the moves of other placers are scheduled as well: seconds, even with detours."""


class WaveOrder(StrEnum):
    """Which partitions move first: one order, or the best of all."""

    AUTO = "auto"
    RELIEF_FIRST = str(Order.RELIEF_FIRST)
    SMALLEST_FIRST = str(Order.SMALLEST_FIRST)
    HOTTEST_FIRST = str(Order.HOTTEST_FIRST)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MoveSettings:
    """How a move shall be carried out; how fast is the scenario's throttle."""

    is_throttle_automatic: bool = False  # take the largest throttle that leaves headroom at each broker's peak
    # the share of network and disk that an automatic throttle leaves free
    headroom_ratio: float = DEFAULT_HEADROOM_RATIO
    # what the disks of every broker write and read together, `None` where it is not known
    disk_bytes_per_second: float | None = None
    waves: WaveSettings = dataclasses.field(default_factory=WaveSettings)  # how to cut waves
    # the traffic of the cluster in each hour of a week, from Monday 0:00 UTC, over its mean; `None` where not known
    week_ratio: tuple[float, ...] | None = None


def schedule_of(
    snapshot: Snapshot, load: PartitionLoad, result: PlacementResult, settings: MoveSettings
) -> Schedule | None:
    """Plan the waves of a result; ``None`` where Kafka would refuse the placement: there is nothing to move to."""
    if result.diff is None or result.loads is None:
        return None
    brokers, disk, scenario = result.loads.brokers, settings.disk_bytes_per_second, result.scenario
    joining = np.setdiff1d(result.diff.after, snapshot.replicas).tolist()
    if result.expanded is not None:
        snapshot, load = result.expanded.snapshot, result.expanded.load
    dirs_today, today = None, baseline(scenario, brokers, result.loads.bytes_before)
    if scenario.is_judged_against_today and result.log_dirs is not None:
        dirs_today = held_today(snapshot, result.log_dirs, dict(scenario.replaced)) + result.log_dirs.known_other_bytes
    problem = move_problem(
        snapshot,
        load,
        brokers=brokers,
        after=result.diff.after,
        throttle=Throttle(
            bytes_per_second=scenario.throttle_bytes_per_second,
            is_automatic=settings.is_throttle_automatic,
            headroom_ratio=settings.headroom_ratio,
        ),
        disk_limit_ratio=scenario.disk_limit_ratio,
        settings=settings.waves,
        disk_bytes_per_second=None if disk is None else np.full(len(brokers), disk),
        log_dirs=result.log_dirs,
        log_dir_after=result.log_dir_after,
        tolerated_bytes=None if today is None else today + brokers.known_other_bytes,
        tolerated_log_dir_bytes=dirs_today,
        week_ratio=settings.week_ratio,
        leaving=np.setdiff1d(snapshot.brokers.ids, scenario.target.ids).tolist(),
        joining=joining,
    )
    return plan_waves(problem)


_REFUSED = {DISK.name: DISK_ON_THE_WAY.name, LOG_DIR: "log_dir_on_the_way"}


def judged_in_waves(result: PlacementResult, schedule: Schedule | None) -> PlacementResult:
    """Judge a move by the waves that carry it out, instead of as if all of it started at once.

    What does not fit into any wave is an excuse, and so is a wave that never ends; old and new copies side by side, or
    a throttle that is too small for everything together, no longer are where waves fix them.
    """
    if schedule is None:
        return result
    kept = [excuse for excuse in result.excuses if excuse.constraint not in ALL_AT_ONCE]
    reported = {excuse.constraint for excuse in kept}
    refused = [
        filled(Excuse, refusal, constraint=_REFUSED.get(refusal.constraint, refusal.constraint))
        for refusal in schedule.refusals
        if refusal.constraint not in reported
    ]
    endless = [_endless(result, schedule)] if schedule.never_ends else []
    late = [_overrun(schedule)] if schedule.overruns else []
    return dataclasses.replace(result, excuses=(*kept, *refused, *endless, *late))


def _endless(result: PlacementResult, schedule: Schedule) -> Excuse:
    needed = schedule.smallest_throttle_bytes_per_second[1]
    known = next((excuse for excuse in result.excuses if excuse.constraint == THROTTLE), None)
    is_automatic = schedule.problem.throttle.is_automatic
    if known is not None and not is_automatic and math.isinf(known.needed) == math.isinf(needed):
        return known
    wave = next(wave for wave in schedule.waves if wave.end_seconds[1] is None)
    if math.isinf(needed):
        wave = next(wave for wave in schedule.waves if math.isinf(wave.smallest_throttle_bytes_per_second[1]))
    given = wave.throttle_bytes_per_second
    why = (
        f" with a throttle of {format_throttle(given)}: broker {wave.bottleneck_broker} needs more than "
        f"{format_throttle_above(needed)} to keep up with what is produced meanwhile"
    )
    if math.isinf(needed):
        why = f", and {no_throttle_helps(wave.bottleneck_broker, wave.bottleneck_direction)}"
    elif is_automatic and (starved := _starved(schedule, wave))[1] != schedule.problem.throttle.bytes_per_second:
        why = f": {too_little_left(*starved, schedule.problem.throttle.headroom_ratio)}"
    return Excuse(
        reason=f"wave {wave.number} of {len(schedule.waves)} never finishes{why}",
        constraint=THROTTLE,
        where=f"broker {wave.bottleneck_broker}, {wave.bottleneck_direction}",
        needed=needed,
        available=given,
        unit="bytes_per_second",
    )


def _starved(schedule: Schedule, wave: Wave) -> tuple[list[int], float]:
    """Return the brokers that copy and whose automatic throttle is 0, or the bottleneck of a wave; and the throttle."""
    line, given, place = schedule.brokers, schedule.throttles, schedule.problem.brokers.index_of
    at = place(line.broker_id)
    receives = (line.in_bytes > 0) & (given.in_bytes_per_second[at] <= 0)
    sends = (line.out_bytes > 0) & (given.out_bytes_per_second[at] <= 0)
    if (receives | sends).any():
        return np.unique(line.broker_id[receives | sends]).tolist(), 0.0
    assert wave.bottleneck_broker is not None  # noqa: S101  # for the type checker: a wave that never ends copies
    rates = given.out_bytes_per_second if wave.bottleneck_direction == "out" else given.in_bytes_per_second
    return [wave.bottleneck_broker], float(rates[place(np.array([wave.bottleneck_broker]))][0])


def _overrun(schedule: Schedule) -> Excuse:
    """Describe the longest wave that does not fit into the window, and what would do for all of them."""
    assert schedule.problem.clock is not None  # noqa: S101  # for the type checker: there is no overrun without
    window, late = schedule.problem.clock.window, schedule.overruns
    longest = max(late, key=lambda one: one.seconds)
    rates = [one.throttle_bytes_per_second for one in late]
    needed = format_duration(60.0 * math.ceil(longest.seconds / 60.0))
    more = f", and {plural(len(late) - 1, 'more wave')} {'does' if len(late) == 2 else 'do'} not fit" * (len(late) > 1)
    remedy = f"a window of {needed} would be long enough"
    known = [rate for rate in rates if rate is not None]
    if len(known) == len(rates) and not schedule.problem.throttle.is_automatic:
        remedy += f", or a throttle above {format_throttle_above(max(known))}"
    return Excuse(
        reason=f"wave {longest.wave} of {len(schedule.waves)} takes {format_duration(longest.seconds)} from when the "
        f"window opens, but the window is {format_duration(window.seconds)} long ({window.text} UTC){more}; a "
        f"running reassignment cannot be paused: {remedy}",
        constraint=WINDOW,
        where=f"wave {longest.wave}",
        needed=longest.seconds,
        available=window.seconds,
        unit="seconds",
    )


def is_scheduled(result: PlacementResult) -> bool:
    """Return whether a result is worth a schedule: those of other placers are to compare with, and cost time."""
    moved = result.metrics.moved_replicas if result.metrics is not None else 0
    return result.diff is not None and (result.scenario.placer == FEWEST_BYTES or moved <= SCHEDULED_UP_TO)


def scheduled(
    snapshot: Snapshot, load: PartitionLoad, result: PlacementResult, settings: MoveSettings
) -> tuple[PlacementResult, Schedule | None]:
    """Plan the waves of a result that is worth it, and judge it by them; arguments are those of :func:`schedule_of`."""
    schedule = schedule_of(snapshot, load, result, settings) if is_scheduled(result) else None
    return judged_in_waves(result, schedule), schedule
