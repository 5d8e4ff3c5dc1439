"""What sizing found out, in the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kafka_capacity.cli.console import Align, print_lines, print_table
from kafka_capacity.cli.sizing import SizedCluster
from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.limits import RESOURCE_NAMES
from kafka_capacity.questions.capacity.document import single_replicas_of, wanting_topics
from kafka_capacity.questions.capacity.reconcile import Waterfall
from kafka_capacity.questions.capacity.results import UNKNOWN, CapacityResult, OptionKind
from kafka_capacity.text import NOTHING, format_bytes, format_duration, format_percent

_COLUMNS: tuple[tuple[str, Align], ...] = (
    ("option", "left"),
    ("fits", "left"),
    ("lasts until", "left"),
    ("headroom", "right"),
    ("tightest", "left"),
    ("USD a month", "right"),
    ("copied", "right"),
    ("time", "right"),
    ("break-even", "right"),
)

_MAX_ROWS = 25
_MAX_TOPICS = 10
_DAY_SECONDS = 86_400.0


def print_size(done: SizedCluster, *, is_everything: bool) -> None:
    """Print the recommendation, the options, when today's cluster runs out, and what others would say.

    Args:
        done: the results.
        is_everything: list every option, not only those worth a look.
    """
    snapshot, outlook = done.found.inputs.snapshot, done.found.expectation.outlook
    rows = list(done.sized.results) if is_everything else _worth_a_look(done)
    title = (
        f"{snapshot.cluster} on {snapshot.ds}: {len(snapshot.brokers)} brokers, {len(snapshot.partitions):,} "
        f"partitions, up to {outlook.dates[-1]}"
    )
    answer = [f"recommended: {done.sized.advice.recommended or 'nothing'}", f"why: {done.sized.advice.reason}"]
    print_lines([*answer, *_single_replicas(done), *_by_date(done)])
    print_table(title, _COLUMNS, [_row(result, done) for result in rows])
    lines = []
    if done.found.cpu is not None:
        lines.append(f"CPU: {done.found.cpu.reason}")
    if len(rows) < len(done.sized.results):
        lines.append(f"{len(done.sized.results) - len(rows):,} more options were tried; --all shows them")
    print_lines(lines)
    _print_exhaustion(done)
    for one in done.waterfalls:
        _print_waterfall(one)
    _print_lines_of_excuses(done)


def _single_replicas(done: SizedCluster) -> list[str]:
    """Describe what the answer leaves with a single replica."""
    answer = done.recommended or done.sized.results[0]
    found = single_replicas_of(done.found)
    is_kept = answer.option.placement.replication_factor in (None, 1)
    return [f"serious: {found.reason}"] if found is not None and is_kept else []


def _by_date(done: SizedCluster) -> list[str]:
    """Return what would do if it had to last a shorter time, where that is another option, and until which day."""
    advice, results = done.sized.advice, {result.option_id: result for result in done.sized.results}
    shorter = dict.fromkeys(option for _, option in advice.by_date if option not in (None, advice.recommended))
    return [f"{option}: until {_lasts_until(results[option])} only" for option in shorter if option is not None]


def _worth_a_look(done: SizedCluster) -> list[CapacityResult]:
    """Choose doing nothing, what is recommended, all of today's hardware, and the cheapest of the Pareto front."""
    today = done.found.inputs.request.today.name
    own = [one.option_id for one in done.sized.results if one.option.shape.name == today]
    front = sorted(
        (one for one in done.sized.results if one.option_id in done.sized.advice.front),
        key=lambda one: (math.isnan(one.cost.total), one.cost.total, one.option_id),
    )
    chosen = dict.fromkeys([done.sized.advice.recommended, *own, *(one.option_id for one in front)])
    kept = set(list(chosen)[:_MAX_ROWS])
    return [one for one in done.sized.results if one.option_id in kept]


