"""What arrays of numbers are called, and their runs; what is in one, and its shape, stands where it is declared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Indices = NDArray[np.intp]  # positions in another array
Flags = NDArray[np.bool_]


def runs(sorted_keys: NDArray[np.integer[Any]]) -> tuple[Indices, Indices]:
    """Return where each run of equal keys begins, and how long it is.

    >>> [found.tolist() for found in runs(np.array([3, 3, 5]))]
    [[0, 2], [2, 1]]
    """
    is_first = np.append(True, sorted_keys[1:] != sorted_keys[:-1])[: len(sorted_keys)]
    starts = np.flatnonzero(is_first)
    return starts, np.diff(np.append(starts, len(sorted_keys)))
