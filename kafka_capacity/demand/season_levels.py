"""A seasonal series as levels and a shape: the mean of each season, and how its parts stand to that mean.

Capacity is planned months ahead, where only the level matters and the shape of a week comes back as it was. So models
forecast levels, of which there are few, and the shape is put on again. All values here are logarithms: a class that
doubles keeps its shape, and an error is a ratio.

A season is counted from the end of the series, so that the last one is always whole.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SHAPE_SEASONS = 8
"""The shape is the median over so many last seasons: one odd season leaves no trace."""


def season_levels(values: NDArray[np.float64], season: int) -> NDArray[np.float64]:
    """Return float64[N // season], the mean of each whole season."""
    count = len(values) // season
    return np.asarray(values[len(values) - count * season :].reshape(count, season).mean(axis=1))


def season_shape(values: NDArray[np.float64], season: int) -> NDArray[np.float64]:
    """Return float64[season], what each part of the season has more than its level; together they are 0.

    Growth within a season is no part of its shape: a path of levels has it already.
    """
    count = min(len(values) // season, SHAPE_SEASONS)
    last = values[len(values) - count * season :].reshape(count, season)
    levels = last.mean(axis=1, keepdims=True)
    slope = float(levels[-1, 0] - levels[0, 0]) / max(1, count - 1) / season
    shape = np.median(last - levels, axis=0) - slope * (np.arange(season) - (season - 1) / 2)
    return np.asarray(shape - shape.mean())


def seasons_ahead(steps: int, season: int) -> int:
    """Return how many levels a path of so many steps takes."""
    return steps // season + 2


def path_of_levels(
    last_level: float, levels: NDArray[np.float64], shape: NDArray[np.float64], steps: int
) -> NDArray[np.float64]:
    """Return float64[steps], the values after the end of a series.

    A level stands at the middle of its season, and between two middles the path is straight.

    Args:
        last_level: of the last season of the series.
        levels: forecast, at least :func:`seasons_ahead` of them.
        shape: float64[season].
        steps: how many values.
    """
    season = len(shape)
    # The first value comes half a season and a half step after the middle of the last season.
    place = (np.arange(steps) + 0.5 + season / 2) / season
    level = np.interp(place, np.arange(len(levels) + 1), np.concatenate(([last_level], levels)))
    return np.asarray(level + np.resize(shape, steps))


def repeated(values: NDArray[np.float64], season: int, steps: int) -> NDArray[np.float64]:
    """Return float64[steps], the last season again and again: the seasonal naive forecast."""
    return np.resize(values[len(values) - season :], steps)
