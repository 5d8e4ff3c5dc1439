"""How many brokers, by when: the steps to the horizon, when today's run out, what is expected, and what is used."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.hardware.limits import Resource, resource_name
from kafka_capacity.questions.capacity.cost_words import pay_sentence
from kafka_capacity.questions.capacity.option_words import CONDITION_WORDS, option_label, option_name
from kafka_capacity.questions.capacity.sizing_steps import on_the_way, sizing_of
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView, has_no_rates
from kafka_capacity.questions.capacity.sizing_words import not_judged_sentence
from kafka_capacity.report.anchors import BY_WHEN
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import Column, chart, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import format_limit, format_percent, format_rate, format_usd, plural

_STEPS = (
    column("from_day", "Needed by", "day"),
    column("option", "Brokers"),
    column("until", "Lasts until", "day"),
    column("resource", "Limited by"),
    column("usd", "Per month then", "usd"),
    column("more_usd", "Increase per month", "usd"),
)
_BY_DATE = (
    column("days", "If it only has to last until"),
    column("option", "Recommended"),
    column("usd", "Per month", "usd"),
)
_EXHAUSTION = (
    column("resource", "Resource"),
    column("high", "High estimate", "day"),
    column("middle", "Middle estimate", "day"),
    column("condition", "Under"),
    column("broker", "Broker"),
    column("now", "Used now", "percent"),
    column("then", "Used at the horizon", "percent"),
)

_TRAFFIC = (
    column("day", "Date", "day"),
    column("middle_bytes", "Middle estimate", "rate"),
    column("high_bytes", "High estimate", "rate"),
)

_NEVER = "9999-12-31"
_OTHER = {"high": "middle", "middle": "high"}
MAX_RESOURCES_DRAWN = 3  # those that are used most; the others are in a table

Worst = Mapping[tuple[str, str, str], float]  # of :meth:`SizingView.worst_used`


@section(BY_WHEN, title="How many, by when", order=2)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the timeline, the table of exhaustion and the charts over time."""
    sizing = view.of(sizing_of)
    if sizing is None:
        return None
    outlook = outlook_chart(sizing)
    return {
        "steps": steps_table(sizing),
        "by_date": shorter_time_table(sizing),
        "exhaustion": [exhaustion_table(sizing, name, option) for name, option in drawn_options(sizing)],
        "not_judged": not_judged_sentence(sizing.nearest),
        "charts": [*used_charts(sizing), _traffic(sizing), *([] if outlook is None else [outlook])],
    }


def steps_table(view: SizingView) -> dict[str, Any] | None:
    """Return the counts of brokers on the way to the horizon; ``None`` where none of them lasts."""
    rows = [
        {
            "from_day": "now" if not place else step.from_day,
            "option": option_label(step.option),
            "until": step.until or f"beyond {view.horizon}",
            "resource": "" if step.resource is None else resource_name(step.resource),
            "usd": step.usd_per_month,
            "more_usd": step.more_usd_per_month,
        }
        for place, step in enumerate(view.steps)
    ]
    note = (
        f"The smallest number of brokers that lasts, at the {view.estimate} estimate; each step is due on the day on "
        "which the previous one exceeds a limit."
    )
    if len(rows) > 1 and any(row["more_usd"] is not None for row in rows[1:]):
        note += " An increase is over what the previous step would cost from that day on, with the traffic of that day."
    if (paid := pay_sentence(view)) is not None:
        note += f" Pay now or later: {paid}"
    return table("Steps to the horizon", _priced(_STEPS, rows), rows, note=note) if rows else None


