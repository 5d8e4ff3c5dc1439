import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.demand.totals import HourlyTotals, describe, scaled, week_means

MONDAY = 4  # 1970-01-05, in days


def totals(rates, *, key=None, day=None):
    rates = np.asarray(rates, dtype=np.float64)
    key = np.zeros(len(rates), dtype=np.int64) if key is None else np.asarray(key)
    day = MONDAY + np.arange(len(rates)) if day is None else np.asarray(day)
    return HourlyTotals(key=key, key_count=int(key.max(initial=0)) + 1, day=day, rates=rates)


def test_a_sum_of_half_the_partitions_stands_for_all_and_less_is_not_known():
    milli = np.array([[4000, 4000, 4000, 0]])
    known = np.array([[4, 2, 1, 0]])
    np.testing.assert_array_equal(scaled(milli, known, np.array([4])), [[4.0, 8.0, np.nan, np.nan]])


def test_each_thing_is_described_by_its_known_hours():
    rates = np.full((2, 24), np.nan)
    rates[0, :4] = [10, 20, 30, 40]
    rates[1, 3] = 100
    profile = describe(totals(rates), (0.5, 1.0))
    assert profile.mean[0] == 40.0
    assert profile.percentiles[:, 0].tolist() == [30.0, 100.0]
    assert profile.highest[0] == 100.0
    assert profile.peak_hour[0] == 3  # 70 on average over the two days


def test_the_trend_is_the_slope_of_the_daily_means():
    rates = np.array([[100.0 + 7 * day] * 24 for day in (0, 1, 5)])
    profile = describe(totals(rates, day=np.array([10, 11, 15])), ())
    assert profile.trend[0] == pytest.approx(7.0)


def test_one_day_has_no_trend_and_nothing_known_has_no_profile():
    rates = np.full((2, 24), np.nan)
    rates[0] = 5.0
    profile = describe(totals(rates, key=[0, 1], day=[3, 3]), (0.99,))
    assert np.isnan(profile.trend).all()
    assert np.isnan([profile.mean[1], profile.percentiles[0, 1], profile.highest[1]]).all()
    assert profile.peak_hour.tolist() == [0, -1]


def test_hours_of_the_week_begin_on_monday():
    rates = np.zeros((14, 24))
    rates[:, 6] = np.arange(14)  # the second week is 7 above the first
    means = week_means(totals(rates))[0]
    assert means[6::24].tolist() == [3.5 + weekday for weekday in range(7)]
    assert means.sum() == pytest.approx(sum(3.5 + weekday for weekday in range(7)))


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1e6))
def test_other_units_only_scale_the_figures(seed, factor):
    rng = np.random.default_rng(seed)
    rates = rng.uniform(1, 1e6, (4, 24))
    rates[rng.random(rates.shape) < 0.3] = np.nan
    one, other = (describe(totals(rates * by, key=[0, 0, 1, 1], day=[0, 1, 0, 1]), (0.5, 0.99)) for by in (1.0, factor))
    for name in ("mean", "highest", "percentiles"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name) * factor, rtol=1e-5)
    assert one.peak_hour.tolist() == other.peak_hour.tolist()
