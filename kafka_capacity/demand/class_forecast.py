"""What is expected of one class of topics: its forecast where its history allows one, else the growth rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.calendar_days import days_between, days_later
from kafka_capacity.demand.forecast import INTERVAL_RATIO, Forecast, NoForecast, forecast_series
from kafka_capacity.demand.growth import ExpectedPath, growth_path, growth_ratio
from kafka_capacity.demand.history import DailySeries
from kafka_capacity.demand.outlook import Basis, ClassBasis
from kafka_capacity.demand.settings import DemandSettings

WEEK_DAYS = 7
MAX_STALE_DAYS = 14
"""A history that ended earlier does not know what the cluster carries today."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassForecast:
    """The history of one class and what comes of it, for a report.

    Attributes:
        name: of the class.
        history: its daily means.
        forecast: of the days after the last of them, ``None`` where the growth rate holds instead.
        path: what is expected at the dates of the outlook.
    """

    name: str
    history: DailySeries
    forecast: Forecast | None
    path: ExpectedPath


def forecast_class(
    name: str, history: DailySeries, dates: Sequence[str], settings: DemandSettings, *, reference_days: int
) -> ClassForecast:
    """Describe what is expected of a class.

    A date has the highest week of those that end after the date before it: what a week carries, and no peak between
    two dates is missed. All is over the mean of the last days of the history, which today's load rests on as well.

    Args:
        name: of the class.
        history: its daily means.
        dates: D days, ascending; the first is that of the inventory.
        settings: with the growth rates and the quantile of the high estimate.
        reference_days: how many days today's load rests on.
    """
    forecast = _forecast(history, dates, settings, reference_days)
    if isinstance(forecast, NoForecast):
        path = growth_path(name, dates, settings, history_days=history.days, why=forecast.why)
        return ClassForecast(name=name, history=history, forecast=None, path=path)
    ahead = np.array([days_between(history.last_day, date) for date in dates])
    reference = float(np.nanmean(history.rate_bytes_per_second[-reference_days:]))
    last_week = _last_week(history)
    # Rounded, so that another machine's last bits change no plan.
    middle = np.round(_at_dates(forecast.median, last_week, ahead, settings.growth_per_year_ratio) / reference, 6)
    high = np.round(
        _at_dates(forecast.quantile(settings.high_quantile), last_week, ahead, settings.growth_high_per_year_ratio)
        / reference,
        6,
    )
    middle[0] = high[0] = 1.0
    path = ExpectedPath(
        basis=_basis(name, history, forecast, dates, settings), middle=middle, high=np.maximum(middle, high)
    )
    return ClassForecast(name=name, history=history, forecast=forecast, path=path)


def _forecast(
    history: DailySeries, dates: Sequence[str], settings: DemandSettings, reference_days: int
) -> Forecast | NoForecast:
    if not settings.is_forecast:
        return NoForecast(why="No forecast was asked for")
    if not history.days:
        return NoForecast(why="There is no history of this traffic")
    stale = days_between(history.last_day, dates[0])
    if stale > MAX_STALE_DAYS:
        return NoForecast(
            why=f"The history ends on {history.last_day}, {stale:,} days before the inventory, more than the "
            f"{MAX_STALE_DAYS} that a forecast allows"
        )
    if not np.nansum(history.rate_bytes_per_second[-reference_days:]) > 0:
        # Nothing times any growth is nothing, and over nothing a forecast has no ratio.
        return NoForecast(why=f"The last {reference_days:,} days are without traffic")
    horizon = days_between(history.last_day, dates[-1])
    return forecast_series(history.rate_bytes_per_second, season=WEEK_DAYS, horizon=horizon)


def _last_week(history: DailySeries) -> NDArray[np.float64]:
    """Return float64[6], the days before the forecast that the first weeks still hold; gaps have the week's mean."""
    week = history.rate_bytes_per_second[-(WEEK_DAYS - 1) :]
    return np.where(np.isfinite(week), week, np.nanmean(week))


def _at_dates(
    path: NDArray[np.float64], last_week: NDArray[np.float64], ahead: NDArray[np.int64], growth_per_year_ratio: float
) -> NDArray[np.float64]:
    """Return float64[D], the highest week since the date before; beyond the path, its last week grown on."""
    weeks = np.convolve(np.concatenate([last_week, path]), np.full(WEEK_DAYS, 1 / WEEK_DAYS), mode="valid")
    found = np.zeros(len(ahead))
    for place in range(1, len(ahead)):
        since, until = max(0, int(ahead[place - 1])), int(ahead[place])
        if since < len(weeks):
            found[place] = weeks[since : max(since + 1, until)].max()
        if until > len(weeks):
            days = np.array([until - len(weeks)], dtype=np.float64)
            found[place] = max(found[place], weeks[-1] * growth_ratio(days, growth_per_year_ratio)[0])
    return found


def _basis(
    name: str, history: DailySeries, forecast: Forecast, dates: Sequence[str], settings: DemandSettings
) -> ClassBasis:
    tested = forecast.backtest
    steps = len(forecast.median)
    reason = (
        f"{tested.model} was fitted to {history.days:,} days to {history.last_day}. At {len(tested.origins)} past days "
        f"its forecasts were off by {tested.error_ratio:.1%} of the traffic on average, those that repeat the last "
        f"week by {tested.seasonal_naive_error_ratio:.1%}; {tested.coverage_ratio:.0%} of the days were inside their "
        f"{INTERVAL_RATIO:.0%} interval."
    )
    end = days_later(history.last_day, steps)
    if end < dates[-1]:
        reason += (
            f" A forecast reaches half as far as the history, to {end}; beyond, traffic grows by "
            f"{settings.growth_per_year_ratio:.0%} a year, and by {settings.growth_high_per_year_ratio:.0%} in the "
            "high estimate, as was asked for."
        )
    return ClassBasis(
        name=name,
        basis=Basis.FORECAST,
        model=str(tested.model),
        history_days=history.days,
        reason=reason,
        error_ratio=tested.error_ratio,
        seasonal_naive_error_ratio=tested.seasonal_naive_error_ratio,
        coverage_ratio=tested.coverage_ratio,
        interval_ratio=tested.interval_ratio,
    )
