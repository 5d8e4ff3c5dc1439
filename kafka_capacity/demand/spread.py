"""How far off a level may be, by how far ahead: the series' own errors, and what is usual of traffic.

Own errors at a horizon of h weeks rest on (weeks of history) / h windows that do not overlap: many for a month ahead,
one or none for a year. So what is blended is the *ratio* of own errors to the usual curve: that at a year is made from
those at all horizons, the nearer ones counting more, and from 1, which counts as :data:`PRIOR_WINDOWS` windows. More
history moves it smoothly from the one to the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.day_gaps import WEEK_DAYS
from kafka_capacity.demand.week_model import HORIZONS, YEAR_WEEKS, WeekModel

Floats = NDArray[np.float64]

QUANTILE = 0.9
Z = 1.2815515655446004
"""Of the normal distribution: :data:`QUANTILE` of what is off lies below so many standard deviations."""
USUAL_PER_YEAR = 0.35
USUAL_POWER = 0.4
"""Levels of public series are off by 0.35 · years^0.4 in logarithms, one standard deviation."""
PRIOR_WINDOWS = 1.0
FEW_WINDOWS = 0.4
"""One window of a wandering level shows errors that are smaller by so much; found on series that were made."""
NEARNESS = 1.75
LEAST_RATIO, MAX_RATIO = 0.1, 10.0
MAX_REACH_PER_YEAR = float(np.log(3.0))
REACH_WEEKS = 4
"""The high level is not more than 3 to the √years times the middle one."""


def level_spread(model: WeekModel, weeks_ahead: int) -> Floats:
    """Return float64[W], the standard deviation of the level of each week ahead, ascending."""
    windows = model.days / WEEK_DAYS / HORIZONS
    is_known = np.isfinite(model.errors).any(axis=0)
    windows = np.where(is_known, windows, 0.0)
    own = np.ones(len(HORIZONS))
    for place in np.flatnonzero(is_known):
        errors = np.abs(model.errors[:, place])
        own[place] = np.quantile(errors[np.isfinite(errors)], 2 * QUANTILE - 1) / Z
    # Few windows show less than there is: what they have in common is in the fit.
    own *= 1.0 + FEW_WINDOWS / np.maximum(windows, 1.0)
    ratio = np.log(np.clip(own / usual_spread(HORIZONS), LEAST_RATIO, MAX_RATIO))
    ahead = np.arange(1, weeks_ahead + 1)
    near = np.exp(-NEARNESS * np.abs(np.log(ahead[:, None] / HORIZONS))) * windows
    blended = (near @ ratio) / (near.sum(axis=1) + PRIOR_WINDOWS)
    spread = usual_spread(ahead) * np.exp(blended)
    return np.maximum.accumulate(np.minimum(spread, max_reach(ahead) / Z))


def max_reach(weeks: NDArray[np.int64]) -> Floats:
    """Return float64[H], how far above the expected one a level may be so many weeks ahead, in logarithms."""
    return np.asarray(MAX_REACH_PER_YEAR * np.sqrt((weeks + REACH_WEEKS) / YEAR_WEEKS))


def usual_spread(weeks: NDArray[np.int64]) -> Floats:
    """Return float64[H], how far the levels of public series are off so many weeks ahead."""
    return np.asarray(USUAL_PER_YEAR * (weeks / YEAR_WEEKS) ** USUAL_POWER)
