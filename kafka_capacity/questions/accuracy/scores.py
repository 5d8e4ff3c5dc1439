"""How right earlier predictions were: each against what an inventory says on a later day, and all of them together.

A prediction has a middle and a high estimate at a few dates; between two dates it is the straight line between them.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

import numpy as np

from kafka_capacity.demand.calendar_days import DAY_SECONDS, days_between, days_later
from kafka_capacity.demand.outlook import STORED, TRAFFIC
from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.arrays import Float32s, Ints
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.objects.tables import Int32
from kafka_capacity.questions.accuracy.watch import Held, watch
from kafka_capacity.text import format_percent

CPU, MOVES = "cpu", "moves"
"""Figures that are held against plans beside :data:`TRAFFIC` and :data:`STORED`: cores for traffic, times of moves."""

LEAST_AGE_DAYS = 7  # a younger prediction says what is there already


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What an earlier plan expected of :data:`TRAFFIC` or :data:`STORED`: two values at each of D ascending days."""

    plan_id: str
    made_on: str
    figure: str
    dates: tuple[str, ...]
    middle: tuple[float, ...]
    high: tuple[float, ...]
    high_quantile: float
    replicas_per_partition: float = 0.0  # on that day, on average; 0 where that is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One prediction of a figure for a day against what came; an error above 0 is too much.

    ``high_quantile`` is how often what comes should stay below the high estimate.
    """

    plan_id: str
    made_on: str
    scored_on: str
    figure: str
    age_days: Int32
    middle: float
    high: float
    observed: float
    error_ratio: float
    is_below_high: bool
    high_quantile: float

    @property
    def held(self) -> Held:
        """What was predicted and what came, without the rest."""
        return Held(self.figure, self.plan_id, self.made_on, self.scored_on, self.middle, self.observed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSummary:
    """All scores of one figure."""

    figure: str  # which
    count: int  # how many
    first: str  # the first of the days that they are about
    last: str  # the last of them
    mean_error_ratio: float  # mean of the errors without their signs
    bias_ratio: float  # median of the errors with their signs
    below_high_ratio: float  # how often the figure stayed below the high estimate
    high_quantile: float  # how often it should have
    has_drifted: bool  # whether what comes has left what was predicted (`watch`)
    correction: float  # what came over what was predicted by the plan that shows it; 1 where nothing has drifted
    sentence: str  # all that in words


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveScore:
    """A planned move that somebody has carried out, against how long it took, as far as daily inventories tell."""

    plan_id: str  # of the plan
    scenario_id: str  # which of its options
    made_on: str  # when it was planned
    seconds: float  # how long it should take, at mean rates
    peak_seconds: float | None  # and at peak; `None` for never
    begun_after: str  # the last day on which next to nothing of it was done
    done_by: str  # the first day on which all but a little was
    shortest_seconds: float  # it took at least that long
    longest_seconds: float  # and at most that
    is_consistent: bool  # whether what was planned, from mean to peak, is within that
    # how long it took by what was done from day to day; beyond these bounds, what was planned if that is consistent,
    # else the bound that it passes; where what was done does not tell either, the bound that what was planned passes,
    # `None` where it passes none
    took_seconds: float | None = None

    @property
    def held(self) -> Held | None:
        """What was planned and what it took; ``None`` where that is not known."""
        if not self.took_seconds or self.seconds <= 0:
            return None
        return Held(MOVES, self.plan_id, self.made_on, self.done_by, self.seconds, self.took_seconds)


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

    ``seconds`` are how long it should take, at mean rates and at peak, ``None`` for never; ``done`` is which share of
    its bytes was where it should be on each later day, ascending.

    Returns:
        ``None`` where it has not been carried out, or no time was promised.
    """
    first_done = next((day for day, ratio in done if ratio >= DONE_RATIO), None)
    if first_done is None or seconds is None:
        return None
    before = [(day, ratio) for day, ratio in done if day < first_done]
    begun_after = max([made_on, *(day for day, ratio in before if ratio <= NOT_BEGUN_RATIO)])
    going_on = [day for day, _ in before if day > begun_after]
    shortest = days_between(going_on[0], going_on[-1]) * DAY_SECONDS if going_on else 0.0
    longest = days_between(begun_after, first_done) * DAY_SECONDS
    latest = seconds if peak_seconds is None else peak_seconds
    is_consistent = seconds <= longest and max(seconds, latest) >= shortest
    took = _took(going_on, dict(done))
    if took is not None and not shortest <= took <= longest:
        took = min(max(seconds if is_consistent else took, shortest), longest)  # its pace was not even
    elif took is None and not is_consistent:
        took = longest if seconds > longest else shortest
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
        is_consistent=is_consistent,
        took_seconds=took,
    )


