from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_capacity.demand.calendar_days import days_between, days_later, outlook_dates
from kafka_capacity.demand.class_forecast import forecast_class
from kafka_capacity.demand.expectation import expect_demand
from kafka_capacity.demand.history import DailySeries, TopicHistory
from kafka_capacity.demand.outlook import Basis
from kafka_capacity.demand.settings import DemandSettings
from kafka_capacity.errors import RequestError
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from tests.builders import cluster, topic

DS = "2026-11-20"
DAILY_GROWTH = 0.001


def series(days, *, growth=DAILY_GROWTH, ends="2026-11-19", scale=1e6, noise=0.0):
    rates = (
        scale
        * np.random.default_rng(1).lognormal(0.0, noise, days)
        * np.exp(growth * np.arange(days))
        * np.resize([1.1, 1.1, 1.1, 1.1, 1.0, 0.8, 0.8], days)
    )
    return DailySeries(first_day=days_later(ends, 1 - days), rate_bytes_per_second=rates)


def found(history, *, months=6, **changes):
    asked = DemandSettings(horizon_months=months, **changes)
    return forecast_class("orders", history, outlook_dates(DS, months, ()), asked, reference_days=28)


def test_growth_shows_against_the_days_that_todays_load_rests_on():
    forecast = found(series(700), months=3)
    assert forecast.basis.basis is Basis.FORECAST
    assert forecast.basis.model == "level and growth"
    # The week that ends on a date against the mean of the last 28 days: its middle is 3 days before the date, theirs
    # 13.5 days before the last day of history. Growth of its own, 44 % a year, counts 92 %, the usual 30 % the rest.
    weight = 686 / (686 + 60)
    daily = weight * DAILY_GROWTH + (1 - weight) * np.log(1.3) / 365.25
    for place, date in enumerate(outlook_dates(DS, 3, ())[1:], start=1):
        days = days_between("2026-11-19", date) - 3 + 13.5
        assert forecast.middle[place] == pytest.approx(np.exp(daily * days), rel=0.02)
    assert (forecast.high[1:] > forecast.middle[1:]).all()
    assert forecast.middle[0] == forecast.high[0] == 1.0


def test_a_rise_that_peaks_have_already_is_not_put_on_top_of_them():
    # Traffic doubled six days ago: peaks of the last 28 days are those of twice as much, their mean is of six of them.
    history = series(400, growth=0.0, noise=0.02)
    rates = history.rate_bytes_per_second.copy()
    rates[-6:] *= 2
    risen = found(replace(history, rate_bytes_per_second=rates), months=1)
    assert risen.middle[-1] == pytest.approx(1.0, abs=0.1)
    assert risen.mean_ratio == pytest.approx(12 / 7 / (34 / 28), rel=0.06)
    # Less than a week of it is believed in so far, and what fell, or was a burst, raises nothing.
    rates[-6:] /= 4
    fallen = found(replace(history, rate_bytes_per_second=rates), months=1)
    assert fallen.mean_ratio < 1.01
    rates[-6:] = history.rate_bytes_per_second[-6:]
    rates[-20:-18] *= 5
    assert found(replace(history, rate_bytes_per_second=rates), months=1).mean_ratio < 1.02


def test_a_date_has_the_highest_week_up_to_it():
    falling = found(series(420, growth=-DAILY_GROWTH))
    assert (np.diff(falling.middle[1:]) >= 0).all()
    assert (np.diff(falling.high[1:]) >= 0).all()
    # Traffic falls, so the highest week is among the first, which are below the mean of the last four.
    assert 0.97 < falling.middle[1] < 1.0


def test_the_reason_tells_the_fit_and_the_weights():
    forecast = found(series(140, growth=0.0, noise=0.05), months=12)
    assert forecast.basis.reason == (
        "Fitted to 140 days up to 2026-11-19. Its own growth of −1 % a year is weighted 68 %, the usual 30 % (high "
        "60 %) the rest."
    )


def test_a_step_is_told_and_does_not_make_an_absurd_answer():
    """Six brokers, 400 days, one step ×2 on day 200: 60 brokers were recommended."""
    history = series(400, growth=0.0, noise=0.03)
    history.rate_bytes_per_second[200:] *= 2
    forecast = found(history, months=12)
    assert forecast.basis.reason.startswith(
        "The level rose ×2 on 2026-05-04; fitted to the 200 days since. Its own growth of "
    )
    assert forecast.middle[-1] < 1.3
    assert forecast.high[-1] < 1.65


