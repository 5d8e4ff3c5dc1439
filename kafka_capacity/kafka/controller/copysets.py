"""Sets of brokers that hold all replicas of a partition.

A *copyset* is a set of brokers that holds all replicas of at least one partition (Cidon et al., "Copysets: Reducing the
Frequency of Data Loss in Cloud Storage", USENIX ATC 2013). Data is lost when a whole copyset fails, so the fewer
distinct copysets an assignment has, the less often that happens, and the more partitions are hit when it does: what is
lost in the long run does not depend on them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SECONDS_PER_YEAR = 365 * 24 * 3600


def copysets_of(replicas: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the distinct copysets of an assignment.

    Args:
        replicas: int[P, W], broker ids, padded with -1.

    Returns:
        int[C, W]: each copyset once, its brokers ascending after the padding.
    """
    distinct: NDArray[np.integer] = np.unique(np.sort(replicas, axis=1), axis=0)
    return distinct
