"""The daily history of topics: whole days, each once, values that can be rates."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.checks.metrics import RATE_COLUMNS
from kafka_capacity.inventory.column_values import encode, floats, ints
from kafka_capacity.inventory.findings import counted, fatal, some, warning
from kafka_capacity.inventory.raw import is_day

ABSURD_RATE = 1e13  # bytes per second of one topic: no cluster is known to take in 80 Tbit/s

_DAY = 86_400


def check_history(history: pa.Table, ds: str) -> Iterator[Problem]:
    """Check the table of history against the day of the inventory."""
    if not len(history):
        return
    names, topic = encode(history.column("topic"))
    seconds = ints(history.column("day").cast("int64"))
    odd = int((seconds % _DAY != 0).sum())
    if odd:
        yield fatal(
            "day_not_whole",
            "history.day",
            f"{counted(odd, 'row')} whose day is not a midnight in UTC; give one row for each day of a topic",
        )
    order = np.lexsort((seconds, topic))
    is_repeated = (np.diff(topic[order]) == 0) & (np.diff(seconds[order]) == 0)
    if is_repeated.any():
        twice = np.unique(topic[order][1:][is_repeated])
        yield fatal(
            "duplicate_day",
            "history.day",
            f"{counted(int(is_repeated.sum()), 'row')} for a day that is there already, of "
            f"{counted(len(twice), 'topic')} ({some((names[i] for i in twice), len(twice))}); give one row a day",
        )
    yield from _check_rates(history)
    if is_day(ds):
        end = datetime.datetime.combine(datetime.date.fromisoformat(ds), datetime.time(), datetime.UTC).timestamp()
        future = int((seconds > end).sum())
        if future:
            yield warning(
                "future_history",
                "history.day",
                f"{counted(future, 'row')} of history later than the day {ds}; they are left out, check ds",
            )


def _check_rates(history: pa.Table) -> Iterator[Problem]:
    for name in RATE_COLUMNS:
        column = history.column(name)
        rate = floats(column)
        unusable = int(((rate < 0) | ~np.isfinite(rate)).sum()) - column.null_count
        if unusable:
            yield warning(
                "unusable_history_rate",
                f"history.{name}",
                f"{counted(unusable, 'value')} of {name} negative, infinite or not a number; they are left out",
            )
        absurd = int((np.isfinite(rate) & (rate > ABSURD_RATE)).sum())
        if absurd:
            yield warning(
                "absurd_history_rate",
                f"history.{name}",
                f"{counted(absurd, 'value')} of {name} above {ABSURD_RATE:g} of one topic; check the unit",
            )
