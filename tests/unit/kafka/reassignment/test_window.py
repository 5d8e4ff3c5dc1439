"""Waves that keep to a window of each day: where they are placed, how long they take, and what does not fit."""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import pytest

from kafka_capacity.kafka.reassignment.clock import DAY, HOUR, WEEK, WEEK_HOURS, Clock, Window, gates_seconds
from kafka_capacity.kafka.reassignment.problem import EXPECTED, HIGH, LOW, WaveSettings
from kafka_capacity.kafka.reassignment.waves import plan_waves
from tests.properties.move_problems import move_problem_of

MONDAY = datetime.date(2026, 11, 16)
EVEN = np.ones(WEEK_HOURS)


def clock_of(text, *, ratio=EVEN, day=MONDAY):
    return Clock(window=Window.of(text), day=day, rate_ratio=ratio)


def moved(count, *, size=100, rate=1, throttle=10, clock=None, **settings):
    """Schedule partitions that all move from broker 2 to broker 3; broker 1 leads them."""
    problem = move_problem_of([[1, 2]] * count, [[1, 3]] * count, size=size, rate=rate, throttle=throttle)
    settings = WaveSettings(**{"pause_seconds": 0.0, "max_traffic_ratio": None, **settings})
    return plan_waves(replace(problem, clock=clock, settings=settings))


