"""Which classes of topics a drift is in: what each brought, beside what the plan that was left expected of it.

Each class is held against its own peak or bytes. Named are those that make up :data:`NAMED_SHARE` of what all classes
are off in the direction of the drift, the largest first. Topics of no class that the plan had are a class of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kafka_capacity.demand.outlook import STORED, TRAFFIC
from kafka_capacity.demand.topic_classes import TopicClasses
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.questions.accuracy.scores import peak_of_all, value_at
from kafka_capacity.questions.accuracy.watch import Drift
from kafka_capacity.questions.capacity.demand_parameters import class_pattern

NAMED_SHARE = 0.8
UNKNOWN = "topics unknown to the plan"


def drifted_classes(
    drift: Drift,
    document: Mapping[str, Any],
    topic_classes: Sequence[str],
    snapshot: Snapshot,
    hours: np.ndarray[Any, np.dtype[np.float32]],
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
    figure: str,
    names: tuple[str, ...],
    topic_classes: Sequence[str],
    snapshot: Snapshot,
    hours: np.ndarray[Any, np.dtype[np.float32]],
) -> dict[str, float]:
    patterns = tuple(class_pattern(item) for item in topic_classes)
    classes = TopicClasses(names=names, class_of_topic=np.empty(0, dtype=np.int32), patterns=patterns)
    places = [classes.place_of(topic) for topic in snapshot.partitions.topics]
    of_topic = np.array([len(names) if place is None else place for place in places], dtype=np.int32)
    of_partition = of_topic[snapshot.partitions.topic]
    return {
        (*names, UNKNOWN)[place]: peak_of_all(hours[of_partition == place])
        if figure == TRAFFIC
        else float(snapshot.size_bytes[of_partition == place].sum())
        for place in np.unique(of_partition).tolist()
    }
