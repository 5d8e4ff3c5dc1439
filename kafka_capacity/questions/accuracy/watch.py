"""Whether what comes has left what was predicted: since when, and by how much.

Goals (ordered)
    1. A step or ramp of 30 % either way is flagged within five weeks, in 95 of 100 cases at least.
    2. Of a hundred years in which nothing changes two are flagged at most.

Algorithm
    Errors are logarithms of what came over what was predicted, one a week. Of each, :data:`ALLOWED` either way is taken
    for chance. What is beyond is added up, :data:`MAX_A_WEEK` of it at most, so that no week decides by itself; weeks
    within the allowance, or off the other way, take from the sum, never below 0. The figure is flagged while the sum is
    :data:`FLAGGED` or more: a CUSUM (Page 1954) of bounded errors. It has been off since the sum last left 0.

    A plan that is made anew each week has seen most of a ramp already, and is never far off. So the same is done with
    predictions that stay: of every :data:`BASELINE_DAYS` days the first plan is kept as a *baseline*, and the last two
    of these are watched beside the last plan of each week. The first to have been off is what is reported.

>>> def came(*values):
...     return [Held("traffic", "p", "2026-01-01", f"2026-02-0{n}", 100.0, value) for n, value in enumerate(values, 1)]
>>> find_drift(came(99, 180, 98, 104))
>>> drift = find_drift(came(99, 131, 129, 134))
>>> drift.since, round(drift.ratio, 2)
('2026-02-02', 1.31)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from kafka_capacity.demand.calendar_days import days_between
from kafka_capacity.hardware.plain import filled
from kafka_capacity.text import format_percent

ALLOWED, MAX_A_WEEK, FLAGGED = 0.10, 0.14, 0.16
"""Measured against others, three weeks running beyond 10 % among them: docs/accuracy.md."""

RULE = (
    "Each week, actual figures are compared with the last plan, and with plans that are kept for longer and so do "
    f"not know of a change. Errors within {format_percent(ALLOWED)} count as noise; anything above, at most "
    f"{format_percent(MAX_A_WEEK)} per week, accumulates, and at {format_percent(FLAGGED)} the figure has drifted. "
    "Move times are compared with their plans in the same way, move by move."
)

BASELINE_DAYS = 56
WATCHED_BASELINES = 2
WATCHED_WEEKS = 17  # so long ago the older of two baselines was made at most, where plans are made every week
LEAST_DAYS_APART = 5  # days that are scored oftener than weekly tell of the same week
_SHOWN_WEEKS = 3


@dataclass(frozen=True, slots=True)
class Held:
    """What a plan predicted of a figure for a day, and what came."""

    figure: str
    plan_id: str
    made_on: str
    scored_on: str
    expected: float
    observed: float

    @property
    def error(self) -> float:
        """The logarithm of what came over what was predicted."""
        return math.log(self.observed / self.expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A figure that has left what was predicted."""

    figure: str  # which
    plan_id: str  # of the plan that predicted otherwise
    made_on: str  # when that was made
    since: str  # the first day on which it was off
    last: str  # the last one
    count: int  # how many days were held against the plan since
    expected: float  # for the last one
    observed: float  # on that
    ratio: float  # what came over what was predicted, of the last three of them the one in the middle


def watch(held: Iterable[Held]) -> Drift | None:
    """Hold what came of one figure against the last plan of each week and against the baselines.

    Returns:
        The drift that began first; ``None`` where there is none on the last day.
    """
    by_day: dict[str, dict[str, list[Held]]] = {}
    for one in held:
        if one.expected > 0 and one.observed > 0:
            by_day.setdefault(one.scored_on, {}).setdefault(one.made_on, []).append(one)
    weeks = weekly(by_day)
    if not weeks:
        return None
    found = [find_drift([_middle(by_day[day][max(by_day[day])]) for day in weeks])]
    for made_on in baselines(by_day[weeks[-1]]):
        found.append(find_drift([_middle(by_day[day][made_on]) for day in weeks if made_on in by_day[day]]))
    return min((one for one in found if one is not None), key=lambda one: (one.since, one.made_on), default=None)


def _middle(several: Sequence[Held]) -> Held:
    """Return the one in the middle of what several plans of a day expected."""
    return sorted(several, key=lambda one: (one.expected, one.plan_id))[len(several) // 2]


def weekly(days: Iterable[str]) -> list[str]:
    """Return one day a week, ascending, the last one among them."""
    kept: list[str] = []
    for day in sorted(days, reverse=True):
        if not kept or days_between(day, kept[-1]) >= LEAST_DAYS_APART:
            kept.append(day)
    return kept[:WATCHED_WEEKS][::-1]


def baselines(made_on: Iterable[str]) -> list[str]:
    """Return which of the days on which plans were made are watched as baselines, ascending.

    >>> baselines(["2026-01-05", "2026-01-12", "2026-03-02", "2026-03-09", "2026-05-04"])
    ['2026-03-02', '2026-05-04']
    """
    first: dict[int, str] = {}
    for day in sorted(made_on):
        first.setdefault(days_between("1970-01-01", day) // BASELINE_DAYS, day)
    return list(first.values())[-WATCHED_BASELINES:]


def find_drift(held: Sequence[Held]) -> Drift | None:
    """Return how far what came, ascending, has left what was predicted; ``None`` where it has not by the last one."""
    for sign in (1.0, -1.0):
        total, start = 0.0, len(held)
        for place, one in enumerate(held):
            if not total:
                start = place
            beyond = min(sign * one.error - ALLOWED, MAX_A_WEEK)
            # A sum that stops at two weeks more than it takes is soon back, once the figure is.
            total = min(max(0.0, total + beyond), FLAGGED + MAX_A_WEEK)
        if total >= FLAGGED - 1e-12:
            since, last = held[start:], held[-1]
            return filled(
                Drift,
                last,
                since=since[0].scored_on,
                last=last.scored_on,
                count=len(since),
                ratio=math.exp(median(one.error for one in since[-_SHOWN_WEEKS:])),
            )
    return None
