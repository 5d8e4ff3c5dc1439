from __future__ import annotations

import numpy as np
import pytest

from kafka_capacity.demand.calendar_days import days_between, days_later, outlook_dates
from kafka_capacity.demand.class_forecast import forecast_class
from kafka_capacity.demand.expectation import expect_demand
from kafka_capacity.demand.history import DailySeries, TopicHistory
from kafka_capacity.demand.outlook import Basis
from kafka_capacity.demand.settings import DemandSettings
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from tests.builders import cluster, topic

DS = "2026-11-20"
DAILY_GROWTH = 0.001


def series(days, *, growth=DAILY_GROWTH, ends="2026-11-19", scale=1e6):
    rates = scale * np.exp(growth * np.arange(days)) * np.resize([1.1, 1.1, 1.1, 1.1, 1.0, 0.8, 0.8], days)
    return DailySeries(first_day=days_later(ends, 1 - days), rate_bytes_per_second=rates)


def found(history, *, months=6, **changes):
    asked = DemandSettings(horizon_months=months, **changes)
    return forecast_class("orders", history, outlook_dates(DS, months, ()), asked, reference_days=28)


def test_growth_shows_against_the_days_that_todays_load_rests_on():
    forecast = found(series(420))
    dates = outlook_dates(DS, 6, ())
    assert forecast.path.basis.basis is Basis.FORECAST
    assert forecast.path.basis.model == "drift"
    # The week that ends on a date against the mean of the last 28 days: its middle is 3 days before the date, theirs
    # 13.5 days before the last day of history. Means of growing values differ from middles by a little.
    for place, date in enumerate(dates[1:], start=1):
        days = days_between("2026-11-19", date) - 3 + 13.5
        assert forecast.path.middle[place] == pytest.approx(np.exp(DAILY_GROWTH * days), rel=5e-4)
    assert forecast.path.high == pytest.approx(forecast.path.middle)
    assert forecast.path.middle[0] == 1.0


def test_a_date_has_the_highest_week_since_the_date_before():
    falling = found(series(420, growth=-DAILY_GROWTH))
    dates = outlook_dates(DS, 6, ())
    # Traffic falls, so the highest week is the first one: it ends on the day after the date before.
    for place, before in enumerate(dates[1:-1], start=2):
        days = days_between("2026-11-19", before) + 1 - 3 + 13.5
        assert falling.path.middle[place] == pytest.approx(np.exp(-DAILY_GROWTH * days), rel=5e-4)


def test_beyond_half_the_history_the_growth_rate_goes_on_and_the_reason_says_so():
    forecast = found(series(140, growth=0.0), months=12, growth_per_year_ratio=0.5, growth_high_per_year_ratio=1.0)
    end = days_later("2026-11-19", 70)
    years = days_between(end, "2027-11-20") / 365.25
    assert forecast.path.middle[-1] == pytest.approx(1.5**years, rel=1e-5)
    assert forecast.path.high[-1] == pytest.approx(2.0**years, rel=1e-5)
    assert forecast.path.middle[1] == pytest.approx(1.0, rel=1e-5)
    assert forecast.path.basis.reason == (
        "mean of seasonal naive and ETS(A,N,N) was fitted to 140 days to 2026-11-19. At 12 past days its forecasts "
        "were off by 0.0% of the traffic on average, those that repeat the last week by 0.0%; 100% of the days were "
        f"inside their 80% interval. A forecast reaches half as far as the history, to {end}; beyond, traffic grows by "
        "50% a year, and by 100% in the high estimate, as was asked for."
    )


@pytest.mark.parametrize(
    ("history", "changes", "why"),
    [
        (series(28), {}, "The history has 28 days, and a forecast takes at least 140"),
        (series(400), {"is_forecast": False}, "No forecast was asked for"),
        (
            series(400, ends="2026-11-01"),
            {},
            "The history ends on 2026-11-01, 19 days before the inventory, more than the 14 that a forecast allows",
        ),
        (
            DailySeries(first_day="", rate_bytes_per_second=np.zeros(0)),
            {},
            "There is no history of this traffic",
        ),
        (
            DailySeries(
                first_day=days_later("2026-11-19", -799),
                rate_bytes_per_second=np.concatenate([series(772).rate_bytes_per_second, np.zeros(28)]),
            ),
            {},
            "The last 28 days are without traffic",
        ),
    ],
)
def test_without_a_forecast_the_growth_rate_holds_and_the_reason_says_why(history, changes, why):
    forecast = found(history, **changes)
    assert forecast.forecast is None
    assert forecast.path.basis.basis is Basis.GROWTH_RATE
    assert forecast.path.basis.history_days == history.days
    assert forecast.path.basis.reason == (
        f"{why}: traffic grows by 30% a year, and by 60% in the high estimate, as was asked for."
    )
    assert forecast.path.middle[-1] == pytest.approx(1.3 ** (days_between(DS, "2027-05-20") / 365.25))


def test_the_unit_of_the_history_does_not_show():
    one, other = (found(series(150, growth=0.0, scale=scale)) for scale in (1.0, 1e9))
    assert one.path.middle == pytest.approx(other.path.middle, rel=1e-5)
    assert one.path.high == pytest.approx(other.path.high, rel=1e-5)


def test_the_high_estimate_is_above_the_middle_where_the_history_is_noisy():
    noise = np.random.default_rng(3).lognormal(0.0, 0.2, 300)
    noisy = DailySeries(first_day="2026-01-24", rate_bytes_per_second=1e6 * noise)
    assert noisy.last_day == "2026-11-19"
    low, high = (found(noisy, months=3, high_quantile=quantile).path for quantile in (0.6, 0.95))
    assert (low.high[1:] > low.middle[1:]).all()
    assert (high.high[1:] > low.high[1:]).all()
    assert (high.middle == low.middle).all()


def test_classes_and_the_cluster_are_forecast_from_their_own_history():
    raw = cluster(topics=[topic("orders.a", partitions=2), topic("logs.a", partitions=2)])
    snapshot = build_snapshot(raw)
    growing, steady = series(280).rate_bytes_per_second, series(280, growth=0.0).rate_bytes_per_second
    history = TopicHistory(
        first_day=series(280).first_day,
        topics=("logs.a", "orders.a"),
        rate_bytes_per_second=np.stack([steady, growing]),
    )
    expectation = expect_demand(snapshot, partition_load(raw, snapshot), DemandSettings(horizon_months=4), history)
    outlook = expectation.outlook
    assert [basis.name for basis in outlook.classes] == ["logs", "orders"]
    assert [one.name for one in expectation.classes] == ["logs", "orders"]
    assert outlook.rate_ratio[0, -1] == pytest.approx(1.0, abs=1e-3)
    assert outlook.rate_ratio[1, -1] == pytest.approx(np.exp(DAILY_GROWTH * 130), rel=0.02)
    assert expectation.cluster.history.rate_bytes_per_second == pytest.approx(steady + growing)
    assert outlook.rate_ratio[0, -1] < expectation.cluster.path.middle[-1] < outlook.rate_ratio[1, -1]
