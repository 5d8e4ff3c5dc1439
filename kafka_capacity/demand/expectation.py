"""What is expected of a cluster's traffic: classes of topics, a path for each, and planned events on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.calendar_days import WEEK_DAYS, days_later, months_later, outlook_dates
from kafka_capacity.demand.class_forecast import forecast_class
from kafka_capacity.demand.day_gaps import clean_days
from kafka_capacity.demand.folding import fold_events
from kafka_capacity.demand.full_logs import full_days
from kafka_capacity.demand.history import DailySeries, TopicHistory, total_of
from kafka_capacity.demand.outlook import Basis, DemandOutlook
from kafka_capacity.demand.planned import planned_events
from kafka_capacity.demand.settings import DemandSettings
from kafka_capacity.demand.topic_classes import TopicClasses, class_topics
from kafka_capacity.demand.workload import LogLimits
from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.text import whole_percent

CLUSTER = "cluster"
SILENT_RATIO = 0.02  # a cluster with less of its usual traffic has none to speak of
RISEN_RATIO = 1.5  # times the highest of the two weeks before: a day with more is none of these
NEW_DAYS = 14  # fewer days of more traffic may still be a burst; of more the forecast tells by itself
REFERENCE_DAYS = 28  # traffic is over the mean of so many last days, or fewer where today's load rests on fewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """More traffic than ever in the weeks before, too new to tell whether it stays."""

    since: str  # the first day of it, `YYYY-MM-DD`
    ratio: float  # its mean over that of the two weeks before


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DemandExpectation:
    """What is expected, and what a report says about how it came to be."""

    outlook: DemandOutlook  # what sizing works with
    notes: tuple[str, ...]  # which growth holds where one was asked for, and a sentence for each event that is left out
    silent_since: str | None  # the last day with traffic to speak of; `None` where there has been some for a week
    risen: Rise | None  # what a forecast takes for a burst rather than a new level; `None` for nothing of the kind


def expect_demand(
    snapshot: Snapshot,
    load: PartitionLoad,
    settings: DemandSettings,
    history: TopicHistory | None = None,
    limits: LogLimits | None = None,
) -> DemandExpectation:
    """Describe what traffic is expected at each date; without a history of topics, the growth rates hold.

    Dates are the months up to the horizon, the turns of events, and the days on which logs with such limits are full.

    Raises:
        RequestError: an event or a class cannot be; one line for each mistake.
    """
    # What today's load is the mean and the peak of, as far as that is known.
    measured_days = min(max(load.hours // 24, 1), REFERENCE_DAYS) if load.hours else REFERENCE_DAYS
    reference_days = max(measured_days, WEEK_DAYS)
    horizon = months_later(snapshot.ds, settings.horizon_months)
    planned = planned_events(settings.events, snapshot, horizon=horizon, measured_days=measured_days)
    history = history or TopicHistory.empty(snapshot.ds)
    full = full_days(snapshot, load, limits, planned, horizon, history) if limits is not None else frozenset()
    dates = outlook_dates(snapshot.ds, settings.horizon_months, (*planned.turns, *full))
    topics = snapshot.partitions.topics
    rates = np.bincount(snapshot.partitions.topic, load.bytes_in_mean_bytes_per_second, minlength=len(topics))
    classes = class_topics(topics, rates.astype(np.float64), settings.topic_classes)
    for name in (name for name, _ in settings.class_growth if name not in classes.names):
        reason = f"there is no such topic class; the classes are {', '.join(classes.names)}"
        raise RequestError(f"class_growth: {name!r} is invalid: {reason}")
    series = class_series(history, classes, topics)
    silent_since = _silent_since(series[-1])
    paths = [
        forecast_class(name, one, dates, settings, reference_days=reference_days, silent_since=silent_since)
        for name, one in zip(classes.names, series[:-1], strict=True)
    ]
    outlook = fold_events(snapshot, classes, paths, planned, dates, settings.high_quantile, measured_days=measured_days)
    return DemandExpectation(
        outlook=outlook,
        notes=(*_growth_notes(settings, classes), *planned.notes),
        silent_since=silent_since,
        risen=risen(series[-1]) if any(path.basis.basis is Basis.FORECAST for path in paths) else None,
    )


def risen(total: DailySeries) -> Rise | None:
    """Return since when every day that is known has had far more traffic than any of the two weeks before."""
    rates = total.rate_bytes_per_second
    for days in range(1, min(NEW_DAYS, len(rates) - NEW_DAYS + 1)):
        before, after = (part[np.isfinite(part)] for part in (rates[-days - NEW_DAYS : -days], rates[-days:]))
        is_since = np.isfinite(rates[-days]) and before.min(initial=np.inf) > 0
        if is_since and len(before) >= WEEK_DAYS and after.min() > RISEN_RATIO * before.max():
            return Rise(since=days_later(total.last_day, 1 - days), ratio=float(after.mean() / before.mean()))
    return None


def _silent_since(total: DailySeries) -> str | None:
    """Return the last day with traffic to speak of; ``None`` where that was less than a week ago.

    That all topics stop at once is likelier to be the metrics. A few that go on are no sign against it.
    """
    rates = np.nan_to_num(total.rate_bytes_per_second)
    if not rates.any():
        return None
    least = SILENT_RATIO * float(np.median(rates[rates > 0]))
    clean = clean_days(np.where(total.rate_bytes_per_second < least, 0.0, total.rate_bytes_per_second))
    return days_later(total.last_day, -clean.stopped_days) if clean is not None and clean.stopped_days else None


def _growth_notes(settings: DemandSettings, classes: TopicClasses) -> tuple[str, ...]:
    """Return which growth holds instead of what the history says, where one was asked for."""
    own = [name for name, _ in settings.class_growth]
    others = any(name not in own for name in classes.names)
    named = [(name, settings.growth_of(name)) for name in own]
    named += [("all other topics" if own else "all topics", settings.growth_of(CLUSTER))] if others else []
    rates = [
        f"{whole_percent(growth.middle)} a year for {name}, {whole_percent(growth.high)} in the high estimate"
        for name, growth in named
        if growth is not None
    ]
    return (f"Growth is as requested, regardless of the history: {'; '.join(rates)}.",) if rates else ()


def class_series(history: TopicHistory, classes: TopicClasses, living: Sequence[str]) -> list[DailySeries]:
    """Return the total of each class, and of all topics last.

    A topic that is gone, and not among the ``living`` that were classed, belongs to the class of its name, else to the
    pooled one where there is one.
    """
    of_living = dict(zip(living, classes.class_of_topic.tolist(), strict=True))
    rows: list[list[int]] = [[] for _ in classes.names]
    for row, topic in enumerate(history.topics):
        place = of_living[topic] if topic in of_living else classes.place_of(topic)
        if place is not None:
            rows[place].append(row)
    names = frozenset(living)
    return [total_of(history, chosen, names) for chosen in (*rows, range(len(history.topics)))]