def _priced(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Leave out dollars that nobody knows."""
    return [one for one in columns if one.kind != "usd" or any(row[one.key] is not None for row in rows)]


def shorter_time_table(view: SizingView) -> dict[str, Any] | None:
    """Describe what would be cheapest for a shorter time, where that is another answer than the steps.

    What would do today alone is no answer: it would be missed tomorrow.
    """
    by_date = view.document["advice"]["by_date"][1:]
    alike = [(option_id, list(days)) for option_id, days in itertools.groupby(by_date, key=operator.itemgetter(1))]
    runs = [(days[0][0], days[-1][0], option_id) for option_id, days in alike]
    if {run[2] for run in runs} <= {step.option["option_id"] for step in view.steps}:
        return None
    rows = [
        {
            "days": first if first == last else f"{first} to {last}",
            "option": "no option" if option is None else option_label(option),
            "usd": None if option is None else option["total_usd_per_month"],
        }
        for first, last, option in ((first, last, view.by_id(option_id)) for first, last, option_id in runs)
    ]
    return table("Best choice for a shorter horizon", _priced(_BY_DATE, rows), rows)


def exhaustion_table(view: SizingView, name: str, option: Row) -> dict[str, Any]:
    """Return when each resource passes its limit, the first one first."""
    used = view.worst_used(option)
    judged = view.exhaustion.get(option["option_id"], {})
    rows = [
        {
            "resource": resource_name(resource),
            **{name: _day(view, option, resource, row[name], name) for name in ("high", "middle")},
            "condition": CONDITION_WORDS[row["condition"]] if row["condition"] else None,
            "broker": None if row["broker_id"] is None else str(row["broker_id"]),
            "now": used.get((resource, view.dates[0], view.estimate)),
            "then": used.get((resource, view.horizon, view.estimate)),
        }
        for resource, row in sorted(
            judged.items(), key=lambda one: (one[1]["high"] or _NEVER, one[1]["middle"] or _NEVER, one[0])
        )
    ]
    label = f"When resources exceed their limit: {name}, {option_name(option)}"
    note = f"Used is the share of the limit at the fullest broker, at the {view.estimate} estimate."
    is_loaded = bool(judged) and not has_no_rates(view.document)
    if is_loaded and Resource.DISK_IO not in {*judged, *option["not_judged"]}:
        lasts = "" if option["fits"] else f" until {option['fits_until'] or view.dates[0]}"
        note += f" Disk throughput is unknown, but{lasts} the load is within what one hard disk sustains."
    return table(label, _EXHAUSTION, rows, note=note)


def _day(view: SizingView, option: Row, resource: str, day: str | None, estimate: str) -> str:
    if day is None:
        return f"not before {view.horizon}"
    return "already" if view.is_already_out(option, resource, day, estimate) else day


def _traffic(view: SizingView) -> dict[str, Any]:
    traffic, quantile = view.document["traffic"], view.document.get("high_quantile")
    values = [
        {"day": day, "middle_bytes": middle, "high_bytes": high}
        for day, middle, high in zip(view.dates, traffic["middle"], traffic["high"], strict=True)
    ]
    first, last = values[0], values[-1]
    title = "Produced to the cluster at peak"
    return chart(
        "expected-traffic",
        "traffic_over_time",
        title=title,
        description=f"Line chart of the produce rate at peak: {format_rate(first['middle_bytes'])} today, on "
        f"{view.horizon} {format_rate(last['middle_bytes'])} at the middle and "
        f"{format_rate(last['high_bytes'])} at the high estimate.",
        values=values,
        data_table=table(title, _TRAFFIC, values),
        note="Thin line: the middle estimate; thick line: the high one"
        + (f", not exceeded with a probability of {format_limit(quantile)}" if quantile else "")
        + ". Peak is the 99th percentile of hours"
        + ("; planned topics count with their own peak." if view.document["added_topics"] else "."),
        is_half_wide=True,
    )


def outlook_chart(view: SizingView) -> dict[str, Any] | None:
    """Describe the chart; ``None`` where nothing that was tried lasts."""
    if not view.steps:
        return None
    steps = {step.from_day if place else view.dates[0]: step for place, step in enumerate(view.steps)}
    ends = _ends(view, _OTHER[view.estimate])
    days = sorted({*view.dates, *steps, *(end for end in ends.values() if end is not None and end <= view.horizon)})
    values: list[dict[str, Any]] = []
    for day in days:
        step = steps[max(start for start in steps if start <= day)]
        lasting = [count for count, end in ends.items() if end is None or end > day]
        values.append(
            {
                "day": day,
                "count": step.option["broker_count"] if step.until is None or day <= step.until else None,
                "other": min(lasting, default=None),
                "usd": view.usd_on(step.option, day),
                "label": f"{step.option['broker_count']:,}" if day in steps else None,
                "price": None if day not in steps or step.usd_per_month is None else format_usd(step.usd_per_month),
            }
        )
    today = view.today["broker_count"]
    counts = [today, *(row[name] for row in values for name in ("count", "other") if row[name] is not None)]
    margin = -(-(max(counts) - min(counts)) // 6) or 1  # the label of the highest step has room above it
    title = "Brokers needed, and cost per month"
    words = "; ".join(
        plural(step.option["broker_count"], "broker")
        + (f" from {day} on" if day > view.dates[0] else " now")
        + ("" if step.usd_per_month is None else f", {format_usd(step.usd_per_month)} per month")
        for day, step in steps.items()
    )
    columns = (
        column("day", "Date", "day"),
        column("count", f"At the {view.estimate} estimate", "count"),
        column("other", f"At the {_OTHER[view.estimate]} estimate", "count"),
        column("usd", "Per month then", "usd"),
    )
    return chart(
        "outlook",
        "count_over_time",
        title=title,
        description=f"Step chart of the number of brokers needed: {words}.",
        values=values,
        params={"today": today, "bounds": [max(0, min(counts) - margin), max(counts) + margin]},
        data_table=table(title, columns if any(row["usd"] for row in values) else columns[:-1], values),
        note=f"Thick: at the {view.estimate} estimate, which decides; thin: at the {_OTHER[view.estimate]} one. "
        f"Dashed: today’s {today:,}.",
        is_half_wide=True,
    )


def _ends(view: SizingView, estimate: str) -> dict[int, str | None]:
    """Return when each count of the steps' hardware first passes a limit at an estimate; ``None`` for not at all."""
    found: dict[int, str | None] = {}
    for row in on_the_way(view, view.steps[-1].option):
        out = view.runs_out(row, estimate)
        end = None if out is None else str(out[estimate])
        before = found.setdefault(row["broker_count"], end)
        found[row["broker_count"]] = None if end is None or before is None else max(before, end)
    return found


def drawn_options(view: SizingView) -> tuple[tuple[str, Row], ...]:
    """Return the options that details were kept of, with what charts call them."""
    today, option = ("doing nothing", view.today), view.recommended
    return (today,) if option is None or option is view.today else (today, ("last step", option))


def used_charts(view: SizingView) -> list[dict[str, Any]]:
    """Draw the resources that are used most, each over time for every option that is kept."""
    used = {name: view.worst_used(option) for name, option in drawn_options(view)}
    resources = sorted(
        {key[0] for worst in used.values() for key in worst},
        key=lambda one: (-max(ratio for worst in used.values() for key, ratio in worst.items() if key[0] == one), one),
    )
    return [
        _used_chart(view, resource, used, is_in_email=not place)
        for place, resource in enumerate(resources[:MAX_RESOURCES_DRAWN])
    ]


def _used_chart(view: SizingView, resource: str, used: Mapping[str, Worst], *, is_in_email: bool) -> dict[str, Any]:
    values = [
        {"kind": kind, "day": day, "middle": worst[resource, day, "middle"], "high": worst[resource, day, "high"]}
        for kind, worst in used.items()
        for day in view.dates
        if (resource, day, "high") in worst
    ]
    title = f"Share of the {resource_name(resource)} limit in use"
    ends = [
        f"{kind} {format_percent(worst[resource, view.dates[0], 'high'])} at first and "
        f"{format_percent(worst[resource, view.horizon, 'high'])} on {view.horizon}"
        for kind, worst in used.items()
        if (resource, view.horizon, "high") in worst
    ]
    columns = (
        column("kind", "With"),
        column("day", "Date", "day"),
        column("middle", "Middle estimate", "percent"),
        column("high", "High estimate", "percent"),
    )
    return chart(
        f"used-{resource.replace('_', '-')}",
        "used_over_time",
        title=title,
        description=f"Line chart of how much of the {resource_name(resource)} limit the fullest broker uses, at the "
        f"high estimate: {'; '.join(ends)}.",
        values=values,
        params={"kinds": list(used)},
        data_table=table(title, columns, values),
        note="For the fullest broker, under the worst failure that it must tolerate. Thin line: the middle "
        "estimate; thick line: the high one; 100 % is the limit.",
        is_half_wide=True,
        is_in_email=is_in_email,
    )
