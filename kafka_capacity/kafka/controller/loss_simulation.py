"""Brokers and racks that fail and come back at random, to check :mod:`~kafka_capacity.kafka.controller.annual_losses`.

Times to failure and repair times are exponential. What is counted has a standard error, which is estimated from equal
spans of the time, since failures of the same brokers make losses come in clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.controller.annual_losses import Hazards

_SPANS = 40
_CELLS = 1_000_000  # times and brokers that are looked at together


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedLosses:
    """What was counted, a second."""

    events: float  # failures that completed at least one copyset
    events_error: float  # the standard error of that
    copysets: float  # copysets completed
    copysets_error: float  # the standard error of that


def simulate_losses(copysets: NDArray[np.integer], hazards: Hazards, *, seconds: float, seed: int) -> SimulatedLosses:
    """Let brokers and racks fail for so many seconds, and count the copysets, distinct int[C, W], that are lost.

    Copysets are positions of brokers, padded with -1.
    """
    random = np.random.default_rng(seed)
    rates = np.concatenate([hazards.broker_rate, hazards.rack_rate])
    gone = np.concatenate([hazards.broker_gone, hazards.rack_gone])
    time, unit, fails = _courses(rates, gone, seconds, random)
    brokers = len(hazards.broker_rate)
    members = [np.flatnonzero(hazards.rack == rack) for rack in range(len(hazards.rack_rate))]
    of_unit = [np.array([broker]) for broker in range(brokers)] + members
    holding = [copysets[(np.isin(copysets, which) & (copysets >= 0)).any(axis=1)] for which in of_unit]
    hits = np.zeros((len(of_unit), brokers), dtype=np.int64)
    for number, which in enumerate(of_unit):
        hits[number, which] = 1
    counted = np.zeros((_SPANS, 2))
    causes = np.zeros(brokers, dtype=np.int64)
    at_once = max(1, _CELLS // max(1, brokers))
    for start in range(0, len(time), at_once):
        units, is_failure = unit[start : start + at_once], fails[start : start + at_once]
        change = hits[units] * np.where(is_failure, 1, -1)[:, None]
        after = causes + change.cumsum(axis=0)
        span = np.minimum((time[start : start + at_once] / seconds * _SPANS).astype(np.int64), _SPANS - 1)
        for number, rows in enumerate(holding):
            at = np.flatnonzero(is_failure & (units == number))
            is_gone = _all_gone(after[at], rows) & ~_all_gone(after[at] - change[at], rows)
            lost = is_gone.sum(axis=1)
            np.add.at(counted, span[at], np.stack([lost > 0, lost], axis=1))
        causes = after[-1]
    mean = counted.mean(axis=0) * _SPANS / seconds
    error = counted.std(axis=0, ddof=1) * _SPANS / seconds / _SPANS**0.5
    return SimulatedLosses(
        events=float(mean[0]),
        events_error=float(error[0]),
        copysets=float(mean[1]),
        copysets_error=float(error[1]),
    )


def _all_gone(causes: NDArray[np.int64], copysets: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return which copysets, columns, have no broker left at which time, row; padding is never there."""
    nobody = np.ones((len(causes), 1), dtype=np.bool_)
    return np.asarray(np.hstack([causes > 0, nobody])[:, copysets].all(axis=2), dtype=np.bool_)


def _courses(
    rates: NDArray[np.float64], gone: NDArray[np.float64], seconds: float, random: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Draw when each unit fails and is back, in the order of time."""
    times, units, fails = [], [], []
    for unit, (rate, share) in enumerate(zip(rates.tolist(), gone.tolist(), strict=True)):
        if rate == 0:
            continue
        up, down = (1 - share) / rate, share / rate
        cycles = int(seconds * rate + 8 * (seconds * rate) ** 0.5) + 20
        spans = np.stack([random.exponential(up, cycles), random.exponential(down, cycles)], axis=1)
        at = spans.ravel().cumsum()
        kept = at < (seconds if at[-1] > seconds else inf)
        times.append(at[kept])
        units.append(np.full(int(kept.sum()), unit))
        fails.append((np.arange(len(at)) % 2 == 0)[kept])
    if not times:
        return np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    order = np.argsort(np.concatenate(times), kind="stable")
    return np.concatenate(times)[order], np.concatenate(units)[order], np.concatenate(fails)[order]
