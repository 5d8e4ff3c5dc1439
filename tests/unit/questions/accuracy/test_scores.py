import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.demand.outlook import STORED, TRAFFIC
from kafka_capacity.questions.accuracy.scores import (
    Prediction,
    Score,
    day_of,
    score,
    score_move,
    summarise,
    value_at,
)

DATES = ("2026-01-01", "2026-02-01", "2026-03-01")


def prediction(**values):
    given = {
        "plan_id": "p",
        "made_on": "2026-01-01",
        "figure": TRAFFIC,
        "dates": DATES,
        "middle": (100.0, 131.0, 159.0),
        "high": (100.0, 162.0, 218.0),
        "high_quantile": 0.9,
    }
    return Prediction(**{**given, **values})


def scored(error, *, figure=TRAFFIC, day="2026-02-01", is_below=True):
    return Score(
        plan_id="p",
        made_on="2026-01-01",
        scored_on=day,
        figure=figure,
        age_days=31,
        middle=100 * (1 + error),
        high=200.0,
        observed=100.0,
        error_ratio=error,
        is_below_high=is_below,
        high_quantile=0.9,
    )


def test_between_two_dates_a_prediction_is_the_straight_line():
    assert value_at(DATES, (100.0, 131.0, 159.0), "2026-01-11") == 110.0
    assert value_at(DATES, (100.0, 131.0, 159.0), "2026-02-01") == 131.0
    assert value_at(DATES, (100.0, 131.0, 159.0), "2026-02-15") == 145.0
    assert value_at(DATES, (100.0, 131.0, 159.0), "2025-12-31") is None
    assert value_at(DATES, (100.0, 131.0, 159.0), "2026-03-02") is None
    assert value_at((), (), "2026-03-02") is None


def test_a_prediction_is_scored_against_what_came():
    found = score(prediction(), "2026-01-11", 100.0)
    assert found.error_ratio == pytest.approx(0.1)
    assert (found.middle, found.high, found.age_days) == (110.0, 120.0, 10)
    assert found.is_below_high
    assert not score(prediction(), "2026-01-11", 121.0).is_below_high


def test_what_is_too_young_too_old_or_not_there_is_not_scored():
    assert score(prediction(), "2026-01-07", 100.0) is None
    assert score(prediction(), "2026-03-02", 100.0) is None
    assert score(prediction(), "2026-01-11", 0.0) is None


def test_errors_are_summed_up_by_figure():
    scores = [scored(0.2), scored(-0.1, is_below=False), scored(0.3, figure=STORED)]
    stored, traffic = summarise(scores, scores)
    assert (stored.figure, traffic.figure) == (STORED, TRAFFIC)
    assert traffic.count == 2
    assert traffic.mean_error_ratio == pytest.approx(0.15)
    assert traffic.bias_ratio == pytest.approx(0.05)
    assert traffic.below_high_ratio == 0.5
    assert not traffic.has_drifted
    assert traffic.correction == 1.0
    assert traffic.sentence == (
        "The last 2 predictions of traffic at peak, 31 days ahead, were off by 15.0 % on average; actual values "
        "stayed below the high estimate in 50.0 % of them (90.0 % expected)."
    )
    assert summarise([scored(0.2)], [])[0].sentence.endswith(
        "below the high estimate, as is expected in 90.0 % of cases."
    )
    assert summarise([scored(-0.1, is_below=False)], [])[0].sentence == (
        "The last prediction of traffic at peak, 31 days ahead, was off by 10.0 %; the actual value exceeded the "
        "high estimate, as is expected in 10.0 % of cases."
    )


WEEKS = ("2026-02-02", "2026-02-09", "2026-02-16", "2026-02-23")


@pytest.mark.parametrize(
    ("errors", "has_drifted"),
    [
        ([0.3, 0.2, 0.25], True),
        ([-0.3, -0.2, -0.25], True),
        ([0.3], False),
        ([0.3, -0.2, 0.05], False),
        ([0.05, 0.06, 0.07], False),
    ],
)
def test_a_drift_is_several_errors_in_one_direction(errors, has_drifted):
    scores = [scored(error, day=day) for error, day in zip(errors, WEEKS, strict=False)]
    (found,) = summarise(scores, scores)
    assert found.has_drifted is has_drifted


