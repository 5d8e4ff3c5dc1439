"""Find days on which the level of a series changed for good: steps, launches, and what was taken away.

The median of two weeks after a day is held against that of two weeks before. It is a shift where the difference

* is more than on a usual day, which is growth, by at least :data:`LEAST_LOG`, and by :data:`NOISE_FACTOR` times what
  such differences usually vary by on this series: noise and wandering make differences everywhere, a shift makes one;
* lasts: the median of up to eight weeks after keeps three quarters of it, and the last week half. What came back was a
  burst or an outage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kafka_capacity.demand.calendar_days import WEEK_DAYS
from kafka_capacity.demand.day_gaps import QUARTILE
from kafka_capacity.kafka.arrays import Floats

SPAN_DAYS = 14
LASTING_DAYS = 56
LEAST_LOG = float(np.log(1.25))  # a quarter more or less
LASTING_FACTOR = 1.3  # the median of eight weeks after must have three quarters of the change: what came back was none
_KEPT_RATIO = 0.5  # of the change, what the last week keeps at least
NOISE_FACTOR = 4.0
MAX_CLARITY = 2.0  # what is clearer is believed no sooner, so that the answer takes weeks to change
FLOOR_RATIO = 1e-3  # days below so much of the mean are all the same: a launch from next to nothing is one from so much


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelShift:
    """A change of level."""

    day: int  # the first with the new level, counted from the first of the series
    ratio: float  # the new level over the one before
    certainty: float  # 0 to 1; a forecast weighs what it would be with and without the shift


def level_shifts(values: Floats) -> tuple[LevelShift, ...]:
    """Return the shifts of a series, float64[N], not negative and without gaps, by day."""
    count = len(values)
    if count < 2 * WEEK_DAYS:
        return ()
    logs = without_weekdays(np.log(np.maximum(values, FLOOR_RATIO * values.mean())))
    # Day d is the first of the two weeks after it: the last week has no shifts, nor has the first.
    days = np.arange(WEEK_DAYS, count - WEEK_DAYS + 1)
    of_medians, of_means = (
        level(logs[::-1])[::-1][days] - level(logs)[days - 1] for level in (_medians_before, _means_before)
    )
    difference = _both(of_medians, of_means)
    found: list[LevelShift] = []
    left = np.abs(difference) >= LEAST_LOG
    while left.any():
        peak = int(np.argmax(np.where(left, np.abs(difference), 0.0)))
        around = slice(max(0, peak - SPAN_DAYS), peak + SPAN_DAYS + 1)
        left[around] = False
        day = _exact_day(logs, int(days[peak]))
        elsewhere = np.delete(difference, around)
        growth = float(np.median(elsewhere)) / SPAN_DAYS if len(elsewhere) else 0.0  # a day
        more, lasting = float(difference[peak]) - growth * SPAN_DAYS, _lasting(logs, day, growth)
        size = min(abs(more), LASTING_FACTOR * float(np.sign(more)) * lasting)
        usual = max(_usual(np.delete(part, around)) for part in (of_medians, of_means))
        least = max(LEAST_LOG, NOISE_FACTOR * usual)
        certainty = _certainty(size / least, count - day)
        before = np.median(logs[max(0, day - SPAN_DAYS) : day])
        if certainty > 0 and (logs[-WEEK_DAYS:].mean() - before) / lasting >= _KEPT_RATIO:
            found.append(LevelShift(day=day, ratio=float(np.exp(lasting)), certainty=certainty))
    return tuple(sorted(found, key=lambda shift: shift.day))


def _usual(differences: Floats) -> float:
    """Return the standard deviation of differences elsewhere, from the middle half of them."""
    if not len(differences):
        return 0.0
    off = np.abs(differences - np.median(differences))
    return float(np.quantile(off, 0.75)) / QUARTILE


def _lasting(logs: Floats, day: int, growth: float) -> float:
    """Return how far up to eight weeks after a day are above two weeks before, beyond the growth a day meanwhile.

    It is the difference of their medians, or of their means where that is less.
    """
    after, before = logs[day : day + LASTING_DAYS], logs[max(0, day - SPAN_DAYS) : day]
    of_means = float(np.log(np.exp(after).mean() / np.exp(before).mean()))
    days = (len(after) + len(before)) / 2
    return float(_both(float(np.median(after) - np.median(before)), of_means)) - growth * days


def _both(one: Floats | float, other: Floats | float) -> Floats:
    """Return the smaller of two differences of the same sign, else 0.

    A burst moves a mean alone, and a day more or less with traffic that comes now and then a median alone.
    """
    is_same = np.multiply(one, other) > 0
    return np.asarray(np.where(is_same, np.sign(one) * np.minimum(np.abs(one), np.abs(other)), 0.0))


def _certainty(clarity: float, days: int) -> float:
    """Return 0 to 1, where a shift is so many times what it takes, and so many days old.

    It rises with both: one twice as clear as it takes is certain after two and a half weeks, another after five.
    """
    clear = min(max(clarity - 1.0, 0.0), 1.0)
    lasted = min(max((days * min(clarity, MAX_CLARITY) - WEEK_DAYS) / (2 * SPAN_DAYS), 0.0), 1.0)
    return clear * lasted


def without_weekdays(logs: Floats) -> Floats:
    """Return float64[N], logarithms without the shape of their week."""
    weeks = sliding_window_view(np.pad(logs, WEEK_DAYS // 2, mode="edge"), WEEK_DAYS)
    deviation = logs - np.median(weeks, axis=1)
    shape = np.array([np.median(deviation[weekday::WEEK_DAYS]) for weekday in range(WEEK_DAYS)])
    return np.asarray(logs - np.resize(shape - shape.mean(), len(logs)))


def _medians_before(logs: Floats) -> Floats:
    """Return float64[N], the median of two weeks that end with each day, of fewer days at the beginning."""
    whole = np.median(sliding_window_view(logs, SPAN_DAYS), axis=1)
    first = [float(np.median(logs[: end + 1])) for end in range(SPAN_DAYS - 1)]
    return np.concatenate([first, whole])


def _means_before(logs: Floats) -> Floats:
    """Return float64[N], the logarithm of the mean of two weeks that end with each day, of fewer at the beginning."""
    sums = np.concatenate([np.zeros(SPAN_DAYS), np.cumsum(np.exp(logs))])
    days = np.minimum(np.arange(1, len(logs) + 1), SPAN_DAYS)
    return np.asarray(np.log((sums[SPAN_DAYS:] - sums[:-SPAN_DAYS]) / days))


def _exact_day(logs: Floats, near: int) -> int:
    """Return the split within a week of a day at which two levels fit best."""
    start, end = max(0, near - 2 * SPAN_DAYS), min(len(logs), near + 2 * SPAN_DAYS)
    splits = range(max(start + 1, near - WEEK_DAYS), min(end - 1, near + WEEK_DAYS) + 1)
    costs = []
    for split in splits:
        parts = (logs[start:split], logs[split:end])
        costs.append(sum(float(np.abs(part - np.median(part)).sum()) for part in parts))
    return splits[int(np.argmin(costs))]
