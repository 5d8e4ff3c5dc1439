"""``java.util.concurrent.ThreadLocalRandom``, draw for draw (JDK 17): where the client takes its random numbers from.

Algorithm:
    A counter of 64 bits goes on by an odd step with every draw, and a draw is its scrambled value, of which the upper
    32 bits are an ``int``. The step grows by two with the number of the thread, so that threads of one seed differ.
    Java seeds the counters from the clock; here the seed is given.

>>> ThreadRandom(8172561591062034290).next_int()
371358968
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.java.hashing import to_int

_GOLDEN_GAMMA = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_FIRST_FACTOR = 0xFF51AFD7ED558CCD
_SECOND_FACTOR = 0xC4CEB9FE1A85EC53


class ThreadRandom:
    """The generator of one thread.

    Args:
        seed: the counter before the first draw, a Java ``long``.
        thread: what ``Thread.getId`` gives; the main thread is 1.
    """

    __slots__ = ("_state", "_step")

    def __init__(self, seed: int, *, thread: int = 1) -> None:
        self._state = seed & _MASK
        self._step = (_GOLDEN_GAMMA + 2 * thread) & _MASK

    def next_int(self) -> int:
        """Draw any ``int``."""
        self._state = (self._state + self._step) & _MASK
        mixed = (self._state ^ self._state >> 33) * _FIRST_FACTOR & _MASK
        return to_int(((mixed ^ mixed >> 33) * _SECOND_FACTOR & _MASK) >> 32)

    def next_ints(self, count: int) -> NDArray[np.int32]:
        """Draw many: int32[count], as calling :meth:`next_int` in a loop would."""
        steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(self._step)
        states = steps + np.uint64(self._state)
        self._state = (self._state + count * self._step) & _MASK
        states ^= states >> np.uint64(33)
        states *= np.uint64(_FIRST_FACTOR)
        states ^= states >> np.uint64(33)
        states *= np.uint64(_SECOND_FACTOR)
        return (states >> np.uint64(32)).astype(np.uint32).view(np.int32)
