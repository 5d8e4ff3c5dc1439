"""``plan --explain``: why an option moves what it moves, and wave by wave how."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_capacity.cli.planning import Judged, Planned
from kafka_capacity.kafka.placement.relaxing import LimitState
from kafka_capacity.kafka.reassignment.schedule import Band, OrderOutcome, Schedule, Wave
from kafka_capacity.proposal.constraints.registry import constraint_label
from kafka_capacity.proposal.gap import gap_text, is_proven_least
from kafka_capacity.proposal.scenario import PlacementMetrics
from kafka_capacity.questions.change.move_schedule import SCHEDULED_UP_TO
from kafka_capacity.text import (
    format_bytes,
    format_duration,
    format_factor,
    format_percent,
    format_throttle,
    format_throttle_above,
    plural,
)

_BOUNDS = {
    "counting": "replicas that must be copied whatever the balance",
    "surplus": "what brokers hold beyond their share must leave",
    "deficit": "what brokers lack of their share must arrive",
    "solver": "proven by an integer program",
    "flow": "what racks and brokers must exchange, as a flow",
}
_MAX_BROKERS = 8


def explanation_lines(planned: Planned) -> list[str]:
    """Explain every option."""
    lines = []
    for one in planned.judged:
        lines += ["", f"{one.result.scenario.scenario_id}:", *(f"  {line}" for line in _option_lines(one))]
    return lines


def _option_lines(one: Judged) -> list[str]:
    result, schedule = one.result, one.schedule
    if result.metrics is None:
        return [f"refused: {excuse.reason}" for excuse in result.excuses]
    lines = [_bound_line(result.metrics), *_binding_lines(result.limits)]
    if schedule is None:
        return [*lines, f"waves: none planned, since a placer to compare with moves more than {SCHEDULED_UP_TO:,}"]
    if not schedule.waves and not schedule.refusals:
        return [*lines, "waves: none, since nothing changes"]
    return [*lines, *_schedule_lines(schedule), *(_wave_line(schedule, wave) for wave in schedule.waves)]


def _bound_line(metrics: PlacementMetrics) -> str:
    text = (
        f"bound: {format_bytes(metrics.lower_bound_bytes)} by {metrics.lower_bound_kind} "
        f"({_BOUNDS.get(metrics.lower_bound_kind, 'what must move')}); moved: {format_bytes(metrics.moved_bytes)}"
    )
    if is_proven_least(metrics.moved_bytes, metrics.lower_bound_bytes):
        return f"{text}, and no plan with this balance copies less"
    moved, bound = metrics.moved_bytes, metrics.lower_bound_bytes
    gap = gap_text(moved, bound)
    if gap is not None:
        return f"{text}, gap {gap}"
    return f"{text}, {format_factor(moved / bound)} the bound" if 0 < bound < moved else text


def _binding_lines(limits: Sequence[LimitState]) -> list[str]:
    """Return which hard limits brokers are at."""
    lines = []
    for state in limits:
        if not state.binding_brokers:
            continue
        named = ", ".join(str(broker) for broker in state.binding_brokers[:_MAX_BROKERS])
        more = len(state.binding_brokers) - _MAX_BROKERS
        who = f"brokers {named}{f' and {more:,} more' if more > 0 else ''}"
        what = f"binds: {constraint_label(state.constraint)} of {who}"
        lines.append(f"{what}, {format_percent(state.highest_ratio)} of the limit at most{_relaxed(state)}")
    return lines or ["binds: no limit of a broker"]


def _relaxed(state: LimitState) -> str:
    relaxation = state.relaxation()
    return f"; {relaxation}" if relaxation else ""


def _schedule_lines(schedule: Schedule) -> list[str]:
    copied, took = format_bytes(schedule.copied_bytes), band(schedule.total_seconds)
    mean, peak = (format_throttle_above(each) for each in schedule.smallest_throttle_bytes_per_second[1:])
    stays = [f"stays: {refusal.reason}" for refusal in schedule.refusals]
    if stays and not schedule.copied_bytes:
        return ["waves: nothing that is to be copied is in one", *stays]
    lines = [
        f"waves: {len(schedule.waves):,}, {copied} copied in {took}",
        f"smallest throttle: above {mean} it finishes, at peak rates above {peak}",
        *stays,
    ]
    if schedule.detours:
        lines.append(f"detours: {plural(len(schedule.detours), 'partition')} by way of a third broker")
    worst = (
        "no broker is relieved"
        if schedule.worst_broker is None
        else f"broker {schedule.worst_broker} is the worst off ({schedule.worst_resource.replace('_', ' ')})"
    )
    lines.append(f"order: {schedule.order}; {worst}")
    lines += [f"  {_order_line(outcome)}" for outcome in schedule.orders]
    return [*lines, *_leadership_lines(schedule)]


def _order_line(outcome: OrderOutcome) -> str:
    seconds = outcome.relieved_seconds
    relieved = "never" if seconds is None else f"after {format_duration(seconds)}"
    return (
        f"{outcome.order}: {plural(outcome.wave_count, 'wave')}, {format_duration(outcome.total_seconds)} in all, "
        f"worst broker relieved {relieved}"
    )


def _leadership_lines(schedule: Schedule) -> list[str]:
    tried = schedule.leadership
    if tried is None:
        return []
    first, plain = format_duration(tried.leadership_first_seconds), format_duration(tried.plain_seconds)
    chosen = "chosen" if tried.is_chosen else "not chosen"
    return [f"leadership first: {plural(tried.moved_leaders, 'leader')} moved, {first} instead of {plain}; {chosen}"]


def _wave_line(schedule: Schedule, wave: Wave) -> str:
    head = f"wave {wave.number} {wave.kind}: {plural(len(wave.rows), 'partition')}"
    if not wave.copied_bytes:
        return f"{head}, nothing copied{_peak(schedule, wave)}"
    start, end = (format_duration(seconds[1]) for seconds in (wave.start_seconds, wave.end_seconds))
    bottleneck = ""
    if wave.bottleneck_broker is not None:
        bottleneck = f", bottleneck broker {wave.bottleneck_broker} {wave.bottleneck_direction}"
    return (
        f"{head}, {format_bytes(wave.copied_bytes)}, {start} – {end}{bottleneck}, "
        f"throttle {format_throttle(wave.throttle_bytes_per_second)}{_peak(schedule, wave)}"
    )


def _peak(schedule: Schedule, wave: Wave) -> str:
    """Name the broker that gets closest to its disk limit, or that holds most where no limit is known."""
    if not len(wave.broker_ids):
        return ""
    brokers = schedule.problem.brokers
    limit = schedule.problem.disk_limit_bytes[brokers.index_of(wave.broker_ids)]
    known = np.isfinite(limit) & (limit > 0)
    ratio = np.where(known, wave.disk_peak_bytes / np.where(known, limit, 1.0), -1.0)
    at = int(ratio.argmax()) if known.any() else int(wave.disk_peak_bytes.argmax())
    text = f", disk up to {format_bytes(float(wave.disk_peak_bytes[at]))} on broker {int(wave.broker_ids[at])}"
    return f"{text} ({format_percent(float(ratio[at]))} of its limit)" if known.any() else text


def band(seconds: Band) -> str:
    """Write low – expected – high, one where they are the same.

    >>> band((60.0, 90.0, None)), band((60.0, 60.0, 60.0))
    ('1 min – 1 min 30 s – never ends', '1 min')
    """
    times = [format_duration(each) for each in seconds]
    return times[0] if len(set(times)) == 1 else " – ".join(times)
