"""Who gets partitions that always go to the least loaded member, worked out for many at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.groups.sorting import order_by


def fill_from_below(count: int, sizes: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return who gets each of some partitions, as water rises: one level after another, everyone at it in turn.

    Args:
        count: how many partitions there are.
        sizes: int64[M], how many each member has; rises, and is not empty.
        places: int64[M], the place of each member within a level, all different.

    Returns:
        int64[count], positions in ``sizes``.

    >>> fill_from_below(5, np.array([0, 1, 3]), np.array([2, 0, 1])).tolist()
    [0, 1, 0, 1, 0]
    """
    below = np.cumsum(sizes) - sizes
    reached = int(np.searchsorted(np.arange(len(sizes)) * sizes - below, count, side="right"))
    sizes, places = sizes[:reached], places[:reached]
    level, over = divmod(count + int(sizes.sum()), reached)
    turns = level - sizes
    to = np.repeat(np.arange(reached), turns)
    at = np.arange(count - over) - np.repeat(np.cumsum(turns) - turns - sizes, turns)
    return np.concatenate((to[order_by(at, places[to])], np.argsort(places)[:over]))
