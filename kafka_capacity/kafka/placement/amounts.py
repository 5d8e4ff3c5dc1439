"""How much each broker gives and takes: levels of water in vessels of different widths.

Worked example: vessels as wide as 1, 1 and 2, with 6, 1 and 2 in them. Seven more lift the last two from a level of 1
to one of 3 1/3; the first is above that:

    >>> import numpy as np
    >>> load, width = np.array([6.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])
    >>> poured(load, width, 7.0).round(3).tolist()
    [0.0, 2.333, 4.667]
    >>> drawn(load, width, 3.0).round(3).tolist()
    [3.0, 0.0, 0.0]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def poured(
    load: NDArray[np.float64],
    width: NDArray[np.float64],
    total: float,
    most: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Pour a total into the vessels, the emptiest first, so that those that get something are level.

    Args:
        load: float64[B], what is in each.
        width: float64[B], what a level of 1 holds; 0 takes nothing.
        total: what to pour.
        most: float64[B], the most each may hold then; without it there is no such limit.

    Returns:
        float64[B], what each gets; less than the total in sum only where all are full.
    """
    room = np.full(len(load), np.inf) if most is None else np.maximum(0.0, most - load)
    room = np.where(width > 0, room, 0.0)
    if total <= 0 or not room.any():
        return np.zeros(len(load))
    if room.sum() <= total:
        return room
    safe = np.where(width > 0, width, 1.0)
    # The sum poured is piecewise linear in the level: look it up between the levels where a vessel starts or is full.
    starts = np.where(room > 0, load / safe, np.inf)
    ends = np.where(room > 0, (load + room) / safe, np.inf)
    levels = np.unique(np.concatenate([starts, ends]))
    levels = levels[np.isfinite(levels)]

    def at(level: float) -> NDArray[np.float64]:
        return np.clip(np.maximum(0.0, level * safe - load), 0.0, room)

    low, high = 0, len(levels)  # the first level at which at least the total is poured, or beyond the last
    while low < high:
        middle = (low + high) // 2
        if at(float(levels[middle])).sum() < total:
            low = middle + 1
        else:
            high = middle
    below = float(levels[low - 1]) if low else float(levels[0])
    base = at(below)
    open_ = (room > 0) & (starts <= below) & (ends > below)
    speed = float(safe[open_].sum())
    level = below + (total - float(base.sum())) / speed if speed > 0 else below
    return at(level)


def drawn(
    load: NDArray[np.float64],
    width: NDArray[np.float64],
    total: float,
    least: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Draw a total from the vessels, the fullest first, so that those that give something are level: float64[B].

    All are float64[B], as for :func:`poured`; ``least`` is what each must keep, nothing by default.
    """
    floor = np.zeros(len(load)) if least is None else np.maximum(0.0, least)
    floor = np.minimum(floor, load)
    # What is drawn from the top is what would be poured onto the floor, less.
    kept = poured(floor, width, max(0.0, float((load - floor)[width > 0].sum()) - total), load)
    return np.where(width > 0, load - floor - kept, 0.0)
