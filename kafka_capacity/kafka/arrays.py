"""What arrays of numbers are called; what is in one, and its shape, stands where it is declared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Indices = NDArray[np.intp]  # positions in another array
Flags = NDArray[np.bool_]
