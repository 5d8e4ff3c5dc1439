"""What is expected of one class of topics: its forecast where its history allows one, else the growth rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kafka_capacity.demand.calendar_days import WEEK_DAYS, days_between, days_later
from kafka_capacity.demand.day_gaps import clean_days, usual_ratio
from kafka_capacity.demand.forecast import INTERVAL_RATIO, Forecast, NoForecast, forecast_series
from kafka_capacity.demand.history import DailySeries
from kafka_capacity.demand.outlook import Basis, ClassBasis
from kafka_capacity.demand.settings import USUAL_GROWTH, DemandSettings, Growth, growth_ratio
from kafka_capacity.demand.week_model import YEAR_DAYS
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.text import plural, whole_percent

SHOWN_SHARE = 0.05  # less of last year's shape is not worth a word
SHOWN_GROWTH_RATIO = 0.05  # nor is less growth
MAX_STALE_DAYS = 14  # a history that ended earlier does not know what the cluster carries today


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectedPath:
    """Traffic of one class over today's, and what that rests on."""

    basis: ClassBasis
    middle: Floats  # float64[D], 1 at the first date
    high: Floats  # float64[D], never below the middle
    mean_ratio: float = 1.0  # today's mean over the measured one, which outages and dips lower, and peaks have none of


def forecast_class(
    name: str,
    history: DailySeries,
    dates: Sequence[str],
    settings: DemandSettings,
    *,
    reference_days: int,
    silent_since: str | None = None,
) -> ExpectedPath:
    """Describe what is expected of a class.

    A date has the highest week up to it, which is what a cluster has to carry until then: its mean in the middle
    estimate, its quantile in the high one. All is over the mean of the last days of the history, which today's load
    rests on as well: ``reference_days`` of them; or over the level with which the forecast begins, where that is higher
    and a week of these days had it: peaks are measured of all of them, and have it already.

    Dates ascend from that of the inventory on; ``silent_since`` is the last day on which the cluster had traffic, where
    what came after is an outage of metrics.
    """
    asked, high_asked = settings.growth_of(name), settings.growth_high_per_year_ratio
    silent_days = max(0, days_between(silent_since, history.last_day)) if silent_since and history.days else 0
    forecast = None if asked else _forecast(history, dates, settings, reference_days, silent_days=silent_days)
    if not isinstance(forecast, Forecast):
        why = "As requested" if forecast is None else f"{forecast.why}, and it is assumed"
        usual = USUAL_GROWTH
        if high_asked is not None:
            usual = Growth(middle=min(USUAL_GROWTH.middle, high_asked), high=high_asked)
        path = growth_path(name, dates, asked or usual, history_days=history.days, why=why)
        if forecast is not None and forecast.stopped_days:
            return _stopped(path, history)
        if not history.days or days_between(history.last_day, dates[0]) > MAX_STALE_DAYS:
            return path
        ratio = usual_ratio(history.rate_bytes_per_second, reference_days, silent_days=silent_days)
        return replace(path, mean_ratio=round(ratio, 6))
    weeks = np.array([days_between(history.last_day, date) for date in dates]) / WEEK_DAYS
    measured, reference = _reference(history, reference_days, float(forecast.expected[0]), silent_days=silent_days)
    # Growing by the same share every day of a week, and rounded, so that another machine's last bits change no plan.
    middle, high = (
        np.round(np.exp(np.interp(weeks, np.arange(len(path)), np.log(path))) / reference, 6)
        for path in (forecast.expected, forecast.high)
    )
    middle[0] = high[0] = 1.0
    basis = _basis(name, history, forecast)
    if high_asked is not None:
        high = _grown(dates, high_asked)
        said = f" In the high estimate it grows by {whole_percent(high_asked)} a year, as requested."
        basis = replace(basis, reason=basis.reason + said)
    return ExpectedPath(
        basis=basis,
        middle=middle,
        high=np.maximum(middle, high),
        mean_ratio=round(reference / measured, 6),
    )


def _grown(dates: Sequence[str], growth_per_year_ratio: float) -> Floats:
    days = np.array([days_between(dates[0], date) for date in dates], dtype=np.float64)
    return growth_ratio(days, growth_per_year_ratio)


def growth_path(name: str, dates: Sequence[str], growth: Growth, *, history_days: int, why: str) -> ExpectedPath:
    """Let a class grow by a yearly rate; ``why`` there is no forecast is a sentence without its stop."""
    middle = _grown(dates, growth.middle)
    rates = (
        f"traffic grows by {whole_percent(growth.middle)} a year, and by {whole_percent(growth.high)} in the high "
        "estimate"
    )
    basis = ClassBasis(name=name, basis=Basis.GROWTH_RATE, history_days=history_days, reason=f"{why}: {rates}.")
    return ExpectedPath(basis=basis, middle=middle, high=np.maximum(middle, _grown(dates, growth.high)))


