"""What is expected of a cluster's traffic: classes of topics, a path for each, and planned events on top."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.demand.calendar_days import outlook_dates
from kafka_capacity.demand.folding import fold_events
from kafka_capacity.demand.growth import growth_path
from kafka_capacity.demand.outlook import DemandOutlook
from kafka_capacity.demand.planned import planned_events
from kafka_capacity.demand.settings import DemandSettings
from kafka_capacity.demand.topic_classes import class_topics


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DemandExpectation:
    """What is expected, and what a report says about how it came to be.

    Attributes:
        outlook: what sizing works with.
        notes: a sentence for each thing that was asked for and left out.
    """

    outlook: DemandOutlook
    notes: tuple[str, ...]


def expect_demand(snapshot: Snapshot, load: PartitionLoad, settings: DemandSettings) -> DemandExpectation:
    """Say what traffic is expected at each date.

    Args:
        snapshot: of the cluster.
        load: its traffic today.
        settings: the horizon, growth rates and events.

    Raises:
        RequestError: an event cannot be; one line for each mistake.
    """
    planned = planned_events(settings.events, snapshot, horizon_months=settings.horizon_months)
    dates = outlook_dates(snapshot.ds, settings.horizon_months, planned.turns)
    classes = class_topics(snapshot.partitions.topics, topic_rates(snapshot, load), settings.topic_classes)
    days = load.hours // 24
    paths = [
        growth_path(
            name, dates, settings, history_days=days, why=f"The history has {days} days, too few for a forecast"
        )
        for name in classes.names
    ]
    outlook = fold_events(snapshot, classes, paths, planned, dates, settings.high_quantile)
    return DemandExpectation(outlook=outlook, notes=planned.notes)


def topic_rates(snapshot: Snapshot, load: PartitionLoad) -> NDArray[np.float64]:
    """Give float64[T], bytes/s produced to each topic on average."""
    partitions = snapshot.partitions
    rates = np.bincount(partitions.topic, weights=load.bytes_in_mean_bytes_per_second, minlength=len(partitions.topics))
    return np.asarray(rates, dtype=np.float64)
