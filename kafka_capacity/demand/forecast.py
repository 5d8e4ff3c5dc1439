"""Forecast one series: the highest week up to each week ahead, what is expected of it and how high it may be.

What goes into it, in this order: outages and gaps are bridged (:mod:`day_gaps`), only the days since the last shift of
the level count (:mod:`level_shifts`), a model is fitted to their weeks and to its own errors (:mod:`week_model`,
:mod:`spread`), and paths are drawn (:mod:`week_paths`). The growth that is usual elsewhere, the prior, counts with a
weight that falls smoothly with every day of history; there is no length at which the answer turns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_capacity.demand.calendar_days import WEEK_DAYS
from kafka_capacity.demand.day_gaps import CleanDays, clean_days
from kafka_capacity.demand.level_shifts import LevelShift, level_shifts
from kafka_capacity.demand.settings import Growth, growth_ratio
from kafka_capacity.demand.spread import Z, level_spread
from kafka_capacity.demand.week_model import HORIZONS, RISE_IS_GROWTH, WeekModel, fit_weeks
from kafka_capacity.demand.week_paths import ROLLING_DRAWS, bursts, either, noise, wandering, with_bursts
from kafka_capacity.kafka.arrays import Floats

LEAST_DAYS = 14  # less has no growth to tell, and no noise: the prior alone
LEAST_BELIEF = 0.01
HALF_WEIGHT_DAYS = 60  # with so many days more, growth of its own and the usual one count the same
HALF_SPREAD_DAYS = 10  # the same for the spread of paths and that of the usual growth, as variances
INTERVAL_RATIO = 0.8  # what share of weeks the interval that is tested shall hold


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forecast:
    """What comes after the end of a series, in its unit."""

    expected: Floats  # float64[W + 1], mean of the highest week so far by weeks ahead, without unseen bursts
    high: Floats  # float64[W + 1], its quantile that was asked for
    week_low: Floats  # float64[W], the lower end of the interval of `INTERVAL_RATIO` of single weeks
    week_high: Floats  # float64[W], its upper end
    fitted_days: int  # how many known days it rests on
    own_weight: float  # of the history against the prior, 0 to 1
    shift: LevelShift | None  # the last change of level; `None` where there was none
    shift_days_ago: int  # how many days the series has had since, all of them where there was none
    outage_days: int  # how many days were left out
    growth_per_year_ratio: float  # that goes on by the history alone
    season_share: float  # by how much last year's shape comes again
    error_ratio: float  # mean absolute error of the backtest's forecasts, as a ratio; NaN where there was none
    naive_error_ratio: float  # the same of repeating the last week
    coverage_ratio: float  # what share of them was inside the interval


@dataclass(frozen=True, slots=True, kw_only=True)
class NoForecast:
    """Why there is no forecast: a sentence without its stop."""

    why: str  # of it
    stopped_days: int = 0  # how many days without traffic end the series, 0 where it has not stopped


def forecast_series(
    values: Floats, *, weeks_ahead: int, prior: Growth, quantile: float, silent_days: int = 0
) -> Forecast | NoForecast:
    """Forecast a series, float64[N], a day each, not negative, NaN where not known.

    ``prior`` is the growth that is usual elsewhere, ``quantile`` that of the high estimate, and the last
    ``silent_days`` are an outage, whatever they have.
    """
    clean = clean_days(values, silent_days=silent_days)
    if clean is None:
        return NoForecast(why="There was never any traffic")
    if clean.stopped_days:
        return NoForecast(
            why=f"The last {clean.stopped_days:,} days are without traffic", stopped_days=clean.stopped_days
        )
    days = int(clean.is_known.sum())
    if days < LEAST_DAYS:
        return NoForecast(why=f"The history has {days:,} days with traffic, but a forecast needs {LEAST_DAYS}")
    beliefs = _beliefs(clean)
    parts = [_since(clean, shift, weeks_ahead, prior, quantile) for shift, _ in beliefs]
    weights = np.array([weight for _, weight in beliefs])
    main = parts[int(np.argmax(weights))]
    logs = {
        name: np.log([getattr(part, name) for part in parts]) for name in ("expected", "high", "week_low", "week_high")
    }
    mixed = {name: np.exp(weights @ part) for name, part in logs.items()}
    # The next week that ends has all but one of the last days in it, whether or not their level is believed to last.
    under_way = float(np.nansum(values[1 - WEEK_DAYS :])) / WEEK_DAYS
    mixed |= {name: np.maximum(mixed[name], under_way) for name in ("expected", "high")}
    return replace(main, outage_days=clean.outage_days, **mixed)


def _beliefs(clean: CleanDays) -> list[tuple[LevelShift | None, float]]:
    """Return what may have been the last shift, and how much that counts; together they count 1."""
    found: list[tuple[LevelShift | None, float]] = []
    left = 1.0
    for shift in reversed(level_shifts(clean.values)):
        if not clean.values[_day_of(clean, shift) :].any():
            continue  # a pause tells nothing of what comes after it
        found.append((shift, left * shift.certainty))
        left *= 1 - shift.certainty
        if left < LEAST_BELIEF:
            break
    total = sum(weight for _, weight in found)
    return [(shift, weight / total) for shift, weight in found] if left < LEAST_BELIEF else [*found, (None, left)]


def _day_of(clean: CleanDays, shift: LevelShift) -> int:
    """Return the day from which on the level after a shift is fitted: a week at least."""
    return min(shift.day, len(clean.values) - WEEK_DAYS)


def _since(clean: CleanDays, shift: LevelShift | None, weeks_ahead: int, prior: Growth, quantile: float) -> Forecast:
    """Forecast from the days since a shift."""
    since = 0 if shift is None else _day_of(clean, shift)
    own = clean.values[since:]
    known = int(clean.is_known[since:].sum())
    model = fit_weeks(own, weeks_ahead)
    young = max(0, known - LEAST_DAYS)
    weight = young / (young + HALF_WEIGHT_DAYS)
    spread_weight = float(np.sqrt(young / (young + HALF_SPREAD_DAYS)))
    off, off_max = (np.minimum(noise(model.residuals, weeks_ahead, draws), model.top) for draws in (1, ROLLING_DRAWS))
    burst = bursts(model.noise_size, model.past_top, len(own), weeks_ahead)
    wander = wandering(level_spread(model, weeks_ahead), len(own))
    own_path = weight * either(model.path, model.rising_path, RISE_IS_GROWTH)
    week = own_path + wander + with_bursts(off, burst)
    low, high = np.quantile(week, [0.5 - INTERVAL_RATIO / 2, 0.5 + INTERVAL_RATIO / 2], axis=1)
    # How far levels wander is in the middle estimate by the root of what the history counts: where that is nothing,
    # usual growth is all that is expected.
    seen = np.exp(np.maximum.accumulate(own_path + np.sqrt(weight) * wander + off_max))
    off_max = with_bursts(off_max, spread_weight * burst)
    most = np.maximum.accumulate(own_path + spread_weight * wander + off_max)
    days = WEEK_DAYS * np.arange(1, weeks_ahead + 1, dtype=np.float64)
    usual = growth_ratio(days, prior.middle)
    beyond = growth_ratio(days, prior.high) / usual
    expected = seen.mean(axis=1) * usual ** (1 - weight)
    highest = np.exp(np.quantile(most, quantile, axis=1)) * usual ** (1 - weight) * beyond ** (1 - spread_weight)
    start = float(np.exp(model.level))
    error, naive, coverage = _past(model)
    return Forecast(
        expected=start * np.concatenate([[1.0], np.maximum.accumulate(expected)]),
        high=start * np.concatenate([[1.0], np.maximum.accumulate(np.maximum(highest, expected))]),
        week_low=start * np.exp(low),
        week_high=start * np.exp(high),
        fitted_days=known,
        own_weight=weight,
        shift=shift,
        shift_days_ago=len(own),
        outage_days=0,
        growth_per_year_ratio=float(np.expm1(model.growth_per_year)),
        season_share=model.season_share,
        error_ratio=error,
        naive_error_ratio=naive,
        coverage_ratio=coverage,
    )


def _past(model: WeekModel) -> tuple[float, float, float]:
    """Return the mean error of the backtest, that of repeating the last week, and the share inside the interval."""
    is_known = np.isfinite(model.errors)
    if not is_known.any():
        return float("nan"), float("nan"), float("nan")
    reach = Z * level_spread(model, int(HORIZONS[-1]))[HORIZONS - 1]
    inside = (np.abs(model.errors) <= reach)[is_known].mean()
    error, naive = (float(np.abs(np.expm1(part[is_known])).mean()) for part in (model.errors, model.naive_errors))
    return error, naive, float(inside)
