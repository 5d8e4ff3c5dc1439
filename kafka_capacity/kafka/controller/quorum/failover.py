"""How long there is no active controller after a failure, and what the election costs, as distributions.

Each run starts a quorum of its own, lets it settle, fails at a random moment of the leader's idle interval and goes on
until the next leader has committed its first record. The same seed gives the same runs.

>>> times = failovers(3, FailureKind.SHUT_DOWN, runs=20, seed=1)
>>> bool(times.leaderless_seconds.max() < 0.1)
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.quorum.availability import majority
from kafka_capacity.kafka.controller.quorum.failover_runs import ControllerLoss, FailureKind, Run, fail_each
from kafka_capacity.kafka.controller.quorum.messages import Rpc
from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts
from kafka_capacity.kafka.controller.quorum.simulation import QuorumSimulation
from kafka_capacity.kafka.controller.quorum.surroundings import Network, Storage
from kafka_capacity.kafka.controller.quorum.voters import MAX_VOTERS

_RUNS_APART = 1_000_003
"""More than the runs of one call: seeds next to each other share no run."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Failovers:
    """What was seen in R runs.

    Attributes:
        leaderless_seconds: float64[R], from the failure until another term of a leader begins; ``inf`` where none did
            within 10 minutes.
        inactive_seconds: float64[R], until that leader, or a later one, has committed a record and can act.
        epochs: int64[R], how many epochs were used up; each beyond the first is an election that nobody won or a
            leader that could not stay.
        rpcs: int64[R] for each kind of request, sent by all replicas from the failure until the leader could act.
    """

    leaderless_seconds: NDArray[np.float64]
    inactive_seconds: NDArray[np.float64]
    epochs: NDArray[np.int64]
    rpcs: Mapping[Rpc, NDArray[np.int64]]

    def quantile(self, share: float) -> float:
        """Return the leaderless seconds that this share of the runs does not exceed."""
        return float(np.quantile(self.leaderless_seconds, share, method="inverted_cdf"))

    @property
    def split_vote_ratio(self) -> float:
        """Share of the runs that needed more than one election."""
        return float((self.epochs > 1).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a quorum stands in.

    Attributes:
        observers: how many replicas fetch without a vote, such as brokers.
        timeouts: Kafka's defaults by default.
        network: between all replicas.
        storage: of all replicas.
    """

    observers: int = 0
    timeouts: QuorumTimeouts | None = None
    network: Network | None = None
    storage: Storage | None = None


def failovers(
    voters: int,
    failure: FailureKind,
    *,
    runs: int,
    seed: int,
    first_run: int = 0,
    voters_lost_before: int = 0,
    observers: int = 0,
    timeouts: QuorumTimeouts | None = None,
    network: Network | None = None,
    storage: Storage | None = None,
) -> Failovers:
    """Fail the active controller again and again.

    Args:
        voters: how many there are, 1 to 9.
        failure: what happens to the leader.
        runs: how many quorums are simulated.
        seed: of the runs.
        first_run: the number of the first of them: runs of the same seed can be shared out.
        voters_lost_before: how many other voters are gone already, their hosts with them.
        observers: how many replicas fetch without a vote, such as brokers.
        timeouts: Kafka's defaults by default.
        network: between all replicas.
        storage: of all replicas.

    Raises:
        RequestError: a number is out of its range, or too few voters are left for a leader to fail.
    """
    loss = ControllerLoss(failure, voters_lost_before)
    around = Surroundings(observers=observers, timeouts=timeouts, network=network, storage=storage)
    return failovers_of_each(voters, [loss], runs=runs, seed=seed, first_run=first_run, around=around)[loss]


def failovers_of_each(
    voters: int,
    losses: Sequence[ControllerLoss],
    *,
    runs: int,
    seed: int,
    first_run: int = 0,
    around: Surroundings | None = None,
) -> dict[ControllerLoss, Failovers]:
    """Fail the active controller in several ways: what :func:`failovers` gives for each, in less time.

    What comes before a failure is the same for all: a run settles once, and each failure happens to a copy.

    Args:
        voters: how many there are, 1 to 9.
        losses: each once.
        runs: how many quorums are simulated.
        seed: of the runs.
        first_run: the number of the first of them.
        around: what the quorum stands in.

    Raises:
        RequestError: a number is out of its range, or too few voters are left for a leader to fail.
    """
    around = around or Surroundings()
    _check(voters, losses, runs, around.observers)
    counted: dict[ControllerLoss, list[Run]] = {loss: [] for loss in losses}
    for run in range(first_run, first_run + runs):
        simulation = QuorumSimulation(
            range(1, voters + 1),
            observers=range(voters + 1, voters + around.observers + 1),
            timeouts=around.timeouts,
            network=around.network,
            storage=around.storage,
            seed=seed * _RUNS_APART + run,
        )
        for loss, one in fail_each(simulation, losses, Random(f"{seed}/{run}")):
            counted[loss].append(one)
    return {loss: _summed_up(several) for loss, several in counted.items()}


def _check(voters: int, losses: Sequence[ControllerLoss], runs: int, observers: int) -> None:
    if not 1 <= voters <= MAX_VOTERS:
        raise RequestError(f"voters must be from 1 to {MAX_VOTERS}, not {voters}")
    if runs < 1 or observers < 0:
        raise RequestError(f"runs must be at least 1 and observers at least 0, not {runs} and {observers}")
    for loss in losses:
        if not 0 <= loss.lost_before <= voters - majority(voters):
            raise RequestError(
                f"voters_lost_before must be from 0 to {voters - majority(voters)}, not {loss.lost_before}: of "
                f"{voters} voters {majority(voters)} must live for a leader to be there"
            )


def _summed_up(runs: Sequence[Run]) -> Failovers:
    return Failovers(
        leaderless_seconds=np.array([run.leaderless for run in runs]),
        inactive_seconds=np.array([run.inactive for run in runs]),
        epochs=np.array([run.epochs for run in runs], dtype=np.int64),
        rpcs={rpc: np.array([run.rpcs.get(rpc, 0) for run in runs], dtype=np.int64) for rpc in Rpc},
    )