@given(st.floats(0.2, 5.0).filter(lambda factor: abs(factor - 1) > 0.25), st.integers(3, 4))
def test_the_correction_makes_drifted_predictions_right(factor, count):
    scores = [scored(factor - 1, day=day) for day in WEEKS[:count]]
    (found,) = summarise(scores, scores)
    assert found.has_drifted
    assert scores[0].middle * found.correction == pytest.approx(scores[0].observed)


def test_drift_may_be_told_by_more_weeks_than_the_sums():
    scores = [scored(-0.3, day=day) for day in WEEKS]
    (found,) = summarise(scores[-1:], scores)
    assert (found.count, found.has_drifted) == (1, True)


def test_the_day_of_a_level_is_the_first_on_the_straight_line():
    assert day_of(DATES, (100.0, 131.0, 159.0), 110.0) == "2026-01-11"
    assert day_of(DATES, (100.0, 131.0, 159.0), 90.0) == "2026-01-01"
    assert day_of(DATES, (100.0, 131.0, 159.0), 160.0) is None


HOUR, DAY = 3600.0, 86_400.0


def moved(*done, seconds=20 * HOUR, peak=30 * HOUR):
    return score_move("p", "015-brokers.fewest-bytes", "2026-01-01", seconds, peak, done)


def test_a_move_that_is_not_done_or_has_no_time_is_not_scored():
    assert moved(("2026-01-02", 0.0), ("2026-01-03", 0.9)) is None
    assert moved() is None
    assert moved(("2026-01-02", 1.0), seconds=None) is None


def test_a_move_from_one_day_to_the_next_took_up_to_a_day():
    found = moved(("2026-01-02", 0.0), ("2026-01-03", 0.01), ("2026-01-04", 1.0), ("2026-01-05", 1.0))
    assert (found.begun_after, found.done_by) == ("2026-01-03", "2026-01-04")
    assert (found.shortest_seconds, found.longest_seconds) == (0.0, DAY)
    assert found.is_consistent


def test_a_move_that_was_half_done_for_days_took_at_least_these():
    done = (("2026-01-02", 0.1), ("2026-01-03", 0.5), ("2026-01-04", 0.9), ("2026-01-05", 0.99))
    found = moved(*done)
    assert (found.begun_after, found.done_by) == ("2026-01-01", "2026-01-05")
    assert (found.shortest_seconds, found.longest_seconds) == (2 * DAY, 4 * DAY)
    assert not found.is_consistent  # 20 to 30 hours were promised
    assert moved(*done, peak=50 * HOUR).is_consistent
    quick = moved(("2026-01-02", 1.0), seconds=30 * HOUR)
    assert not quick.is_consistent  # it took a day at most
    assert quick.held.observed == DAY
    assert moved(("2026-01-02", 1.0)).held is None


@pytest.mark.parametrize(
    ("done", "seconds", "took"),
    [
        # A tenth in a day, and the rest in the next: ten days at that pace, in three at most.
        (((2, 0.6), (3, 0.7), (4, 1.0)), 2.5 * DAY, 2.5 * DAY),
        (((2, 0.6), (3, 0.7), (4, 1.0)), 20 * HOUR, 3 * DAY),
        (((2, 0.6), (3, 0.7), (4, 1.0)), 4 * DAY, 3 * DAY),
    ],
)
def test_a_move_took_no_longer_than_inventories_let_it(done, seconds, took):
    found = moved(*((f"2026-01-{day:02}", ratio) for day, ratio in done), seconds=seconds, peak=seconds)
    assert (found.shortest_seconds, found.longest_seconds) == (DAY, 3 * DAY)
    assert found.took_seconds == pytest.approx(took)


def test_a_move_over_several_days_took_what_its_pace_tells():
    # 0.8 of the bytes in two days.
    found = moved(("2026-01-02", 0.1), ("2026-01-03", 0.5), ("2026-01-04", 0.9), ("2026-01-05", 1.0))
    assert found.took_seconds == pytest.approx(2.5 * DAY)
    assert (found.held.expected, found.held.scored_on) == (20 * HOUR, "2026-01-05")
