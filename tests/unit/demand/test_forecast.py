from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from kafka_capacity.demand.backtest import LEAST_SEASONS, backtest
from kafka_capacity.demand.forecast import Forecast, NoForecast, forecast_series
from kafka_capacity.demand.forecast_models import Model, forecast_path
from kafka_capacity.demand.interval import error_curve
from kafka_capacity.demand.season_levels import path_of_levels, season_levels, season_shape
from tests.unit.demand.public_series import daily_page_views, hourly_pedestrians, measured

WEEK = np.array([1.1, 1.05, 1.0, 1.0, 1.05, 0.9, 0.8])


def made(days, *, growth=0.0, noise=0.0, seed=1):
    """Return days of a week that grows by a share each day, with noise."""
    rng = np.random.default_rng(seed)
    day = np.arange(days)
    return 1e6 * np.exp(growth * day) * np.resize(WEEK, days) * rng.lognormal(0.0, noise, days)


def test_a_seasonal_series_without_noise_is_forecast_exactly():
    forecast = forecast_series(made(280), season=7, horizon=100)
    expected = made(380)[280:]
    assert forecast.median == pytest.approx(expected, rel=1e-6)
    assert forecast.high == pytest.approx(expected, rel=1e-6)
    assert forecast.backtest.error_ratio == pytest.approx(0.0, abs=1e-6)


def test_growth_by_the_same_share_every_day_is_forecast_exactly():
    forecast = forecast_series(made(280, growth=0.003), season=7, horizon=100)
    assert forecast.backtest.model is Model.DRIFT
    assert forecast.median == pytest.approx(made(380, growth=0.003)[280:], rel=1e-6)


def test_levels_are_of_whole_seasons_counted_from_the_end():
    values = np.concatenate([[100.0, 100.0], np.resize([1.0, 2.0, 3.0], 12)])
    assert season_levels(values, 3).tolist() == [2.0, 2.0, 2.0, 2.0]
    assert season_shape(values, 3).tolist() == [-1.0, 0.0, 1.0]


def test_a_path_is_straight_between_the_middles_of_seasons():
    # Levels 0, 3, 6 at middles 3 steps apart: each step adds 1. The first value is 2 steps after the last middle.
    path = path_of_levels(0.0, np.array([3.0, 6.0, 9.0]), np.zeros(3), 6)
    assert path.tolist() == pytest.approx([2, 3, 4, 5, 6, 7])


def test_models_agree_where_there_is_nothing_to_learn():
    flat = np.log(made(140))
    for model in Model:
        assert forecast_path(model, flat, 7, 30) == pytest.approx(np.log(made(170))[140:], abs=1e-6)


def test_the_curve_of_errors_finds_the_one_that_made_them():
    horizon = np.arange(1, 101) / 10
    errors = np.tile(0.02 + 0.05 * np.sqrt(horizon), (6, 1)) * np.array([1, -1, 1, -1, 1, -1])[:, None]
    curve = error_curve(errors, 10, 1_000_000)
    assert curve.scale == pytest.approx(0.02 + 0.05 * np.sqrt(horizon))
    # All errors have the size of the curve, and so many are independent that Student's t is normal.
    assert curve.reach(0.9) == pytest.approx(curve.scale, rel=1e-4)
    assert curve.reach(0.5).tolist() == [0.0] * 100


def test_few_independent_forecasts_widen_as_students_t_does():
    curve = error_curve(np.full((4, 50), 0.1), 7, 100)
    assert curve.independent[[0, 49]].tolist() == [100.0, 2.0]
    assert curve.reach(0.9)[49] == pytest.approx(0.1 * t.ppf(0.9, 2) / norm.ppf(0.9))


