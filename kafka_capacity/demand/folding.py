"""Fold planned events into what is expected of classes: what an event names becomes a class of its own."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from kafka_capacity.demand.class_forecast import ExpectedPath
from kafka_capacity.demand.events import Launch, RetentionChange, retention_at
from kafka_capacity.demand.outlook import Basis, ClassBasis, DemandOutlook
from kafka_capacity.demand.planned import PlannedEvents
from kafka_capacity.demand.topic_classes import TopicClasses
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.cluster.snapshot import Snapshot

_Key = tuple[int, tuple[int, ...], float]
"""The class of a topic, the places of events that name it, and its retention in seconds where one changes that."""
_Events = Sequence[Launch | RetentionChange]


def fold_events(
    snapshot: Snapshot,
    classes: TopicClasses,
    paths: Sequence[ExpectedPath],
    planned: PlannedEvents,
    dates: Sequence[str],
    high_quantile: float,
    *,
    measured_days: int,
) -> DemandOutlook:
    """Return the outlook of a cluster, with a path for each class of its topics.

    Dates ascend from that of the snapshot on, today's load is the mean of ``measured_days`` before it, and
    ``high_quantile`` is that of the paths' high estimates.
    """
    keys = [_key(topic, snapshot, classes, planned) for topic in range(len(snapshot.partitions.topics))]
    chosen = sorted(set(keys))
    place = {key: index for index, key in enumerate(chosen)}
    of_topic = np.array([place[key] for key in keys], dtype=np.int32)
    folded = [(paths[key[0]], [planned.of_topics[index].event for index in key[1]], key[2]) for key in chosen]

    def by_date(rows: list[Floats]) -> Floats:
        return np.array(rows).reshape(len(chosen), len(dates))

    launched = by_date([_launch_ratio(events, dates) for _, events, _ in folded])
    return DemandOutlook(
        dates=tuple(dates),
        classes=tuple(_basis(path.basis, events, before, snapshot.ds) for path, events, before in folded),
        class_of=of_topic[snapshot.partitions.topic],
        rate_ratio=by_date([path.middle for path, _, _ in folded]) * launched,
        rate_ratio_high=by_date([path.high for path, _, _ in folded]) * launched,
        high_quantile=high_quantile,
        retention_ratio=by_date([_retention_ratio(events, before, dates) for _, events, before in folded]),
        mean_ratio=np.array([_mean_ratio(path, events, snapshot.ds, measured_days) for path, events, _ in folded]),
        added=planned.added,
    )


def _key(topic: int, snapshot: Snapshot, classes: TopicClasses, planned: PlannedEvents) -> _Key:
    events = tuple(index for index, item in enumerate(planned.of_topics) if topic in item.topics)
    changes_retention = any(isinstance(planned.of_topics[index].event, RetentionChange) for index in events)
    before = float(snapshot.topics.retention_seconds[topic]) if changes_retention else 0.0
    return int(classes.class_of_topic[topic]), events, before


def _launch_ratio(events: _Events, dates: Sequence[str]) -> Floats:
    ratio = np.ones(len(dates))
    for event in events:
        if isinstance(event, Launch):
            measured = event.factor if event.is_measured(dates[0]) else 1.0
            ratio[1:] *= [event.factor_at(date) / measured for date in dates[1:]]
    return ratio


def _mean_ratio(path: ExpectedPath, events: _Events, ds: str, measured_days: int) -> float:
    """Return today's mean over the measured one; a forecast goes on from the days of a launch by itself."""
    launches = [event for event in events if isinstance(event, Launch)]
    if path.basis.basis is not Basis.GROWTH_RATE or not launches:
        return path.mean_ratio
    return math.prod(event.mean_ratio(ds, measured_days) for event in launches)


def _retention_ratio(events: _Events, before: float, dates: Sequence[str]) -> Floats:
    changes = [event for event in events if isinstance(event, RetentionChange)]
    if not changes:
        return np.ones(len(dates))
    return np.array([retention_at(date, before, changes) / before for date in dates])


def _basis(basis: ClassBasis, events: _Events, before_seconds: float, ds: str) -> ClassBasis:
    if not events:
        return basis
    running = [event for event in events if isinstance(event, Launch) and event.is_measured(ds)]
    ends = "; ".join(
        f"{event.label()} is in progress, so peaks already include it"
        + ("" if event.to_date is None else f", and traffic is {1 / event.factor:.2g} times as much after it")
        for event in running
    )
    labels = "; ".join(event.label() for event in events)
    before = f", {before_seconds / 86_400:g} days today" if before_seconds else ""
    return dataclasses.replace(
        basis,
        name=f"{basis.name} ({labels}{before})",
        reason=f"{basis.reason} Planned on top: {labels}." + (f" The {ends}." if ends else ""),
    )
