"""How good forecasts are: ``make backtest``; on series that are made, and on a folder of daily series of one's own.

``python -m benchmarks.forecasts [FOLDER]`` reads each ``*.csv`` of the folder: a column ``day`` and one of values
for each series. Every forecast knows the days before it alone, and is held against the year after it.
"""

from __future__ import annotations

import csv
import datetime
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from benchmarks.forecast_series import made_series
from kafka_capacity.demand.day_gaps import WEEK_DAYS
from kafka_capacity.demand.forecast import NoForecast, forecast_series
from kafka_capacity.demand.settings import USUAL_GROWTH
from tests.unit.demand.public_series import daily_page_views

Floats = NDArray[np.float64]

WEEKS = 52
ORIGINS = (60, 100, 140, 200, 300, 400, 500, 640, 765)
STEP_DAYS = 90
"""So far apart are the windows of a long series."""
HORIZONS = ((0, 4), (4, 13), (13, 26), (26, 52))
DATES = (4, 13, 26, 52)
HIGH = 0.9


@dataclass(frozen=True, kw_only=True)
class Held:
    """One forecast and what came, a week each: means of calendar weeks, and the highest seven days so far."""

    series: str
    came: Floats
    highest: Floats
    low: Floats
    top: Floats
    expected: Floats
    high: Floats
    last_week: float


def main() -> None:
    held = [one for name, values in _series().items() for one in _held(name, values)]
    print(
        "| series | forecasts | inside 80 %: 1–4, 5–13, 14–26, 27–52 weeks | high exceeded by 1, 3, 6, 12 months "
        "| 3× too large | middle / came | error / last week again | pinball of high, 27–52 weeks "
        "| of last week ×1.6 a year |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(one.series for one in held):
        print(_row(name, [one for one in held if one.series == name]))
    print(_row("**all**", held))


def _series() -> dict[str, Floats]:
    found = {**made_series(), "page views": daily_page_views()}
    for folder in sys.argv[1:]:
        for path in sorted(Path(folder).glob("*.csv")):
            rows = list(csv.DictReader(path.read_text().splitlines()))
            day = np.array([datetime.date.fromisoformat(row["day"]).toordinal() for row in rows])
            for column in [name for name in rows[0] if name != "day"]:
                values = np.full(int(np.ptp(day)) + 1, np.nan)
                values[day - day.min()] = [float(row[column] or "nan") for row in rows]
                found[f"{path.stem} {column}".removesuffix(" value")] = values
    return found


def _held(name: str, values: Floats) -> list[Held]:
    found = []
    for days in ORIGINS:
        last = len(values) - days - WEEKS * WEEK_DAYS
        for start in range(0, last + 1, STEP_DAYS):
            window, future = values[start : start + days], values[start + days :][: WEEKS * WEEK_DAYS]
            if not np.isfinite(window[[0, -1]]).all():
                continue
            forecast = forecast_series(window, weeks_ahead=WEEKS, prior=USUAL_GROWTH, quantile=HIGH)
            if isinstance(forecast, NoForecast):
                continue
            rolling = np.nanmean(sliding_window_view(np.concatenate([window[1 - WEEK_DAYS :], future]), 7), axis=1)
            found.append(
                Held(
                    series=name.split("/")[0],
                    came=np.nanmean(future.reshape(WEEKS, WEEK_DAYS), axis=1),
                    highest=np.fmax.accumulate(rolling)[WEEK_DAYS - 1 :: WEEK_DAYS],
                    low=forecast.week_low,
                    top=forecast.week_high,
                    expected=forecast.expected[1:],
                    high=forecast.high[1:],
                    last_week=float(np.nanmean(window[-WEEK_DAYS:])),
                )
            )
    return found


def _row(name: str, held: list[Held]) -> str:
    came, highest, low, top, expected, high = (
        np.array([getattr(one, part) for one in held]) for part in ("came", "highest", "low", "top", "expected", "high")
    )
    at = np.array(DATES) - 1
    is_inside = (came >= low) & (came <= top)
    inside = " ".join(f"{is_inside[:, start:end].mean():.0%}" for start, end in HORIZONS)
    exceeded = " ".join(f"{share:.0%}" for share in (highest > high)[:, at].mean(axis=0))
    too_large = (high > 3 * highest)[:, at].mean()
    middle = np.median((expected / highest)[:, -1])
    last = np.array([one.last_week for one in held])[:, None]
    error = np.mean(np.abs(expected - highest) / highest) / np.mean(np.abs(last - highest) / highest)
    naive = last * 1.6 ** (np.arange(1, WEEKS + 1) / 52)
    return (
        f"| {name} | {len(held)} | {inside} | {exceeded} | {too_large:.1%} | {middle:.2f} | {error:.2f} | "
        f"{_pinball(highest, high):.3f} | {_pinball(highest, naive):.3f} |"
    )


def _pinball(highest: Floats, high: Floats) -> float:
    """Return the mean pinball loss at the high quantile half a year to a year ahead, over what came."""
    off = ((highest - high) / highest.mean(axis=1, keepdims=True))[:, 26:]
    return float(np.where(off > 0, HIGH * off, (HIGH - 1) * off).mean())


if __name__ == "__main__":
    main()
