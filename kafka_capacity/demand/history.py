"""What was produced to topics day by day, and the totals of classes of topics with their gaps told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.calendar_days import days_later
from kafka_capacity.kafka.arrays import Flags, Floats

MAX_MISSING_RATIO = 0.1  # a day of a total is known where so much is not, at most; the rest is scaled up


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicHistory:
    """The daily means of topics."""

    first_day: str  # the day of the first column, `YYYY-MM-DD`
    topics: tuple[str, ...]  # T names, sorted; topics that are gone are among them
    rate_bytes_per_second: Floats  # float64[T, N], produced to each topic, NaN where not known

    @classmethod
    def empty(cls, day: str) -> TopicHistory:
        """Return the history of a cluster of which nothing is known."""
        return cls(first_day=day, topics=(), rate_bytes_per_second=np.zeros((0, 0)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DailySeries:
    """The total of some topics day by day, from the first to the last day that is known."""

    first_day: str  # of the series, `YYYY-MM-DD`; empty where nothing is known
    rate_bytes_per_second: Floats  # float64[N], NaN where not known

    @property
    def days(self) -> int:
        """How many days there are from the first to the last."""
        return len(self.rate_bytes_per_second)

    @property
    def last_day(self) -> str:
        """The last day; empty where nothing is known."""
        return days_later(self.first_day, self.days - 1) if self.first_day else ""


def total_of(history: TopicHistory, rows: Sequence[int], living: frozenset[str]) -> DailySeries:
    """Add up topics.

    Before its first known day a topic is taken not to have been there, and so after its last where it is gone today.
    Any other day that is not known is a gap: where topics with more than :data:`MAX_MISSING_RATIO` of the total have
    one, the total of that day is not known; else what is known is scaled up. ``living`` are the topics of today.
    """
    rates = history.rate_bytes_per_second[list(rows)]
    is_gone = np.array([history.topics[row] not in living for row in rows])
    total = sum_with_gaps(rates, is_gone) if rates.size else np.zeros(0)
    known = np.flatnonzero(np.isfinite(total))
    if not len(known):
        return DailySeries(first_day="", rate_bytes_per_second=np.zeros(0))
    first, last = int(known[0]), int(known[-1])
    return DailySeries(
        first_day=days_later(history.first_day, first), rate_bytes_per_second=total[first : last + 1].copy()
    )


def sum_with_gaps(rates: Floats, is_gone: Flags) -> Floats:
    """Return float64[N], the sum of rows with gaps, as in :func:`total_of`; a row that is gone ends with its last."""
    is_known = np.isfinite(rates)
    day = np.arange(rates.shape[1])
    has_any = is_known.any(axis=1)
    first = np.where(has_any, is_known.argmax(axis=1), len(day))
    last = np.where(has_any, len(day) - 1 - is_known[:, ::-1].argmax(axis=1), -1)
    was_there = (day >= first[:, None]) & ((day <= last[:, None]) | ~is_gone[:, None])
    usual = np.divide(
        np.where(is_known, rates, 0.0).sum(axis=1), is_known.sum(axis=1), out=np.zeros(len(rates)), where=has_any
    )
    expected = (usual[:, None] * was_there).sum(axis=0)
    missing = (usual[:, None] * (was_there & ~is_known)).sum(axis=0)
    share = np.divide(missing, expected, out=np.zeros(len(day)), where=expected > 0)
    sums = np.where(is_known, rates, 0.0).sum(axis=0)
    is_told = is_known.any(axis=0) & (share <= MAX_MISSING_RATIO)
    return np.asarray(np.where(is_told, sums / np.where(is_told, 1 - share, 1.0), np.nan))