def _row(result: CapacityResult, done: SizedCluster) -> list[str]:
    change, cost = result.change, result.cost.total
    tightest = NOTHING
    if result.tightest is not None:
        place = result.tightest
        tightest = f"{RESOURCE_NAMES[place.resource]}, {place.condition}, broker {place.broker}, {place.date}"
    idle = result.option.placement.idle_brokers
    mark = f" ({idle:,} idle)" if idle else ""
    mark += " (recommended)" if result.option_id == done.sized.advice.recommended else ""
    is_still = result.option.kind is OptionKind.DO_NOTHING
    never = "never at this throttle" if change.seconds is None and result.tightest is not None else NOTHING
    days = change.break_even_days
    return [
        result.option_id + mark,
        "yes" if result.fits else "not judged" if result.is_not_judged else "no",
        _lasts_until(result),
        NOTHING if result.headroom_ratio is None else format_percent(result.headroom_ratio),
        tightest,
        NOTHING if math.isnan(cost) else f"{cost:,.0f}",
        NOTHING if is_still else format_bytes(change.moved_bytes),
        NOTHING if is_still else never if change.seconds is None else format_duration(change.seconds),
        NOTHING if is_still or days is None or not result.fits else format_duration(days * _DAY_SECONDS),
    ]


def _lasts_until(result: CapacityResult) -> str:
    if result.fits:
        return "the horizon"
    is_known = not any(excuse.constraint in UNKNOWN for excuse in result.excuses)
    if result.fits_until is None:
        return "not even today" if is_known else "not known"
    # The day on which it passes a limit, as in a report; not the last date that was judged before it.
    return min((excuse.when for excuse in result.excuses if excuse.when), default=result.fits_until)


def _print_exhaustion(done: SizedCluster) -> None:
    today = next(one for one in done.sized.results if one.option.kind is OptionKind.DO_NOTHING)
    columns: Sequence[tuple[str, Align]] = (
        ("resource", "left"),
        ("runs out (middle)", "left"),
        ("runs out (high)", "left"),
        ("first", "left"),
    )
    rows = [
        [
            RESOURCE_NAMES[one.resource],
            one.middle or "not before the horizon",
            one.high or "not before the horizon",
            "" if one.condition is None else f"broker {one.broker}, {one.condition}",
        ]
        for one in today.exhaustion
    ]
    rows += [[RESOURCE_NAMES[resource], "not known", "not known", ""] for resource in today.not_judged]
    print_table("the cluster as it is", columns, rows)


def _print_waterfall(one: Waterfall) -> None:
    columns: Sequence[tuple[str, Align]] = (
        ("step", "left"),
        ("they take", "left"),
        ("we take", "left"),
        ("brokers", "right"),
    )
    rows = [["theirs", "", "", f"{one.theirs.brokers:,}"]]
    rows += [[step.name, step.theirs, step.ours, f"{step.change:+,}"] for step in one.steps]
    rows.append(["ours" if one.is_placed else "ours, evenly spread", "", "", f"{one.ours:,}"])
    name = {"aws-msk": "Amazon's MSK sizing script", "plain": "a plain calculator"}[one.calculator]
    print_table(f"why {name} says {one.theirs.brokers:,} × {one.shape}", columns, rows)


def _print_lines_of_excuses(done: SizedCluster) -> None:
    shown = done.recommended or done.sized.results[0]
    today = done.sized.results[0]
    lines = [f"do-nothing: {excuse.reason}" for excuse in today.excuses]
    if today.use is not None:
        lines += [
            f"group {group} reads from disk from {date} on, as the page cache reaches less far back"
            for group, date in today.use.fallen_out[:_MAX_TOPICS]
        ]
    unknown = ", ".join(RESOURCE_NAMES[resource] for resource in shown.not_judged)
    if unknown:
        lines.append(f"not judged for {shown.option_id}, since what is needed or what there is is not known: {unknown}")
    if done.found.inputs.workload.traffic.basis is PeakBasis.SUM_OF_PEAKS:
        lines.append(
            "less than a day tells rates in and out: every partition counts its own peak at once, an upper estimate"
        )
    more = wanting_topics(done.found)
    lines += [f"topic {one.topic}: {one.reason}" for one in more[:_MAX_TOPICS]]
    if len(more) > _MAX_TOPICS:
        lines.append(f"{len(more) - _MAX_TOPICS:,} more topics need a look: --json lists them")
    if shown.option.shape.priced_on:
        lines.append(f"prices of {shown.option.shape.name} are of {shown.option.shape.priced_on}; check them")
    print_lines([*lines, *done.found.expectation.notes, *done.warnings])