def _forecast(
    history: DailySeries, dates: Sequence[str], settings: DemandSettings, reference_days: int, *, silent_days: int
) -> Forecast | NoForecast:
    if not settings.is_forecast:
        return NoForecast(why="No forecast was requested")
    if not history.days:
        return NoForecast(why="There is no history of this traffic")
    stale = days_between(history.last_day, dates[0])
    if stale > MAX_STALE_DAYS:
        return NoForecast(
            why=f"The history ends on {history.last_day}, {stale:,} days before the inventory, more than the "
            f"{MAX_STALE_DAYS} that a forecast allows"
        )
    weeks = -(-days_between(history.last_day, dates[-1]) // WEEK_DAYS)
    found = forecast_series(
        history.rate_bytes_per_second,
        weeks_ahead=weeks,
        prior=USUAL_GROWTH,
        quantile=settings.high_quantile,
        silent_days=silent_days,
    )
    if isinstance(found, Forecast) and not np.nansum(history.rate_bytes_per_second[-reference_days:]) > 0:
        # Nothing times any growth is nothing, and over nothing a forecast has no ratio.
        return NoForecast(why=f"The last {reference_days:,} days are without traffic")
    return found


def _reference(history: DailySeries, days: int, level: float, *, silent_days: int) -> tuple[float, float]:
    """Return the mean of the last days as measured, and as it is without outages and dips, and at the level now.

    A rise of the level within these days is in their mean in part; it counts as far as their busiest week has it.
    """
    rates = history.rate_bytes_per_second[-days:]
    clean = clean_days(history.rate_bytes_per_second, silent_days=silent_days)
    measured = float(np.nanmean(rates))
    if clean is None or len(clean.values) < len(rates):
        return measured, measured
    bridged = clean.values[-len(rates) :]
    busiest = float(sliding_window_view(bridged, min(WEEK_DAYS, len(bridged))).mean(axis=1).max())
    return measured, max(float(bridged[np.isfinite(rates)].mean()), float(bridged.mean()), min(level, busiest))


def _stopped(path: ExpectedPath, history: DailySeries) -> ExpectedPath:
    """Return the path of topics that carry nothing any more: all of it is in the mean that they are held against."""
    nothing = np.eye(1, len(path.middle))[0]
    last = days_later(history.last_day, -int(np.argmax(history.rate_bytes_per_second[::-1] > 0)))
    reason = (
        f"There has been no traffic since {last}, longer than any earlier pause: it is assumed to have stopped for "
        "good. Give a growth rate for this class if it will return."
    )
    return ExpectedPath(
        basis=replace(path.basis, basis=Basis.FORECAST, model="stopped", reason=reason), middle=nothing, high=nothing
    )


def _basis(name: str, history: DailySeries, forecast: Forecast) -> ClassBasis:
    reason = f"Fitted to {forecast.fitted_days:,} days up to {history.last_day}"
    if forecast.shift is not None:
        day, ratio = days_later(history.last_day, 1 - forecast.shift_days_ago), forecast.shift.ratio
        turn, times = "rose" if ratio > 1 else "fell", f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:,.0f}"
        reason = f"The level {turn} ×{times} on {day}; fitted to the {forecast.fitted_days:,} days since"
    if forecast.outage_days:
        reason += f", without {plural(forecast.outage_days, 'day')} of outages or dips"
    reason += (
        f". Its own growth of {whole_percent(forecast.growth_per_year_ratio, signed=True)} a year is weighted "
        f"{whole_percent(forecast.own_weight)}, the usual {whole_percent(USUAL_GROWTH.middle)} (high "
        f"{whole_percent(USUAL_GROWTH.high)}) the rest."
    )
    if forecast.shift_days_ago < YEAR_DAYS and abs(forecast.growth_per_year_ratio) >= SHOWN_GROWTH_RATIO:
        reason += " What may be the rise or fall of a season counts half in it: that shows after about a year."
    model = "level and growth"
    if forecast.season_share >= SHOWN_SHARE:
        model = "level, growth and last year's seasonal shape"
        reason += f" Last year's seasonal shape is repeated at {whole_percent(forecast.season_share)}."
    return ClassBasis(
        name=name,
        basis=Basis.FORECAST,
        model=model,
        history_days=history.days,
        reason=reason,
        error_ratio=forecast.error_ratio,
        seasonal_naive_error_ratio=forecast.naive_error_ratio,
        coverage_ratio=forecast.coverage_ratio,
        interval_ratio=INTERVAL_RATIO,
    )