def _took(going_on: Sequence[str], done: Mapping[str, float]) -> float | None:
    """Return how long a move took that went on over several days, at the pace between the first and the last."""
    if len(going_on) < 2:
        return None
    part = done[going_on[-1]] - done[going_on[0]]
    return days_between(going_on[0], going_on[-1]) * DAY_SECONDS / part if part > 0 else None


def value_at(dates: Sequence[str], values: Sequence[float], day: str) -> float | None:
    """Return the value on a day; ``None`` before the first date and after the last."""
    if not dates or not dates[0] <= day <= dates[-1]:
        return None
    place = bisect.bisect_left(dates, day)
    if dates[place] == day:
        return float(values[place])
    before, after = dates[place - 1], dates[place]
    share = days_between(before, day) / days_between(before, after)
    return float(values[place - 1] + (values[place] - values[place - 1]) * share)


def day_of(dates: Sequence[str], values: Sequence[float], level: float) -> str | None:
    """Return the first day on which the value is at a level or above; ``None`` where it never is."""
    for place, value in enumerate(values):
        if value >= level:
            if not place:
                return dates[0]
            before = values[place - 1]
            share = (level - before) / (value - before)
            return days_later(dates[place - 1], math.ceil(days_between(dates[place - 1], dates[place]) * share))
    return None


def peak_of_all(hours: Float32s) -> float:
    """Return the 99th percentile of the hourly totals of some partitions; ``hours`` is float32[P, H]."""
    return float(np.percentile(hours.sum(axis=0, dtype=np.float64), 99)) if hours.size else 0.0


def stored_of_partitions(snapshot: Snapshot) -> Ints:
    """Return int64[P], what all replicas of each partition hold, with an estimate of those that tell no size.

    What a broker that is down holds is not known: its replicas are as large as the others of their partitions.
    """
    size = np.where(snapshot.size_bytes > 0, snapshot.size_bytes, snapshot.partition_size_bytes()[:, None])
    return np.asarray(np.where(snapshot.replicas >= 0, size, 0).sum(axis=1), dtype=np.int64)


def score(prediction: Prediction, day: str, observed: float) -> Score | None:
    """Hold a prediction against what a later day brought; ``None`` where it says nothing of that day."""
    age = days_between(prediction.made_on, day)
    middle = value_at(prediction.dates, prediction.middle, day)
    high = value_at(prediction.dates, prediction.high, day)
    if age < LEAST_AGE_DAYS or middle is None or high is None or observed <= 0:
        return None
    return filled(
        Score,
        prediction,
        scored_on=day,
        age_days=age,
        middle=middle,
        high=high,
        observed=observed,
        error_ratio=(middle - observed) / observed,
        is_below_high=observed <= high,
    )


def summarise(scores: Sequence[Score], watched: Sequence[Score]) -> tuple[ScoreSummary, ...]:
    """Sum scores up by figure; what is watched for drift may be more."""
    figures = sorted({one.figure for one in scores})
    return tuple(_summary(figure, [one for one in scores if one.figure == figure], watched) for figure in figures)


def _summary(figure: str, scores: list[Score], watched: Sequence[Score]) -> ScoreSummary:
    errors = [one.error_ratio for one in scores]
    off = mean(abs(error) for error in errors)
    drift = watch(one.held for one in watched if one.figure == figure)
    below = sum(one.is_below_high for one in scores) / len(scores)
    quantile = mean(one.high_quantile for one in scores)
    return ScoreSummary(
        figure=figure,
        count=len(scores),
        first=min(one.scored_on for one in scores),
        last=max(one.scored_on for one in scores),
        mean_error_ratio=off,
        bias_ratio=median(errors),
        below_high_ratio=below,
        high_quantile=quantile,
        has_drifted=drift is not None,
        correction=1.0 if drift is None else drift.ratio,
        sentence=_sentence(figure, scores, format_percent(off), below, quantile),
    )


NAMES = {TRAFFIC: "traffic at peak", STORED: "stored bytes", CPU: "processors", MOVES: "moves"}


def _sentence(figure: str, scores: list[Score], off: str, below: float, quantile: float) -> str:
    count = len(scores)
    ages = sorted({one.age_days for one in scores})
    ahead = f"{ages[0]}" if len(ages) == 1 else f"{ages[0]} to {ages[-1]}"
    if count == 1:
        side = (
            f"stayed below the high estimate, as is expected in {format_percent(quantile)} of cases"
            if below
            else f"exceeded the high estimate, as is expected in {format_percent(1 - quantile)} of cases"
        )
        return f"The last prediction of {NAMES[figure]}, {ahead} days ahead, was off by {off}; the actual value {side}."
    return (
        f"The last {count:,} predictions of {NAMES[figure]}, {ahead} days ahead, were off by {off} on average; "
        f"actual values stayed below the high estimate in {format_percent(below)} of them "
        f"({format_percent(quantile)} expected)."
    )
