"""Outages, pauses that come again, and traffic that comes now and then."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.demand.day_gaps import clean_days
from kafka_capacity.demand.forecast import NoForecast, forecast_series
from kafka_capacity.demand.settings import USUAL_GROWTH
from tests.unit.demand.made_days import HALF_A_YEAR, found, made, stepped


@pytest.mark.parametrize("ratio", [0.1, 0.05, 0.01])
@pytest.mark.parametrize("ago", [8, 12, 20, 40])
def test_what_fell_for_good_had_no_outage(ratio, ago):
    """A fall to a tenth had some days of outages, while the level of some weeks before counted as the usual one."""
    assert [clean_days(stepped(220, ago, ratio, noise=0.1, seed=seed)).outage_days for seed in range(4)] == [0] * 4


def now_and_then(chance, days, seed):
    return (np.random.default_rng(seed).random(days) < chance) * 1e6


@pytest.mark.parametrize("chance", [0.1, 0.2, 0.33])
def test_traffic_that_comes_now_and_then_is_told_by_its_busy_weeks(chance):
    """Weeks without traffic seemed to be a level far below: the middle was 2 and the high 3 to 4 times any week."""
    for seed in range(5):
        values = now_and_then(chance, 430, seed)
        highest = np.convolve(values, np.full(7, 1 / 7), mode="valid").max()
        forecast = found(values)
        assert 0.6 * highest < forecast.expected[HALF_A_YEAR] < 1.5 * highest
        assert highest < forecast.high[HALF_A_YEAR] < 2.4 * highest
        assert forecast.shift is None
        assert abs(forecast.growth_per_year_ratio) < 0.35
        assert forecast.outage_days <= 10


@pytest.mark.parametrize("rest", [0.0, 0.01, 0.06, 0.1])
def test_a_busy_week_in_four_comes_again_as_high_as_it_was(rest):
    """With a tenth of the traffic in the other three, the high estimate was 3.8 times the highest week."""
    values = np.where(np.arange(400) % 28 < 7, 1.0, rest) * made(400)
    highest = np.convolve(values, np.full(7, 1 / 7), mode="valid").max()
    forecast = found(values)
    assert 0.8 * highest < forecast.expected[52] < 1.2 * highest
    assert forecast.high[52] < 1.6 * highest


@pytest.mark.parametrize("off", [8, 9, 10, 12, 14])
def test_pauses_that_come_again_and_again_are_no_outages(off):
    """Ten days off in 30 had "41 days of outages" among 134, and the level of a week without traffic."""
    forecast = found(np.where(np.arange(400) % 30 < off, 0.0, 1.0) * made(400))
    assert forecast.outage_days == 0
    assert forecast.expected[0] == pytest.approx(1e6, rel=0.1)
    assert forecast.high[52] < 1.4e6


def with_outage(values, first, days, *, left=0.0):
    """Return high estimates without an outage and with it, which is told as one."""
    whole = found(values)
    values[first : first + days] *= left
    forecast = found(values)
    assert forecast.shift is None
    assert forecast.outage_days == days
    return whole.high, forecast.high


@pytest.mark.parametrize(("first", "days", "left"), [(200, 4, 0.0), (200, 12, 0.02), (300, 1, 0.0), (396, 4, 0.0)])
def test_an_outage_is_no_shift_and_changes_little(first, days, left):
    whole, high = with_outage(made(400), first, days, left=left)
    assert high == pytest.approx(whole, rel=0.06)


@pytest.mark.parametrize("days", [10, 16, 20, 27])
@pytest.mark.parametrize("ago", [1, 2, 5, 9, 15, 23, 30])
def test_an_outage_is_one_from_the_day_after_it_on(days, ago):
    """One of three weeks was the fall of a level for another three: a week's days were most of what was usual."""
    whole, high = with_outage(made(300), 300 - ago - days, days)
    assert high == pytest.approx(whole, rel=0.1)


def test_two_outages_are_no_pattern():
    values = made(400)
    values[100:112] = values[300:310] = 0.0
    assert clean_days(values).outage_days == 22


def test_a_day_off_is_an_outage_of_traffic_on_working_days_and_none_of_traffic_on_days_at_random():
    """Where four of four Mondays had traffic by chance, the fifth was an outage, and weeks had what it lacked."""
    working_days = made(40) * (np.arange(40) % 7 < 5)
    at_random = working_days[np.random.default_rng(5).permutation(40)] * (np.arange(40) % 7 < 4)
    at_random[[9, 16, 23, 30]] = 1e6  # weekday 2, but not on day 37
    at_random[37] = working_days[37] = 0.0
    assert clean_days(working_days).outage_days == 1
    assert clean_days(at_random).outage_days == 0


@given(
    lengths=st.lists(st.integers(1, 70), min_size=1, max_size=12),
    rest=st.sampled_from([0.0, 1e-9, 0.05]),
    silent_days=st.integers(0, 20),
)
@settings(max_examples=60, deadline=None)
def test_traffic_that_comes_and_goes_has_finite_estimates(lengths, rest, silent_days):
    values = np.concatenate([np.full(length, rest if place % 2 else 1e6) for place, length in enumerate(lengths)])
    forecast = forecast_series(
        values, weeks_ahead=30, prior=USUAL_GROWTH, quantile=0.9, silent_days=min(silent_days, len(values))
    )
    if not isinstance(forecast, NoForecast):
        assert np.isfinite(forecast.expected).all()
        assert np.isfinite(forecast.high).all()
        assert forecast.high[-1] < 1e8


@pytest.mark.parametrize("days", [*range(116, 132), *range(317, 323)])
def test_a_day_more_of_traffic_that_comes_now_and_then_turns_nothing(days):
    """Some days tripled the high estimate overnight."""
    values = now_and_then(0.1, 430, 1)
    today, tomorrow = (found(values[:end]).high[HALF_A_YEAR] for end in (days, days + 1))
    assert tomorrow == pytest.approx(today, rel=0.15)
