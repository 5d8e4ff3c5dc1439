"""Traffic that comes now and then: its level is that of the highest weeks of late; quiet ones tell nothing of it."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kafka_capacity.demand.calendar_days import WEEK_DAYS
from kafka_capacity.kafka.arrays import Floats

QUIET_RATIOS, QUIET_REACH_DAYS = (0.1, 0.33), 56
"""A week is quiet with up to so little of the mean of the weeks that end on so many days before and after, and is not
with so much."""
PAUSES = 8.0  # the highest week of late is that of so many usual pauses,
LEAST_PAUSE_WEEKS, QUIET_SHARE = 5, 0.1
"""and of so many weeks more, in full where such a share of weeks is quiet, but of no more than a quarter of them."""


def days_of_pauses(means: Floats, most: int) -> float:
    """Return how many days back the highest week of late may have ended, at most: 0 where no week is quiet.

    ``means`` is float64[N], of the week that ends on each day.
    """
    day = np.arange(len(means))
    begin, end = np.maximum(0, day - QUIET_REACH_DAYS), np.minimum(len(means), day + QUIET_REACH_DAYS + 1)
    sums = np.concatenate([[0.0], np.cumsum(means)])
    around = (sums[end] - sums[begin]) / (end - begin)
    ratio = np.divide(means, around, out=np.zeros(len(means)), where=around > 0)
    quiet = float(np.interp(ratio, QUIET_RATIOS, [1.0, 0.0]).mean())
    if quiet == 1.0:
        return most
    more = min(LEAST_PAUSE_WEEKS * WEEK_DAYS, len(means) / 4) * min(1.0, quiet / QUIET_SHARE)
    return min(PAUSES * WEEK_DAYS * quiet / (1 - quiet) + more, most)


def highest_of_late(weeks: Floats, days: float) -> Floats:
    """Return float64[N], the highest of the weeks that ended up to so many days before; of the first days the same."""
    whole = int(days)
    return np.asarray((whole + 1 - days) * _highest(weeks, whole) + (days - whole) * _highest(weeks, whole + 1))


def _highest(weeks: Floats, days: int) -> Floats:
    days = min(days, len(weeks) - 1)
    highest = sliding_window_view(weeks, days + 1).max(axis=1)
    return np.concatenate([np.full(days, highest[0]), highest])


def intermittence(pause_days: float) -> float:
    """Return how far traffic comes now and then, 0 to 1: wholly where pauses reach :data:`PAUSES` weeks back."""
    return min(1.0, 2 * pause_days / (pause_days + PAUSES * WEEK_DAYS))
