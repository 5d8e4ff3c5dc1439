from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.demand.day_gaps import clean_days
from kafka_capacity.demand.forecast import HALF_WEIGHT_DAYS, LEAST_DAYS, NoForecast
from kafka_capacity.demand.level_shifts import level_shifts
from kafka_capacity.demand.week_model import (
    HALF_LIFE_DAYS,
    LEFT_DAYS,
    PERSISTENT_GROWTH_PER_YEAR,
    SEASON,
    _slopes,
    _variances,
)
from tests.unit.demand.made_days import HALF_A_YEAR, found, made, stepped
from tests.unit.demand.public_series import daily_page_views, public_series


@pytest.mark.parametrize(("ago", "ratio"), [(200, 2.0), (200, 0.5), (50, 2.0), (50, 100.0), (21, 3.0)])
def test_a_step_is_found_and_told_and_the_forecast_rests_on_the_days_since(ago, ratio):
    forecast = found(stepped(400, ago, ratio))
    assert forecast.shift_days_ago == pytest.approx(ago, abs=1)
    assert forecast.shift.ratio == pytest.approx(ratio, rel=0.1)
    assert forecast.fitted_days == forecast.shift_days_ago
    level = 1e6 * ratio
    assert forecast.expected[0] == pytest.approx(level, rel=0.05)
    # Half a year on: some of the usual 30 % a year, and what a level that was just found may be off.
    assert 0.97 * level < forecast.expected[HALF_A_YEAR] < 1.35 * level
    assert forecast.high[HALF_A_YEAR] < 1.75 * level
    assert forecast.high[52] < 2.2 * level


def test_a_launch_from_nothing_starts_at_its_launch():
    values = np.concatenate([np.zeros(350), made(50)])
    forecast = found(values)
    assert forecast.fitted_days == 50
    assert forecast.high[52] < 2.1e6


def test_growth_wandering_and_seasons_are_no_shifts():
    for seed in range(12):
        for values in (made(400, growth=0.003, seed=seed), made(400, wander=0.05, seed=seed)):
            assert not level_shifts(values)
        day = np.arange(730)
        assert not level_shifts(made(730, seed=seed) * np.exp(0.3 * np.sin(day / 365.25 * 2 * np.pi)))


@pytest.mark.parametrize("noise", [0.0, 0.04])
@pytest.mark.parametrize("days", [120, 200, 400])
def test_growth_however_fast_is_no_shift_and_faster_growth_never_brings_less(days, noise):
    chance = np.exp(noise * np.random.default_rng(5).normal(size=days))
    ago = np.arange(days)[::-1] / 30.4
    brought = []
    for a_month in (0.5, 0.9, 1.0, 1.2, 1.5, 2.0):
        values = 1e6 * a_month**-ago * chance
        forecast = found(values)
        assert forecast.shift is None, a_month
        # It may begin where it is and come to three times as much, and what comes now and then on top.
        assert forecast.high[HALF_A_YEAR] < 8e6
        brought.append(forecast.expected[HALF_A_YEAR])
    halved, _, *others = brought
    assert all(more > 0.95 * less for less, more in pairwise(others))
    assert halved < 2e6  # the busiest week is one that was, or is under way
    # A step on top of growth is one.
    grown = 1e6 * 1.3**-ago * chance
    grown[-40:] *= 2.0
    assert found(grown).shift.ratio == pytest.approx(2.0, rel=0.15)


def test_a_topic_that_stopped_is_told_to_have_stopped_and_a_pause_that_was_usual_is_none():
    values = made(300)
    values[-10:] = 0.0
    assert found(values) == NoForecast(why="The last 10 days are without traffic", stopped_days=10)
    values[100:112] = 0.0
    assert not isinstance(found(values), NoForecast)


def test_gaps_are_filled_with_their_weekday_and_zeros_that_are_usual_stay():
    values = np.resize(np.array([5.0, 5.0, 5.0, 5.0, 5.0, 0.0, 0.0]), 140)
    values[70] = np.nan
    clean = clean_days(values)
    assert clean.values[70] == 5.0
    assert clean.outage_days == 0
    assert (clean.values == np.resize([5.0, 5.0, 5.0, 5.0, 5.0, 0.0, 0.0], 140)).all()
    assert clean_days(np.array([0.0, np.nan, 0.0])) is None


@pytest.mark.parametrize("between", [1.0, 0.0])
def test_a_batch_that_comes_every_month_is_in_the_high_estimate(between):
    values = between * made(400)
    values[5::30] = 1e9
    forecast = found(values)
    batch_week = 1e9 / 7
    assert forecast.high[HALF_A_YEAR] >= 0.95 * batch_week
    assert forecast.expected[HALF_A_YEAR] == pytest.approx(batch_week, rel=0.35)
    assert forecast.high[52] < 3 * batch_week


