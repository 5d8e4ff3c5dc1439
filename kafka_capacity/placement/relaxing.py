"""Which hard limits bind or are passed, and the smallest relaxation that would do.

Two figures say how far a limit is from enough. One is proven: what the brokers of a rack (or of all) must hold whatever
the plan, against what they may hold; from it follow the brokers that are missing at the least. The other is reached:
how far this plan passes the limit, so a limit that much higher certainly does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.placement.problem import PlacementProblem
from kafka_capacity.placement.shares import wanted_racks

_SLACK_RATIO = 0.02
"""Replicas cannot be split: that much room is left when a limit is raised."""
BINDS_FROM_RATIO = 0.98
"""A broker this close to a limit is held back by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitState:
    """How the brokers stand to one kind of limit.

    Attributes:
        constraint: ``disk``, ``replica_count``, ``network_in`` or ``network_out``.
        binding_brokers: ids of those at the limit or above it.
        highest_ratio: the largest load as a ratio of its limit; with limits so many times as high this plan fits.
        proven_ratio: no plan fits with limits fewer times as high than this; 0 where nothing is proven.
        rack: where that is proven, ``None`` for all brokers together or where no racks are known.
        missing_brokers: how many brokers of the usual limit that rack lacks at the least.
    """

    constraint: str
    binding_brokers: tuple[int, ...]
    highest_ratio: float
    proven_ratio: float
    rack: str | None
    missing_brokers: int

    @property
    def is_passed(self) -> bool:
        """Whether a broker is above its limit."""
        return self.highest_ratio > 1.0 + 1e-9

    @property
    def rounded_ratio(self) -> float:
        """The highest ratio with two digits, rounded up."""
        return float(np.ceil(self.highest_ratio * 100 - 1e-9) / 100)

    def relaxation(self) -> str:
        """Name the smallest relaxation that would do, empty where the limit holds."""
        if not self.is_passed:
            return ""
        # Rounded up: what is named must do.
        higher = f"a limit {self.rounded_ratio:.2f} times as high would do"
        if not self.missing_brokers:
            return higher
        where = "" if self.rack is None else f" in rack {self.rack}"
        brokers = "1 more broker" if self.missing_brokers == 1 else f"{self.missing_brokers} more brokers"
        return f"it takes {brokers} of this size{where}, or {higher}"


def limit_states(problem: PlacementProblem, after: NDArray[np.int32]) -> tuple[LimitState, ...]:
    """Hold an assignment against the hard limits; those without any finite limit are left out.

    Args:
        problem: with its limits.
        after: int32[P, W], broker ids.
    """
    limits = problem.broker_limits
    if limits is None or not after.size:
        return ()
    target = problem.target
    index = target.index_of(after)
    index[after < 0] = -1
    written, sent = problem.written_bytes_per_second(), problem.sent_bytes_per_second()
    ones = np.ones(len(after))
    kinds = (
        ("disk", problem.size_bytes.astype(np.float64), limits.disk_bytes, index),
        ("replica_count", ones, limits.replica_count, index),
        ("network_in", written, limits.network_in_bytes_per_second, index),
        ("network_out", sent, limits.network_out_bytes_per_second, index[:, :1]),
    )
    return tuple(
        _state(problem, constraint, unit, limit, held)
        for constraint, unit, limit, held in kinds
        if np.isfinite(limit).any()
    )


def with_attainable_limits(problem: PlacementProblem) -> PlacementProblem:
    """Raise the limits that no plan can keep, all brokers' alike, to just above what is proven to be needed.

    The plan then passes them by little, instead of giving up on them.
    """
    limits = problem.broker_limits
    if limits is None:
        return problem
    raised = {}
    for constraint, field, unit in (
        ("disk", "disk_bytes", problem.size_bytes.astype(np.float64)),
        ("replica_count", "replica_count", np.ones(len(problem.size_bytes))),
        ("network_in", "network_in_bytes_per_second", problem.written_bytes_per_second()),
        ("network_out", "network_out_bytes_per_second", problem.sent_bytes_per_second()),
    ):
        limit = getattr(limits, field)
        ratio = _proven(problem, unit, limit, leaders_only=constraint == "network_out")[0]
        if ratio > 1.0:
            raised[field] = limit * ratio * (1 + _SLACK_RATIO)
    return replace(problem, broker_limits=replace(limits, **raised)) if raised else problem


def _state(
    problem: PlacementProblem,
    constraint: str,
    unit: NDArray[np.float64],
    limit: NDArray[np.float64],
    held: NDArray[np.int32],
) -> LimitState:
    rows, columns = np.nonzero(held >= 0)
    load = np.bincount(held[rows, columns], weights=unit[rows], minlength=len(limit))
    ratio = np.where(np.isfinite(limit), load / np.maximum(limit, 1e-9), 0.0)
    proven, rack, missing = _proven(problem, unit, limit, leaders_only=constraint == "network_out")
    binds = np.nonzero(ratio >= BINDS_FROM_RATIO)[0]
    return LimitState(
        constraint=constraint,
        binding_brokers=tuple(problem.target.ids[binds].tolist()),
        highest_ratio=float(ratio.max(initial=0.0)),
        proven_ratio=proven,
        rack=rack,
        missing_brokers=missing,
    )


def _proven(
    problem: PlacementProblem, unit: NDArray[np.float64], limit: NDArray[np.float64], *, leaders_only: bool
) -> tuple[float, str | None, int]:
    """Compare what must be held with what may be, in each rack and over all: ratio, rack, brokers missing."""
    target = problem.target
    copies = np.ones(len(unit)) if leaders_only else problem.replication_factor.astype(np.float64)
    found: list[tuple[float, str | None, int]] = [_lack(float((unit * copies).sum()), limit, None)]
    rack = target.rack_indexes()
    count = int(rack.max()) + 1 if len(rack) else 0
    if count > 1 and len(target.rack_names()) == count and not leaders_only:
        # What a rack must hold of a partition follows from its factor, and there are few different ones.
        amounts = np.bincount(problem.replication_factor, weights=unit)
        factor = np.arange(len(amounts), dtype=np.int32)
        spread = wanted_racks(factor, count, problem.rack_rule)
        brokers = np.bincount(rack, minlength=count)
        most = np.minimum(brokers[None, :], (factor - spread + 1)[:, None])
        must = np.maximum(factor[:, None] - (most.sum(axis=1)[:, None] - most), (spread == count)[:, None])
        least = amounts @ np.clip(must, 0, None)
        for number, name in enumerate(target.rack_names()):
            found.append(_lack(float(least[number]), limit[rack == number], name))
    return max(found, key=lambda one: one[0])


def _lack(needed: float, limit: NDArray[np.float64], rack: str | None) -> tuple[float, str | None, int]:
    if not np.isfinite(limit).all() or not len(limit):
        return 0.0, rack, 0
    available, usual = float(limit.sum()), float(np.median(limit))
    missing = int(np.ceil((needed - available) / usual - 1e-9)) if needed > available and usual > 0 else 0
    return needed / max(available, 1e-9), rack, missing
