"""Public series, and forecasts made from a sliding window over them, held against what came."""

from __future__ import annotations

import csv
import datetime
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kafka_capacity.demand.forecast import NoForecast, forecast_series

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What came of the forecasts of one series.

    ``is_inside`` has each value that was forecast; the errors are sums of absolute ones over all of them.
    """

    forecasts: int
    is_inside: np.ndarray
    error: float
    seasonal_naive_error: float

    @property
    def coverage_ratio(self):
        return float(self.is_inside.mean())

    @property
    def relative_error(self):
        return self.error / self.seasonal_naive_error


def daily_page_views():
    """Return the views of each day, NaN where a day is missing."""
    rows = list(csv.DictReader((DATA / "daily_page_views.csv").read_text().splitlines()))
    days = [datetime.date.fromisoformat(row["day"]).toordinal() for row in rows]
    series = np.full(days[-1] - days[0] + 1, np.nan)
    series[np.array(days) - days[0]] = [float(row["views"]) for row in rows]
    return series


def hourly_pedestrians(location):
    rows = csv.DictReader((DATA / "hourly_pedestrians.csv").read_text().splitlines())
    return np.array([float(row[location]) for row in rows])


def measured(series, *, season, history, horizon, step):
    """Forecast from every window of so much history, one each ``step`` values."""
    is_inside, error, naive, forecasts = [], 0.0, 0.0, 0
    for end in range(history, len(series) - horizon + 1, step):
        window, came = series[end - history : end], series[end : end + horizon]
        forecast = forecast_series(window, season=season, horizon=horizon)
        if isinstance(forecast, NoForecast):
            continue
        forecasts += 1
        is_known = np.isfinite(came)
        is_inside.append(((came >= forecast.low) & (came <= forecast.high))[is_known])
        error += float(np.nansum(np.abs(forecast.median - came)))
        naive += float(np.nansum(np.abs(np.resize(_filled(window)[-season:], horizon) - came)))
    return Measured(forecasts=forecasts, is_inside=np.concatenate(is_inside), error=error, seasonal_naive_error=naive)


def _filled(window):
    place, is_known = np.arange(len(window)), np.isfinite(window)
    return np.interp(place, place[is_known], window[is_known])
