"""Days that are made for tests of forecasts, and their forecast."""

from __future__ import annotations

import numpy as np

from kafka_capacity.demand.forecast import forecast_series
from kafka_capacity.demand.settings import USUAL_GROWTH

WEEK = np.array([1.1, 1.05, 1.0, 1.0, 1.05, 0.9, 0.8])
HALF_A_YEAR = 26


def made(days, *, growth=0.0, noise=0.05, wander=0.0, seed=1):
    """Return days of a week that grows by a share each day, with noise, and a level that wanders every week."""
    rng = np.random.default_rng(seed)
    day = np.arange(days)
    level = np.interp(day / 7, np.arange(days // 7 + 2), np.cumsum(rng.normal(0.0, wander, days // 7 + 2)))
    return 1e6 * np.exp(growth * day + level) * np.resize(WEEK, days) * rng.lognormal(0.0, noise, days)


def found(values, *, weeks=52, quantile=0.9):
    return forecast_series(values, weeks_ahead=weeks, prior=USUAL_GROWTH, quantile=quantile)


def stepped(days, ago, ratio, **more):
    values = made(days, **more)
    values[days - ago :] *= ratio
    return values
