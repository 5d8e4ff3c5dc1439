"""Murmur2 of many keys by numba, where that is installed: a few times as fast as with arrays, and the same hashes."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Ints

SEED = 0x9747B28C
MULTIPLIER = 0x5BD1E995

PAYS_FROM = 1 << 24  # so many keys win back the second or two that importing numba and compiling take

HashKeys = Callable[[NDArray[np.uint8], Ints, NDArray[np.uint32]], None]


def hashing_for(count: int) -> HashKeys | None:
    """Return the compiled function if there is numba and so many keys are worth it."""
    return compiled() if count >= PAYS_FROM else None


@cache
def compiled() -> HashKeys | None:
    """Return a function of the bytes, uint8[B], the offsets, int64[N + 1], and where to put the hashes, uint32[N].

    ``None`` without numba.
    """
    if importlib.util.find_spec("numba") is None:
        return None
    numba: Any = importlib.import_module("numba")
    function: HashKeys = numba.njit(nogil=True)(_hash_keys)
    return function


def _hash_keys(buffer: Any, offsets: Any, hashes: Any) -> None:
    """See :func:`kafka_capacity.kafka.producer.key_hashing.murmur2`; here numbers wrap by their type."""
    factor = np.uint32(MULTIPLIER)
    for number in range(len(hashes)):
        place, end = offsets[number], offsets[number + 1]
        state = np.uint32(SEED ^ (end - place))
        while place + 4 <= end:
            word = np.uint32(
                np.uint32(buffer[place])
                | np.uint32(buffer[place + 1]) << np.uint32(8)
                | np.uint32(buffer[place + 2]) << np.uint32(16)
                | np.uint32(buffer[place + 3]) << np.uint32(24)
            )
            word = np.uint32(word * factor)
            word = np.uint32(np.uint32(word ^ (word >> np.uint32(24))) * factor)
            state = np.uint32(np.uint32(state * factor) ^ word)
            place += 4
        if place < end:
            rest = np.uint32(0)
            for index in range(end - place):
                rest |= np.uint32(np.uint32(buffer[place + index]) << np.uint32(8 * index))
            state = np.uint32(np.uint32(state ^ rest) * factor)
        state = np.uint32(np.uint32(state ^ (state >> np.uint32(13))) * factor)
        hashes[number] = state ^ (state >> np.uint32(15))
