"""How old what waits is, and how far back is read, by the hours in which it was produced."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.demand.reading import backlog_seconds, late_read_seconds

HOURS = np.arange(28 * 24)
DAY, HOUR = HOURS // 24 % 7, HOURS % 24  # days of the week from Monday on
WORKING = np.where((DAY < 5) & (HOUR >= 8) & (HOUR < 18), 10e6, 50e3)


def read_by(produced, is_off):
    """What is read of a partition by someone who reads nothing in some hours, and all that waits in the next."""
    read, waiting = np.zeros(len(produced)), 0.0
    for hour in range(len(produced)):
        waiting += produced[hour]
        if not is_off[hour]:
            read[hour], waiting = waiting, 0.0
    return read


def late_hours(produced, read):
    one, other = (rates.astype(np.float32)[None] for rates in (produced, read))
    return float(late_read_seconds(one, other)[0]) / 3600


def test_what_waits_is_as_old_as_the_hours_that_produced_it():
    weekend = WORKING[: 6 * 24]  # Monday to Saturday
    hours_since_friday_night = 18
    since = float(weekend[-hours_since_friday_night - 12 :].sum()) * 3600
    found = backlog_seconds(weekend[None], np.array([weekend.mean()]), np.array([since]))
    assert found[0] == pytest.approx(30 * 3600)
    # At the mean it would be of half an hour.
    assert since / weekend.mean() < 1800


def test_hours_that_are_not_known_and_those_before_the_history_count_as_the_mean():
    produced = np.array([[np.nan, 4.0], [np.nan, 4.0], [0.0, 0.0], [1.0, 1.0]])
    mean, backlog = np.array([2.0, 2.0, 0.0, 1.0]), 3600 * np.array([5.0, 8.0, 5.0, 0.0])
    assert backlog_seconds(produced, mean, backlog).tolist() == [1.5 * 3600, 3.0 * 3600, 2.0 * 3600, 0.0]
    assert backlog_seconds(np.empty((1, 0)), np.array([2.0]), np.array([7200.0])).tolist() == [3600.0]


def test_hours_that_nobody_knows_of_are_of_no_length():
    produced = np.array([[np.nan] * 672, [0.0] * 671 + [np.nan]])
    assert backlog_seconds(produced, np.zeros(2), np.array([1000.0, 1000.0])).tolist() == [0.0, 671 * 3600.0]


@pytest.mark.parametrize(("times", "jitter"), [(1, 0.0), (3, 0.0), (1, 1e-4)])
def test_what_is_read_within_the_hour_is_read_late_by_no_rounding(times, jitter):
    rng = np.random.default_rng(7)
    for night in (0.0, 5e3):
        produced = np.where(WORKING > 1e6, WORKING, night)
        read = times * produced * (1 + jitter * rng.normal(size=len(produced)))
        assert late_hours(produced, read) < 2


@given(st.lists(st.floats(0.1, 1e6), min_size=1, max_size=40), st.data())
def test_what_the_last_hours_produced_is_as_old_as_they_are(rates, data):
    count = data.draw(st.integers(1, len(rates)))
    produced = np.array([rates])
    found = backlog_seconds(produced, produced.mean(axis=1), 3600 * produced[:, -count:].sum(axis=1))
    assert found[0] == pytest.approx(count * 3600)


def test_a_weekend_without_readers_is_read_three_nights_back():
    is_off = (DAY >= 5) | ((DAY == 4) & (HOUR >= 20)) | ((DAY == 0) & (HOUR < 8))
    assert 61 <= late_hours(WORKING, read_by(WORKING, is_off)) < 65


def test_one_long_pause_counts_among_shorter_ones_that_are_of_more_bytes():
    # Read at noon of working days, and once not from Friday to Monday, when little is produced.
    is_off = np.where(HOURS < 7 * 24, (DAY >= 5) | ((DAY == 0) & (HOUR < 8)), (HOUR != 12) & (DAY < 5))
    first_weekend = (HOURS >= 5 * 24) & (HOURS < 7 * 24 + 8)
    is_off = np.where(HOURS < 7 * 24 + 8, first_weekend, is_off)
    assert late_hours(WORKING, read_by(WORKING, is_off)) >= 56


@given(st.lists(st.floats(1.0, 100.0), min_size=2, max_size=60), st.integers(1, 30))
def test_who_reads_everything_at_once_after_a_pause_reads_as_far_back_as_the_pause(rates, pause):
    produced = np.array(rates)
    pause = min(pause, len(rates) - 1)
    is_off = np.arange(len(rates)) < pause
    assert late_hours(produced, read_by(produced, is_off)) >= pause + 1 - 1e-2


def test_nothing_that_is_produced_is_read_late():
    none = np.zeros((2, 48), dtype=np.float32)
    assert late_read_seconds(none, none).tolist() == [3600.0, 3600.0]
