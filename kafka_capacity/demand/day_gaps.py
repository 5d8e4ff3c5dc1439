"""Days that are no part of a level: before a topic began, outages, gaps, and the zeros after it stopped.

A day far below the same weekdays around it, and below other days too, is an **outage** where traffic came back within
:data:`MAX_OUTAGE_DAYS`, or where it has lasted less than a week: it says nothing of what the topic carries otherwise.
Days that are empty as a rule (weekends, all but the first of a month) are not far below the usual, and stay; so do
pauses that come again and again, and the quiet days of a topic that is quiet on most days.

A **dip** is less of the same: days that carry a quarter less than the same weekdays around them, three weeks of them at
most, with the usual traffic before them and again since. Holidays and frozen weeks are; noise, a pattern, and a fall
that has not ended are none.

A last week or more without any traffic is a **stop**, unless the series has come back from a pause as long before. Days
on which the whole cluster was silent are an outage, and tell nothing of a stop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kafka_capacity.demand.calendar_days import WEEK_DAYS
from kafka_capacity.kafka.arrays import Flags, Floats, Ints

OUTAGE_RATIO = 0.1  # a day with less of what others around it carry is far below them
USUAL_WEEKS = 8  # what is usual is what days carry so many weeks before and after
QUARTILE = 1.1503  # three quarters of the normal distribution are as near as so many standard deviations
HALF, THIRD = 1 / 2, 1 / 3
"""A quiet day is far below half of these weekdays, and of all days; one of an outage is far below two of three of these
weekdays that are not of it."""
BACK_RATIO = 0.2  # beside an outage, a week carries so much of that at least
MAX_OUTAGE_DAYS = 28
DIP_RATIO, DIP_NOISE_FACTOR = 0.75, 4.0  # days of a dip carry less than that of the usual, and than noise explains
MAX_DIP_DAYS, BACK_DAYS = 21, 3  # how long one may be, and how many days its end has to be ago at least
DIP_BACK_RATIO = 0.9  # what the days before it and since carry of what is usual
PATTERN_RUNS, PATTERN_SHARE = 2, 0.1
"""Quiet runs are a pattern where so many more are half as long at least, and so many of all days are in them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CleanDays:
    """A series from its first day with traffic on."""

    values: Floats  # float64[N], not negative; outages, dips and gaps filled with what is usual around them
    is_known: Flags  # bool[N], where nothing was filled
    outage_days: int  # how many days are of outages or dips
    stopped_days: int  # how many days without traffic end the series, 0 where it has not stopped


def clean_days(values: Floats, *, silent_days: int = 0) -> CleanDays | None:
    """Return the days of a series with outages, dips and gaps filled, ``None`` where there was never traffic.

    Values are float64[N], not negative, NaN where not known; the last ``silent_days`` are an outage whatever they have.
    """
    last = len(values) - silent_days
    values = np.where(np.arange(len(values)) < last, values, np.nan)
    has_traffic = np.flatnonzero(np.nan_to_num(values) > 0)
    if not len(has_traffic):
        return None
    first, trailing = int(has_traffic[0]), last - 1 - int(has_traffic[-1])
    own = values[first:]
    is_outage = _outages(own)
    is_outage |= _dips(np.where(is_outage, np.nan, own))
    is_known = np.isfinite(own) & ~is_outage
    return CleanDays(
        values=_filled(own, is_known),
        is_known=is_known,
        outage_days=int(is_outage.sum()) + silent_days,
        stopped_days=trailing if trailing >= max(WEEK_DAYS, _longest_pause(own) + 1) else 0,
    )


def _outages(values: Floats) -> Flags:
    """Return bool[N], the days of quiet runs that are outages: short ones, beside usual weeks, and no pattern."""
    # Few of each weekday have traffic all by chance where traffic comes now and then.
    usual = np.minimum(_usual(values, HALF), _usual(values, HALF, every_days=1))
    is_low = np.nan_to_num(values, nan=np.inf) < OUTAGE_RATIO * usual
    runs = _runs(is_low | ~np.isfinite(values))
    lengths = np.array([is_low[start:end].sum() for start, end in runs])
    longest = _longest_pause(values)
    found = np.zeros(len(values), dtype=np.bool_)
    for (start, end), length in zip(runs.tolist(), lengths.tolist(), strict=True):
        is_last = end == len(values)
        if not start or not 0 < length <= (max(WEEK_DAYS - 1, longest) if is_last else MAX_OUTAGE_DAYS):
            continue
        if _is_pattern(lengths, length, len(values)):
            continue
        # What only seems to be usual beside it, since what is usual fell by then, is low itself.
        beside = values[max(0, start - WEEK_DAYS) : start] if is_last else values[end : end + WEEK_DAYS]
        if np.nanmean(beside) < BACK_RATIO * usual[max(0, start - WEEK_DAYS) : start + WEEK_DAYS].mean():
            continue
        found[start:end] = is_low[start:end] & (values[start:end] < OUTAGE_RATIO * _usual_without(values, start, end))
    return found


