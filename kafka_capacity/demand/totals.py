"""Traffic of many partitions added up hour by hour, and what can be said of it.

Where not all partitions are known in an hour, the sum of those that are stands for all of them, in proportion to their
number, as long as they are half at least; otherwise the hour is not known. A partition of which nothing is known on a
day is not counted on that day: it may not have been there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.calendar_days import WEEK_HOURS
from kafka_capacity.demand.profile import profile_groups
from kafka_capacity.kafka.arrays import Floats, Ints

HOURS = 24
_FROM_MONDAY = 3  # day 0 was a Thursday
_MILLI = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HourlyTotals:
    """What K things carry, one row a thing and day."""

    key: Ints  # int64[N], which thing, 0 to K - 1
    key_count: int  # K
    day: Ints  # int64[N], counted from 1970-01-01
    rates: Floats  # float64[N, 24], bytes per second, NaN where one is not known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TotalsProfile:
    """What totals say of each thing; NaN where nothing is known."""

    mean: Floats  # float64[K], bytes per second
    highest: Floats  # float64[K], bytes per second
    percentiles: Floats  # float64[Q, K], in the order of the quantiles that were asked for
    trend: Floats  # float64[K], bytes per second per day: the least-squares slope of the daily means
    peak_hour: Ints  # int64[K], the hour of the day (UTC) with the highest mean, -1 where nothing is known


def scaled(milli_sum: Ints, known: Ints, partitions: Ints) -> Floats:
    """Return float64[N, 24], the rates that sums, int64[N, 24] in thousandths of a byte per second, stand for.

    They are of so many ``known`` partitions, int64[N, 24], out of all that there are, int64[N].
    """
    all_of_them = partitions[:, None]
    is_enough = (known > 0) & (2 * known >= all_of_them)
    share = np.divide(all_of_them, known, out=np.ones(known.shape), where=known > 0)
    return np.where(is_enough, milli_sum / _MILLI * share, np.nan)


def describe(totals: HourlyTotals, quantiles: tuple[float, ...]) -> TotalsProfile:
    """Describe the totals of each thing."""
    is_known = ~np.isnan(totals.rates)
    key = np.broadcast_to(totals.key[:, None], totals.rates.shape)[is_known]
    values = totals.rates[is_known].astype(np.float32)
    found = [profile_groups(key, values, totals.key_count, quantile=q) for q in (*quantiles, 1.0)]
    has_any = found[0].count > 0

    by_hour = mean_by(totals, np.broadcast_to(np.arange(HOURS), totals.rates.shape), HOURS)
    return TotalsProfile(
        mean=np.where(has_any, found[0].mean, np.nan),
        highest=np.where(has_any, found[-1].peak, np.nan),
        percentiles=np.where(has_any, [one.peak for one in found], np.nan)[:-1],
        trend=_trend(totals),
        peak_hour=np.where(has_any, np.nan_to_num(by_hour, nan=-1.0).argmax(axis=1), -1),
    )


def mean_by(totals: HourlyTotals, place: Ints, count: int) -> Floats:
    """Return float64[K, count], the mean rate of each thing by a place of each hour, int[N, 24]; NaN for unknown."""
    is_known = ~np.isnan(totals.rates)
    slot = (totals.key[:, None] * count + place)[is_known]
    size = totals.key_count * count
    total = np.bincount(slot, weights=totals.rates[is_known], minlength=size)
    number = np.bincount(slot, minlength=size)
    mean: Floats = np.divide(total, number, out=np.full(size, np.nan), where=number > 0)
    return mean.reshape(totals.key_count, count)


def week_means(totals: HourlyTotals) -> Floats:
    """Return float64[K, 168], the mean rate at each hour of the week, from Monday 0:00 UTC."""
    weekday = (totals.day + _FROM_MONDAY) % 7
    return mean_by(totals, weekday[:, None] * HOURS + np.arange(HOURS), WEEK_HOURS)


def day_means(totals: HourlyTotals) -> Floats:
    """Return float64[N], the mean of the known hours of each row."""
    count = (~np.isnan(totals.rates)).sum(axis=1)
    total = np.nansum(totals.rates, axis=1)
    return np.asarray(np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0))


def _trend(totals: HourlyTotals) -> Floats:
    mean = day_means(totals)
    is_known = ~np.isnan(mean)
    key, value = totals.key[is_known], mean[is_known]
    day: Floats = totals.day[is_known].astype(np.float64)
    day -= day.min() if len(day) else 0.0
    count = totals.key_count

    def total(weights: Floats) -> Floats:
        return np.bincount(key, weights=weights, minlength=count).astype(np.float64)

    number, days, values = total(np.ones(len(key))), total(day), total(value)
    below = number * total(day * day) - days * days
    above = number * total(day * value) - days * values
    return np.asarray(np.divide(above, below, out=np.full(count, np.nan), where=below > 0))
