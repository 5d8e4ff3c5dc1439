"""Orders of rows by whole numbers, many times faster than by comparing them key by key."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LONGEST_KEY = 1 << 62


def stable_order(values: NDArray[np.integer], below: int) -> NDArray[np.intp]:
    """Order rows by one key; equal ones stay as they come.

    Args:
        values: int[N], 0 or more.
        below: a bound that all values are below.
    """
    # Sixteen bits are sorted by radix.
    narrow = values.astype(np.uint16) if below <= 1 << 16 else values
    return np.argsort(narrow, kind="stable")


def order_by(*keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """Order rows by several keys, the one that counts most first; no two rows are equal in all of them.

    >>> order_by(np.array([1, 0, 1]), np.array([5, 9, -3])).tolist()
    [1, 2, 0]
    """
    if not len(keys[0]):
        return np.empty(0, dtype=np.intp)
    together = np.zeros(len(keys[0]), dtype=np.int64)
    length = 1
    for key in keys:
        lowest = int(key.min())
        span = int(key.max()) - lowest + 1
        length *= span
        if length >= _LONGEST_KEY:
            return np.lexsort(keys[::-1])
        together = together * span + (key - lowest)
    return np.argsort(together)
