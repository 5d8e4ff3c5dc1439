"""What is said about sizing: in the headline, under it, and in e-mails."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from kafka_capacity.demand.calendar_days import days_between
from kafka_capacity.demand.outlook import TRAFFIC
from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.proposal.constraints.registry import constraint_label
from kafka_capacity.questions.answer import BADGES, Status
from kafka_capacity.questions.capacity.cost_words import month_words, todays_usd
from kafka_capacity.questions.capacity.option_words import newly_removed, option_name, run_verb
from kafka_capacity.questions.capacity.results import OptionKind, unknown_of_fewer, worst_reason
from kafka_capacity.questions.capacity.sizing_steps import mean_usd_per_month, steps_to
from kafka_capacity.questions.capacity.sizing_view import (
    NEAR_DAYS,
    STEPS_NAMED,
    Row,
    SizingView,
    has_no_rates,
    is_alike,
)
from kafka_capacity.text import capitalised, format_month, format_usd, plural, uncapitalised, whole_percent
from kafka_capacity.text.wording import listed, named_brokers, told_apart

_MISSING = {
    "cpu": "give broker_vcpu, or cpu_cores in the inventory",
    "disk_io": "give broker_disk_bytes_per_second",
    "disk": "give the disks of brokers in the inventory",
    "network_in": "give the network of brokers in the inventory",
    "network_out": "give the network of brokers in the inventory",
}


def steps_phrase(view: SizingView) -> str:
    """Return how many brokers now, and how many by when, up to the count that lasts longest."""
    parts = []
    for place, step in enumerate(view.steps):
        when = f"by {_when(view, step.from_day)}" if place else "now"
        before = view.steps[place - 1].option if place else None
        parts.append(f"{_counted(step.option, before)} {when}")
    if len(parts) > STEPS_NAMED:
        parts = [*parts[:2], f"and after {len(parts) - 3:,} more steps {parts[-1]}"]
    return ", ".join(parts)


def later_steps(view: SizingView) -> list[str]:
    """Return how many brokers are needed later, and by which day, a phrase for each step after the first."""
    return [f"{_counted(after.option, before.option)} by {after.from_day}" for before, after in pairwise(view.steps)]


def _counted(option: Row, before: Row | None) -> str:
    """Name how many brokers a step has, and what it has that the one before it has not."""
    rebalanced = " rebalanced" if option["kind"] == OptionKind.REBALANCE else ""
    if before is None or option["shape"] != before["shape"]:
        return f"{option_name(option)}{rebalanced}"
    removed = newly_removed(before, option)
    without = f" without {named_brokers(removed)}" if removed else ""
    return f"{option['broker_count']:,}{without}{rebalanced}"


def headline(view: SizingView) -> str:
    """Answer how many brokers by when, as far as is known."""
    if view.is_unknown or (has_no_rates(view.document) and view.nearest["excuses"]):
        return f"Not judged how many brokers are needed: {view.nearest['excuses'][0]['reason']}."
    sentence = _headline(view)
    return f"As far as known, {uncapitalised(sentence)}" if view.is_as_far_as_known(view.nearest) else sentence


def _headline(view: SizingView) -> str:
    if view.recommended is None:
        return _nothing_lasts(view)
    if view.today["fits"]:
        return _enough(view)
    sentence = steps_phrase(view)
    if len(view.steps) == 1:
        sentence += f" {run_verb(view.steps[0].option['broker_count'], 'last')} until {format_month(view.horizon)}"
    binds, today = _what_binds(view)
    return f"{sentence}{f': {binds}' if binds else ''}{f'; {today}' if today else ''}."


def why_sentence(view: SizingView) -> str:
    """Return why brokers are needed, for where the steps themselves stand beside it."""
    parts = [] if view.recommended is None or view.today["fits"] else [part for part in _what_binds(view) if part]
    if not parts:
        return headline(view)
    sentence = f"{'; '.join(parts)}."
    return f"As far as known, {sentence}" if view.is_as_far_as_known(view.nearest) else capitalised(sentence)


def _what_binds(view: SizingView) -> tuple[str, str]:
    """Return which resource asks for a change and until when today's brokers do; empty where that says nothing."""
    # Where today's brokers run out of nothing, or lead too many first, it is no resource that asks for a change.
    is_resource = view.passed_maximum(view.today) is None and (
        view.runs_out(view.today) is not None or len(view.steps) > 1
    )
    first = view.steps[0].option
    if is_resource and len(view.steps) == 1 and first["broker_count"] < view.today["broker_count"]:
        return "", f"{today_phrase(view)} because of how replicas are placed now"
    binds = f"{resource_name(_binding(view))} is the limiting resource" if is_resource else ""
    return binds, "" if first is view.today else today_phrase(view)


