"""One day more of history never turns a forecast, unless it is the day of a shift or of a burst."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.forecast_series import made_series
from kafka_capacity.demand.calendar_days import WEEK_DAYS
from kafka_capacity.demand.day_gaps import clean_days
from kafka_capacity.demand.forecast import NoForecast, forecast_series
from kafka_capacity.demand.level_shifts import level_shifts
from kafka_capacity.demand.settings import USUAL_GROWTH
from tests.unit.demand.public_series import public_series

HALF_A_YEAR = 26
SHORTEST, LONGEST = 30, 400
MAX_CHANGE = 0.15
BURST_RATIO, BURST_DAYS = 2.0, 60
"""A burst is a week of twice, or of half, what was usual in the last two months."""
SAME_BELIEF = 0.05
"""A shift is another one where its certainty is rounded to another multiple of this."""
PAIRS, LEAST_HELD = 10, 3
"""Days that are sampled of each series, the same every time, and how many of them are no days of shifts or bursts."""
SERIES = {name: values for name, values in made_series().items() if name.endswith("/0")} | {
    name: values[-2 * LONGEST :][:LONGEST] for name, values in public_series().items()
}


def high_of(values):
    """Return the high estimate half a year ahead and the shifts that are believed in; None in a burst."""
    clean = clean_days(values)
    weeks = np.convolve(clean.values, np.full(WEEK_DAYS, 1 / WEEK_DAYS), mode="valid")
    usual = np.median(weeks[-BURST_DAYS:])
    forecast = forecast_series(values, weeks_ahead=HALF_A_YEAR, prior=USUAL_GROWTH, quantile=0.9)
    if isinstance(forecast, NoForecast) or not usual / BURST_RATIO < weeks[-1] < usual * BURST_RATIO:
        return None
    return forecast.high[HALF_A_YEAR], [
        (one.day, round(one.certainty / SAME_BELIEF)) for one in level_shifts(clean.values)
    ]


@pytest.mark.parametrize("name", SERIES)
def test_one_day_more_changes_the_high_estimate_by_less_than_15_percent(name):
    values = SERIES[name]
    days = np.random.default_rng([15, len(name)]).choice(np.arange(SHORTEST, LONGEST), PAIRS, replace=False)
    held = 0
    for end in sorted(days.tolist()):
        today, tomorrow = high_of(values[:end]), high_of(values[: end + 1])
        if today is not None and tomorrow is not None and today[1] == tomorrow[1]:
            held += 1
            assert abs(tomorrow[0] / today[0] - 1) < MAX_CHANGE, end
    assert held >= LEAST_HELD


@pytest.mark.parametrize(
    ("name", "day"),
    [
        pytest.param("now and then/5", 32, id="quiet days on a weekday that was busy four times by chance"),
        pytest.param("now and then/5", 37, id="the same, five days later"),
        pytest.param("monthly batch/5", 222, id="weeks between batches that are hardly quiet any more"),
        pytest.param("monthly batch/5", 285, id="the same, two months later"),
    ],
)
def test_days_that_turned_the_high_estimate_by_40_to_70_percent(name, day):
    values = made_series()[name]
    today, tomorrow = high_of(values[: day - 1]), high_of(values[:day])
    assert abs(tomorrow[0] / today[0] - 1) < MAX_CHANGE
