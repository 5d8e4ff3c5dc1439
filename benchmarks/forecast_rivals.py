"""What others would forecast of the same days: textbook methods on logarithms of weeks, a few lines each.

Each gives the middle and the 0.9 quantile of every week ahead, in logarithms, from weeks that end with the last day;
the highest so far of both is held against the same as ours. Smoothing is chosen from a grid by its squared errors a
week ahead, and quantiles are those of the normal distribution with the method's own formula for the variance ahead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kafka_capacity.demand.day_gaps import WEEK_DAYS, clean_days
from kafka_capacity.demand.spread import Z
from kafka_capacity.kafka.arrays import Floats

YEAR_WEEKS = 52
FLOOR_RATIO = 0.02
"""Weeks with less of the mean are all the same, as in our own model."""
DAMPING = (0.8, 0.9, 0.98)


def weekly_logs(days: Floats) -> Floats:
    """Return float64[N // 7], logarithms of the weeks that end with the last day, gaps and outages filled."""
    clean = clean_days(days)
    if clean is None:
        raise ValueError("a series without any traffic has no weeks")
    weeks = clean.values[len(clean.values) % WEEK_DAYS :].reshape(-1, WEEK_DAYS).mean(axis=1)
    return np.asarray(np.log(np.maximum(weeks, FLOOR_RATIO * weeks.mean())))


def usual_growth(weeks: Floats, ahead: int) -> tuple[Floats, Floats]:
    """The last week, growing by 30 % a year, and by 60 % in the high estimate."""
    years = np.arange(1, ahead + 1) / YEAR_WEEKS
    return weeks[-1] + np.log(1.3) * years, weeks[-1] + np.log(1.6) * years


def seasonal_naive(weeks: Floats, ahead: int) -> tuple[Floats, Floats]:
    """The same week a year before; the last week where there is no year."""
    season = YEAR_WEEKS if len(weeks) > YEAR_WEEKS else 1
    off = weeks[season:] - weeks[:-season]
    steps = np.arange(1, ahead + 1)
    middle = weeks[len(weeks) - season + (steps - 1) % season]
    return middle, middle + Z * float(np.sqrt(np.mean(off**2))) * np.sqrt((steps - 1) // season + 1)


def theta(weeks: Floats, ahead: int) -> tuple[Floats, Floats]:
    """Theta, which is simple exponential smoothing with half of the slope of a straight line as drift."""
    alpha = np.linspace(0.05, 1.0, 20)
    level, squares = np.full(len(alpha), weeks[0]), np.zeros(len(alpha))
    for week in weeks[1:]:
        squares += (week - level) ** 2
        level = level + alpha * (week - level)
    best = int(np.argmin(squares))
    drift = float(np.polyfit(np.arange(len(weeks)), weeks, 1)[0]) / 2
    steps = np.arange(1, ahead + 1)
    smoothed = (1 - (1 - alpha[best]) ** len(weeks)) / alpha[best]
    middle = level[best] + drift * (steps - 1 + smoothed)
    spread = np.sqrt(squares[best] / (len(weeks) - 1) * (1 + (steps - 1) * alpha[best] ** 2))
    return middle, middle + Z * spread


def damped_trend(weeks: Floats, ahead: int) -> tuple[Floats, Floats]:
    """ETS(A,Ad,N): exponential smoothing with a trend that is damped."""
    alpha, beta, phi = (
        part.ravel() for part in np.meshgrid(np.linspace(0.1, 0.99, 10), [0.0, 0.02, 0.1, 0.3], DAMPING, indexing="ij")
    )
    level, trend, squares = np.full(len(alpha), weeks[0]), np.zeros(len(alpha)), np.zeros(len(alpha))
    for week in weeks[1:]:
        error = week - level - phi * trend
        squares += error**2
        level, trend = level + phi * trend + alpha * error, phi * trend + alpha * beta * error
    best = int(np.argmin(squares))
    damped = np.cumsum(phi[best] ** np.arange(1, ahead + 1))
    middle = level[best] + damped * trend[best]
    reach = alpha[best] * (1 + beta[best] * damped)
    variance = squares[best] / (len(weeks) - 1) * np.concatenate([[1.0], 1.0 + np.cumsum(reach**2)[:-1]])
    return middle, middle + Z * np.sqrt(variance)


Method = Callable[[Floats, int], tuple[Floats, Floats]]
METHODS: dict[str, Method] = {
    "last week, +30 % (+60 %) a year": usual_growth,
    "seasonal naive": seasonal_naive,
    "ETS(A,Ad,N)": damped_trend,
    "Theta": theta,
}


def rival_forecasts(days: Floats, ahead: int) -> dict[str, tuple[Floats, Floats]]:
    """Return by method float64[W], middle and high of the highest week so far."""
    weeks = weekly_logs(days)
    found = {}
    for name, method in METHODS.items():
        middle, high = (np.exp(np.maximum.accumulate(part)) for part in method(weeks, ahead))
        found[name] = (middle, high)
    return found