def test_the_backtest_holds_forecasts_against_what_came():
    values = np.log(made(210, growth=0.002, noise=0.05))
    is_known = np.ones(210, dtype=np.bool_)
    is_known[150] = False
    found = backtest(values, is_known, season=7, horizon=40, interval_ratio=0.8)
    assert found.origins[0] == LEAST_SEASONS * 7
    assert found.origins[-1] == 203
    row = int(np.flatnonzero(found.origins < 150)[-1])
    origin = int(found.origins[row])
    assert found.forecast[row] == pytest.approx(np.exp(forecast_path(found.model, values[:origin], 7, 40)))
    assert np.isnan(found.actual[row, 150 - origin])
    assert found.actual[-1, :7] == pytest.approx(np.exp(values[203:]))
    assert np.isnan(found.actual[-1, 7:]).all()
    off = np.abs(found.forecast - found.actual)
    assert found.error_ratio == pytest.approx(np.nanmean(off) / np.nanmean(found.actual))
    is_inside = (found.actual >= found.low) & (found.actual <= found.high)
    assert found.coverage_ratio == pytest.approx(is_inside[np.isfinite(off)].mean())
    # An interval is made from the errors at all other origins.
    errors = np.log(found.actual / found.forecast)
    others = error_curve(np.delete(errors, row, axis=0), 7, 210 - LEAST_SEASONS * 7)
    assert found.high[row] == pytest.approx(found.forecast[row] * np.exp(others.reach(0.9)))
    assert found.seasonal_naive_error_ratio == found.candidate_error_ratio[Model.SEASONAL_NAIVE]
    assert found.error_ratio <= found.seasonal_naive_error_ratio


@settings(max_examples=3, deadline=None)
@given(scale=st.floats(1e-3, 1e9), seed=st.integers(0, 1000))
def test_the_unit_of_the_series_does_not_matter(scale, seed):
    series = made(154, growth=0.001, noise=0.1, seed=seed)
    one, other = (forecast_series(values, season=7, horizon=30) for values in (series, series * scale))
    assert one.backtest.model == other.backtest.model
    assert other.median / scale == pytest.approx(one.median, rel=1e-3)
    assert other.high / scale == pytest.approx(one.high, rel=1e-2)
    assert (one.low <= one.median).all()
    assert (one.median <= one.high).all()
    assert one.quantile(0.9) == pytest.approx(one.high)
    assert (one.quantile(0.95) >= one.high).all()


def test_the_same_series_gives_the_same_bytes():
    one, other = (forecast_series(made(154, noise=0.1), season=7, horizon=30) for _ in range(2))
    assert one.median.tobytes() == other.median.tobytes()
    assert one.high.tobytes() == other.high.tobytes()


def test_a_forecast_reaches_half_as_far_as_the_history():
    assert len(forecast_series(made(150), season=7, horizon=365).median) == 75


def with_gaps(count, *, of=200, value=np.nan):
    series = made(of)
    series[10 : 10 + count] = value
    return series


@pytest.mark.parametrize(
    ("series", "why"),
    [
        (made(139), "The history has 139 days, and a forecast takes at least 140"),
        (with_gaps(21), "Only 179 of 200 days of history are known, and a forecast takes 90%"),
        (
            with_gaps(11, value=0.0),
            "11 of 200 days are without traffic, more than the 5% that a forecast allows",
        ),
    ],
)
def test_what_cannot_be_forecast_is_refused_with_figures(series, why):
    assert forecast_series(series, season=7, horizon=30) == NoForecast(why=why)


def test_a_few_gaps_and_zeros_are_bridged():
    whole = forecast_series(made(200), season=7, horizon=30)
    for series in (with_gaps(14), with_gaps(7, value=0.0)):
        assert isinstance(forecast_series(series, season=7, horizon=30), Forecast)
        assert forecast_series(series, season=7, horizon=30).median == pytest.approx(whole.median, rel=0.05)


def test_four_of_five_days_of_page_views_are_inside_the_interval():
    found = measured(daily_page_views(), season=7, history=400, horizon=200, step=230)
    assert found.forecasts == 11
    assert 0.75 <= found.coverage_ratio <= 0.85
    assert found.relative_error <= 1.0


def test_four_of_five_hours_of_pedestrians_are_inside_the_interval():
    places = [
        measured(hourly_pedestrians(place), season=24, history=500, horizon=96, step=37)
        for place in ("location_4", "location_41")
    ]
    inside = np.concatenate([found.is_inside for found in places])
    assert 0.75 <= inside.mean() <= 0.85
    # Weekdays and weekends differ, and a season of 24 hours does not know that: no better than yesterday again.
    assert sum(found.error for found in places) <= 1.03 * sum(found.seasonal_naive_error for found in places)