def _dips(values: Floats) -> Flags:
    """Return bool[N], the days of dips."""
    usual = _usual(values, HALF)
    filled = np.divide(values, usual, out=np.ones(len(values)), where=(usual > 0) & np.isfinite(values))
    smooth = np.median(sliding_window_view(np.pad(filled, 1, mode="edge"), 3), axis=1)  # a day more or less ends none
    runs = _runs(smooth < DIP_RATIO)
    lengths = np.diff(runs, axis=1).ravel()
    noise = float(np.quantile(np.abs(filled - 1), 0.75)) / QUARTILE
    found = np.zeros(len(values), dtype=np.bool_)
    for (start, end), length in zip(runs.tolist(), lengths.tolist(), strict=True):
        if not start or length > MAX_DIP_DAYS or end > len(values) - BACK_DAYS:
            continue
        least = max(1 - DIP_RATIO, DIP_NOISE_FACTOR * noise / np.sqrt(length))
        beside = (filled[max(0, start - WEEK_DAYS) : start], filled[end : end + WEEK_DAYS])
        is_back = min(float(part.mean()) for part in beside) >= DIP_BACK_RATIO
        if is_back and 1 - filled[start:end].mean() > least and not _is_pattern(lengths, length, len(values)):
            found[start:end] = True
    return found


def usual_ratio(values: Floats, days: int, *, silent_days: int = 0) -> float:
    """Return the mean of so many last days without outages, dips and bursts over the measured one.

    It is 1 where the series has stopped, or has fewer days.
    """
    rates, clean = values[-days:], clean_days(values, silent_days=silent_days)
    if clean is None or clean.stopped_days or len(clean.values) < len(rates) or not np.nansum(rates) > 0:
        return 1.0
    most = _usual(clean.values, HALF) / DIP_RATIO
    # Much more than is usual around it is a burst, but for the last days: what has not ended yet may be none.
    is_over = clean.values[-BACK_DAYS:].mean() <= most[-BACK_DAYS:].mean()
    usual = np.minimum(clean.values, most) if is_over else clean.values
    return float(usual[-len(rates) :][np.isfinite(rates)].mean() / np.nanmean(rates))


def _runs(is_in: Flags) -> Ints:
    """Return int64[R, 2], where runs of days begin, and end before."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_in, [False]]).astype(np.int8)))
    return edges.reshape(-1, 2)


def _is_pattern(lengths: Ints, length: int, days: int) -> bool:
    """Return whether runs like one of such a length come again and again."""
    alike = lengths[lengths >= length / 2]
    return len(alike) > PATTERN_RUNS and bool(alike.sum() - length > PATTERN_SHARE * days)


def _usual_without(values: Floats, start: int, end: int) -> Floats:
    """Return float64[end - start], what two of three of the same weekdays outside of some days carry at least."""
    first = max(0, start - USUAL_WEEKS * WEEK_DAYS)
    own = slice(start - first, end - first)
    near = values[first : end + USUAL_WEEKS * WEEK_DAYS].copy()
    near[own] = np.nan
    return _usual(near, THIRD)[own]


def _usual(values: Floats, share: float, every_days: int = WEEK_DAYS) -> Floats:
    """Return float64[N], what all but a share of days around each carry at least, of the same weekdays or of all."""
    reach = USUAL_WEEKS * WEEK_DAYS
    padded = np.concatenate([np.full(reach, np.nan), values, np.full(reach, np.nan)])
    around = sliding_window_view(padded, 2 * reach + 1)[:, ::every_days]
    known = np.isfinite(around).sum(axis=1)
    ordered = np.sort(around, axis=1)  # NaN comes last
    place = (np.maximum(known - 1, 0) * share).astype(np.int64)
    usual: Floats = np.nan_to_num(ordered[np.arange(len(values)), place])
    return usual


def _longest_pause(values: Floats) -> int:
    """Return the most known days without traffic in a row after which it came back."""
    return int(np.diff(np.flatnonzero(values[np.isfinite(values)] > 0)).max(initial=1)) - 1


def _filled(values: Floats, is_known: Flags) -> Floats:
    """Fill days with the nearest known ones of their weekday, before and after, so that weeks keep their shape."""
    filled = np.where(is_known, values, 0.0)
    day = np.arange(len(values))
    for weekday in range(min(WEEK_DAYS, len(values))):
        own = day[weekday::WEEK_DAYS]
        known = own[is_known[own]]
        if len(known):
            filled[own] = np.interp(own, known, values[known])
        else:
            filled[own] = values[is_known].mean()
    return np.asarray(filled, dtype=np.float64)
