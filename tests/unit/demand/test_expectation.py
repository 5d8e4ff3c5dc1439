from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.demand.calendar_days import days_later, months_later, outlook_dates
from kafka_capacity.demand.disk import date_seconds
from kafka_capacity.demand.events import Launch, RetentionChange, retention_at
from kafka_capacity.demand.expectation import expect_demand, risen
from kafka_capacity.demand.history import DailySeries, TopicHistory
from kafka_capacity.demand.outlook import AddedTopic, Basis
from kafka_capacity.demand.settings import (
    ClassPattern,
    DemandSettings,
)
from kafka_capacity.errors import RequestError
from kafka_capacity.inventory.sizing_workload import log_limits
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from tests.builders import DS, cluster, topic

DAY = 86_400.0
WEEK = 7 * DAY
NEW = AddedTopic(
    name="fraud.scores",
    from_date="2027-03-01",
    partitions=12,
    replication_factor=3,
    bytes_in_peak_bytes_per_second=2e6,
    bytes_in_mean_bytes_per_second=1e6,
    bytes_out_peak_bytes_per_second=4e6,
    bytes_out_mean_bytes_per_second=2e6,
    retention_seconds=math.inf,
)


def shop_tables():
    return cluster(
        topics=[
            topic("orders.created", partitions=2, bytes_in=500.0, settings={"retention_ms": int(WEEK * 1000)}),
            topic("orders.closed", partitions=2, bytes_in=500.0, settings={"retention_ms": int(3 * DAY * 1000)}),
            topic("payments", partitions=1, bytes_in=1000.0, settings={"retention_ms": -1}),
            topic("state", partitions=1, bytes_in=300.0, settings={"cleanup_policy": "compact"}),
            topic("tiny", partitions=1, bytes_in=1.0),
            topic("__consumer_offsets", partitions=1, bytes_in=200.0),
        ]
    )


def shop():
    raw = shop_tables()
    snapshot = build_snapshot(raw)
    return snapshot, partition_load(raw, snapshot)


def outlook_of(**settings):
    return expect_demand(*shop(), DemandSettings(**settings)).outlook


def place_of(outlook, snapshot, name):
    of_topic = snapshot.partitions.topics.index(name)
    return int(outlook.class_of[snapshot.partitions.topic.tolist().index(of_topic)])


def test_growth_compounds_over_the_year():
    outlook = outlook_of(horizon_months=12, growth_per_year_ratio=0.3, growth_high_per_year_ratio=0.6)
    assert outlook.dates[0] == "2026-11-20"
    assert outlook.dates[-1] == "2027-11-20"
    assert len(outlook.dates) == 13
    # 365 of the 365.25 days of a year.
    assert outlook.rate_ratio[:, -1] == pytest.approx(1.3 ** (365 / 365.25))
    assert outlook.rate_ratio_high[:, -1] == pytest.approx(1.6 ** (365 / 365.25))
    assert (outlook.rate_ratio[:, 0] == 1).all()
    assert (outlook.retention_ratio == 1).all()
    assert {basis.basis for basis in outlook.classes} == {Basis.GROWTH_RATE}
    assert outlook.classes[0].reason == (
        "As requested: traffic grows by 30 % a year, and by 60 % in the high estimate."
    )


def test_topics_are_classed_by_the_start_of_their_names():
    outlook = outlook_of()
    assert [basis.name for basis in outlook.classes] == ["internal", "orders", "other", "payments", "state"]
    snapshot, _ = shop()
    assert place_of(outlook, snapshot, "orders.closed") == place_of(outlook, snapshot, "orders.created") == 1
    assert place_of(outlook, snapshot, "tiny") == 2


def test_the_users_patterns_come_first_and_are_never_pooled():
    outlook = outlook_of(
        topic_classes=(ClassPattern(name="small", topics="t*"), ClassPattern(name="no", topics="tiny"))
    )
    assert [basis.name for basis in outlook.classes] == ["internal", "orders", "payments", "small", "state"]


