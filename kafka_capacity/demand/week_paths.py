"""Paths of weeks ahead, drawn the same way every time, and the highest week of each path so far.

A path is the expected one, a level that wanders off it, and the noise of single weeks: one drawn from the weeks of the
history for each week ahead, so that a batch that comes every month is in every path. How far levels wander has heavier
tails than the normal distribution: Student's t with :data:`FREEDOM` degrees of freedom.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.spread import max_reach

Floats = NDArray[np.float64]

PATHS = 2_000
FREEDOM = 5
_SEED = 15
MAX_WEEKS = 320
TAIL_FROM = 0.9
TAIL = 0.5
SELF_INCLUSION = 0.15
"""A week is part of the five whose median is its level, which is nearer to it for that."""
ROLLING_DRAWS = 3
"""The highest of seven weeks that begin a day apart is about the highest of three that do not overlap."""


@lru_cache(maxsize=1)
def _draws() -> tuple[Floats, Floats]:
    """Return float64[weeks, paths] steps of a wandering level, t-distributed at each week, and uniform draws."""
    rng = np.random.default_rng(_SEED)
    normal = rng.standard_normal((MAX_WEEKS, PATHS // 2))
    steps = np.concatenate([normal, -normal], axis=1)
    wide = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, PATHS // 2))
    return steps * np.concatenate([wide, wide]), rng.random((MAX_WEEKS, PATHS))


def wandering(spread: Floats) -> Floats:
    """Return float64[W, paths], how far the level is off in each path.

    Args:
        spread: float64[W], its standard deviation at each week, ascending.
    """
    steps, _ = _draws()
    widths = np.sqrt(np.diff(np.concatenate([[0.0], spread**2])))
    most = max_reach(np.arange(1, len(spread) + 1))[:, None]
    return np.clip(np.cumsum(widths[:, None] * steps[: len(spread)], axis=0), -most, most)


def noise(residuals: Floats, weeks: int, draws: int = 1) -> Floats:
    """Return float64[weeks, paths], weeks over their level.

    Below :data:`TAIL_FROM` they are those of the history; the largest tenth is drawn from the exponential tail with its
    mean, since a longer time than the history brings larger ones.

    Args:
        residuals: float64[R], of the history, ascending.
        weeks: how many.
        draws: the highest of so many.
    """
    _, uniform = _draws()
    chance = uniform[:weeks] ** (1.0 / draws)
    usual = 2.0 * float(np.median(np.abs(residuals)))
    ordered = residuals + SELF_INCLUSION * np.clip(residuals, -usual, usual)
    place = chance * (len(ordered) - 1)
    below = place.astype(np.int64)
    step = np.append(np.diff(ordered), 0.0)
    found = ordered[below] + (place - below) * step[below]
    start = float(np.quantile(ordered, TAIL_FROM))
    excess = float(np.maximum(ordered - start, 0.0).mean()) / (1.0 - TAIL_FROM)
    tail = start - TAIL * excess * np.log(np.maximum(1.0 - chance, 1e-12) / (1.0 - TAIL_FROM))
    return np.where(chance > TAIL_FROM, tail, found)