def test_139_and_150_days_of_the_same_series_give_nearly_the_same():
    for seed in range(3):
        values = made(150, wander=0.03, seed=seed)
        assert found(values[:139]).high[52] == pytest.approx(found(values).high[52], rel=0.25)


def test_a_burst_that_was_there_counts_the_more_the_longer_ahead_and_no_more_than_as_high():
    calm = made(400)
    values = calm.copy()
    values[150:154] *= 6.0
    before, after = found(calm), found(values)
    lifts = (after.high / before.high)[[4, 13, 26]]
    assert (np.diff(lifts) > 0).all()
    assert lifts[0] < 1.4 < 1.8 < lifts[-1]
    top = np.convolve(values, np.full(7, 1 / 7), mode="valid").max()
    # Of 400 days behind and 364 ahead the highest is ahead with a chance of 0.48, far more than a tenth.
    assert 0.8 * top < after.high[52] < 1.2 * top
    assert after.expected[26] < 1.4 * before.expected[26]


def test_a_year_without_bursts_brings_the_high_estimate_of_a_calm_series_near_its_level():
    short, long = (found(made(days, noise=0.1)).high / 1e6 for days in (60, 600))
    assert 1.8 < short[52] < 2.6
    assert 1.05 < long[52] < 1.4


def test_noisy_weeks_have_wider_estimates_from_the_first_weeks_on():
    calm, noisy = (found(made(60, noise=noise)) for noise in (0.03, 0.4))
    assert calm.high[52] / calm.expected[0] < 2.1 < 2.6 < noisy.high[52] / noisy.expected[0]
    assert noisy.week_high[25] / noisy.week_low[25] > 1.5 * calm.week_high[25] / calm.week_low[25]


def turns(values, first=30, last=400):
    """Return by how much the high estimate half a year ahead changes with each day, where no shift is suspected."""
    ends = [end for end in range(first, last + 1) if np.isfinite(values[end - 1])]
    highs = [found(values[:end], weeks=HALF_A_YEAR).high[HALF_A_YEAR] for end in ends]
    is_calm = np.array([not level_shifts(clean_days(values[:end]).values) for end in ends])
    return np.abs(np.expm1(np.diff(np.log(highs))))[is_calm[1:] & is_calm[:-1]]


@pytest.mark.parametrize("values", [made(400, noise=0.1), made(400, wander=0.04, seed=2)], ids=["noise", "wandering"])
def test_one_more_day_never_turns_the_answer(values):
    changes = turns(values)
    assert len(changes) > 350
    assert changes.max() < 0.15


def test_one_more_day_turns_nothing_on_real_series_either():
    changes = turns(daily_page_views()[2500:])
    assert len(changes) > 200
    # Bursts of thirty times the usual move the level itself.
    assert np.mean(changes < 0.15) > 0.97


def test_a_slope_of_few_weeks_is_not_taken_for_growth_on_the_day_on_which_they_seem_not_to_wander():
    values = public_series()["page views, R"]
    highs = [found(values[:end], weeks=HALF_A_YEAR).high[HALF_A_YEAR] for end in range(238, 246)]
    assert np.abs(np.expm1(np.diff(np.log(highs)))).max() < 0.15


def test_the_weight_of_the_history_grows_smoothly_and_starts_at_none():
    weights = [found(made(days), weeks=4).own_weight for days in range(LEAST_DAYS, 200)]
    assert weights[0] == 0.0
    assert weights[HALF_WEIGHT_DAYS] == 0.5
    assert (np.diff(weights) > 0).all()
    assert np.max(np.diff(weights)) < 0.02


def test_two_weeks_of_history_grow_as_traffic_usually_does():
    forecast = found(made(LEAST_DAYS, noise=0.0))
    assert forecast.expected[52] / forecast.expected[0] == pytest.approx(1.3 ** (364 / 365.25), rel=1e-3)
    assert forecast.high[52] / forecast.high[0] == pytest.approx(1.6 ** (364 / 365.25), rel=1e-3)
    assert found(made(LEAST_DAYS - 1)) == NoForecast(
        why="The history has 13 days with traffic, but a forecast needs 14"
    )


def test_growth_of_its_own_goes_on_and_wears_off():
    forecast = found(made(800, growth=0.001, noise=0.0))
    assert forecast.growth_per_year_ratio == pytest.approx(np.expm1(0.364), rel=0.05)
    assert 1.30 < forecast.expected[52] / forecast.expected[0] < 1.46
    assert forecast.expected[52] < forecast.high[52]