def test_a_launch_multiplies_its_topics_alone_and_only_while_it_lasts():
    event = Launch(topics="orders.c*d", from_date="2027-01-05", to_date="2027-02-01", factor=2.0)
    outlook = outlook_of(events=(event,), horizon_months=3, growth_per_year_ratio=0.0, growth_high_per_year_ratio=0.0)
    snapshot, _ = shop()
    # The days before a change are dates as well: between two dates all is a straight line.
    assert outlook.dates == (
        "2026-11-20", "2026-12-20", "2027-01-04", "2027-01-05", "2027-01-20", "2027-02-01", "2027-02-02", "2027-02-20",
    )  # fmt: skip
    launched, untouched = place_of(outlook, snapshot, "orders.created"), place_of(outlook, snapshot, "payments")
    assert outlook.rate_ratio[launched].tolist() == [1, 1, 1, 2, 2, 2, 1, 1]
    assert outlook.rate_ratio_high[launched].tolist() == [1, 1, 1, 2, 2, 2, 1, 1]
    assert outlook.rate_ratio[untouched].tolist() == [1] * 8
    assert outlook.classes[launched].name == "orders (launch ×2 from 2027-01-05 to 2027-02-01)"
    assert outlook.classes[launched].reason.endswith(" Planned on top: launch ×2 from 2027-01-05 to 2027-02-01.")


def left_out(expectation):
    return [note for note in expectation.notes if note.startswith("planned_events")]


STILL = {"growth_per_year_ratio": 0.0, "growth_high_per_year_ratio": 0.0, "horizon_months": 1}


