"""Series that are made to measure forecasts on: what clusters do, one kind each, with seeds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Floats

DAYS = 1_130
SEEDS = 6
YEAR = 365
_WEEK = np.array([1.1, 1.05, 1.0, 1.0, 1.05, 0.9, 0.8])


def made_series() -> dict[str, Floats]:
    """Return the series by kind and seed, such as ``steps/0``."""
    found = {}
    for seed in range(SEEDS):
        rng = np.random.default_rng([7, seed])
        for kind, logs in _logs(rng).items():
            found[f"{kind}/{seed}"] = 1e6 * np.exp(logs)
        busy = rng.random(DAYS) < rng.uniform(0.05, 0.5)
        found[f"now and then/{seed}"] = 1e6 * np.exp(_base(rng, noise=0.3, wander=0.02)) * busy
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
    return found | _shapes_of_life(rng)


def _shapes_of_life(rng: np.random.Generator) -> dict[str, Floats]:
    """Return logarithms of what is known of whole trades: their week, their year, their holidays and their luck."""
    day = np.arange(DAYS)
    of_year = (day + rng.integers(0, YEAR)) % YEAR
    years = day / YEAR
    found = {}
    found["electricity"] = _base(rng, noise=0.02, wander=0.006) + rng.uniform(0.04, 0.15) * _wave(of_year, 20)
    found["electricity"] -= 0.15 * _near(of_year, 362, 5)
    found["ridership"] = _base(rng, noise=0.03, wander=0.01) + rng.uniform(-0.05, 0.15) * years
    found["ridership"] -= rng.uniform(0.2, 0.6) * _near(of_year, 225, 18) + 0.3 * _near(of_year, 360, 6)
    found["ridership"][rng.random(DAYS) < 12 / YEAR] -= 0.8  # holidays
    found["outdoors"] = _base(rng, noise=0.25, wander=0.03) + rng.uniform(0.0, 0.5) * years
    found["outdoors"] += rng.uniform(0.3, 0.6) * _wave(of_year, 200)
    found["web shop"] = _base(rng, noise=0.08, wander=0.03) + rng.uniform(0.0, 0.5) * years
    found["web shop"] += rng.uniform(0.2, 0.5) * _near(of_year, 340, 20)
    found["web shop"] += np.log(rng.uniform(1.8, 4.0)) * ((of_year >= 329) & (of_year < 333))  # Black Friday
    found["business orders"] = _base(rng, noise=0.35, wander=0.02) + rng.uniform(0.0, 0.4) * years
    found["business orders"] += np.where(day % 7 > 4, -1.5, 0.0) + 0.3 * _wave(of_year, 330)
    found["business orders"] += rng.uniform(0.3, 0.8) * (day % 30 > 26)  # ends of months
    found["page"] = _base(rng, noise=0.12, wander=0.06)
    for start in np.flatnonzero(rng.random(DAYS) < 6 / YEAR):
        # News: up in a day, half of it gone after some days, a little of it for good.
        size, half = min(rng.exponential(1.0), 3.0), rng.uniform(2, 15)
        found["page"][start:] += size * (0.95 * 0.5 ** (np.arange(DAYS - start) / half) + 0.05)
    return found


def _wave(of_year: NDArray[np.int64], peak: int) -> Floats:
    """Return float64[N], a year's wave from -1 to 1."""
    return np.asarray(np.cos(2 * np.pi * (of_year - peak) / YEAR))


def _near(of_year: NDArray[np.int64], middle: int, reach: int) -> Floats:
    """Return float64[N], a bump of height 1 around a day of the year."""
    off = np.abs((of_year - middle + YEAR // 2) % YEAR - YEAR // 2)
    return np.asarray(np.exp(-((off / reach) ** 2)))


def _base(rng: np.random.Generator, *, noise: float = 0.05, wander: float = 0.0) -> Floats:
    """Return logarithms of a week with noise, on a level that wanders off every week."""
    steps = np.cumsum(rng.normal(0.0, wander, DAYS // 7 + 3))
    level = np.interp(np.arange(DAYS) / 7, np.arange(len(steps)), steps)
    return np.asarray(level + rng.normal(0.0, noise, DAYS) + np.log(np.resize(_WEEK, DAYS)))
