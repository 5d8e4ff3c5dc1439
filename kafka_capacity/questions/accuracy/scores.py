"""How right earlier predictions were: each against what an inventory says on a later day, and all of them together.

A prediction has a middle and a high estimate at a few dates; between two dates it is the straight line between them.
"""

from __future__ import annotations

import bisect
import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median

from kafka_capacity.demand.outlook import STORED, TRAFFIC

UNITS = {TRAFFIC: "bytes_per_second", STORED: "bytes"}

_DAY_SECONDS = 86_400.0
LEAST_AGE_DAYS = 7
"""A younger prediction says what is there already."""
DRIFT_RATIO = 0.1
LEAST_SCORES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What an earlier plan expected of one figure.

    Attributes:
        plan_id: of the plan.
        made_on: the day of its inventory.
        figure: :data:`TRAFFIC` or :data:`STORED`.
        dates: D days, ``YYYY-MM-DD``, ascending.
        middle: D values.
        high: D values.
        high_quantile: how often the figure should stay below the high estimate.
    """

    plan_id: str
    made_on: str
    figure: str
    dates: tuple[str, ...]
    middle: tuple[float, ...]
    high: tuple[float, ...]
    high_quantile: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One prediction against what came.

    Attributes:
        plan_id: of the plan.
        made_on: when it was predicted.
        scored_on: the day it is about.
        figure: which.
        age_days: between the two.
        middle: the middle estimate for that day.
        high: the high one.
        observed: what came.
        error_ratio: (middle − observed) ÷ observed: above 0 for too much.
        is_below_high: whether what came stayed below the high estimate.
        high_quantile: how often it should.
    """

    plan_id: str
    made_on: str
    scored_on: str
    figure: str
    age_days: int
    middle: float
    high: float
    observed: float
    error_ratio: float
    is_below_high: bool
    high_quantile: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSummary:
    """All scores of one figure.

    Attributes:
        figure: which.
        count: how many.
        first, last: the days that they are about.
        mean_error_ratio: mean of the errors without their signs.
        bias_ratio: median of the errors with their signs.
        below_high_ratio: how often the figure stayed below the high estimate.
        high_quantile: how often it should have.
        has_drifted: whether predictions are off in one direction: at least :data:`LEAST_SCORES`, all of the same sign,
            by :data:`DRIFT_RATIO` or more at the median.
        correction: what predictions would have to be multiplied with to be right at the median; 1 where nothing has
            drifted.
        sentence: all that in words.
    """

    figure: str
    count: int
    first: str
    last: str
    mean_error_ratio: float
    bias_ratio: float
    below_high_ratio: float
    high_quantile: float
    has_drifted: bool
    correction: float
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveScore:
    """A planned move that somebody has carried out, against how long it took, as far as daily inventories tell.

    Attributes:
        plan_id: of the plan.
        scenario_id: which of its options.
        made_on: when it was planned.
        seconds: how long it should take, at mean rates.
        peak_seconds: and at peak; ``None`` for never.
        begun_after: the last day on which next to nothing of it was done.
        done_by: the first day on which all but a little was.
        shortest_seconds: it took at least that long.
        longest_seconds: and at most that.
        is_consistent: whether what was planned, from mean to peak, is within that.
    """

    plan_id: str
    scenario_id: str
    made_on: str
    seconds: float
    peak_seconds: float | None
    begun_after: str
    done_by: str
    shortest_seconds: float
    longest_seconds: float
    is_consistent: bool


NOT_BEGUN_RATIO, DONE_RATIO = 0.02, 0.98
"""A move has not begun up to the one, and is done from the other on: a partition may be changed for other reasons."""


def score_move(
    plan_id: str,
    scenario_id: str,
    made_on: str,
    seconds: float | None,
    peak_seconds: float | None,
    done: Sequence[tuple[str, float]],
) -> MoveScore | None:
    """Hold a planned move against the days on which it was seen.

    An inventory tells of a moment of its day, so that a move which was not begun on one day and done on the next took
    up to a day; one that was half done on two days took a day at least.

    Args:
        plan_id: of the plan.
        scenario_id: of the option.
        made_on: the day of its inventory.
        seconds: how long it should take; ``None`` for never.
        peak_seconds: the same at peak.
        done: which share of its partitions was where it should be on each later day, ascending.

    Returns:
        ``None`` where it has not been carried out, or no time was promised.
    """
    first_done = next((day for day, ratio in done if ratio >= DONE_RATIO), None)
    if first_done is None or seconds is None:
        return None
    before = [(day, ratio) for day, ratio in done if day < first_done]
    begun_after = max([made_on, *(day for day, ratio in before if ratio <= NOT_BEGUN_RATIO)])
    going_on = [day for day, _ in before if day > begun_after]
    shortest = _days(going_on[0], going_on[-1]) * _DAY_SECONDS if going_on else 0.0
    longest = _days(begun_after, first_done) * _DAY_SECONDS
    latest = seconds if peak_seconds is None else peak_seconds
    return MoveScore(
        plan_id=plan_id,
        scenario_id=scenario_id,
        made_on=made_on,
        seconds=seconds,
        peak_seconds=peak_seconds,
        begun_after=begun_after,
        done_by=first_done,
        shortest_seconds=shortest,
        longest_seconds=longest,
        is_consistent=seconds <= longest and max(seconds, latest) >= shortest,
    )


