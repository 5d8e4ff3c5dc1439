"""The models that forecast the level of a series; statsmodels does the fitting.

This is the one module that imports statsmodels and threadpoolctl, and it does so where a forecast is made: an import
takes a second, and executors have none of it.

Sources: exponential smoothing by Hyndman, Koehler, Ord and Snyder, *Forecasting with Exponential Smoothing* (2008), in
their names ETS(error, trend, season); Theta by Assimakopoulos and Nikolopoulos, *The theta model* (2000).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.season_levels import path_of_levels, repeated, season_levels, season_shape, seasons_ahead


class Model(StrEnum):
    """What can be fitted."""

    COMBINED = "mean of seasonal naive and ETS(A,N,N)"
    """The two in the middle of each other: hard to beat, and what is taken where no other is clearly better."""
    SEASONAL_NAIVE = "seasonal naive"
    """The last season again and again: what a forecast must beat to be worth anything."""
    SMOOTHING = "ETS(A,N,N)"
    """The level of late, smoothed."""
    DAMPED_TREND = "ETS(A,Ad,N)"
    """Level and trend, smoothed; the trend wears off."""
    THETA = "Theta"
    """The smoothed level with half the slope of the whole history."""
    DRIFT = "drift"
    """The level of late with the slope of the whole history, straight on: growth by the same share every season."""


RECENT_SEASONS = 4
"""Drift starts from the mean of so many seasons, brought forward along the slope."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Fit with one thread of the linear algebra library.

    Models of three numbers are fitted thousands of times: waking threads for each takes longer than all the rest.
    """
    import scipy.optimize  # noqa: F401  # a library is limited only once it is there
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def forecast_path(model: Model, values: NDArray[np.float64], season: int, steps: int) -> NDArray[np.float64]:
    """Return float64[steps], the values that a model expects after the end of a series.

    Args:
        model: which.
        values: float64[N], logarithms of a series without gaps, at least four seasons of it.
        season: how many values a season has.
        steps: how many values to give.
    """
    if model is Model.SEASONAL_NAIVE:
        return repeated(values, season, steps)
    if model is Model.COMBINED:
        parts = (forecast_path(part, values, season, steps) for part in (Model.SEASONAL_NAIVE, Model.SMOOTHING))
        return combined(*parts)
    levels, shape = season_levels(values, season), season_shape(values, season)
    last, ahead = _fitted(model, levels, seasons_ahead(steps, season))
    return path_of_levels(last, ahead, shape, steps)


def combined(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the path of :attr:`Model.COMBINED` from those of its parts."""
    return np.asarray((one + other) / 2)


def _fitted(model: Model, levels: NDArray[np.float64], count: int) -> tuple[float, NDArray[np.float64]]:
    """Return the level that the model sees in the last season, and so many after it."""
    if model is Model.DRIFT:
        return _drift(levels, count)
    # Levels that are all the same leave nothing to fit, and an optimizer nothing to stand on.
    if np.ptp(levels) <= 1e-9 * max(1.0, float(np.abs(levels).max())):
        return float(levels[-1]), np.full(count, levels[-1])
    with warnings.catch_warnings():
        # What does not converge is judged by its errors in the backtest like all else.
        warnings.simplefilter("ignore")
        return _theta(levels, count) if model is Model.THETA else _smoothing(model, levels, count)


def _smoothing(model: Model, levels: NDArray[np.float64], count: int) -> tuple[float, NDArray[np.float64]]:
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    has_trend = model is Model.DAMPED_TREND
    fit = ETSModel(
        levels,
        error="add",
        trend="add" if has_trend else None,
        damped_trend=has_trend,
        initialization_method="heuristic",
    ).fit(disp=False)
    return float(fit.level[-1]), np.asarray(fit.forecast(count), dtype=np.float64)


def _theta(levels: NDArray[np.float64], count: int) -> tuple[float, NDArray[np.float64]]:
    from statsmodels.tsa.forecasting.theta import ThetaModel

    ahead = np.asarray(ThetaModel(levels, period=1, deseasonalize=False).fit().forecast(count), dtype=np.float64)
    return float(2 * ahead[0] - ahead[1]), ahead


def _drift(levels: NDArray[np.float64], count: int) -> tuple[float, NDArray[np.float64]]:
    place = np.arange(len(levels), dtype=np.float64)
    centred = place - place.mean()
    slope = float((centred * levels).sum() / (centred**2).sum())
    recent = min(RECENT_SEASONS, len(levels))
    last = float(levels[-recent:].mean()) + slope * (recent - 1) / 2
    return last, np.asarray(last + slope * np.arange(1, count + 1), dtype=np.float64)
