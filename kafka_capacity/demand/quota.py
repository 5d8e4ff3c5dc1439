"""What a quota makes of hourly traffic: what is above it waits, and goes through once there is room.

Nothing is lost: of A produced or read up to an hour, the most that a quota of q an hour lets through is the least of
A(k) + q · (hours since k) over all earlier hours k.

>>> throttled(np.array([[10.0, 60.0, 0.0, 10.0]]), np.array([25.0])).passed.tolist()
[[10.0, 25.0, 25.0, 20.0]]
>>> throttled(np.array([[10.0, 60.0, 0.0, 10.0]]), np.array([25.0])).late_hours.tolist()  # 35 wait at 25 an hour
[1.4]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Flags, Floats

_STEPS = 30  # halvings of what a quota may be: a billionth is left


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Throttled:
    """N partitions under a quota."""

    passed: Floats  # float64[N, H], what goes through in each hour
    late_hours: Floats  # float64[N], how long anything waits at most
    is_waiting: Flags  # bool[N, H], whether something waits at the end of an hour


def throttled(rates: NDArray[np.floating], quota: Floats) -> Throttled:
    """Let hours of traffic, [N, H], through a quota above 0 for each, float64[N]."""
    hours = np.arange(rates.shape[1] + 1)
    offered = np.concatenate([np.zeros((len(rates), 1)), np.cumsum(rates, axis=1, dtype=np.float64)], axis=1)
    room = quota[:, None] * hours
    passed = room + np.minimum.accumulate(offered - room, axis=1)
    waiting = (offered - passed)[:, 1:]
    return Throttled(
        passed=np.diff(passed, axis=1),
        late_hours=waiting.max(axis=1, initial=0.0) / quota,
        is_waiting=waiting > 1e-6 * quota[:, None],
    )


def least_quota(rates: NDArray[np.floating], late_hours: float) -> Floats:
    """Return float64[N], the smallest quota under which nothing waits longer; each row carries something."""
    low, high = np.zeros(len(rates)), rates.max(axis=1).astype(np.float64)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_enough = throttled(rates, middle).late_hours <= late_hours
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    return np.asarray(high, dtype=np.float64)
