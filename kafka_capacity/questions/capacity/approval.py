"""What sizing says in the decision box: what to approve, what happens otherwise, and how sure the answer is."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kafka_capacity.demand.calendar_days import days_later
from kafka_capacity.hardware.limits import Condition, Resource, resource_name
from kafka_capacity.questions.capacity.cost_words import month_words
from kafka_capacity.questions.capacity.judging import passing_day
from kafka_capacity.questions.capacity.option_words import (
    newly_removed,
    option_name,
    run_verb,
    until_words,
)
from kafka_capacity.questions.capacity.results import (
    LOAD_MARGIN_RATIO,
    OptionKind,
    carries,
    unknown_of_fewer,
)
from kafka_capacity.questions.capacity.sizing_view import (
    STEPS_NAMED,
    Row,
    SizingView,
    Step,
    family_of,
    is_alike,
    is_soon,
    is_unknown,
    removed_brokers,
)
from kafka_capacity.text import (
    capitalised,
    format_count_delta,
    format_limit,
    format_percent,
    format_usd,
    plural,
    whole_percent,
)
from kafka_capacity.text.wording import named_brokers

_CLEARLY_LESS_RATIO = 0.1  # of weeks inside the interval of past forecasts than are meant to be

NO_BROKERS = "Approve no new brokers yet"


def approval(view: SizingView, gone: Collection[int] = ()) -> str:
    """Return what to approve now and what it adds to a month, and by when the next steps are due.

    ``gone`` are the ids of today's brokers that have been removed or replaced by then, by a move that is approved too.
    """
    if view.is_unknown:
        return "Approve no broker count: none is judged."
    if not view.steps:
        return f"Approve no broker count: {_why_none(view)}."
    soon = view.due_soon
    steps = view.steps if soon is None else view.steps[1:]
    later = [f"{_then(before.option, after.option, gone)} by {after.from_day}" for before, after in pairwise(steps)]
    if len(steps) > STEPS_NAMED:
        more, last = len(later) - 1, steps[-1]
        later = [later[0], f"then {last.option['broker_count']:,} brokers by {last.from_day} in {more:,} more steps"]
    first = _now(view) if soon is None else _soon(view, soon)
    return "; ".join([first, ", ".join(later)] if later else [first]) + "."


def _why_none(view: SizingView) -> str:
    """Return why there are no steps: nothing fits today, or nothing that does is within the budget."""
    budget, nearest = view.budget_usd_per_month, view.nearest
    if budget is None or not nearest["fits"]:
        return "no option lasts for a week" if view.fits_today else "no option fits today"
    reason = f"nothing that fits is within {format_usd(budget)} per month"
    if view.now is view.today:
        count = view.today["broker_count"]
        return f"{reason}; today’s {count:,} {run_verb(count, 'last')} {until_words(view, view.until(view.today))}"
    usd = nearest["total_usd_per_month"]
    return (
        reason if usd is None else f"{reason}; the cheapest, {option_name(nearest)}, costs {month_words(nearest, usd)}"
    )


def _soon(view: SizingView, step: Step) -> str:
    before = int(view.today["broker_count"])
    more = int(step.option["broker_count"]) - before
    lasting = f"today’s {before:,} {run_verb(before, 'last')} until {view.steps[0].until}"
    what = option_name(step.option) if _is_changed(step.option, view.today) else plural(more, "more broker")
    return f"Approve {what} by {step.from_day}{_dollars(view, step)}: {lasting}"


def _now(view: SizingView) -> str:
    now, today = view.steps[0].option, view.today
    count, before = int(now["broker_count"]), int(today["broker_count"])
    lasting = f"{run_verb(count, 'last')} {until_words(view, view.steps[0].until)}"
    if now is today:
        until = view.steps[0].until
        is_last = len(view.steps) == 1 and until is not None and is_soon(until, view.dates[0])
        reason = view.why_none_placed
        others = "lasts much longer" if reason is None else f"can be placed until this is fixed: {reason}"
        return f"{NO_BROKERS}: today’s {before:,} {lasting}" + (f", and no other count {others}" if is_last else "")
    dollars, removed = _dollars(view, view.steps[0]), removed_brokers(now)
    added = count - before + len(removed)
    is_nothing_else = now["kind"] != OptionKind.OTHER_HARDWARE and family_of(now)[:-1] == family_of(today)[:-1]
    if removed and added >= 0 and is_nothing_else:
        names = named_brokers(removed)
        if added:
            return f"Approve {plural(added, 'new broker')} and the removal of {names} now{dollars}"
        return f"Approve the removal of {names}{dollars}: {count:,} {lasting}"
    if _is_changed(now, today):
        return f"Approve {option_name(now)} now, instead of today’s {before:,}{dollars}"
    if count > before:
        return f"Approve {plural(count - before, 'more broker')} now{dollars}"
    if count < before:
        return f"Approve the removal of {plural(before - count, 'broker')}{dollars}: {count:,} {lasting}"
    return f"Approve the rebalancing of today’s {plural(before, 'broker')} now"


def _is_changed(option: Row, today: Row) -> bool:
    """Return whether more is changed than how many brokers there are, or what they hold."""
    is_other = option["kind"] in (OptionKind.OTHER_HARDWARE, OptionKind.SHRINK_VOLUMES)
    return is_other or not is_alike(option, today)


def _then(before: Row, after: Row, gone: Collection[int]) -> str:
    """Name a later step: other brokers, or how many are added, which stand in for those that are removed too."""
    if after["shape"] != before["shape"]:
        return option_name(after)
    removed = len({*newly_removed(before, after)} - {*gone})
    more = int(after["broker_count"]) - int(before["broker_count"]) + removed
    return format_count_delta(more) if more else "rebalanced"


def _dollars(view: SizingView, step: Step) -> str:
    """Return what a step adds to a month, in brackets; nothing where that is not known.

    It is an estimate where what it is more than is one.
    """
    more = step.more_usd_per_month
    if more is None or round(more) == 0:
        return ""
    estimated = ", estimated" if step.option.get("priced_as") or view.today.get("priced_as") else ""
    return f" ({'+' if more >= 0 else ''}{format_usd(more)} per month{estimated})"


def otherwise(view: SizingView) -> str:
    """Return what happens if nothing is done."""
    today, out, full = view.today, view.runs_out(view.today), disk_full(view)
    if out is None:
        if today["fits"]:
            count = today["broker_count"]
            known = "As far as known, today’s" if view.is_as_far_as_known(today) else "Today’s"
            return f"{known} {plural(count, 'broker')} {run_verb(count, 'last')} beyond {view.horizon}."
        if is_unknown(today):
            return f"Not known: {today['excuses'][0]['reason']}."
        return f"Today’s brokers do not fit: {today['excuses'][0]['reason']}."
    day, name = str(out[view.estimate]), resource_name(out["resource"])
    name += "" if out["broker_id"] is None else f" of broker {out['broker_id']}"
    is_disk = out["resource"] == Resource.DISK
    limit = f"its limit of {format_limit(view.document['limits']['disk_ratio'])}" if is_disk else "its limit"
    is_already = view.is_already_out(today, out["resource"], day)
    passes = f"already exceeds {limit}" if is_already else f"exceeds {limit} on {day}"
    if full is None:
        end = f"; no disk is full before {view.horizon}" if is_disk else ""
        return f"{capitalised(name)} {passes}{end}."
    what = "it" if is_disk and full.broker_id == out["broker_id"] else name
    when = "is already full" if full.is_already else f"will be full on {full.day}"
    filled = f"The disk of broker {full.broker_id} {when}"
    return f"{filled}, which stops the broker; {what} {passes}."


class FullDisk(NamedTuple):
    """The first disk of today that is full."""

    day: str  # when
    broker_id: int  # whose
    is_already: bool  # whether it is so in the inventory itself, and not in the course of its day or later


def disk_full(view: SizingView) -> FullDisk | None:
    """Return the first disk of today that is full; ``None`` for not before the horizon.

    Full is all of the disk, whatever its limit; at the estimate that decides, on straight lines between the dates.
    """
    use = view.use_of(view.today, resource=str(Resource.DISK), condition=str(Condition.NORMAL), estimate=view.estimate)
    brokers = sorted(set(use["broker_id"].to_pylist()))
    ratios = np.full((1, len(view.dates), len(brokers)), np.nan)
    for row in use.select(["date", "broker_id", "load", "capacity"]).to_pylist():
        if row["load"] is not None and row["capacity"]:
            place = view.dates.index(row["date"]), brokers.index(row["broker_id"])
            ratios[0, *place] = row["load"] / row["capacity"]
    found = passing_day(ratios, tuple(view.dates))
    if found is None:
        return None
    return FullDisk(found.date, brokers[found.broker], bool((ratios[0, 0] > 1.0).any()))


def assumed_ratio(view: SizingView) -> float:
    """Return the share of partitions whose growth is assumed, for want of a forecast."""
    classes = view.document["classes"]
    everything = sum(one["partitions"] for one in classes)
    assumed = sum(one["partitions"] for one in classes if one["basis"] != "forecast")
    return assumed / everything if everything else 0.0


def confidence(view: SizingView) -> str:
    """Return how sure the dates are: the chance that growth stays within what they rest on."""
    assumed, quantile = assumed_ratio(view), view.document.get("high_quantile")
    if view.unknown_traffic is not None:
        return f"Unknown: {view.unknown_traffic} is not known."
    if assumed == 1.0:
        return "Unknown: growth is assumed, not forecast."
    if view.estimate != "high":
        return "The dates are based on the middle estimate, which growth is as likely to exceed as not."
    if not quantile:
        return "Unknown: this plan does not say how likely its high estimate is."
    chance = Fraction(quantile).limit_denominator(100)
    odds = f"{chance.numerator} in {chance.denominator}"
    sentence = f"{odds} chance that growth stays within the high estimate, the basis of the dates"
    if assumed:
        sentence += f", except for {format_percent(assumed)} of the partitions, whose growth is assumed"
    return f"{sentence}{_missed(view)}{_middle(view)}."


def _missed(view: SizingView) -> str:
    """Return how often past forecasts of the histories held what came, where that is clearly less than meant."""
    known = [
        (float(one["coverage_ratio"]), float(one["interval_ratio"]))
        for one in view.document["classes"]
        if one.get("coverage_ratio") is not None and one.get("interval_ratio")
    ]
    least, meant = min(known, default=(1.0, 0.0))
    if least >= meant - _CLEARLY_LESS_RATIO:
        return ""
    held, wanted = whole_percent(least), whole_percent(meant)
    return f" (less for one class of topics: past forecasts covered {held} of weeks instead of {wanted})"


def _middle(view: SizingView) -> str:
    """Return until when the brokers of the first step last at the middle estimate."""
    if not view.steps or view.steps[0].until is None:
        return ""
    option = view.steps[0].option
    out = view.runs_out(option, "middle")
    lasting = "beyond " + view.horizon if out is None else f"until {days_later(out['middle'], -1)}"
    return f"; at the middle estimate {option['broker_count']:,} last {lasting}"


def at_other_loads(view: SizingView) -> str | None:
    """Return how many brokers the horizon takes with less and with more load; ``None`` where nothing lasts anyway."""
    goal = view.recommended
    if goal is None:
        return None
    # What is not recommended for want of a capacity is not at another load, either.
    least = min(goal["broker_count"], view.today["broker_count"]) if unknown_of_fewer(goal["not_judged"]) else 0
    alike = [row for row in view.options if is_alike(row, goal) and row["broker_count"] >= least]

    def fewest(factor: float) -> int | None:
        counts = (
            int(row["broker_count"])
            for row in alike
            if carries([excuse["constraint"] for excuse in row["excuses"]], row["headroom_ratio"], factor)
        )
        return min(counts, default=None)

    less, more = fewest(1.0 - LOAD_MARGIN_RATIO), fewest(1.0 + LOAD_MARGIN_RATIO)
    tried = max(row["broker_count"] for row in alike)
    above = f"more than {tried:,} (the largest count tried)" if more is None else f"{more:,}"
    below, expected = goal["broker_count"] if less is None else less, goal["broker_count"]
    if below == more == expected:
        return f"{plural(expected, 'broker')} {run_verb(expected, 'last')} until {view.horizon} either way."
    lower = plural(below, "broker")
    return f"Until {view.horizon}: {lower} at a lower load, {expected:,} as expected, {above} at a higher one."
