"""Which hard limits bind or are passed, and the smallest relaxation that would do.

Two figures say how far a limit is from enough. One is proven (:mod:`.shortages`): what brokers
must hold whatever the plan, against what they may hold; from it follow the brokers that are missing at the least. The
other is reached: how far this plan passes the limit, so a limit that much higher certainly does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.placement.problem import PlacementProblem
from kafka_capacity.kafka.placement.shortages import Shortage, shortages

_SLACK_RATIO = 0.02
"""Replicas cannot be split: that much room is left when a limit is raised."""
_MOST_RACKS = 8
"""That are named."""
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
        shortages: of the racks, of what topics are pinned to, or of all brokers: which take the most brokers more.
    """

    constraint: str
    binding_brokers: tuple[int, ...]
    highest_ratio: float
    proven_ratio: float
    shortages: tuple[Shortage, ...]

    @property
    def missing_brokers(self) -> int:
        """How many brokers of the usual limit it takes at the least."""
        return sum(shortage.missing_brokers for shortage in self.shortages)

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
        brokers = "1 more broker" if self.missing_brokers == 1 else f"{self.missing_brokers} more brokers"
        return f"it takes at least {brokers} of this size{_where(self.shortages)}, or {higher}"


def _where(found: Sequence[Shortage]) -> str:
    """Say where brokers are missing."""
    if len(found) > 1:
        racks = [f"{one.missing_brokers} in rack {one.rack}" for one in found]
        more = f" and in {len(racks) - _MOST_RACKS} more racks" if len(racks) > _MOST_RACKS else ""
        return f" ({', '.join(racks[:_MOST_RACKS])}{more})"
    (one,) = found
    if one.topics:
        others = f" and {len(one.topics) - 1:,} more" if len(one.topics) > 1 else ""
        return f" that topic{'s' if others else ''} {one.topics[0]}{others} may be on"
    return "" if one.rack is None else f" in rack {one.rack}"


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
        found = shortages(problem, unit, limit, leaders_only=constraint == "network_out")
        # Who is pinned to too few brokers is no reason for the others to take more.
        ratio = max(one.ratio for one in found if not one.topics)
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
    found = shortages(problem, unit, limit, leaders_only=constraint == "network_out")
    binds = np.nonzero(ratio >= BINDS_FROM_RATIO)[0]
    return LimitState(
        constraint=constraint,
        binding_brokers=tuple(problem.target.ids[binds].tolist()),
        highest_ratio=float(ratio.max(initial=0.0)),
        proven_ratio=max(one.ratio for one in found),
        shortages=_decisive(found),
    )


def _decisive(found: Sequence[Shortage]) -> tuple[Shortage, ...]:
    """Choose what takes the most brokers: all together, the racks that lack some each, or what some are pinned to.

    Of equals the racks go first, since they say where.
    """
    short = [one for one in found if one.missing_brokers]
    racks = tuple(one for one in short if one.rack is not None)
    choices = [racks, *((one,) for one in short if one.rack is None)]
    return max(choices, key=lambda some: sum(one.missing_brokers for one in some))
