"""Drift by the rule that is shipped: how many steps and ramps are flagged in time, and how often nothing is."""

import datetime

import numpy as np
import pytest

from kafka_capacity.demand.outlook import STORED, TRAFFIC
from kafka_capacity.questions.accuracy.scores import CPU, MOVES, peak_of_all, score_move
from kafka_capacity.questions.accuracy.watch import (
    BASELINE_DAYS,
    Held,
    baselines,
    find_drift,
    watch,
    weekly,
)

RUNS, WEEKS, IN_TIME = 200, 52, 5
DAYS = [(datetime.date(2026, 1, 5) + datetime.timedelta(weeks=week)).isoformat() for week in range(WEEKS)]
PLANNED = range(3, WEEKS)
"""The weeks on which a plan is made: the first one has seen four weeks."""
FIRST = {}
for _week in PLANNED:
    _days = (datetime.date.fromisoformat(DAYS[_week]) - datetime.date(1970, 1, 1)).days
    FIRST.setdefault(_days // BASELINE_DAYS, _week)


def noise(rng, size, ratio):
    return np.exp(rng.normal(0.0, ratio, size))


def peaks(rng, factor):
    """A week's 99th percentile of hours with a daily swing: float64[weeks]."""
    hours = 1e6 * (1.0 + 0.5 * np.sin(np.arange(168) * np.pi / 12)) * noise(rng, (WEEKS, 168), 0.1)
    level = noise(rng, WEEKS, 0.04)
    return np.array([peak_of_all((row * a * b)[None]) for row, a, b in zip(hours, factor, level, strict=True)])


def stored(rng, factor):
    return 1e12 * factor * noise(rng, WEEKS, 0.03)


def cores_of_traffic(rng, factor):
    """Cores that traffic takes beyond an idle broker, as fits leave them."""
    return 2.0 * factor * noise(rng, WEEKS, 0.04)


def plans(came):
    """What a plan of each week expects: the mean of the last four weeks, which has seen most of a ramp."""
    return np.array([came[max(0, week - 3) : week + 1].mean() for week in range(WEEKS)])


def held_on(figure, came, expected, week):
    """What is held against the last plan and the first of eight weeks on the days up to one."""
    found = []
    for day in range(max(PLANNED[1], week - 16), week + 1):
        made = {day - 1, *(first for first in FIRST.values() if first < day)}
        found += [Held(figure, "p", DAYS[one], DAYS[day], expected[one], came[day]) for one in sorted(made)]
    return found


def moves(rng, factor):
    """A move of four days a week, as inventories a day apart see it."""
    found = []
    for week, ratio in enumerate(factor):
        planned, begin = 4 * 86_400.0, rng.uniform(0, 1)
        days = 4 * ratio * float(noise(rng, 1, 0.05)[0])
        monday = datetime.date.fromisoformat(DAYS[week])
        seen = [
            ((monday + datetime.timedelta(days=day)).isoformat(), float(np.clip((day - begin) / days, 0, 1)))
            for day in range(8)
        ]
        one = score_move("p", "s", DAYS[week], planned, None, seen)
        found.append(None if one is None else one.held)
    return found


def flagged(figure, rng, factor, weeks):
    """Return the first of these weeks on which the figure is flagged, and by how much; ``None`` for none."""
    if figure == MOVES:
        held = moves(rng, factor)
        found = ((week, find_drift([one for one in held[: week + 1] if one is not None])) for week in weeks)
    else:
        came = {TRAFFIC: peaks, STORED: stored, CPU: cores_of_traffic}[figure](rng, factor)
        expected = plans(came)
        found = ((week, watch(held_on(figure, came, expected, week))) for week in weeks)
    return next(((week, drift) for week, drift in found if drift is not None), None)


@pytest.mark.parametrize("figure", [TRAFFIC, STORED, CPU, MOVES])
@pytest.mark.parametrize("ratio", [1.3, 0.7])
@pytest.mark.parametrize("ramp_weeks", [1, 5])
def test_a_step_or_ramp_is_flagged_within_five_weeks(figure, ratio, ramp_weeks):
    in_time = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        start = int(rng.integers(10, WEEKS - IN_TIME))
        factor = 1 + (ratio - 1) * np.clip((np.arange(WEEKS) - start + 1) / ramp_weeks, 0, 1)
        found = flagged(figure, rng, factor, range(start, start + IN_TIME))
        in_time += found is not None and (found[1].ratio > 1) == (ratio > 1)
    assert in_time >= 0.95 * RUNS, in_time


@pytest.mark.parametrize("figure", [TRAFFIC, STORED, CPU, MOVES])
def test_a_year_without_change_is_hardly_ever_flagged(figure):
    alarms = sum(
        flagged(figure, np.random.default_rng(seed), np.ones(WEEKS), range(PLANNED[1], WEEKS)) is not None
        for seed in range(RUNS)
    )
    assert alarms < 0.02 * RUNS, alarms


def test_the_last_plan_alone_hides_a_ramp():
    rng = np.random.default_rng(5)
    came = peaks(rng, 1 + 0.3 * np.clip((np.arange(WEEKS) - 29) / 5, 0, 1))
    expected = plans(came)
    held = held_on(TRAFFIC, came, expected, 36)
    last = [one for one in held if one.made_on == DAYS[DAYS.index(one.scored_on) - 1]]
    assert find_drift(last) is None
    drift = watch(held)
    assert DAYS[28] <= drift.since <= DAYS[32]
    assert drift.ratio == pytest.approx(1.3, abs=0.08)
    assert drift.made_on < DAYS[28]


def week_by_week(*came):
    days = [f"2026-03-{day:02d}" for day in range(1, 2 + len(came))]
    return [Held(TRAFFIC, "p", "2026-01-01", day, 100.0, value) for day, value in zip(days, came, strict=False)]


def test_no_single_week_is_a_drift_and_two_are():
    assert find_drift(week_by_week(100, 100, 900)) is None
    assert find_drift(week_by_week(100, 900, 100, 100, 100)) is None
    drift = find_drift(week_by_week(100, 131, 131))
    assert (drift.since, drift.last, drift.count) == ("2026-03-02", "2026-03-03", 2)
    assert drift.ratio == pytest.approx(1.31)


def test_a_drift_ends_soon_after_what_comes_is_as_predicted():
    came = [100, *[131] * 12]
    assert find_drift(week_by_week(*came, 100)) is not None
    assert find_drift(week_by_week(*came, 100, 100)) is None


def test_of_several_plans_of_a_day_the_middle_one_counts():
    days = weekly(DAYS[10:14])
    held = [
        Held(TRAFFIC, plan, DAYS[0], day, expected, 100.0)
        for day in days
        for plan, expected in (("a", 101.0), ("b", 500.0), ("c", 99.0))
    ]
    assert watch(held) is None
    assert watch([one for one in held if one.plan_id == "b"]).ratio == pytest.approx(0.2)


def test_what_is_scored_daily_counts_once_a_week():
    days = [(datetime.date(2026, 3, 1) + datetime.timedelta(days=day)).isoformat() for day in range(15)]
    assert weekly(days) == ["2026-03-05", "2026-03-10", "2026-03-15"]
    assert watch([Held(TRAFFIC, "p", "2026-01-01", day, 100.0, 140.0) for day in days[:5]]) is None
    assert watch([Held(TRAFFIC, "p", "2026-01-01", day, 100.0, 140.0) for day in days]) is not None


def test_a_plan_stays_a_baseline_for_as_long_as_there_is_no_other():
    assert baselines(["2026-01-05"]) == ["2026-01-05"]
    assert baselines([]) == []
    assert watch([]) is None
    assert watch([Held(TRAFFIC, "p", "2026-01-01", "2026-02-01", 0.0, 5.0)]) is None