def value_at(dates: Sequence[str], values: Sequence[float], day: str) -> float | None:
    """Return the value on a day; ``None`` before the first date and after the last."""
    if not dates or not dates[0] <= day <= dates[-1]:
        return None
    place = bisect.bisect_left(dates, day)
    if dates[place] == day:
        return float(values[place])
    before, after = dates[place - 1], dates[place]
    share = _days(before, day) / _days(before, after)
    return float(values[place - 1] + (values[place] - values[place - 1]) * share)


def score(prediction: Prediction, day: str, observed: float) -> Score | None:
    """Hold a prediction against what a later day brought; ``None`` where it says nothing of that day."""
    age = _days(prediction.made_on, day)
    middle = value_at(prediction.dates, prediction.middle, day)
    high = value_at(prediction.dates, prediction.high, day)
    if age < LEAST_AGE_DAYS or middle is None or high is None or observed <= 0:
        return None
    return Score(
        plan_id=prediction.plan_id,
        made_on=prediction.made_on,
        scored_on=day,
        figure=prediction.figure,
        age_days=age,
        middle=middle,
        high=high,
        observed=observed,
        error_ratio=(middle - observed) / observed,
        is_below_high=observed <= high,
        high_quantile=prediction.high_quantile,
    )


def summarise(scores: Sequence[Score]) -> tuple[ScoreSummary, ...]:
    """Sum scores up by figure."""
    figures = sorted({one.figure for one in scores})
    return tuple(_summary(figure, [one for one in scores if one.figure == figure]) for figure in figures)


def _summary(figure: str, scores: list[Score]) -> ScoreSummary:
    errors = [one.error_ratio for one in scores]
    bias = median(errors)
    has_drifted = (
        len(scores) >= LEAST_SCORES
        and abs(bias) >= DRIFT_RATIO
        and (all(error > 0 for error in errors) or all(error < 0 for error in errors))
    )
    below = sum(one.is_below_high for one in scores) / len(scores)
    quantile = mean(one.high_quantile for one in scores)
    correction = 1.0 / (1.0 + bias) if has_drifted else 1.0
    return ScoreSummary(
        figure=figure,
        count=len(scores),
        first=min(one.scored_on for one in scores),
        last=max(one.scored_on for one in scores),
        mean_error_ratio=mean(abs(error) for error in errors),
        bias_ratio=bias,
        below_high_ratio=below,
        high_quantile=quantile,
        has_drifted=has_drifted,
        correction=correction,
        sentence=_sentence(figure, scores, errors, bias, below, quantile, correction, has_drifted=has_drifted),
    )


_NAMES = {TRAFFIC: "traffic at peak", STORED: "stored bytes"}


def _sentence(
    figure: str,
    scores: list[Score],
    errors: list[float],
    bias: float,
    below: float,
    quantile: float,
    correction: float,
    *,
    has_drifted: bool,
) -> str:
    count = len(scores)
    off = mean(abs(error) for error in errors)
    ages = sorted({one.age_days for one in scores})
    ahead = f"{ages[0]}" if len(ages) == 1 else f"{ages[0]} to {ages[-1]}"
    sentence = (
        f"Our last {count} predictions of {_NAMES[figure]}, {ahead} days ahead, were off by {off:.1%} on average; "
        if count > 1
        else f"Our last prediction of {_NAMES[figure]}, {ahead} days ahead, was off by {off:.1%}; "
    )
    if count == 1:
        sentence += (
            f"what came stayed below the high estimate, as it should in {quantile:.0%} of cases."
            if below
            else f"what came passed the high estimate, as it may in {1 - quantile:.0%} of cases."
        )
    else:
        sentence += f"what came stayed below the high estimate in {below:.0%} of them, {quantile:.0%} should."
    if has_drifted:
        way = "too high" if bias > 0 else "too low"
        sentence += f" All were {way}, by {abs(bias):.1%} at the median: take {correction:.2f} times what is expected."
    return sentence


def _days(first: str, last: str) -> int:
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)).days
