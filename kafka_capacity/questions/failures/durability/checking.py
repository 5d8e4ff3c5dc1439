"""The closed form against brokers that fail at random, on the copysets of a real assignment.

At real rates nothing would happen in any time that can be simulated. So brokers are without their data a twentieth of
the time, and racks a fiftieth: the formula is the same, and there are losses to be counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.controller.annual_losses import (
    SECONDS_PER_YEAR,
    Hazards,
    annual_losses,
    copysets_of,
    simulate_losses,
)

_MTTF, _REPAIR, _RACK_MTTF = 19.0, 1.0, 49.0
_MAX_COPYSETS = 2_000
_FAILURES = 200_000  # how many are drawn in all


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaCheck:
    """How far the closed form is off."""

    copysets: int  # how many were looked at
    expected: float  # losses of copysets a second, by the closed form
    counted: float  # the same in the simulation
    standard_error: float  # of what was counted

    @property
    def off_ratio(self) -> float:
        """By how much of the expected what was counted differs."""
        return self.counted / self.expected - 1.0 if self.expected else 0.0

    @property
    def error_ratio(self) -> float:
        """The standard error over the expected."""
        return self.standard_error / self.expected if self.expected else 0.0


def check_formula(brokers: Brokers, replicas: Int32s, *, seed: int = 0) -> FormulaCheck:
    """Let brokers and racks fail at rates at which something happens, and count.

    ``replicas`` is int32[P, W], broker ids, padded with -1. Of more copysets than can be followed some are drawn.
    """
    distinct = copysets_of(brokers.index_of(replicas))
    distinct = distinct[(distinct >= 0).any(axis=1)]
    if len(distinct) > _MAX_COPYSETS:
        chosen = np.random.default_rng(seed).choice(len(distinct), _MAX_COPYSETS, replace=False)
        distinct = distinct[np.sort(chosen)]
    hazards = Hazards.of(
        brokers.rack_indexes(),
        mttf_seconds=_MTTF,
        repair_seconds=_REPAIR,
        rack_mttf_seconds=_RACK_MTTF,
        rack_repair_seconds=_REPAIR,
    )
    count = len(distinct)
    exact = annual_losses(distinct, np.zeros(count, dtype=np.int64), np.ones(count), hazards, topics=1)
    seconds = _FAILURES / float(hazards.broker_rate.sum() + hazards.rack_rate.sum())
    counted = simulate_losses(distinct, hazards, seconds=seconds, seed=seed)
    return FormulaCheck(
        copysets=count,
        expected=float(exact.lost_partitions[0]) / SECONDS_PER_YEAR,
        counted=counted.copysets,
        standard_error=counted.copysets_error,
    )
