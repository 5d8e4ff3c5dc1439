"""Simulated failovers of one kind as arrays, to compare and to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.controller.quorum.failover import ControllerLoss, Failover, failovers
from kafka_capacity.kafka.controller.quorum.messages import Rpc
from kafka_capacity.kafka.controller.quorum.settings import Environment
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Failovers:
    """What came of R runs: float64[R] or int64[R] of each figure."""

    leaderless_seconds: NDArray[np.float64]
    inactive_seconds: NDArray[np.float64]
    epochs: NDArray[np.int64]
    rpcs: Mapping[Rpc, NDArray[np.int64]]

    @classmethod
    def of(cls, runs: list[Failover]) -> Failovers:
        """Put runs next to each other."""
        return cls(
            leaderless_seconds=np.array([run.leaderless_seconds for run in runs]),
            inactive_seconds=np.array([run.inactive_seconds for run in runs]),
            epochs=np.array([run.epochs for run in runs]),
            rpcs={rpc: np.array([run.rpcs.get(rpc, 0) for run in runs]) for rpc in Rpc},
        )

    def quantile(self, share: float) -> float:
        """Return the leaderless seconds that this share of the runs does not exceed."""
        return float(np.quantile(self.leaderless_seconds, share, method="inverted_cdf"))

    @property
    def split_vote_ratio(self) -> float:
        """Share of the runs that needed more than one election."""
        return float((self.epochs > 1).mean())


def fail_leader(
    voters: int, failure: FailureKind, *, runs: int, seed: int, first_run: int = 0, lost_before: int = 0, **around: Any
) -> Failovers:
    """Fail the active controller in one way; further arguments are those of its environment."""
    loss = ControllerLoss(failure, lost_before)
    several = failovers(voters, [loss], runs=runs, seed=seed, first_run=first_run, around=Environment(**around))
    return Failovers.of(several[loss])
