"""What was there once may come again: the highest week of the history has a say in the high estimate.

Of days that are all alike none is more likely the highest than another. So of T days behind and t days ahead the
highest is ahead with a chance of t / (T + t). By so much the high estimate is pulled up to the highest week of the
history where it is below: hardly for a month after a year, and by half for a year after a year.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.day_gaps import WEEK_DAYS

Floats = NDArray[np.float64]


def lifted_to_past_top(highs: Floats, past_top: float, days: int) -> Floats:
    """Return float64[W], high estimates that the highest week of the history has a say in.

    Args:
        highs: float64[W], of the highest week so far, logarithms over the level.
        past_top: the highest week of the history, the same way.
        days: of history.
    """
    ahead = WEEK_DAYS * np.arange(1, len(highs) + 1)
    return np.asarray(highs + ahead / (days + ahead) * np.maximum(past_top - highs, 0.0))
