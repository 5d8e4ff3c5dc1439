"""The days on which logs are as long as they get.

Between two dates of an outlook all is a straight line, and a disk whose logs fill up is none: it turns on the day on
which they are full. Four things fill logs: what is there today, where it is less than retention asks for; a launch,
which a log is full of once its retention has passed; what is planned for topics, new ones and a longer retention; and
usual traffic, where a dip or a burst that is over is still in the log.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator

import numpy as np

from kafka_capacity.demand.calendar_days import DAY_SECONDS, days_between, days_later
from kafka_capacity.demand.day_gaps import usual_ratio
from kafka_capacity.demand.disk import DEFAULT_SEGMENT_BYTES, log_bytes, segment_allowance
from kafka_capacity.demand.events import Launch, RetentionChange
from kafka_capacity.demand.history import TopicHistory, total_of
from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.demand.planned import PlannedEvents
from kafka_capacity.demand.workload import LogLimits
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot

TURN_RATIO = 0.05  # of all that is stored and to come, what fills up has at least to make dates of it
MOST_TURNS = 6  # each date takes its share of the time of sizing


def full_days(
    snapshot: Snapshot,
    load: PartitionLoad,
    limits: LogLimits,
    planned: PlannedEvents,
    horizon: str,
    history: TopicHistory,
) -> frozenset[str]:
    """Return the days on which logs are as long as they get; some of them may be past, or beyond the horizon.

    What fills today does so with the limits of today, and with those that are planned.
    """
    kept = limits.age_seconds()
    lasting = kept.copy()
    found = {day for topic in planned.added if (day := _added_day(topic)) is not None}
    for item in planned.of_topics:
        rows = np.isin(snapshot.partitions.topic, list(item.topics))
        if isinstance(item.event, RetentionChange):
            found |= set(_changed_days(item.event, limits.whole_retention_seconds[rows]))
            lasting[rows] = np.minimum(kept[rows], item.event.retention_seconds)
        else:
            found |= set(_launch_days(item.event, kept[rows]))
    size, rate = snapshot.partition_size_bytes().astype(np.float64), load.bytes_in_mean_bytes_per_second
    for seconds in (kept,) if np.array_equal(kept, lasting) else (kept, lasting):
        found |= set(fill_days(snapshot.ds, horizon, size, rate, seconds, limits))
    return frozenset(found | set(_usual_days(snapshot, kept, history)))


def _usual_days(snapshot: Snapshot, kept_seconds: Floats, history: TopicHistory) -> Iterator[str]:
    """Name the days on which a dip or a burst that is over has left the logs of much of the cluster."""
    names, topic = snapshot.partitions.topics, snapshot.partitions.topic
    size = snapshot.partition_size_bytes().astype(np.float64)
    for seconds in np.unique(kept_seconds[np.isfinite(kept_seconds)]).tolist():
        rows, days = kept_seconds == seconds, math.ceil(seconds / DAY_SECONDS)
        own = frozenset(names[code] for code in np.unique(topic[rows]).tolist())
        series = total_of(history, [row for row, name in enumerate(history.topics) if name in own], own)
        if not 0 < days <= series.days:
            continue
        off = abs(usual_ratio(series.rate_bytes_per_second, days) - 1)
        if off * size[rows].sum() > TURN_RATIO * size.sum() and (day := day_reached(snapshot.ds, seconds)) is not None:
            yield day


def _added_day(topic: AddedTopic) -> str | None:
    mean = topic.bytes_in_mean_bytes_per_second
    segments = topic.partitions * DEFAULT_SEGMENT_BYTES / mean if mean > 0 else math.inf
    return day_reached(topic.from_date, topic.retention_seconds + segments)


def _changed_days(change: RetentionChange, before_seconds: Floats) -> Iterator[str]:
    for before in np.unique(before_seconds).tolist():
        yield days_later(change.from_date, math.ceil(max(0.0, change.retention_seconds - before) / DAY_SECONDS))


def _launch_days(launch: Launch, kept_seconds: Floats) -> Iterator[str]:
    lasting = np.unique(kept_seconds)
    few = lasting[np.unique(np.linspace(0, len(lasting) - 1, MOST_TURNS).astype(int))]
    ends = () if launch.to_date is None else (days_later(launch.to_date, 1),)
    for turn in (launch.from_date, *ends):
        for seconds in few.tolist():
            if (day := day_reached(turn, seconds)) is not None:
                yield day


def day_reached(day: str, seconds: float) -> str | None:
    """Return the first day that begins so many seconds later or more; ``None`` for beyond the calendar.

    >>> day_reached("2026-11-20", 90_000.0), day_reached("2026-11-20", math.inf)
    ('2026-11-22', None)
    """
    first, days = datetime.date.fromisoformat(day), seconds / DAY_SECONDS
    return days_later(day, math.ceil(days)) if days < (datetime.date.max - first).days else None


def fill_days(
    ds: str, horizon: str, size_bytes: Floats, rate: Floats, age_seconds: Floats, limits: LogLimits
) -> Iterable[str]:
    """Return the days after ``ds`` and up to the horizon on which logs are full, so far apart that disks turn there.

    Of what fills up until then, about a sixth does between two of them. The others are float64[P], of one replica:
    today's size, its mean rate, and how old records get. A log is full when its retention bites, or its limit in bytes
    does.
    """
    asked = log_bytes(rate, age_seconds)
    by_age = asked + segment_allowance(size_bytes, asked, limits.segment_bytes)
    left = np.minimum(by_age, limits.retention_bytes + limits.segment_bytes) - size_bytes
    seconds = np.divide(left, rate, out=np.full(len(left), np.inf), where=(rate > 0) & (left > 0))
    is_filling = seconds <= days_between(ds, horizon) * DAY_SECONDS
    days, place = np.unique(np.ceil(seconds[is_filling] / DAY_SECONDS), return_inverse=True)
    full = np.cumsum(np.bincount(place, left[is_filling]))
    if not len(full) or full[-1] < TURN_RATIO * (size_bytes.sum() + full[-1]):
        return ()
    parts = np.arange(1, MOST_TURNS + 1) / MOST_TURNS * full[-1]
    chosen = np.unique(np.searchsorted(full, parts * (1 - 1e-9)))
    return tuple(days_later(ds, int(day)) for day in days[chosen].tolist())
