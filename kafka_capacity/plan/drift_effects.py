"""What a drift does to the plan that it has left, by what that plan has stored: nothing is placed or judged again.

A plan stores when each option passes the limit of each resource, and how much traffic and how many bytes it expects by
when. The limit is passed by what is expected on that day. Where more comes than was expected, so much comes earlier: on
the day for which the plan expects what it expected then, divided by the ratio. What does not run out before the horizon
is known by how much of it is used at most; of options whose use is not stored it is taken to be as tight as what is
tightest. What does not grow with traffic (throttles, idle processors) is taken to grow as well.

Which classes of topics a drift is in is told as well: each is held against its own peak or bytes. Named are those that
make up :data:`NAMED_SHARE` of what all are off in the direction of the drift, the largest first. Topics of no class
that the plan had are a class of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from kafka_capacity.demand.outlook import STORED, TRAFFIC
from kafka_capacity.demand.topic_classes import TopicClasses
from kafka_capacity.hardware.limits import Resource
from kafka_capacity.kafka.arrays import Float32s
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.questions.accuracy.scores import CPU, day_of, peak_of_all, stored_of_partitions, value_at
from kafka_capacity.questions.accuracy.watch import Drift
from kafka_capacity.questions.capacity.demand_parameters import class_pattern
from kafka_capacity.questions.capacity.option_words import option_name, run_verb, until_words
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView, is_alike
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


def move_effect(drift: Drift, made_on: str, scenario_id: str, seconds: float | None) -> Effect:
    """Return what a drift of the times of moves does to the move that a plan recommends, mostly a later one."""
    if seconds is None:
        return Effect()
    longer, planned = format_duration(seconds * drift.ratio), format_duration(seconds)
    return Effect(effect=f"By the plan of {made_on}, the move {scenario_id} now takes {longer} instead of {planned}")


def sizing_effect(drift: Drift, view: SizingView, broker_count: int) -> Effect:
    """Return until when the brokers that a plan recommends last with a drift, and how many last as long as it said.

    Where there are more of them by now than it recommended then, it is about as many as there are; nothing where the
    plan does not know how long these last.
    """
    option = view.steps[0].option if view.steps else None
    if option is not None and broker_count > option["broker_count"]:
        same = (row for row in view.options if is_alike(row, option) and row["broker_count"] == broker_count)
        option = next(same, None)
    if option is None:
        return Effect()
    expected = view.document[STORED if drift.figure == STORED else TRAFFIC]
    path = {"dates": view.dates, "values": expected[view.estimate]}  # by the estimate that decides
    before, now = _end(view, option, drift, path, 1.0), _end(view, option, drift, path, drift.ratio)
    count, name = option["broker_count"], option_name(option)
    if now == before:
        return Effect(effect=f"By that plan, {name} {run_verb(count, 'last')} {until_words(view, before)} even so")
    is_beyond = now is not None and now <= drift.last
    if is_beyond:
        are = "is" if count == 1 else "are"
        effect = f"By that plan, {name} {are} at a limit already, which was not expected {until_words(view, before)}"
    else:
        lasts = f"{run_verb(count, 'last')} {until_words(view, now)}"
        effect = f"By that plan, {name} {lasts} instead of {until_words(view, before)}"
    enough = [
        row["broker_count"]
        for row in view.options
        if is_alike(row, option)
        and row["fits_until"]
        and (_end(view, row, drift, path, drift.ratio) or "9999") >= (before or view.horizon)
    ]
    if not enough:
        effect += "; no count that was tried lasts that long"
    elif min(enough) != count:
        effect += f"; {min(enough):,} are enough" if is_beyond else f", or {min(enough):,} instead of {count:,}"
    return Effect(effect=effect, is_beyond=is_beyond)


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


NAMED_SHARE = 0.8
UNKNOWN = "topics unknown to the plan"


def drifted_classes(
    drift: Drift, document: Mapping[str, Any], topic_classes: Sequence[str], snapshot: Snapshot, hours: Float32s
) -> list[dict[str, Any]]:
    """Return the classes that a drift of traffic or stored bytes is in.

    Args:
        drift: of the figure.
        document: what the plan that it has left stored of sizing.
        topic_classes: by which patterns that plan classed topics.
        snapshot: of the day on which the drift was found.
        hours: float32[P, H], what was produced to its partitions in the hours that were scored.

    Returns:
        Name, what was expected and what came, each in the unit of the figure; empty where the plan had one class, said
        nothing of classes, or no class is off in the direction of the drift.
    """
    if drift.figure not in (TRAFFIC, STORED):
        return []
    expected: dict[str, float] = {}
    for one in document["classes"]:
        found = value_at(document["dates"], one[drift.figure], drift.last) if drift.figure in one else None
        if found is None:
            return []
        # A topic that an event names is a class of its own, called after both.
        name = str(one["name"]).partition(" (")[0]
        expected[name] = expected.get(name, 0.0) + found
    observed = _observed(drift.figure, tuple(expected), topic_classes, snapshot, hours)
    if len({*expected, *observed}) < 2:
        return []
    sign = 1.0 if drift.ratio > 1 else -1.0
    off = {name: sign * (observed.get(name, 0.0) - expected.get(name, 0.0)) for name in {*expected, *observed}}
    ordered = sorted((name for name in off if off[name] > 0), key=lambda name: (-off[name], name))
    reached = np.cumsum([0.0, *(off[name] for name in ordered)])
    named = [name for name, before in zip(ordered, reached, strict=False) if before < NAMED_SHARE * reached[-1]]
    return [{"name": name, "expected": expected.get(name, 0.0), "observed": observed.get(name, 0.0)} for name in named]


def _observed(
    figure: str, names: tuple[str, ...], topic_classes: Sequence[str], snapshot: Snapshot, hours: Float32s
) -> dict[str, float]:
    patterns = tuple(class_pattern(item) for item in topic_classes)
    classes = TopicClasses(names=names, class_of_topic=np.empty(0, dtype=np.int32), patterns=patterns)
    places = [classes.place_of(topic) for topic in snapshot.partitions.topics]
    of_topic = np.array([len(names) if place is None else place for place in places], dtype=np.int32)
    of_partition = of_topic[snapshot.partitions.topic]
    stored = stored_of_partitions(snapshot)
    return {
        (*names, UNKNOWN)[place]: peak_of_all(hours[of_partition == place])
        if figure == TRAFFIC
        else float(stored[of_partition == place].sum())
        for place in np.unique(of_partition).tolist()
    }
