"""How well peaks are forecast: ``python -m benchmarks.peaks``; hours are made of daily series, since real ones are few.

Today's peak, the 99th percentile of the hours of 28 days, times the ratio of a forecast is held against the highest
peak of a week that came. Compared is what the ratio is over: the mean of the 28 days, and the level that sizing takes.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.forecast_series import made_series
from kafka_capacity.demand.calendar_days import WEEK_DAYS
from kafka_capacity.demand.forecast import Forecast, forecast_series
from kafka_capacity.demand.settings import USUAL_GROWTH
from kafka_capacity.kafka.arrays import Floats
from tests.unit.demand.public_series import public_series

ORIGINS = (60, 140, 300, 500, 765)
HORIZONS = (1, 4, 13, 26)
MEASURED_DAYS = 28
PEAK = 0.99
RISEN_RATIO = 1.15  # where the level is so much above the mean, rows are shown apart


def main() -> None:
    """Print the error of each way, of all forecasts and of those after a rise."""
    rng = np.random.default_rng(1)
    day_curve = 1 + 0.5 * np.sin((np.arange(24) - 8) / 24 * 2 * np.pi)
    rows: dict[tuple[str, int], list[tuple[float, bool]]] = {}
    for values in {**made_series(), **public_series()}.values():
        hours = np.nan_to_num(values)[:, None] * day_curve * rng.lognormal(0, 0.1, (len(values), 24))
        for origin in (one for one in ORIGINS if one + 7 * HORIZONS[-1] <= len(values)):
            forecast = forecast_series(values[:origin], weeks_ahead=HORIZONS[-1], prior=USUAL_GROWTH, quantile=0.9)
            measured = np.nan_to_num(values[origin - MEASURED_DAYS : origin])
            if not isinstance(forecast, Forecast) or not measured.any():
                continue
            peak = float(np.quantile(hours[origin - MEASURED_DAYS : origin], PEAK))
            weeks = hours[origin : origin + 7 * HORIZONS[-1]].reshape(HORIZONS[-1], -1)
            came = np.maximum.accumulate(np.quantile(weeks, PEAK, axis=1))
            over = {"mean": float(measured.mean()), "level": _peak_level(measured, float(forecast.expected[0]))}
            for way, base in over.items():
                for of in ("all", *(["risen"] if over["level"] > RISEN_RATIO * over["mean"] else [])):
                    for weeks_ahead in (one for one in HORIZONS if came[one - 1] > 0):
                        _hold(rows, f"{of}, over the {way}", weeks_ahead, peak / base, forecast, came)
    print("| forecasts | weeks ahead | count | median error | median absolute error | high exceeded |")
    for (way, weeks_ahead), found in sorted(rows.items(), key=lambda item: (item[0][1], item[0][0])):
        errors = np.expm1([error for error, _ in found])
        exceeded = np.mean([is_above for _, is_above in found])
        error, size = np.median(errors), np.median(np.abs(errors))
        print(f"| {way} | {weeks_ahead} | {len(found)} | {error:+.1%} | {size:.1%} | {exceeded:.1%} |")


def _peak_level(days: Floats, level: float) -> float:
    """Return the mean of days that their peaks go with, as sizing takes it: what their busiest week had of a level."""
    busiest = float(sliding_window_view(days, WEEK_DAYS).mean(axis=1).max())
    return max(float(days.mean()), min(level, busiest))


def _hold(
    rows: dict[tuple[str, int], list[tuple[float, bool]]],
    way: str,
    weeks: int,
    scale: float,
    forecast: Forecast,
    came: Floats,
) -> None:
    error = float(np.log(scale * forecast.expected[weeks] / came[weeks - 1]))
    rows.setdefault((way, weeks), []).append((error, bool(came[weeks - 1] > scale * forecast.high[weeks])))


if __name__ == "__main__":
    sys.exit(main())