def growth_sentence(view: SizingView, request: Mapping[str, Any]) -> str:
    """Return which growth the answer rests on and how much that is, and whether traffic ended: what is known of it."""
    middle, high = (view.document[TRAFFIC][estimate] for estimate in ("middle", "high"))
    silence, rise = silence_sentence(view.document), rise_sentence(view.document)
    if not middle[0]:
        return silence
    if request["growth_per_year_ratio"] is not None:
        basis = "as asked"
    else:
        asked = {item.partition("=")[0].strip() for item in request["class_growth"]}
        kinds = {one["basis"] for one in view.document["classes"] if one["name"] not in asked}
        parts = ["forecast"] * ("forecast" in kinds) + ["assumed"] * ("growth-rate" in kinds)
        basis = listed([*parts, *(["as requested for " + listed(sorted(asked))] if asked else [])])
    basis += ", with planned events" if request.get("planned_events") else ""
    until, more, most = view.horizon, middle[-1] / middle[0] - 1, high[-1] / high[0] - 1
    usual, high_growth = whole_percent(more, signed=True), whole_percent(most, signed=True)
    # A forecast is of the highest week, an average of today's times a rate is not.
    when = f"in the busiest week up to {until}" if basis.startswith("forecast") else f"by {until}"
    if request["growth_per_year_ratio"] is None and request["growth_high_per_year_ratio"] is not None:
        high_growth += ", as asked,"
    return f"Growth {basis}: {usual} {when}, {high_growth} in the high estimate. {silence or rise}".strip()


def silence_sentence(document: Mapping[str, Any]) -> str:
    """Return that the cluster has had no traffic of late; empty where it has."""
    since = document.get("silent_since")
    return f"There has been hardly any traffic since {since}, which is taken for an outage of metrics." if since else ""


def rise_sentence(document: Mapping[str, Any]) -> str:
    """Return that traffic has become far higher of late; empty where it has not, and of earlier plans."""
    found = document.get("risen")
    if not found:
        return ""
    return (
        f"Since {found['since']} there has been {found['ratio']:.1f} times the traffic of the two weeks before, which "
        "counts in part until it has lasted some weeks: if it stays, limits are exceeded sooner."
    )


def _binding(view: SizingView) -> str:
    forced = [step.resource for step in view.steps[:-1] if step.resource]
    out = view.runs_out(view.today) or {"resource": view.nearest["tightest_resource"]}
    return str(forced[-1] if forced else out["resource"])


def today_phrase(view: SizingView) -> str:
    """Describe until when today's brokers do."""
    count, out = view.today["broker_count"], view.runs_out(view.today)
    what = f"today’s {count:,}"
    if (maximum := view.passed_maximum(view.today)) is not None:
        return f"{what} already {run_verb(count, 'exceed')} {constraint_label(maximum['constraint'])}"
    if out is None:
        if not view.today["fits"]:
            return f"{what} {'does' if count == 1 else 'do'} not fit"
        return f"{what} {run_verb(count, 'last')} until {format_month(view.horizon)}"
    day = str(out[view.estimate])
    name = resource_name(out["resource"])
    if view.is_already_out(view.today, out["resource"], day):
        return f"{what} already {run_verb(count, 'exceed')} the limit of {name}"
    return f"{what} {run_verb(count, 'run')} out of {name} {'on' if _is_near(view, day) else 'in'} {_when(view, day)}"


def _is_near(view: SizingView, day: str) -> bool:
    """Return whether a day is so near that its month says too little."""
    return days_between(view.dates[0], day) <= NEAR_DAYS


def _when(view: SizingView, day: str) -> str:
    return day if _is_near(view, day) else format_month(day)


def _enough(view: SizingView) -> str:
    chosen, today = view.recommended or view.today, view.today
    count = today["broker_count"]
    sentence = f"Today’s {plural(count, 'broker')} {run_verb(count, 'last')} until {format_month(view.horizon)}"
    if is_alike(chosen, today) and chosen["broker_count"] == count and not chosen["moved_bytes"]:
        what = "with fewer brokers" if today["total_usd_per_month"] is None else "that costs less"
        fits = "is known to fit" if unknown_of_fewer(today["not_judged"]) or view.unknown_traffic else "fits"
        return f"{sentence}." if view.cheaper_elsewhere else f"{sentence}, and no option {what} {fits}."
    price, now = chosen["total_usd_per_month"], today["total_usd_per_month"]
    sentence += f"; {option_name(chosen)} would be enough too"
    if price is not None and now is not None:
        cost = run_verb(chosen["broker_count"], "cost")
        sentence += f", and {cost} {month_words(chosen, price)} instead of {todays_usd(view, chosen)}"
    return f"{sentence}."


