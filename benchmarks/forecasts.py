"""How good forecasts are: ``make backtest``; on series that are made, and on a folder of daily series of one's own.

``python -m benchmarks.forecasts [FOLDER]`` reads each ``*.csv`` of the folder: a column ``day`` and one of values
for each series. Every forecast knows the days before it alone, and is held against the year after it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.forecast_calibration import BOUNDS, learned_factors
from benchmarks.forecast_rivals import METHODS, rival_forecasts
from benchmarks.forecast_series import made_series
from kafka_capacity.demand.day_gaps import WEEK_DAYS
from kafka_capacity.demand.forecast import NoForecast, forecast_series
from kafka_capacity.demand.settings import USUAL_GROWTH
from kafka_capacity.kafka.arrays import Floats
from tests.unit.demand.public_series import daily_series, public_series

WEEKS = 52
ORIGINS = (60, 100, 140, 200, 300, 400, 500, 640, 765)
STEP_DAYS = 90
"""So far apart are the windows of a long series."""
SHORT_DAYS, SHORT_STEP_DAYS = 900, 30
"""Of series of less than so many days they are nearer to each other: two years hold few of them else."""
HORIZONS = ((0, 4), (4, 13), (13, 26), (26, 52))
DATES = (4, 13, 26, 52)
HIGH = 0.9
CHOSEN_SEEDS = 3
"""Seeds below were looked at when figures of the model were chosen."""
OURS = "ours"
STRETCHES = (0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0)
"""High estimates that are all so many times as high: what fewer exceeded would cost."""
MAX_SHOWN = 1_000
"""Intervals of some methods grow beyond all bounds; how far does not matter."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """One forecast and what came, a week each: means of calendar weeks, and the highest seven days so far.

    Attributes:
        series: its kind, with its seed where it is a made one.
        days: of history.
        came: float64[W].
        highest: float64[W].
        low: float64[W], the lower end of the 80 % interval.
        top: float64[W], its upper end.
        by_method: middle and high estimate of the highest week, float64[W] each.
        last_week: the mean of the last week known.
    """

    series: str
    days: int
    came: Floats
    highest: Floats
    low: Floats
    top: Floats
    by_method: dict[str, tuple[Floats, Floats]]
    last_week: float

    @property
    def kind(self) -> str:
        """The name of the series without its seed, or its name among those of its kind."""
        return re.split("/|: ", self.series)[0]

    @property
    def is_chosen_on(self) -> bool:
        """Whether it is of a seed that figures of the model were chosen on."""
        return "/" in self.series and int(self.series.partition("/")[2]) < CHOSEN_SEEDS


def main() -> None:
    held = [one for name, values in _series().items() for one in _held(name, values)]
    made = [one for one in held if "/" in one.series]
    groups = {name: [one for one in held if one.kind == name] for name in dict.fromkeys(one.kind for one in held)}
    spans = {
        f"*{first} to {last} days known*": [one for one in held if first <= one.days <= last]
        for first, last in ((60, 140), (200, 300), (400, 765))
    }
    totals = {
        "**made, seeds that were looked at**": [one for one in made if one.is_chosen_on],
        "**made, other seeds**": [one for one in made if not one.is_chosen_on],
        "**real**": [one for one in held if "/" not in one.series],
        "**all**": held,
    }
    _print_table(
        "series | forecasts | inside 80 %: 1–4, 5–13, 14–26, 27–52 weeks | high exceeded by 1, 3, 6, 12 months "
        "| 3× too large | middle / came | high / came | error / last week again | worst series: pinball",
        (_row(name, part) for name, part in (groups | spans | totals).items()),
    )
    _print_table(
        "all high estimates times | high exceeded by 1, 3, 6, 12 months | 3× too large | pinball of high, 27–52 weeks",
        (_stretched_row(held, by) for by in STRETCHES),
    )
    _print_table(
        "high estimates times a factor learned on other kinds of series | high exceeded by 1, 3, 6, 12 months "
        "| 3× too large | pinball of high, 27–52 weeks",
        (row for bounds in BOUNDS for row in _learned_rows(held, bounds)),
    )
    methods = (OURS, *METHODS)
    for title, cell in (
        ("pinball of high, 27–52 weeks", _pinball_cell),
        ("high exceeded by 1, 3, 6, 12 months", _exceeded_cell),
        ("error of the middle", _error_cell),
    ):
        _print_table(
            " | ".join([title, *methods]),
            (
                " | ".join([name, *(cell(part, method) for method in methods)])
                for name, part in (groups | totals).items()
            ),
        )


def _print_table(head: str, rows: Iterable[str]) -> None:
    print(f"| {head} |\n|{'---|' * (head.count(' | ') + 1)}")
    for row in rows:
        print(f"| {row} |")
    print()


def _series() -> dict[str, Floats]:
    found = {**made_series(), **public_series()}
    for folder in sys.argv[1:]:
        for path in sorted(Path(folder).glob("*.csv")):
            for column, values in daily_series(path).items():
                found[f"{path.stem}: {column}"] = values
    return found


def _held(name: str, values: Floats) -> list[Held]:
    found = []
    for days in ORIGINS:
        last = len(values) - days - WEEKS * WEEK_DAYS
        for start in range(0, last + 1, STEP_DAYS if len(values) >= SHORT_DAYS else SHORT_STEP_DAYS):
            window, future = values[start : start + days], values[start + days :][: WEEKS * WEEK_DAYS]
            if not np.isfinite(window[[0, -1]]).all():
                continue
            forecast = forecast_series(window, weeks_ahead=WEEKS, prior=USUAL_GROWTH, quantile=HIGH)
            if isinstance(forecast, NoForecast):
                continue
            rolling = _means(sliding_window_view(np.concatenate([window[1 - WEEK_DAYS :], future]), WEEK_DAYS))
            ours = {OURS: (forecast.expected[1:], forecast.high[1:])}
            found.append(
                Held(
                    series=name,
                    days=days,
                    came=_means(future.reshape(WEEKS, WEEK_DAYS)),
                    highest=np.fmax.accumulate(rolling)[WEEK_DAYS - 1 :: WEEK_DAYS],
                    low=forecast.week_low,
                    top=forecast.week_high,
                    by_method=ours | rival_forecasts(window, WEEKS),
                    last_week=float(np.nanmean(window[-WEEK_DAYS:])),
                )
            )
    return found


def _means(rows: Floats) -> Floats:
    """Return float64[N], the mean of what is known in each row, NaN where nothing is."""
    known = np.isfinite(rows).sum(axis=1)
    return np.divide(np.nansum(rows, axis=1), known, out=np.full(len(rows), np.nan), where=known > 0)


def _row(name: str, held: list[Held]) -> str:
    came, highest, low, top = (
        np.array([getattr(one, part) for one in held]) for part in ("came", "highest", "low", "top")
    )
    expected, high = _estimates(held, OURS)
    is_inside = (came >= low) & (came <= top)
    inside = " ".join(f"{is_inside[:, start:end].mean():.0%}" for start, end in HORIZONS)
    middle, most = (np.median(part[:, -1] / highest[:, -1]) for part in (expected, high))
    last = np.array([one.last_week for one in held])[:, None]
    error = _error(highest, expected) / _error(highest, last)
    each = {
        series: _pinball([one for one in held if one.series == series], OURS) for series in {o.series for o in held}
    }
    worst = max(sorted(each), key=lambda series: each[series])
    return (
        f"{name} | {len(held)} | {inside} | {_exceeded_cell(held, OURS)} | {_too_large_cell(held)} | {middle:.2f} | "
        f"{most:.2f} | {error:.2f} | {worst}: {each[worst]:.3f}"
    )


def _stretched_row(held: list[Held], by: float) -> str:
    parts = [replace(one, by_method={OURS: (one.by_method[OURS][0], by * one.by_method[OURS][1])}) for one in held]
    return f"{by:g} | {_exceeded_cell(parts, OURS)} | {_too_large_cell(parts)} | {_pinball_cell(parts, OURS)}"


def _learned_rows(held: list[Held], bounds: tuple[float, float]) -> Iterable[str]:
    # All of it is in logarithms.
    held = [one for one in held if one.last_week > 0 and one.highest[0] > 0]
    expected, high = _estimates(held, OURS)
    factors = learned_factors(
        np.array([one.kind for one in held]),
        expected,
        high,
        _highest(held),
        np.array([one.last_week for one in held]),
        np.array([float(one.days) for one in held]),
        weeks=DATES,
        quantile=HIGH,
        bounds=bounds,
    )
    raised = np.maximum.accumulate(factors * high, axis=1)
    parts = [
        replace(one, by_method={OURS: (one.by_method[OURS][0], most)}) for one, most in zip(held, raised, strict=True)
    ]
    for name, some in (("all", parts), ("real", [one for one in parts if "/" not in one.series])):
        cells = (_exceeded_cell(some, OURS), _too_large_cell(some), _pinball_cell(some, OURS))
        yield " | ".join([f"{bounds[0]:g} to {bounds[1]:g}, {name}", *cells])


def _too_large_cell(held: list[Held]) -> str:
    is_too_large = _estimates(held, OURS)[1] > 3 * _highest(held)
    return f"{is_too_large[:, np.array(DATES) - 1].mean():.1%}"


def _estimates(held: list[Held], method: str) -> tuple[Floats, Floats]:
    middle, high = (np.array([one.by_method[method][place] for one in held]) for place in (0, 1))
    return middle, high


def _highest(held: list[Held]) -> Floats:
    return np.array([one.highest for one in held])


def _error(highest: Floats, middle: Floats) -> float:
    """Return the mean error, over what came; of the middle four fifths, since one absurd figure would hide the rest."""
    # Before the first week with traffic nothing is over what came.
    over = np.divide(np.abs(middle - highest), highest, out=np.full(highest.shape, np.nan), where=highest > 0)
    off = np.sort(np.nanmean(over, axis=1))
    return float(off[len(off) // 10 : len(off) - len(off) // 10].mean())


def _error_cell(held: list[Held], method: str) -> str:
    return f"{_error(_highest(held), _estimates(held, method)[0]):.0%}"


def _exceeded_cell(held: list[Held], method: str) -> str:
    is_exceeded = _highest(held) > _estimates(held, method)[1]
    return " ".join(f"{share:.0%}" for share in is_exceeded[:, np.array(DATES) - 1].mean(axis=0))


def _pinball_cell(held: list[Held], method: str) -> str:
    loss = _pinball(held, method)
    return f"{loss:.3f}" if loss < MAX_SHOWN else f"> {MAX_SHOWN:,}"


def _pinball(held: list[Held], method: str) -> float:
    """Return the mean pinball loss at the high quantile half a year to a year ahead, over what came."""
    highest, high = _highest(held), _estimates(held, method)[1]
    off = ((highest - high) / highest.mean(axis=1, keepdims=True))[:, 26:]
    return float(np.where(off > 0, HIGH * off, (HIGH - 1) * off).mean())


if __name__ == "__main__":
    main()