def test_a_running_launch_ends_and_its_mean_is_that_of_its_own_days():
    snapshot, load = shop()
    event = Launch(topics="orders.created", from_date="2026-11-17", to_date="2026-12-01", factor=3.0)
    expectation = expect_demand(snapshot, load, DemandSettings(events=(event,), **STILL))
    outlook = expectation.outlook
    assert left_out(expectation) == []
    assert outlook.dates == ("2026-11-20", "2026-12-01", "2026-12-02", "2026-12-20")
    place, other = (place_of(outlook, snapshot, topic) for topic in ("orders.created", "payments"))
    # Peaks are there; after the last day all is a third.
    assert outlook.rate_ratio[place] == pytest.approx([1, 1, 1 / 3, 1 / 3])
    # Three of seven days at three times as much are 13/7 on average.
    assert max(load.hours // 24, 7) == 7
    assert outlook.mean_ratio[place] == pytest.approx(3 / (13 / 7))
    assert outlook.mean_ratio[other] == 1.0
    assert outlook.classes[place].reason.endswith(
        "The launch ×3 from 2026-11-17 to 2026-12-01 is in progress, so peaks already include it, and traffic is "
        "0.33 times as much after it."
    )


def test_a_launch_that_begins_today_counts_from_tomorrow_and_one_of_today_is_over():
    snapshot, load = shop()
    event = Launch(topics="orders.created", from_date="2026-11-20", factor=3.0)
    outlook = expect_demand(snapshot, load, DemandSettings(events=(event,), **STILL)).outlook
    assert outlook.dates == ("2026-11-20", "2026-11-21", "2026-12-20")
    place = place_of(outlook, snapshot, "orders.created")
    assert outlook.rate_ratio[place].tolist() == [1, 3, 3]
    assert outlook.mean_ratio[place] == 1.0
    over = Launch(topics="orders.created", from_date="2026-11-18", to_date="2026-11-20", factor=3.0)
    assert left_out(expect_demand(snapshot, load, DemandSettings(events=(over,), **STILL))) == [
        "planned_events.0 is left out: its last day, 2026-11-20, is not after the day of the inventory, 2026-11-20; "
        "the peaks and means of the 7 days that today's traffic is measured over have it still, and so have sizes "
        "until these days are over"
    ]


def test_a_launch_puts_on_disk_what_its_own_days_bring():
    snapshot, _ = shop()
    asked = {"growth_per_year_ratio": 0.0, "growth_high_per_year_ratio": 0.0, "horizon_months": 3}
    event = Launch(topics="orders.created", from_date="2026-12-21", to_date="2027-01-19", factor=3.0)
    outlook = outlook_of(events=(event,), **asked)
    place = place_of(outlook, snapshot, "orders.created")
    times, ratio = date_seconds(outlook.dates) / DAY, outlook.rate_ratio[place]
    # Thirty days at three times as much: sixty days' worth more, whatever lies between the dates.
    assert np.trapezoid(ratio - 1.0, times) == pytest.approx(60.0)
    week = Launch(topics="orders.created", from_date="2026-11-27", to_date="2026-11-30", factor=3.0)
    outlook = outlook_of(events=(week,), **asked)
    times, ratio = date_seconds(outlook.dates) / DAY, outlook.rate_ratio[place_of(outlook, snapshot, "orders.created")]
    assert np.trapezoid(ratio - 1.0, times) == pytest.approx(8.0)


def test_a_longer_retention_fills_up_day_by_day_from_each_topics_own():
    event = RetentionChange(topics="orders.*", from_date="2026-12-20", retention_seconds=14 * DAY)
    snapshot, load = shop()
    limits = log_limits(shop_tables(), snapshot)
    outlook = expect_demand(snapshot, load, DemandSettings(events=(event,), horizon_months=2), limits=limits).outlook
    assert outlook.dates == ("2026-11-20", "2026-12-19", "2026-12-20", "2026-12-27", "2026-12-31", "2027-01-20")
    created, closed = place_of(outlook, snapshot, "orders.created"), place_of(outlook, snapshot, "orders.closed")
    assert created != closed
    assert outlook.retention_ratio[created].tolist() == [1, 1, 1, 2, 2, 2]
    assert outlook.retention_ratio[closed] == pytest.approx([1, 1, 1, 10 / 3, 14 / 3, 14 / 3])
    assert outlook.classes[closed].name == "orders (retention 14 days from 2026-12-20, 3 days today)"


def test_a_shorter_retention_deletes_at_once_and_a_later_one_starts_from_what_is_there():
    shorter = RetentionChange(topics="*", from_date="2027-01-10", retention_seconds=2 * DAY)
    longer = RetentionChange(topics="*", from_date="2027-01-15", retention_seconds=10 * DAY)
    spans = [
        retention_at(f"2027-01-{day:02d}", WEEK, [shorter, longer]) / DAY for day in (9, 10, 14, 15, 16, 22, 23, 30)
    ]
    assert spans == [7, 2, 2, 2, 3, 9, 10, 10]


def test_a_new_topic_is_added_from_its_day():
    outlook = outlook_of(events=(NEW,))
    assert outlook.added == (NEW,)
    assert "2027-03-01" in outlook.dates


def test_events_that_are_past_or_beyond_the_horizon_are_told():
    events = (
        Launch(topics="no.such", from_date="2026-10-01", factor=2.0),
        Launch(topics="orders.*", from_date="2026-01-01", to_date="2026-02-01", factor=2.0),
        replace(NEW, from_date="2029-01-01"),
    )
    expectation = expect_demand(*shop(), DemandSettings(events=events))
    assert expectation.notes == (
        "planned_events.0 is left out: its first day, 2026-10-01, is before the 7 days that today's traffic is "
        "averaged over, so the traffic already includes it",
        "planned_events.1 is left out: its last day, 2026-02-01, is not after the day of the inventory, 2026-11-20",
        "planned_events.2 is left out: its first day, 2029-01-01, is after the horizon, 2027-11-20",
    )
    assert expectation.outlook.added == ()


def test_all_impossible_events_are_refused_at_once():
    events = (
        Launch(topics="ordrs.created", from_date="2027-01-01", factor=2.0),
        replace(NEW, name="payments"),
        NEW,
        NEW,
        RetentionChange(topics="*a*t*", from_date="2027-01-01", retention_seconds=DAY),
    )
    with pytest.raises(RequestError) as refused:
        expect_demand(*shop(), DemandSettings(events=events))
    assert str(refused.value).splitlines() == [
        "planned_events.0.topics: 'ordrs.created' is invalid: it matches no topic; did you mean 'orders.created' or "
        "'orders.closed'?",
        "planned_events.1.name: 'payments' is invalid: cluster 'payments' has this topic; use a launch to change its "
        "traffic",
        "planned_events.3.name: 'fraud.scores' is invalid: another event adds this topic; keep one of the two",
        "planned_events.4.topics: '*a*t*' is invalid: state is compacted, so their size depends on their keys, not "
        "their retention; write a pattern without them",
        "planned_events.4.topics: '*a*t*' is invalid: payments is without a known time limit today, so the effect "
        "of another one cannot be predicted; write a pattern without them",
    ]


def test_another_retention_of_a_topic_that_is_purged_is_refused():
    snapshot, load, *more = shop()
    at = snapshot.partitions.topics.index("orders.created")
    seconds = snapshot.topics.retention_seconds.copy()
    seconds[at] = 0.0
    purged = replace(snapshot, topics=replace(snapshot.topics, retention_seconds=seconds))
    events = (RetentionChange(topics="orders.created", from_date="2027-01-01", retention_seconds=DAY),)
    with pytest.raises(RequestError, match=r"orders\.created is purged today \(retention\.ms=0\), so the effect"):
        expect_demand(purged, load, *more, DemandSettings(events=events))


@given(
    growth=st.floats(-0.5, 3.0),
    more=st.floats(0.0, 2.0),
    months=st.integers(1, 36),
    factor=st.floats(0.1, 10.0),
    start=st.integers(1, 900),
)
def test_high_is_never_below_the_middle_and_today_is_one(growth, more, months, factor, start):
    day = (np.datetime64("2026-11-20") + start).astype(str)
    outlook = outlook_of(
        horizon_months=months,
        growth_per_year_ratio=growth,
        growth_high_per_year_ratio=growth + more,
        events=(Launch(topics="orders.*", from_date=day, factor=factor),),
    )
    assert (outlook.rate_ratio_high >= outlook.rate_ratio).all()
    assert (outlook.rate_ratio > 0).all()
    assert (outlook.rate_ratio[:, 0] == 1).all()
    assert (outlook.rate_ratio_high[:, 0] == 1).all()
    assert list(outlook.dates) == sorted(set(outlook.dates))
    assert outlook.dates[-1] == months_later("2026-11-20", months)
    assert outlook.class_of.min() >= 0
    assert outlook.class_of.max() < len(outlook.classes) == len(outlook.rate_ratio) == len(outlook.retention_ratio)


def test_a_month_too_short_for_the_day_ends_earlier():
    assert outlook_dates("2027-10-31", 4, ("2028-01-15", "2027-10-31", "2029-01-01")) == (
        "2027-10-31",
        "2027-11-30",
        "2027-12-31",
        "2028-01-15",
        "2028-01-31",
        "2028-02-29",
    )


def test_all_topics_that_stop_at_once_are_an_outage_and_one_that_does_is_a_stop():
    """Three brokers were recommended of a cluster whose metrics had been zero for eight days, without a word of it."""
    snapshot, load = shop()
    load = replace(load, hours=28 * 24)
    topics = snapshot.partitions.topics
    rates = np.outer(np.arange(1.0, 1.0 + len(topics)), np.full(300, 1e6))
    settings = DemandSettings(topic_classes=(ClassPattern(name="pay", topics="payments"),))

    def expected(rates):
        history = TopicHistory(first_day=days_later(DS, -300), topics=topics, rate_bytes_per_second=rates)
        return expect_demand(snapshot, load, settings, history)

    whole = expected(rates)
    assert whole.silent_since is None
    silent = rates.copy()
    silent[:, -8:] = 0.0
    found = expected(silent)
    assert found.silent_since == "2026-11-11"
    assert found.outlook.rate_ratio_high == pytest.approx(whole.outlook.rate_ratio_high, rel=0.05)
    # The mean of 28 days, eight of which have nothing, is less than the traffic is.
    assert found.outlook.mean_ratio == pytest.approx(28 / 20, rel=0.01)
    trickling = silent.copy()
    trickling[topics.index("__consumer_offsets"), -8:] = 1e4
    assert expected(trickling).silent_since == "2026-11-11"
    stopped_before = silent.copy()
    stopped_before[topics.index("payments"), -20:] = 0.0
    found = expected(stopped_before)
    assert found.silent_since == "2026-11-11"
    # Twelve of these days say that it stopped, whatever the metrics of the last eight are.
    assert found.outlook.rate_ratio_high[place_of(found.outlook, snapshot, "payments"), -1] == 0.0
    stopped = rates.copy()
    stopped[topics.index("payments"), -8:] = 0.0
    found = expected(stopped)
    assert found.silent_since is None
    assert found.outlook.rate_ratio_high[place_of(found.outlook, snapshot, "payments"), -1] == 0.0


def test_growth_that_was_asked_for_goes_on_from_usual_days_and_a_dip_leaves_logs_on_a_day_of_its_own():
    snapshot, load = shop()
    load = replace(load, hours=28 * 24)
    topics = snapshot.partitions.topics
    rates = np.outer(np.arange(1.0, 1.0 + len(topics)), np.full(300, 1e6))
    rates[:, -14:-3] *= 0.5
    limits = log_limits(shop_tables(), snapshot)

    def expected(rates, **growth):
        history = TopicHistory(first_day=days_later(DS, -300), topics=topics, rate_bytes_per_second=rates)
        return expect_demand(snapshot, load, DemandSettings(**growth), history, limits).outlook

    flat = {"growth_per_year_ratio": 0.0, "growth_high_per_year_ratio": 0.0}
    asked, forecast = expected(rates, **flat), expected(rates)
    assert asked.mean_ratio == pytest.approx(28 / 22.5)
    assert forecast.mean_ratio == pytest.approx(28 / 22.5, rel=0.01)
    # Logs of a week lose the dip within a week; those of three days have nothing of it.
    assert days_later(DS, 7) in asked.dates
    assert days_later(DS, 3) not in asked.dates
    rates[:, -14:-3] *= 6
    assert expected(rates, **flat).mean_ratio == pytest.approx((17 + 11 * 4 / 3) / (17 + 11 * 3))
    rates[:, -3:] *= 3  # what has not ended may stay
    assert expected(rates, **flat).mean_ratio == pytest.approx(1.0)


def test_traffic_far_above_all_of_two_weeks_is_told_until_it_has_lasted_as_long():
    def found(*days):
        series = DailySeries(first_day=days_later(DS, -len(days)), rate_bytes_per_second=np.array(days, dtype=float))
        return risen(series)

    weeks = [5.0, 5, 5, 5, 5, 3, 3] * 3
    assert found(*weeks) is None
    assert found(*weeks[:13], 15.0) is None  # of fewer than two weeks before nothing can be said
    three = found(*weeks, 15.0, 14.0, 16.0)
    assert (three.since, three.ratio) == (days_later(DS, -3), pytest.approx(15 / (62 / 14)))
    assert found(*weeks, 15.0, 14.0, 7.0) is None  # it is over: no more than one and a half times the highest
    assert found(*weeks, *[9.0] * 13).since == days_later(DS, -13)
    assert found(*weeks, *[9.0] * 14) is None
    # A day of which nothing is known hides nothing.
    gap = float("nan")
    assert found(*weeks[:-3], gap, *weeks[-2:], 15.0, 14.0, 16.0).since == days_later(DS, -3)
    assert found(*weeks, 15.0, gap, 16.0).since == days_later(DS, -3)
    assert found(*weeks, 15.0, 16.0, gap).since == days_later(DS, -3)
    assert found(*[0.0] * 21, 9.0) is None  # of what begins the forecast tells by itself


def test_no_rise_is_told_where_growth_was_asked_for():
    snapshot, load = shop()
    topics = snapshot.partitions.topics
    rates = np.full((len(topics), 60), 1e6)
    rates[:, -3:] *= 3
    history = TopicHistory(first_day=days_later(DS, -60), topics=topics, rate_bytes_per_second=rates)
    told, asked = (
        expect_demand(snapshot, load, DemandSettings(**given), history).risen
        for given in ({}, {"growth_per_year_ratio": 0.1})
    )
    assert (told.since, told.ratio) == (days_later(DS, -3), pytest.approx(3.0))
    assert asked is None
