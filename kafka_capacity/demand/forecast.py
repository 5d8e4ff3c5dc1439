"""Forecast one series with intervals, or say why that cannot be done honestly.

The rule: there are :data:`LEAST_SEASONS` seasons to fit the first backtest on and as many to test it on; a forecast
reaches no further than :data:`REACH_RATIO` of the history, since only there its errors could be measured; nearly all of
the history is known, and it is fresh.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.backtest import LEAST_SEASONS, Backtest, backtest
from kafka_capacity.demand.forecast_models import forecast_path, one_thread

INTERVAL_RATIO = 0.8
"""What share of days the interval that is shown and tested shall hold."""
REACH_RATIO = 0.5
LEAST_KNOWN_RATIO = 0.9
MAX_ZERO_RATIO = 0.05
"""Series that stop and go are another kind; a few zeros are outages of the topic or of its metrics, and are gaps."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forecast:
    """What comes after the end of a series, in its unit.

    Attributes:
        median: float64[H].
        low: float64[H], the lower end of the interval of :data:`INTERVAL_RATIO`.
        high: float64[H], its upper end.
        backtest: how such forecasts did in the past.
    """

    median: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    backtest: Backtest

    def quantile(self, quantile: float) -> NDArray[np.float64]:
        """Return float64[H], the path that values stay below with this chance, 0.5 to 1."""
        return np.asarray(self.median * np.exp(self.backtest.curve.reach(quantile)))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoForecast:
    """Why there is no forecast: a sentence without its stop."""

    why: str


def forecast_series(
    values: NDArray[np.float64], *, season: int, horizon: int, unit: str = "days"
) -> Forecast | NoForecast:
    """Forecast a series.

    Args:
        values: float64[N], not negative, NaN where not known; begins and ends with known ones.
        season: how many values a season has.
        horizon: how many values ahead; where the history is too short for that, as many as it allows.
        unit: what one value stands for, as a plural, in sentences.
    """
    is_known = np.isfinite(values) & (values > 0)
    refusal = _refusal(values, is_known, season, unit)
    if refusal is not None:
        return refusal
    place = np.arange(len(values))
    logarithms = np.interp(place, place[is_known], np.log(values[is_known]))
    steps = min(horizon, int(REACH_RATIO * len(values)))
    with one_thread():
        tested = backtest(logarithms, is_known, season=season, horizon=steps, interval_ratio=INTERVAL_RATIO)
        path = forecast_path(tested.model, logarithms, season, steps)
    reach = tested.curve.reach(0.5 + INTERVAL_RATIO / 2)
    return Forecast(median=np.exp(path), low=np.exp(path - reach), high=np.exp(path + reach), backtest=tested)


def _refusal(values: NDArray[np.float64], is_known: NDArray[np.bool_], season: int, unit: str) -> NoForecast | None:
    least = 2 * LEAST_SEASONS * season
    count = len(values)
    if count < least:
        return NoForecast(why=f"The history has {count:,} {unit}, and a forecast takes at least {least:,}")
    zeros = int((values == 0).sum())
    if zeros > MAX_ZERO_RATIO * count:
        return NoForecast(
            why=f"{zeros:,} of {count:,} {unit} are without traffic, more than the {MAX_ZERO_RATIO:.0%} that a "
            "forecast allows"
        )
    known = int(is_known.sum())
    if known < LEAST_KNOWN_RATIO * count:
        return NoForecast(
            why=f"Only {known:,} of {count:,} {unit} of history are known, and a forecast takes {LEAST_KNOWN_RATIO:.0%}"
        )
    return None
