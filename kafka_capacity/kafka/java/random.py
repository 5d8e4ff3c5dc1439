"""``java.util.Random`` and ``Collections.shuffle``, draw for draw.

Algorithm:
    A linear congruential generator of 48 bits, ``state = state * 0x5DEECE66D + 11``; a draw of n bits gives the
    n highest. The class documentation of ``java.util.Random`` fixes every method, so all JDKs agree.
    ``nextInt(bound)`` takes 31 bits; a power of two scales them, any other bound takes the remainder and draws
    again when the bits fell into the last, incomplete run of ``bound`` values.

>>> random = JavaRandom(42)
>>> random.next_int(), random.next_int_bound(10)
(-1170105035, 3)
>>> JavaRandom(42).next_ints_bound([2**31 - 1, 10, 16]).tolist()
[1562431130, 3, 10]
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Int32s
from kafka_capacity.kafka.java.hashing import to_int, to_long

_MULTIPLIER = 0x5DEECE66D
_INCREMENT = 0xB
_MASK = (1 << 48) - 1
_DOUBLE_UNIT = 1.0 / (1 << 53)

Item = TypeVar("Item")


class JavaRandom:
    """A generator that gives what ``new java.util.Random(seed)`` gives; the lowest 48 bits of the seed count."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def _next(self, bits: int) -> int:
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> (48 - bits)

    def next_int(self) -> int:
        """Draw any ``int``."""
        return to_int(self._next(32))

    def next_int_bound(self, bound: int) -> int:
        """Draw an ``int`` of ``range(bound)``; ValueError where that is empty (Java: ``IllegalArgumentException``)."""
        if bound <= 0:
            raise ValueError(f"bound must be positive, not {bound}")
        bits = self._next(31)
        if not bound & (bound - 1):
            return (bound * bits) >> 31
        while bits - bits % bound + bound > 1 << 31:
            bits = self._next(31)
        return bits % bound

    def next_long(self) -> int:
        """Draw any ``long`` (of the 2**48 this generator can give)."""
        high = self._next(32) << 32
        return to_long(high + to_int(self._next(32)))

    def next_double(self) -> float:
        """Draw a ``double`` from 0 (included) to 1 (excluded)."""
        high = self._next(26) << 27
        return (high + self._next(27)) * _DOUBLE_UNIT

    def shuffle(self, items: MutableSequence[Item]) -> None:
        """Shuffle in place as ``Collections.shuffle(items, random)`` does: from the end, ``len(items) - 1`` draws."""
        for size in range(len(items), 1, -1):
            chosen = self.next_int_bound(size)
            items[size - 1], items[chosen] = items[chosen], items[size - 1]

    def next_ints_bound(self, bounds: Sequence[int] | NDArray[np.integer]) -> Int32s:
        """Draw once for each bound, int[N], as :meth:`next_int_bound` and its errors would, in bulk: int32[N]."""
        limits = np.asarray(bounds, dtype=np.int64)
        if limits.size and int(limits.min()) <= 0:
            raise ValueError(f"bound must be positive, not {int(limits.min())}")
        drawn = np.empty(len(limits), dtype=np.int32)
        done = 0
        while done < len(limits):
            states = self._states(len(limits) - done)
            values, kept = _scaled(states, limits[done:].astype(np.uint32))
            drawn[done : done + kept] = values[:kept]
            # The state after the last draw used: the refused one, or the last of all.
            self._state = int(states[min(kept, len(states) - 1)])
            done += kept
        return drawn

    def _states(self, count: int) -> NDArray[np.uint64]:
        """Compute the next ``count`` states without moving on, by jumps of doubling length."""
        states = np.empty(count, dtype=np.uint64)
        states[0] = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        known, factor, summand = 1, _MULTIPLIER, _INCREMENT
        while known < count:
            reached = min(2 * known, count)
            ahead = states[known:reached]
            # uint64 wraps at 2**64, a multiple of 2**48: the mask sets that right.
            np.multiply(states[: reached - known], np.uint64(factor), out=ahead)
            ahead += np.uint64(summand)
            ahead &= np.uint64(_MASK)
            summand = (factor + 1) * summand & _MASK
            factor = factor * factor & _MASK
            known = reached
        return states


def _scaled(states: NDArray[np.uint64], limits: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], int]:
    """Bring states below their bounds; also tell how many there are before the first that must be drawn again."""
    bits = (states >> np.uint64(17)).astype(np.uint32)
    values = bits % limits
    refused = bits - values + limits > np.uint32(1 << 31)
    is_power = (limits & (limits - np.uint32(1))) == 0
    if is_power.any():
        scaled = (limits[is_power].astype(np.uint64) * bits[is_power]) >> np.uint64(31)
        values[is_power] = scaled.astype(np.uint32)
        refused[is_power] = False
    first = int(refused.argmax())
    return values, first if refused[first] else len(values)
