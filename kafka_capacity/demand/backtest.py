"""What forecasts would have been worth in the past: made again at many days of the history, and held against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.forecast_models import Model, combined, forecast_path
from kafka_capacity.demand.interval import ErrorCurve, error_curve

ORIGINS = 12
"""How many past days forecasts are made at: more would overlap still more, and tell little more."""
LEAST_SEASONS = 10
"""What the first of them knows: enough to tell a level, a shape and a slope."""
CLEARLY_BETTER_RATIO = 0.05
"""By how much smaller the error of a model must be to be chosen before the combination."""
ROUNDING = 1e-9
"""Errors of a series without noise are rounding, and no model is better by that."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Backtest:
    """How the chosen model and the seasonal naive forecast did on the series itself.

    Arrays are in the unit of the series, NaN beyond its end and where it has a gap.

    Attributes:
        model: which was chosen.
        origins: int64[O], after how many values each forecast was made.
        forecast: float64[O, H], medians of the chosen model.
        low: float64[O, H], the lower end of the interval, made from the errors at all other origins.
        high: float64[O, H], its upper end.
        actual: float64[O, H], what came.
        interval_ratio: what share should be inside.
        coverage_ratio: what share was.
        error_ratio: mean absolute error of the chosen model over the mean of what came.
        seasonal_naive_error_ratio: the same of repeating the last season.
        candidate_error_ratio: the same of every model.
        curve: how far off the chosen model is, by how far ahead.
    """

    model: Model
    origins: NDArray[np.int64]
    forecast: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    actual: NDArray[np.float64]
    interval_ratio: float
    coverage_ratio: float
    error_ratio: float
    seasonal_naive_error_ratio: float
    candidate_error_ratio: Mapping[Model, float]
    curve: ErrorCurve


def backtest(
    values: NDArray[np.float64], is_known: NDArray[np.bool_], *, season: int, horizon: int, interval_ratio: float
) -> Backtest:
    """Forecast a series at many of its own days and measure what came of it.

    Args:
        values: float64[N], logarithms, gaps filled; at least ``LEAST_SEASONS + 1`` seasons.
        is_known: bool[N], where they were measured: only these count.
        season: how many values a season has.
        horizon: how many values ahead.
        interval_ratio: of the interval that is tested.
    """
    first = LEAST_SEASONS * season
    origins = np.unique(np.linspace(first, len(values) - season, ORIGINS).astype(np.int64))
    actual = _ahead(np.where(is_known, values, np.nan), origins, horizon)
    paths = _all_paths(values, origins, season, horizon)
    came = np.exp(actual)
    mean = float(np.nanmean(came))
    error = {model: float(np.nanmean(np.abs(np.exp(path) - came))) / mean for model, path in paths.items()}
    chosen = _chosen(error)
    errors = actual - paths[chosen]
    reach = _reach_without_own(errors, season, len(values) - first, 0.5 + interval_ratio / 2)
    is_inside = np.abs(errors) <= reach
    return Backtest(
        model=chosen,
        origins=origins,
        forecast=np.exp(paths[chosen]),
        low=np.exp(paths[chosen] - reach),
        high=np.exp(paths[chosen] + reach),
        actual=came,
        interval_ratio=interval_ratio,
        coverage_ratio=float(is_inside[np.isfinite(errors)].mean()),
        error_ratio=error[chosen],
        seasonal_naive_error_ratio=error[Model.SEASONAL_NAIVE],
        candidate_error_ratio=error,
        curve=error_curve(errors, season, len(values) - first),
    )


def _ahead(values: NDArray[np.float64], origins: NDArray[np.int64], horizon: int) -> NDArray[np.float64]:
    """Return float64[O, H], the values after each origin, NaN beyond the end."""
    padded = np.concatenate([values, np.full(horizon, np.nan)])
    return np.asarray(padded[origins[:, None] + np.arange(horizon)], dtype=np.float64)


def _all_paths(
    values: NDArray[np.float64], origins: NDArray[np.int64], season: int, horizon: int
) -> dict[Model, NDArray[np.float64]]:
    """Return float64[O, H] for each model; no part of a combination is fitted twice."""
    paths: dict[Model, NDArray[np.float64]] = {}
    for model in Model:
        if model is not Model.COMBINED:
            each = [forecast_path(model, values[:origin], season, horizon) for origin in origins]
            paths[model] = np.stack(each)
    paths[Model.COMBINED] = combined(paths[Model.SEASONAL_NAIVE], paths[Model.SMOOTHING])
    return paths


def _chosen(error: Mapping[Model, float]) -> Model:
    """Take a model for its errors only where it is clearly better than what takes no choice.

    A dozen forecasts that overlap rank models by luck as well: the best of many in a backtest is often not the best
    afterwards.
    """
    default = min((Model.COMBINED, Model.SEASONAL_NAIVE), key=lambda model: error[model])
    best = min(error, key=lambda model: error[model])
    is_clear = error[best] < (1 - CLEARLY_BETTER_RATIO) * error[default] - ROUNDING
    return best if is_clear else default


def _reach_without_own(errors: NDArray[np.float64], season: int, tested: int, quantile: float) -> NDArray[np.float64]:
    """Return float64[O, H], the reach of intervals made from the errors at all other origins."""
    reach = np.full(errors.shape, np.nan)
    for origin in range(len(errors)):
        others = np.delete(errors, origin, axis=0)
        if np.isfinite(others).any():
            reach[origin] = error_curve(others, season, tested).reach(quantile)
    return reach