def test_a_launch_fifty_days_ago_makes_no_absurd_answer():
    history = series(400, growth=0.0, noise=0.03)
    history.rate_bytes_per_second[:350] /= 500
    forecast = found(history, months=12)
    assert forecast.basis.reason.startswith("The level rose ×502 on 2026-10-01; fitted to the 50 days since.")
    assert forecast.high[-1] < 2.1


def test_a_class_that_stopped_carries_nothing():
    history = series(300)
    history.rate_bytes_per_second[-10:] = 0.0
    forecast = found(history)
    assert forecast.middle.tolist() == forecast.high.tolist() == [1.0, *[0.0] * 6]
    assert forecast.basis.reason == (
        "There has been no traffic since 2026-11-09, longer than any earlier pause: it is assumed to have stopped "
        "for good. Give a growth rate for this class if it will return."
    )


def test_growth_that_was_asked_for_holds_instead_of_the_forecast():
    years = days_between(DS, "2027-05-20") / 365.25
    one = found(series(700), growth_per_year_ratio=0.1)
    assert one.basis.basis is Basis.GROWTH_RATE
    assert one.middle[-1] == pytest.approx(1.1**years)
    # As much above it as 60 % is above 30 %: 1.1 · 1.6 / 1.3 = 1.354.
    assert one.high[-1] == pytest.approx((1.1 * 1.6 / 1.3) ** years)
    assert one.basis.reason == ("As requested: traffic grows by 10 % a year, and by 35 % in the high estimate.")
    both = found(series(700), growth_per_year_ratio=0.1, growth_high_per_year_ratio=0.1)
    assert both.high[-1] == pytest.approx(1.1**years)
    # Nobody asked for another middle than the history has.
    high_alone, history_alone = found(series(700), growth_high_per_year_ratio=0.9), found(series(700))
    assert high_alone.middle.tolist() == history_alone.middle.tolist()
    assert high_alone.high[-1] == pytest.approx(1.9**years)
    assert high_alone.basis.reason.endswith(" In the high estimate it grows by 90 % a year, as requested.")
    less = found(series(700), growth_high_per_year_ratio=0.0)
    assert less.high.tolist() == less.middle.tolist()
    assumed = found(series(5), growth_high_per_year_ratio=0.2)
    assert assumed.middle[-1] == assumed.high[-1] == pytest.approx(1.2**years)


def test_growth_of_one_class_holds_for_it_before_that_of_all():
    years = days_between(DS, "2027-05-20") / 365.25
    asked = {"class_growth": (("orders", 1.0),), "growth_per_year_ratio": 0.1}
    assert found(series(700), **asked).middle[-1] == pytest.approx(2.0**years)
    assert found(series(700), class_growth=(("logs", 1.0),)).basis.basis is Basis.FORECAST


@pytest.mark.parametrize(
    ("history", "changes", "why"),
    [
        (series(13), {}, "The history has 13 days with traffic, but a forecast needs 14"),
        (series(400), {"is_forecast": False}, "No forecast was requested"),
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
    ],
)
def test_without_a_forecast_the_growth_rate_holds_and_the_reason_says_why(history, changes, why):
    forecast = found(history, **changes)
    assert forecast.basis.basis is Basis.GROWTH_RATE
    assert forecast.basis.history_days == history.days
    assert forecast.basis.reason == (
        f"{why}, and it is assumed: traffic grows by 30 % a year, and by 60 % in the high estimate."
    )
    assert forecast.middle[-1] == pytest.approx(1.3 ** (days_between(DS, "2027-05-20") / 365.25))


def test_the_unit_of_the_history_does_not_show():
    one, other = (found(series(150, growth=0.0, scale=scale)) for scale in (1.0, 1e9))
    assert one.middle == pytest.approx(other.middle, rel=1e-5)
    assert one.high == pytest.approx(other.high, rel=1e-5)


def test_the_high_estimate_is_above_the_middle_where_the_history_is_noisy():
    noise = np.random.default_rng(3).lognormal(0.0, 0.2, 300)
    noisy = DailySeries(first_day="2026-01-24", rate_bytes_per_second=1e6 * noise)
    assert noisy.last_day == "2026-11-19"
    low, high = (found(noisy, months=3, high_quantile=quantile) for quantile in (0.75, 0.95))
    assert (low.high[1:] > low.middle[1:]).all()
    assert (high.high[1:] > low.high[1:]).all()
    assert (high.middle <= high.high).all()