@pytest.mark.parametrize(("days", "least"), [(120, 2.0), (180, 2.0), (250, 1.65)])
def test_what_may_be_the_rise_of_a_season_is_growth_in_half_of_all_paths(days, least):
    """Growth of 54 to 161 % a year was seen here, and after a year up to twice as much."""
    day = np.arange(days)
    rising = made(days, noise=0.03) * np.exp(0.25 * np.sin(2 * np.pi * (day - days / 2) / 364))
    forecast = found(rising)
    assert 0.15 < forecast.growth_per_year_ratio < 0.8
    assert 1.3 < forecast.expected[52] / forecast.expected[0] < 1.75
    # The paths that take it for growth are in the high estimate.
    assert forecast.high[52] / forecast.expected[0] > least


@pytest.mark.parametrize("height", [0.2, 0.4, 0.8])
@pytest.mark.parametrize("phase", [-np.pi / 2, 0.0])
def test_what_a_season_came_down_from_is_no_burst_on_top_of_the_next_one(height, phase):
    """The high estimate was up to three times the highest week of three equal years."""
    day = np.arange(3 * 364)
    values = made(len(day), noise=0.02) * np.exp(height * np.sin(2 * np.pi * day / 364 + phase))
    forecast = found(values)
    highest = 1e6 * np.exp(height)
    assert 0.85 * highest < forecast.expected[52] < 1.1 * highest
    assert forecast.high[52] < (1.1 + height) * highest


@pytest.mark.parametrize("days", [400, 730, 1095])
def test_what_a_class_fell_from_steadily_is_no_burst(days):
    """The high estimate was 1.5 to 2.4 times today's traffic, the more the longer it had fallen."""
    forecast = found(made(days, noise=0.02, growth=-0.001))
    assert forecast.high[52] < 1.25 * forecast.expected[0]


@pytest.mark.parametrize("days", [8, 40, 180, 280, 400, 900])
def test_growth_is_that_of_a_weighted_fit_with_a_season_by_least_squares(days):
    day = np.arange(days)
    logs = 0.001 * day + 0.2 * np.sin(2 * np.pi * day / 364 + 1) + 0.02 * np.random.default_rng(3).normal(size=days)
    _, growth = _slopes(logs, logs, 0)
    wander, noise = _variances(logs, 0)
    weight = 0.5 ** (day[::-1] / HALF_LIFE_DAYS)
    columns = np.stack([np.ones(days), day, np.sin(2 * np.pi * day / 364), np.cos(2 * np.pi * day / 364)], axis=1)
    squares = np.average((day - np.average(day, weights=weight)) ** 2, weights=weight)
    weeks = np.sqrt(12 * squares + 1) / 7
    off = (1.2 * wander / weeks + 12 * noise / weeks**3) / 7**2 * squares * weight.sum()
    line = np.linalg.lstsq((columns[:, :2].T * np.sqrt(weight)).T, np.sqrt(weight) * logs)[0]
    off = max(off, LEFT_DAYS * np.average((logs - columns[:, :2] @ line) ** 2, weights=weight))
    usual = off * np.diag([0, (364 / PERSISTENT_GROWTH_PER_YEAR) ** 2, 2 / SEASON**2, 2 / SEASON**2])
    fit = np.linalg.solve((columns.T * weight) @ columns + usual, (columns.T * weight) @ logs)
    assert growth[-1] == pytest.approx(fit[1], rel=1e-6)


def test_growth_that_began_within_the_history_is_growth():
    """Four percent a year were told of what had tripled in 140 days: the half of the days before seemed to wander."""
    for seed in range(4):
        since = np.maximum(0, np.arange(280) - 140)
        forecast = found(made(280, noise=0.1, seed=seed) * 2 ** (since / 90))
        assert forecast.growth_per_year_ratio > 0.2
    # What ended counts less and less.
    over = found(made(600) * 2 ** (np.minimum(280, np.arange(600)) / 90))
    assert over.growth_per_year_ratio < found(made(280) * 2 ** (np.arange(280) / 90)).growth_per_year_ratio / 2


def test_growth_that_ended_wears_off():
    """A line that fits a ramp and a plateau badly told of 378 % a year, four weeks after the ramp had ended."""
    grown = [found(np.minimum(1, 0.2 + np.arange(160 + flat) / 200) * made(160 + flat)) for flat in (28, 90, 120)]
    told = [forecast.growth_per_year_ratio for forecast in grown]
    assert told == sorted(told, reverse=True)
    assert told[0] < 1.5
    assert told[-1] < 0.6


