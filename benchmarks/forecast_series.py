"""Series that are made to measure forecasts on: what clusters do, one kind each, with seeds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DAYS = 1_130
SEEDS = 6
_WEEK = np.array([1.1, 1.05, 1.0, 1.0, 1.05, 0.9, 0.8])


def made_series() -> dict[str, Floats]:
    """Return the series by kind and seed, such as ``steps/0``."""
    found = {}
    for seed in range(SEEDS):
        rng = np.random.default_rng([7, seed])
        for kind, logs in _logs(rng).items():
            found[f"{kind}/{seed}"] = 1e6 * np.exp(logs)
    return found


def _logs(rng: np.random.Generator) -> dict[str, Floats]:
    years = np.arange(DAYS) / 365.25
    found = {f"wanders {wander:.0%} a week": _base(rng, noise=0.08, wander=wander) for wander in (0.02, 0.04, 0.08)}
    found["flat"] = _base(rng, noise=0.1)
    found["grows"] = _base(rng, wander=0.02) + rng.uniform(-0.3, 0.8) * years
    peak = 0.25 * (np.abs((years + 0.1) % 1 - 0.9) < 0.04)
    wave = rng.uniform(0.1, 0.35) * np.sin(2 * np.pi * (years + rng.random()))
    found["season of the year"] = _base(rng, wander=0.015) + rng.uniform(-0.1, 0.3) * years + wave + peak
    found["steps"] = _base(rng, wander=0.015)
    for day in rng.integers(60, DAYS - 60, 2):
        found["steps"][day:] += rng.choice([-1, 1]) * rng.uniform(0.3, 0.9)
    found["bursts"] = _base(rng, noise=0.15, wander=0.03)
    for day in rng.integers(0, DAYS, 8):
        found["bursts"][day : day + rng.integers(2, 12)] += rng.exponential(1.0)
    found["monthly batch"] = _base(rng, wander=0.02)
    found["monthly batch"][::30] += np.log(rng.uniform(5, 60))
    return found


def _base(rng: np.random.Generator, *, noise: float = 0.05, wander: float = 0.0) -> Floats:
    """Return logarithms of a week with noise, on a level that wanders off every week."""
    steps = np.cumsum(rng.normal(0.0, wander, DAYS // 7 + 3))
    level = np.interp(np.arange(DAYS) / 7, np.arange(len(steps)), steps)
    return np.asarray(level + rng.normal(0.0, noise, DAYS) + np.log(np.resize(_WEEK, DAYS)))