def _nothing_lasts(view: SizingView) -> str:
    nearest, budget = view.nearest, view.budget_usd_per_month
    price = nearest["total_usd_per_month"]
    usd = format_usd if budget is None or price is None else told_apart(format_usd, budget, price)
    within = "that was tried" if budget is None else f"within {usd(budget)} per month"
    lead = f"Nothing {within} lasts until {format_month(view.horizon)}"
    beyond = (
        f"the cheapest that does, {option_name(nearest)}, costs {month_words(nearest, price, usd)}" if price else ""
    )
    if budget is not None and nearest["fits"] and price:
        steps = dataclasses.replace(view, steps=steps_to(view, nearest))
        average = mean_usd_per_month(steps)
        if average is not None and average <= budget:
            beyond += f", but {usd(average)} on average if brokers are added when they are needed"
    if view.steps:
        until, end = view.steps[-1].until, ""
        if until is not None:
            is_last_month = until[:7] == view.horizon[:7]
            these = "it lasts" if view.steps[-1].option["broker_count"] == 1 else "these last"
            end = f", and {these} {f'only until {until}' if is_last_month else f'until {_when(view, until)}'}"
        reason = view.why_none_placed
        unplaced = "" if reason is None else f"; no other placement is possible: {reason}"
        rest = beyond if nearest["fits"] else today_phrase(view) + unplaced
        return f"{lead}: {steps_phrase(view)}{end}; {rest}."
    if nearest["fits"]:
        return f"{lead}; {beyond or f'what {option_name(nearest)} would cost is not known'}."
    tightest = nearest["tightest_resource"], nearest["tightest_needed"]
    reason = f": {worst_reason(nearest['excuses'], tightest)}" if nearest["excuses"] else ""
    at_all = "nor fits today" if not view.fits_today else "nor for a week"
    return f"{lead}, {at_all}. The nearest is {option_name(nearest)}{reason}."


def badge(view: SizingView) -> tuple[str, str]:
    """Return the kind of the word in front of the headline, and the word."""
    if view.is_unknown:
        return BADGES[Status.NOT_JUDGED]
    if view.recommended is None:
        is_free = view.budget_usd_per_month is None or not view.nearest["fits"]
        return "bad", "✕ No option lasts" if is_free else "✕ Over budget"
    if view.today["fits"]:
        return BADGES[Status.NOT_JUDGED] if view.is_as_far_as_known(view.today) else ("good", "✓ Enough brokers")
    kind, sign = ("bad", "!") if view.today["fits_until"] is None else ("warn", None)
    arrow, words = _change_words(view)
    return kind, f"{sign or arrow} {words}"


def _change_words(view: SizingView) -> tuple[str, str]:
    """Return what the steps do to today's brokers, as an arrow and in words; more of them count before all else.

    Where today's do not fit, it is what is done now that counts.
    """
    first, today = view.steps[0], view.today
    steps = view.steps if today["fits_until"] else (first,)
    if first.option["kind"] == OptionKind.OTHER_HARDWARE:
        return "⇄", "Other brokers now"
    more = next((step for step in steps if step.option["broker_count"] > today["broker_count"]), None)
    if more is first:
        return "↑", "Too few brokers now"
    if more is not None:
        return "↑", f"More brokers by {_when(view, more.from_day)}"
    if first.option["broker_count"] < today["broker_count"]:
        return "↓", "Fewer brokers now"
    change = next(step for step in steps if step.option is not today)
    words = "Rebalance" if change.option["kind"] == OptionKind.REBALANCE else "Change brokers"
    return "⇄", f"{words} {'now' if change is first else 'by ' + _when(view, change.from_day)}"


def subject_words(view: SizingView) -> str:
    """Describe the answer in the subject of an e-mail."""
    month = format_month(view.horizon)
    if view.is_unknown:
        return "not judged how many brokers are needed"
    if view.recommended is None:
        budget = view.budget_usd_per_month
        within = "tried" if budget is None else f"within {format_usd(budget)} per month"
        return f"nothing {within} lasts until {month}"
    if view.today["fits"]:
        count = view.today["broker_count"]
        return f"{plural(count, 'broker')} {run_verb(count, 'last')} until {month}"
    return steps_phrase(view) + (f", until {month}" if len(view.steps) == 1 else "")


def not_judged_sentence(option: Row) -> str | None:
    """Return which resources nobody looked at, and which parameter would tell, or what the inventory lacks."""
    if not option["not_judged"]:
        return None
    why = [str(one["reason"]) for one in option["excuses"] if one["constraint"] in ("rates", "sizes")]
    if why:
        return f"Not judged: {', '.join(map(resource_name, option['not_judged']))}; {'; '.join(why)}."
    parts = [f"{resource_name(one)} ({_MISSING.get(one, 'its limit is not known')})" for one in option["not_judged"]]
    return f"Not judged, because this is unknown: {', '.join(parts)}."