def test_which_growth_holds_is_told_where_one_was_asked_for():
    raw = cluster(topics=[topic("orders.a", partitions=2), topic("logs.a", partitions=2)])
    snapshot = build_snapshot(raw)

    def notes(**asked):
        return expect_demand(snapshot, partition_load(raw, snapshot), DemandSettings(**asked)).notes

    start = "Growth is as requested, regardless of the history: "
    assert notes() == ()
    assert notes(growth_per_year_ratio=0.3) == (f"{start}30 % a year for all topics, 60 % in the high estimate.",)
    assert notes(class_growth=(("logs", 0.0),), growth_high_per_year_ratio=0.5) == (
        f"{start}0 % a year for logs, 23 % in the high estimate.",
    )


def test_growth_of_a_class_that_is_not_there_is_refused():
    raw = cluster(topics=[topic("orders.a", partitions=2)])
    snapshot = build_snapshot(raw)
    with pytest.raises(RequestError) as refused:
        expect_demand(snapshot, partition_load(raw, snapshot), DemandSettings(class_growth=(("order", 0.5),)))
    assert str(refused.value) == (
        "class_growth: 'order' is invalid: there is no such topic class; the classes are orders"
    )


def test_classes_are_forecast_from_their_own_history():
    raw = cluster(topics=[topic("orders.a", partitions=2), topic("logs.a", partitions=2)])
    snapshot = build_snapshot(raw)
    growing, steady = series(280).rate_bytes_per_second, series(280, growth=0.0).rate_bytes_per_second
    history = TopicHistory(
        first_day=series(280).first_day,
        topics=("logs.a", "orders.a"),
        rate_bytes_per_second=np.stack([steady, growing]),
    )
    settings = DemandSettings(horizon_months=4)
    outlook = expect_demand(snapshot, partition_load(raw, snapshot), settings, history).outlook
    assert [basis.name for basis in outlook.classes] == ["logs", "orders"]
    assert 1.0 < outlook.rate_ratio[0, -1] < 1.08
    # A part of what grew in 280 days may be a season's, which the usual growth does not make good.
    assert np.exp(0.7 * DAILY_GROWTH * 130) < outlook.rate_ratio[1, -1] < np.exp(DAILY_GROWTH * 130)


@pytest.mark.parametrize(("reference_days", "empty_days", "model"), [(7, 10, "stopped"), (3, 3, "")])
def test_a_stop_is_told_although_todays_load_rests_on_days_without_traffic(reference_days, empty_days, model):
    history = series(300)
    history.rate_bytes_per_second[-empty_days:] = 0.0
    dates = outlook_dates(DS, 6, ())
    path = forecast_class("orders", history, dates, DemandSettings(), reference_days=reference_days)
    assert path.basis.model == model
    assert (path.high[-1] == 0.0) == (model == "stopped")
    if not model:
        assert path.basis.reason.startswith("The last 3 days are without traffic, and it is assumed: ")


def test_an_outage_in_the_days_that_todays_load_rests_on_raises_no_peak():
    history = series(400, growth=0.0)
    calm = forecast_class("orders", history, outlook_dates(DS, 6, ()), DemandSettings(), reference_days=7)
    history.rate_bytes_per_second[-3:] = 0.0
    path = forecast_class("orders", history, outlook_dates(DS, 6, ()), DemandSettings(), reference_days=7)
    assert path.high == pytest.approx(calm.high, rel=0.02)
    # Four of seven days were measured: three at 1.1 and one at 1.0, of 6.9 a week.
    assert path.mean_ratio == pytest.approx(7.0 / history.rate_bytes_per_second[-7:].sum() * 1e6, rel=0.03)
    assert calm.mean_ratio == 1.0


def test_a_launch_that_nobody_believes_yet_does_not_lower_todays_traffic():
    history = series(400, growth=0.0)
    history.rate_bytes_per_second[:395] /= 20
    path = forecast_class("orders", history, outlook_dates(DS, 6, ()), DemandSettings(), reference_days=7)
    # The next week has six of the last seven days in it.
    rates = history.rate_bytes_per_second
    assert path.middle[1:].min() >= rates[-6:].sum() / rates[-7:].sum() - 1e-6


def test_what_a_series_came_down_from_is_no_burst():
    falling = series(400, growth=-0.004, noise=0.03)
    calm = found(falling, months=12).high[-1]
    assert calm < 1.4
    burst = series(400, growth=-0.004, noise=0.03)
    burst.rate_bytes_per_second[200:207] *= 4
    assert found(burst, months=12).high[-1] > 1.02 * calm
