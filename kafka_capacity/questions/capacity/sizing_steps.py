"""Sizing's results as they are read, with the steps to the horizon: how many brokers by when, and what that costs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kafka_capacity.demand.calendar_days import days_between
from kafka_capacity.questions.capacity.choice import is_within
from kafka_capacity.questions.capacity.cost import DAYS_A_MONTH
from kafka_capacity.questions.capacity.results import OptionKind
from kafka_capacity.questions.capacity.sizing_view import (
    Row,
    SizingView,
    Step,
    end_of,
    has_no_rates,
    is_alike,
    is_soon,
)
from kafka_capacity.report.view import ReportView

_GAINED_DAYS = 7  # no change is worth so few days


def read_sizing(
    tables: Mapping[str, pa.Table], document: Mapping[str, Any], request: Mapping[str, Any]
) -> SizingView | None:
    """Read what a plan says; ``None`` where no rates were known, or the plan was made before there was sizing."""
    table = tables.get("sizing_options")
    if not document or table is None or not len(table) or has_no_rates(document):
        return None
    return view_sizing(tables, document, request)


def sizing_of(view: ReportView) -> SizingView | None:
    """Return what the plan of a report says of sizing, likewise."""
    return read_sizing(view.inputs.tables, view.inputs.sizing, view.inputs.request)


def view_sizing(tables: Mapping[str, pa.Table], document: Mapping[str, Any], request: Mapping[str, Any]) -> SizingView:
    """Return what sizing found, whether or not any rates were known."""
    options, exhaustion = tables["sizing_options"].to_pylist(), dict[str, dict[str, Row]]()
    for row in tables["sizing_exhaustion"].to_pylist():
        exhaustion.setdefault(row["option_id"], {})[row["resource"]] = row
    view = SizingView(
        options=tuple({**row, "excuses": json.loads(row["excuses"])} for row in options),
        exhaustion=exhaustion,
        use=tables["sizing_use"],
        document=document,
        estimate=str(request.get("sized_estimate") or "high"),
    )
    goal = view.recommended or _longest_lasting(view)
    return view if goal is None else dataclasses.replace(view, steps=steps_to(view, goal))


def steps_to(view: SizingView, goal: Row) -> tuple[Step, ...]:
    """Return for each date the fewest brokers of a goal's kind that last until then, equal ones in one step.

    Those that are there come first, for as long as they last: a rebalance is due when they run out.
    """
    day, today = view.dates[0], view.today
    if goal["shape"] == today["shape"] and goal["broker_count"] < today["broker_count"]:
        return (_step(view, goal, day, today),)
    way = on_the_way(view, goal)
    # What is chosen to pay less for as many brokers is no matter of what runs out.
    cheaper = goal if goal["kind"] == OptionKind.SHRINK_VOLUMES else None
    found: list[Step] = []

    def take(option: Row, date: str) -> None:
        if found and _is_short(found[-1], today):
            # Who orders brokers every few weeks orders those of the next weeks with them.
            before = found[-2].option if len(found) > 1 else today
            found[-1] = _step(view, option, found[-1].from_day, before)
        else:
            before = found[-1].option if found else today
            found.append(_step(view, option, (end_of(view, before)[0] or date) if found else day, before))

    def least(row: Row) -> tuple[Any, ...]:
        return row["broker_count"], row is not cheaper, row["kind"] != OptionKind.DO_NOTHING, row["option_id"]

    for date in view.dates:
        lasting = [row for row in way if view.lasts(row, date)]
        if not lasting:
            break
        kept = today if cheaper is None and today in lasting else None
        best = kept or min(lasting, key=least)
        if not found or found[-1].option is not best:
            take(best, date)
    if found:
        last = found[-1].option
        is_rebalance = last is today and goal is not today and goal["broker_count"] == today["broker_count"]
        # It may end between two dates; a rebalance, which takes no brokers, is due for a day.
        if _lasts(view, goal) - _lasts(view, last) >= (1 if is_rebalance else _GAINED_DAYS):
            take(goal, day)
    return tuple(found)


def _is_short(step: Step, today: Row) -> bool:
    """Return whether more has to be approved as soon as a change is."""
    return step.option is not today and step.until is not None and is_soon(step.until, step.from_day)


def on_the_way(view: SizingView, goal: Row) -> list[Row]:
    """Return the options of the goal's hardware that steps up to it may take, and doing nothing where that is one.

    It is none where the goal costs less, or has another replication factor: these are no matter of what runs out.
    """
    today, usd = view.today, [row["total_usd_per_month"] for row in (goal, view.today)]
    is_cheaper = goal["shape"] != today["shape"] and (None in usd or usd[0] < usd[1])
    has_today = goal["replication_factor"] is None and not is_cheaper
    return [
        row
        for row in view.options
        if (has_today and row is today)
        or (
            is_alike(row, goal)
            and row["broker_count"] <= goal["broker_count"]
            and not (row["shape"] == today["shape"] and row["broker_count"] < today["broker_count"])
        )
    ]


def _longest_lasting(view: SizingView) -> Row | None:
    """Return what lasts longest within the budget, else the best choice for the last date that anything lasts until.

    What runs out before the horizon is no reason to give up brokers, which would be missed then, nor for any change
    that lasts hardly longer than doing nothing does.
    """
    advice = view.document["advice"]
    named = [option_id for _, option_id in advice["by_date"] if option_id is not None]
    goal, fewest = view.by_id(advice.get("longest_within_budget")), view.by_id(named[-1] if named else None)
    if goal is None and fewest is not None:
        goal = _longest_alike(view, fewest)
    if goal is None:
        return None
    today, until = view.today, _lasts(view, goal)
    if goal is not today and until < _GAINED_DAYS:
        return None

    def is_kept(row: Row) -> bool:
        is_about_as_long = _lasts(view, row) + _GAINED_DAYS >= until
        is_lasting = is_about_as_long and view.lasts(row, view.dates[0])
        return is_lasting and is_within(view.budget_usd_per_month, row["total_usd_per_month"])

    if is_kept(today):
        return today
    count = today["broker_count"]
    if not view.is_own(goal) or goal["broker_count"] >= count:
        return goal
    own = [row for row in view.options if row["broker_count"] >= count and view.is_own(row) and is_kept(row)]
    # That today's cost more than a budget is no reason to give up any, either.
    fewer = goal if view.budget_usd_per_month is None else None
    return min(own, key=lambda row: (row["broker_count"], row["option_id"]), default=fewer)


def _longest_alike(view: SizingView, goal: Row) -> Row:
    """Return the fewest brokers that last about as long as any of a goal's kind that are no fewer.

    The goal is the fewest for the last date that anything lasts until; more may last until the next one is near.
    """
    more = [row for row in view.options if is_alike(row, goal) and row["broker_count"] >= goal["broker_count"]]
    more = [row for row in more if view.lasts(row, view.dates[0])]
    longest = max(_lasts(view, row) for row in more)
    lasting = [row for row in more if longest - _lasts(view, row) < _GAINED_DAYS]
    return goal if goal in lasting else min(lasting, key=lambda row: (row["broker_count"], row["option_id"]))


def _lasts(view: SizingView, row: Row) -> int:
    """Return how many days from the first on an option lasts before it passes a limit, or up to the horizon."""
    return days_between(view.dates[0], view.until(row) or view.horizon)


def _step(view: SizingView, option: Row, from_day: str, before: Row) -> Step:
    usd, less = view.usd_on(option, from_day), view.usd_on(before, from_day)
    return Step(
        option=option,
        from_day=from_day,
        until=view.until(option),
        resource=end_of(view, option)[1],
        usd_per_month=usd,
        more_usd_per_month=None if usd is None or less is None else usd - less,
    )


def mean_usd_per_month(view: SizingView) -> float | None:
    """Return what a month costs on average up to the horizon, step by step; ``None`` where that is not known."""
    usd, days = outlook_costs(view)["usd_step_by_step"], days_between(view.dates[0], view.horizon)
    return None if usd is None or not days else float(usd) * DAYS_A_MONTH / days


def outlook_costs(view: SizingView) -> dict[str, Any]:
    """Return what the steps to the horizon cost as plain data: a month of each, and all of them against all at once.

    ``usd_step_by_step`` and ``usd_at_once`` are those of the whole time up to the horizon: of each step while it lasts,
    and of the last one from the first day on.
    """
    ends = [*(step.from_day for step in view.steps[1:]), view.horizon]
    paid = [view.usd_between(step.option, step.from_day, end) for step, end in zip(view.steps, ends, strict=False)]
    known = [usd for usd in paid if usd is not None]
    return {
        "steps": [
            {
                **step.as_dict(),
                "usd_per_month": step.usd_per_month,
                "more_usd_per_month": step.more_usd_per_month,
                "is_estimate": step.option.get("priced_as") is not None,
            }
            for step in view.steps
        ],
        "usd_step_by_step": sum(known) if view.steps and len(known) == len(paid) else None,
        "usd_at_once": view.usd_between(view.steps[-1].option, view.dates[0], view.horizon) if view.steps else None,
    }
