"""What a drift does to the plan that it has left, by what that plan has stored: nothing is placed or judged again.

A plan stores when each option passes the limit of each resource, and how much traffic and how many bytes it expects by
when. The limit is passed by what is expected on that day. Where more comes than was expected, so much comes earlier: on
the day for which the plan expects what it expected then, divided by the ratio. What does not run out before the horizon
is known by how much of it is used at most; of options whose use is not stored it is taken to be as tight as what is
tightest. What does not grow with traffic (throttles, idle processors) is taken to grow as well.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from kafka_capacity.demand.outlook import STORED, TRAFFIC
from kafka_capacity.hardware.limits import Resource
from kafka_capacity.questions.accuracy.scores import CPU, day_of, value_at
from kafka_capacity.questions.accuracy.watch import Drift
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView, is_alike
from kafka_capacity.questions.capacity.sizing_words import option_name, run_verb, until_words
from kafka_capacity.text import format_duration

_OF_FIGURE = {
    TRAFFIC: frozenset(Resource) - {Resource.DISK, Resource.REPLICAS},
    STORED: frozenset({Resource.DISK}),
    CPU: frozenset({Resource.CPU}),
}
"""What runs out earlier where more comes than was predicted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a drift does, in words, and whether the brokers that the plan recommends are at a limit already."""

    effect: str = ""
    is_beyond: bool = False


def move_effect(drift: Drift, scenario_id: str, seconds: float | None) -> Effect:
    """Return what a drift of the times of moves does to the move that is recommended."""
    if seconds is None:
        return Effect()
    longer, planned = format_duration(seconds * drift.ratio), format_duration(seconds)
    return Effect(effect=f"As a result the move {scenario_id} takes {longer} instead of {planned}")


def sizing_effect(drift: Drift, view: SizingView) -> Effect:
    """Return until when the brokers that a plan recommends last with a drift, and how many last as long as it said."""
    if not view.steps:
        return Effect()
    step = view.steps[0]
    path = _path(view, drift.figure)
    before, now = _end(view, step.option, drift, path, 1.0), _end(view, step.option, drift, path, drift.ratio)
    count, name = step.option["broker_count"], option_name(step.option)
    if now == before:
        return Effect(effect=f"{name} {run_verb(count, 'last')} {until_words(view, before)} even so")
    is_beyond = now is not None and now <= drift.last
    if is_beyond:
        are = "is" if count == 1 else "are"
        effect = f"As a result {name} {are} at a limit already, which was not expected {until_words(view, before)}"
    else:
        lasts = f"{run_verb(count, 'last')} {until_words(view, now)}"
        effect = f"As a result {name} {lasts} instead of {until_words(view, before)}"
    enough = [
        row["broker_count"]
        for row in view.options
        if is_alike(row, step.option)
        and row["fits_until"]
        and (_end(view, row, drift, path, drift.ratio) or "9999") >= (before or view.horizon)
    ]
    if not enough:
        effect += "; no count that was tried lasts that long"
    elif min(enough) != count:
        effect += f"; {min(enough):,} are enough" if is_beyond else f", or {min(enough):,} instead of {count:,}"
    return Effect(effect=effect, is_beyond=is_beyond)


def _path(view: SizingView, figure: str) -> Mapping[str, Any]:
    """Return what the plan expects, by the estimate that decides."""
    return {"dates": view.dates, "values": view.document[STORED if figure == STORED else TRAFFIC][view.estimate]}


def _end(view: SizingView, option: Row, drift: Drift, path: Mapping[str, Any], ratio: float) -> str | None:
    """Return on which day an option is at a limit if so many times what was expected comes; ``None`` for none."""
    affected = _OF_FIGURE[drift.figure]
    ends = []
    for row in view.exhaustion.get(option["option_id"], {}).values():
        day = row[view.estimate]
        if row["resource"] not in affected:
            ends.append(day)
            continue
        level = None if day is None else value_at(path["dates"], path["values"], day)
        if day is None and (used := _used(view, option, row["resource"])):
            level = path["values"][-1] / used
        ends.append(day if level is None or ratio == 1.0 else day_of(path["dates"], path["values"], level / ratio))
    return min((day for day in ends if day is not None), default=None)


def _used(view: SizingView, option: Row, resource: str) -> float:
    """Return how much of a resource that does not run out an option uses at most; 0 where that is not known."""
    of = {"option_id": option["option_id"], "resource": resource, "estimate": view.estimate}
    is_of = functools.reduce(pc.and_, (pc.equal(view.use.column(name), value) for name, value in of.items()))
    used = pc.max(view.use.column("used_ratio").filter(is_of)).as_py()
    if used is None and option["headroom_ratio"] is not None:
        used = 1.0 - option["headroom_ratio"]
    return float(used or 0.0)
