"""Paths of weeks ahead, drawn the same way every time, and the highest week of each path so far.

A path is the expected one and what may come on top:

* a level that **wanders** off it, with heavier tails than the normal distribution: Student's t with :data:`FREEDOM`
  degrees of freedom;
* a **season of the year** that a history of less than a year has not shown, of any height and phase;
* the **noise** of single weeks: one drawn from the weeks of the history for each week ahead, so that a batch that comes
  every month is in every path;
* **bursts** that were not seen yet: as high as those of the history, the more the longer it is, and before that the
  higher the noisier its weeks are.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kafka_capacity.demand.spread import max_reach
from kafka_capacity.demand.week_model import SEASON, YEAR_DAYS, YEAR_WEEKS, top_share
from kafka_capacity.kafka.arrays import Floats

PATHS = 2_000
FREEDOM = 5
_SEED = 15
MAX_WEEKS = 320
TAIL_FROM = 0.9
TAIL = 0.35
SELF_INCLUSION = 0.15  # a week is part of the five whose median is its level, which is nearer to it for that
ROLLING_DRAWS = 3  # the highest of seven weeks that begin a day apart is about the highest of three that do not overlap
BURSTS_A_YEAR = 1.2
BURST_NOISES, BURST_LEAST = 4.5, 0.07
"""Their mean height in logarithms where no history is known: so many times the noise of weeks, and a little."""
SEEN_HEIGHT, SEEN_YEARS = 0.75, 0.5
"""Else it is so much of the highest week of the history, which counts half after so many years."""
MAX_BURST = 1.0  # bursts are at most e times the level, or as high as the highest week of the history


@lru_cache(maxsize=1)
def _draws() -> tuple[Floats, Floats]:
    """Return float64[weeks, paths] steps of a wandering level, t-distributed at each week, and uniform draws."""
    rng = np.random.default_rng(_SEED)
    normal = rng.standard_normal((MAX_WEEKS, PATHS // 2))
    steps = np.concatenate([normal, -normal], axis=1)
    wide = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, PATHS // 2))
    return steps * np.concatenate([wide, wide]), rng.random((MAX_WEEKS, PATHS))


@lru_cache(maxsize=1)
def _unseen_draws() -> tuple[Floats, Floats, Floats, Floats]:
    """Return float64[paths] phases and heights of seasons, float64[weeks, paths] chances and heights of bursts."""
    rng = np.random.default_rng([_SEED, 1])
    phase, height = 2 * np.pi * rng.random(PATHS), np.abs(rng.standard_normal(PATHS))
    return phase, height, rng.random((MAX_WEEKS, PATHS)), rng.exponential(1.0, (MAX_WEEKS, PATHS))


def either(usual: Floats, other: Floats, chance: float) -> Floats:
    """Return float64[W, paths], one of two float64[W] in each path: the other one in so many of them."""
    is_other = np.random.default_rng([_SEED, 2]).random(PATHS) < chance
    return np.where(is_other, other[:, None], usual[:, None])


def wandering(spread: Floats, days: int) -> Floats:
    """Return float64[W, paths], how far the level is off in each path, by its standard deviation at each week.

    That is ascending; a history of a year has shown its season.
    """
    steps, _ = _draws()
    phase, height, *_ = _unseen_draws()
    weeks = np.arange(1, len(spread) + 1)
    widths = np.sqrt(np.diff(np.concatenate([[0.0], spread**2])))
    most = max_reach(weeks)[:, None]
    level = np.clip(np.cumsum(widths[:, None] * steps[: len(spread)], axis=0), -most, most)
    unseen = SEASON * max(0.0, 1.0 - days / YEAR_DAYS)
    if unseen:
        angle = 2 * np.pi * weeks[:, None] / YEAR_WEEKS + phase
        level += unseen * height * (np.cos(angle) - np.cos(phase))
    return np.asarray(level)


def bursts(noise_size: float, past_top: float, days: int, weeks: int) -> Floats:
    """Return float64[weeks, paths], how far bursts that are still to come lift each week, or 0.

    A history of a year without any makes them low, one with a high one makes them high. ``noise_size`` is the standard
    deviation of weeks around the level, ``past_top`` the highest over it, in logarithms, of so many days of history.
    """
    *_, chance, size = _unseen_draws()
    years = days / YEAR_DAYS
    usual = BURST_LEAST + BURST_NOISES * noise_size
    mean = (SEEN_YEARS * usual + years * SEEN_HEIGHT * past_top) / (SEEN_YEARS + years)
    height = np.minimum(mean * size[:weeks], max(MAX_BURST, past_top))
    return np.where(chance[:weeks] < BURSTS_A_YEAR / YEAR_WEEKS, height, 0.0)


def with_bursts(noises: Floats, lifts: Floats) -> Floats:
    """Return float64[weeks, paths], weeks over their level: a burst is not on top of what is high for its noise."""
    return np.where(lifts > 0, np.maximum(noises, lifts), noises)


def noise(residuals: Floats, weeks: int, draws: int = 1) -> Floats:
    """Return float64[weeks, paths], weeks over their level.

    Below :data:`TAIL_FROM` they are those of the history; the largest tenth is drawn from the exponential tail with its
    mean, since a longer time than the history brings larger ones. ``residuals`` are those, ascending; each week is the
    highest of so many draws.
    """
    _, uniform = _draws()
    chance = uniform[:weeks] ** (1.0 / draws)
    usual = 2.0 * float(np.median(np.abs(residuals)))
    ordered = residuals + SELF_INCLUSION * np.clip(residuals, -usual, usual)
    place = chance * (len(ordered) - 1)
    below = place.astype(np.int64)
    step = np.append(np.diff(ordered), 0.0)
    found = ordered[below] + (place - below) * step[below]
    start, excess = top_share(ordered, 1.0 - TAIL_FROM)
    tail = start - TAIL * excess * np.log(np.maximum(1.0 - chance, 1e-12) / (1.0 - TAIL_FROM))
    return np.where(chance > TAIL_FROM, tail, found)
