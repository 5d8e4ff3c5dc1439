"""What a correction of high estimates that is learned from other series would do: a factor, by quantile regression.

For each kind of series the factor is learned on all other kinds: the quantile of the logarithm of what came over the
high estimate, linear in how far the estimate is above the middle and above the last week, and in the days known, at
each of a few weeks ahead and on straight lines between these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack, identity

from kafka_capacity.kafka.arrays import Floats

LEARNED_ON_EVERY = 8  # neighbouring windows of a series say nearly the same
BOUNDS = ((0.75, 1.5), (1.0, 1.25))
"""How small and how large the factor may be: lowered too, or only raised."""


def learned_factors(
    kinds: NDArray[np.str_],
    expected: Floats,
    high: Floats,
    highest: Floats,
    last_week: Floats,
    days: Floats,
    *,
    weeks: tuple[int, ...],
    quantile: float,
    bounds: tuple[float, float],
) -> Floats:
    """Return float64[N, W], by what to multiply the high estimate of each forecast.

    Args:
        kinds: str[N], of series.
        expected: float64[N, W], middle estimates of the highest week so far.
        high: float64[N, W], high ones.
        highest: float64[N, W], what came.
        last_week: float64[N], the last week known.
        days: float64[N], how many were known.
        weeks: ahead at which factors are learned.
        quantile: that the high estimate shall be.
        bounds: of the factor.
    """
    learned = np.empty((len(kinds), len(weeks)))
    for place, week in enumerate(weeks):
        at = week - 1
        columns = (np.ones(len(kinds)), high[:, at] / expected[:, at], high[:, at] / last_week, days)
        facts = np.stack([columns[0], *(np.log(column) for column in columns[1:])], axis=1)
        came = np.log(highest[:, at] / high[:, at])
        for kind in np.unique(kinds):
            rows = np.flatnonzero(kinds != kind)[::LEARNED_ON_EVERY]
            learned[kinds == kind, place] = facts[kinds == kind] @ _quantile_fit(facts[rows], came[rows], quantile)
    logs = np.clip(learned, *np.log(bounds))
    ahead = np.arange(1, high.shape[1] + 1)
    return np.exp([np.interp(ahead, weeks, row) for row in logs])


def _quantile_fit(facts: Floats, values: Floats, quantile: float) -> Floats:
    """Return float64[K], the coefficients with the least pinball loss (Koenker and Bassett, 1978)."""
    count, width = facts.shape
    each = identity(count)
    costs = np.concatenate([np.zeros(width), np.full(count, quantile), np.full(count, 1 - quantile)])
    bounds = [(None, None)] * width + [(0, None)] * (2 * count)
    found = linprog(costs, A_eq=hstack([csr_matrix(facts), each, -each]), b_eq=values, bounds=bounds, method="highs")
    return np.asarray(found.x[:width])
