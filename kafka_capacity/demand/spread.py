"""How far off a level may be, by how far ahead: the series' own errors, and what is usual of traffic.

Own errors at a horizon of h weeks rest on (weeks of history) / h windows that do not overlap: many for a month ahead,
one or none for a year. So what is blended is the *ratio* of own errors to the usual curve: that at a year is made from
those at all horizons, the nearer ones counting more, and from what is usual of series whose weeks are as noisy as
these, which counts as :data:`PRIOR_WINDOWS` windows. More history moves it smoothly from the one to the other.
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.demand.calendar_days import WEEK_DAYS
from kafka_capacity.demand.week_model import HORIZONS, YEAR_WEEKS, WeekModel
from kafka_capacity.kafka.arrays import Floats, Ints

QUANTILE = 0.9
Z = 1.2815515655446004  # of the normal distribution: `QUANTILE` of what is off lies below so many standard deviations
USUAL_PER_YEAR = 0.4
USUAL_POWER = 0.25  # levels are off by 0.4 · years^0.25 in logarithms, one standard deviation
USUAL_NOISE = 0.045
MAX_NOISE_RATIO = 3.0  # levels are off by as much more as weeks are noisier than usual, up to this, either way
PRIOR_WINDOWS = 1.3
FEW_WINDOWS = 0.35  # errors that one window shows are smaller by so much; found on series that were made
NEARNESS = 1.0
LEAST_RATIO, MAX_RATIO = 0.1, 10.0
MAX_REACH_PER_YEAR = float(np.log(3.0))
REACH_WEEKS = 4  # the high level is not more than 3 to the √years times the middle one


def level_spread(model: WeekModel, weeks_ahead: int) -> Floats:
    """Return float64[W], the standard deviation of the level of each week ahead, ascending."""
    known = np.isfinite(model.errors).sum(axis=0)
    windows = known / WEEK_DAYS / HORIZONS
    own = np.ones(len(HORIZONS))
    for place in np.flatnonzero(known):
        errors = np.abs(model.errors[:, place])
        own[place] = np.quantile(errors[np.isfinite(errors)], 2 * QUANTILE - 1) / Z
    # Few windows show less than there is: what they have in common is in the fit.
    own *= 1.0 + FEW_WINDOWS / np.maximum(windows, 1.0)
    alike = np.log(np.clip(model.noise_size / USUAL_NOISE, 1 / MAX_NOISE_RATIO, MAX_NOISE_RATIO))
    ratio = np.log(np.clip(own / usual_spread(HORIZONS), LEAST_RATIO, MAX_RATIO))
    ahead = np.arange(1, weeks_ahead + 1)
    near = np.exp(-NEARNESS * np.abs(np.log(ahead[:, None] / HORIZONS))) * windows
    blended = (near @ ratio + PRIOR_WINDOWS * alike) / (near.sum(axis=1) + PRIOR_WINDOWS)
    spread = usual_spread(ahead) * np.exp(blended)
    return np.maximum.accumulate(np.minimum(spread, max_reach(ahead) / Z))


def max_reach(weeks: Ints) -> Floats:
    """Return float64[H], how far above the expected one a level may be so many weeks ahead, in logarithms."""
    return np.asarray(MAX_REACH_PER_YEAR * np.sqrt((weeks + REACH_WEEKS) / YEAR_WEEKS))


def usual_spread(weeks: Ints) -> Floats:
    """Return float64[H], how far levels are off so many weeks ahead, where weeks are as noisy as usual."""
    return np.asarray(USUAL_PER_YEAR * (weeks / YEAR_WEEKS) ** USUAL_POWER)