def in_steps(amount, closing, begin, step=1.0):
    """Copy second by second, which is the meaning of the closed form."""
    passed = seconds = 0.0
    while passed < amount:
        passed += step * closing[int((begin + seconds) % WEEK // HOUR)]
        seconds += step
    return seconds


@pytest.mark.parametrize("begin", [0.0, 1800.0, 167.5 * HOUR])
@pytest.mark.parametrize("amount", [1e3, 3e4, 2e6])
def test_time_by_the_hour_is_that_of_copying_second_by_second(amount, begin):
    closing = np.random.default_rng(7).uniform(-2.0, 8.0, WEEK_HOURS)
    found = gates_seconds(np.array([amount]), closing[None], begin)
    assert found == pytest.approx(in_steps(amount, closing, begin), abs=2.0)


def test_each_gate_takes_its_time_and_one_that_falls_behind_for_ever_never_ends():
    closing = np.stack([np.full(WEEK_HOURS, 2.0), np.full(WEEK_HOURS, 4.0)])
    assert gates_seconds(np.array([100.0, 100.0]), closing, 0.0).tolist() == [50.0, 25.0]
    assert gates_seconds(np.array([100.0, 100.0]), closing - 3.0, 0.0).tolist() == [np.inf, 100.0]


def test_waves_start_and_end_within_the_window():
    # Ten waves of an hour and more each do not all fit into one window of four hours.
    schedule = moved(10, size=40_000, clock=clock_of("22:00-02:00"), max_concurrent_moves_per_broker=1)
    assert len(schedule.waves) == 10
    for wave in schedule.waves:
        start, end = wave.start_seconds[EXPECTED], wave.end_seconds[EXPECTED]
        assert start % DAY < end % DAY <= 4 * HOUR
    assert schedule.waves[0].start_seconds == (0.0, 0.0, 0.0)
    assert {int(wave.start_seconds[EXPECTED] // DAY) for wave in schedule.waves} == {0, 1, 2, 3, 4}
    assert not schedule.overruns


def test_hours_of_much_traffic_take_longer():
    busy = EVEN.copy()
    busy[22::24] = 4.0  # from 22:00 to 23:00 the four times of what is produced otherwise
    quiet, late = (moved(1, size=20_000, clock=clock_of("22:00-02:00", ratio=ratio)).waves[0] for ratio in (EVEN, busy))
    # 20,000 bytes at 10 - 2 a second, else for an hour at 10 - 8 and then at 8.
    assert quiet.end_seconds[EXPECTED] == pytest.approx(2_500.0)
    assert late.end_seconds[EXPECTED] == pytest.approx(HOUR + (20_000 - 2 * HOUR) / 8)
    for band in (LOW, HIGH):
        assert quiet.end_seconds[band] == late.end_seconds[band]


def test_the_bottleneck_is_who_decides_at_the_traffic_of_the_hours_in_which_a_wave_runs():
    # At the mean broker 1 closes its gap at 10 - 4 and is the slowest; at night nothing is produced.
    problem = move_problem_of([[1, 2], [4, 5]], [[1, 3], [4, 6]], size=[100_000, 150_000], rate=[2, 0], throttle=10)
    night = EVEN.copy()
    night[[hour for hour in range(WEEK_HOURS) if hour % 24 >= 22 or hour % 24 < 6]] = 0.0
    settings = WaveSettings(pause_seconds=0.0, max_traffic_ratio=None)
    for ratio, broker, seconds in ((EVEN, 1, 100_000 / 6), (night, 6, 15_000.0)):
        clock = clock_of("22:00-06:00", ratio=ratio)
        (wave,) = plan_waves(replace(problem, clock=clock, settings=settings)).waves
        assert (wave.bottleneck_broker, wave.end_seconds[EXPECTED]) == (broker, pytest.approx(seconds))


def test_no_wave_of_several_partitions_is_longer_than_the_window_whatever_length_was_asked_for():
    busy = EVEN.copy()
    busy[1::24] = 2.0
    for settings in ({}, {"max_wave_seconds": 9 * HOUR}, {"tried_wave_seconds": (4 * HOUR, HOUR)}):
        schedule = moved(60, size=2_000, rate=0.05, clock=clock_of("01:00-03:00", ratio=busy), **settings)
        assert not schedule.overruns
        assert len(schedule.waves) > 1
        assert max(w.end_seconds[EXPECTED] - w.start_seconds[EXPECTED] for w in schedule.waves) <= 2 * HOUR
    assert schedule.lengths[0].max_wave_seconds == 2 * HOUR


def test_a_partition_that_is_longer_than_the_window_is_told_with_the_throttle_that_would_do():
    schedule = moved(1, size=100_000, clock=clock_of("22:00-00:00"))
    (late,) = schedule.overruns
    assert (late.wave, late.seconds) == (1, pytest.approx(100_000 / 8))
    assert not moved(1, size=100_000, clock=clock_of("22:00-00:00"), throttle=late.throttle_bytes_per_second).overruns
    smaller = 0.99 * late.throttle_bytes_per_second
    assert moved(1, size=100_000, clock=clock_of("22:00-00:00"), throttle=smaller).overruns


def test_where_networks_decide_no_throttle_would_do():
    problem = move_problem_of([[1, 2]], [[1, 3]], size=100_000, rate=1, throttle=1_000)
    slow = replace(problem.brokers, network_in_bytes_per_second=np.full(3, 9.0))
    schedule = plan_waves(replace(problem, brokers=slow, clock=clock_of("22:00-00:00")))
    assert [late.throttle_bytes_per_second for late in schedule.overruns] == [None]


def test_what_networks_leave_nothing_for_at_the_mean_may_end_at_night():
    # Broker 3 has 9 a second, of which clients take 10 at the mean, and nothing at night.
    problem = move_problem_of([[1, 2], [3, 2]], [[1, 3], [3, 2]], size=[9_000, 0], rate=[1, 10], throttle=1_000)
    slow = replace(problem.brokers, network_in_bytes_per_second=np.full(3, 9.0))
    night = EVEN.copy()
    night[[hour for hour in range(WEEK_HOURS) if hour % 24 >= 22 or hour % 24 < 6]] = 0.0
    (wave,) = plan_waves(replace(problem, brokers=slow, clock=clock_of("22:00-06:00", ratio=night))).waves
    assert wave.end_seconds[EXPECTED] == pytest.approx(1_000.0)
    assert wave.smallest_throttle_bytes_per_second[EXPECTED] == 2.0
    (never,) = plan_waves(replace(problem, brokers=slow)).waves
    assert (never.end_seconds[EXPECTED], never.smallest_throttle_bytes_per_second[EXPECTED]) == (None, np.inf)


def test_a_window_over_midnight_begins_on_the_first_day_and_closes_on_the_next():
    clock = clock_of("22:00-06:00", day=datetime.date(2026, 11, 15))
    assert clock.moment(0.0) == "2026-11-15T22:00:00+00:00"
    assert clock.moment(clock.closes(0.0)) == clock.moment(clock.closes(7.9 * HOUR)) == "2026-11-16T06:00:00+00:00"
    assert clock.moment(clock.closes(9 * HOUR)) == "2026-11-17T06:00:00+00:00"
    assert clock.moment(None) is clock.closes(None) is None


def test_the_busiest_hour_of_a_window_counts_every_hour_that_it_has_a_part_of():
    ratio = EVEN.copy()
    ratio[5] = 3.0
    assert clock_of("22:00-05:00", ratio=ratio).busiest_ratio == 1.0
    assert clock_of("22:00-05:01", ratio=ratio).busiest_ratio == 3.0