def test_last_years_shape_comes_again_where_it_did_before():
    day = np.arange(3 * 364)
    values = made(len(day), noise=0.03) * np.exp(0.4 * np.sin(2 * np.pi * day / 364))
    forecast = found(values)
    assert forecast.season_share > 0.7
    # From the middle of the year a peak comes: the highest week of a year is that of the season's top.
    assert forecast.expected[52] == pytest.approx(1e6 * np.exp(0.4), rel=0.15)
    flat = found(made(len(day), noise=0.03))
    assert flat.season_share < 0.5


def test_the_highest_week_so_far_never_falls_and_the_high_is_above_the_mean():
    for values in (made(300, growth=-0.002), made(90, wander=0.08)):
        forecast = found(values, weeks=260)
        assert (np.diff(forecast.expected[1:]) >= 0).all()
        assert (np.diff(forecast.high[1:]) >= 0).all()
        assert (forecast.high[1:] >= forecast.expected[1:]).all()
        assert (found(values, weeks=260, quantile=0.95).high >= forecast.high).all()


def odd(kind, rng, days):
    values = made(days, noise=rng.choice([0.0, 0.1, 1.0]), wander=rng.choice([0.0, 0.05]), seed=int(rng.integers(1000)))
    start, stop = sorted(rng.integers(0, days, 2))
    if kind == "gaps":
        values[rng.random(days) < rng.random()] = np.nan
    elif kind == "zeros":
        values[rng.random(days) < rng.random()] = 0.0
    elif kind == "pause":
        values[start:stop] = 0.0
    elif kind == "step":
        values[start:] *= 10.0 ** rng.integers(-6, 6)
    elif kind == "batches":
        values[np.arange(days) % rng.integers(1, 40) > 0] = 0.0
    return values


@pytest.mark.parametrize("kind", ["noise", "gaps", "zeros", "pause", "step", "batches"])
def test_no_history_makes_an_absurd_answer(kind):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        values = odd(kind, rng, int(rng.integers(20, 450)))
        forecast = found(values)
        if isinstance(forecast, NoForecast):
            continue
        largest = np.convolve(np.nan_to_num(values), np.full(7, 1 / 7), mode="valid").max()
        # The noisiest by a factor of e a day; what is not known of a week stands for more than was seen of it.
        known = np.isfinite(values).mean()
        assert (forecast.high > 0).all()
        assert forecast.high[52] < 7 * largest / known


@settings(max_examples=5, deadline=None)
@given(scale=st.floats(1e-3, 1e9), seed=st.integers(0, 1000))
def test_the_unit_of_the_series_does_not_matter(scale, seed):
    values = made(154, noise=0.1, wander=0.04, seed=seed)
    one, other = (found(values * by) for by in (1.0, scale))
    assert other.high / scale == pytest.approx(one.high, rel=1e-9)
    assert other.expected / scale == pytest.approx(one.expected, rel=1e-9)


def test_the_same_series_gives_the_same_bytes():
    one, other = (found(made(154, noise=0.1)) for _ in range(2))
    assert one.expected.tobytes() == other.expected.tobytes()
    assert one.high.tobytes() == other.high.tobytes()


@pytest.mark.parametrize("noise", [0.03, 0.15])
@pytest.mark.parametrize(("days", "since"), [(7, 3), (11, 3), (12, 7), (14, 14), (21, 7)])
@pytest.mark.parametrize("ratio", [0.3, 0.5])
def test_a_dip_that_is_over_changes_nothing(ratio, days, since, noise):
    calm = made(365, noise=noise)
    dipped = calm.copy()
    dipped[365 - since - days : 365 - since] *= ratio
    before, after = (found(one) for one in (calm, dipped))
    assert after.shift is None
    assert after.expected == pytest.approx(before.expected, rel=0.12)
    assert after.high == pytest.approx(before.high, rel=0.12)
    # What has not come back is a fall.
    fallen = found(dipped[: 365 - since])
    assert fallen.expected[0] < 0.9 * before.expected[0]


@pytest.mark.parametrize("days", [12, 21])
def test_a_rise_that_is_over_is_no_level_to_grow_from(days):
    calm = made(365)
    risen = calm.copy()
    risen[-7 - days : -7] *= 2
    forecast = found(risen)
    assert forecast.shift is None
    assert forecast.expected[0] < 1.2 * calm.mean()
    # It may come again.
    assert 2 * calm.mean() < forecast.high[-1] < 3 * calm.mean()


def test_weeks_that_are_quiet_again_and_again_and_noise_are_no_dips():
    rng = np.random.default_rng(2)
    turns = np.resize(np.repeat([1.0, 0.5], 10), 400) * rng.lognormal(0, 0.02, 400)
    assert clean_days(turns).is_known.all()
    assert clean_days(rng.lognormal(0, 0.5, 400)).is_known.mean() > 0.97
