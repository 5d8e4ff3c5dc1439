"""How long there is no active controller after a failure, and what the election costs, as distributions.

Each run starts a quorum of its own, lets it settle, fails at a random moment of the leader's idle interval and goes on
until the next leader has committed its first record. The same seed gives the same runs.

>>> times = failovers(3, FailureKind.SHUT_DOWN, runs=20, seed=1)
>>> bool(times.leaderless_seconds.max() < 0.1)
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from random import Random

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.controller.quorum.availability import majority
from kafka_capacity.controller.quorum.messages import Rpc
from kafka_capacity.controller.quorum.settings import QuorumTimeouts
from kafka_capacity.controller.quorum.simulation import Outage, QuorumSimulation
from kafka_capacity.controller.quorum.surroundings import Network, Storage
from kafka_capacity.controller.quorum.voters import MOST_VOTERS
from kafka_capacity.errors import RequestError

_LONGEST_SECONDS = 600.0
_RUNS_APART = 1_000_003
"""More than the runs of one call: seeds next to each other share no run."""


class FailureKind(StrEnum):
    """What happens to the active controller."""

    KILLED = "killed"
    """Its process ends; connections to it are refused."""

    VANISHED = "vanished"
    """Its host is gone; requests to it run into their timeout."""

    ISOLATED = "isolated"
    """It lives, cut off from all others."""

    SHUT_DOWN = "shut down"
    """It ends in an orderly way, after it has resigned."""

    RESIGNED = "resigned"
    """It resigns and lives on."""


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
        """Give the leaderless seconds that this share of the runs does not exceed."""
        return float(np.quantile(self.leaderless_seconds, share, method="inverted_cdf"))

    @property
    def split_vote_ratio(self) -> float:
        """Share of the runs that needed more than one election."""
        return float((self.epochs > 1).mean())


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
    if not 1 <= voters <= MOST_VOTERS:
        raise RequestError(f"voters must be from 1 to {MOST_VOTERS}, not {voters}")
    if runs < 1 or observers < 0:
        raise RequestError(f"runs must be at least 1 and observers at least 0, not {runs} and {observers}")
    if not 0 <= voters_lost_before <= voters - majority(voters):
        raise RequestError(
            f"voters_lost_before must be from 0 to {voters - majority(voters)}, not {voters_lost_before}: of {voters} "
            f"voters {majority(voters)} must live for a leader to be there"
        )
    counted: list[_Run] = []
    for run in range(first_run, first_run + runs):
        simulation = QuorumSimulation(
            range(1, voters + 1),
            observers=range(voters + 1, voters + observers + 1),
            timeouts=timeouts,
            network=network,
            storage=storage,
            seed=seed * _RUNS_APART + run,
        )
        random = Random(f"{seed}/{run}")
        counted.append(_fail(simulation, failure, voters_lost_before, random))
    return Failovers(
        leaderless_seconds=np.array([run.leaderless for run in counted]),
        inactive_seconds=np.array([run.inactive for run in counted]),
        epochs=np.array([run.epochs for run in counted], dtype=np.int64),
        rpcs={rpc: np.array([run.rpcs.get(rpc, 0) for run in counted], dtype=np.int64) for rpc in Rpc},
    )


@dataclass(frozen=True, slots=True)
class _Run:
    leaderless: float
    inactive: float
    epochs: int
    rpcs: Mapping[Rpc, int]


def _fail(simulation: QuorumSimulation, failure: FailureKind, lost_before: int, random: Random) -> _Run:
    leader = _settled(simulation, random)
    for node_id in random.sample([voter for voter in simulation.voters if voter != leader], lost_before):
        simulation.crash(node_id, Outage.VANISHED)
    if lost_before:
        leader = _settled(simulation, random)
    epoch = simulation.replicas[leader].epoch
    start = simulation.now
    simulation.rpcs.clear()
    if len(simulation.voters) - lost_before - (failure is not FailureKind.RESIGNED) < majority(len(simulation.voters)):
        return _Run(inf, inf, 0, {})
    _apply(simulation, failure, leader)
    elected = simulation.run_until_elected(epoch, start + _LONGEST_SECONDS)
    if elected is None:
        return _Run(inf, inf, 0, dict(simulation.rpcs))
    leaderless = elected.at_seconds - start
    while not simulation.run_until_active(elected.leader, start + _LONGEST_SECONDS):
        following = simulation.run_until_elected(elected.epoch, start + _LONGEST_SECONDS)
        if following is None:
            return _Run(leaderless, inf, elected.epoch - epoch, dict(simulation.rpcs))
        elected = following
    # A single voter commits in the step that makes it leader, which ends with a write.
    active = max(simulation.now, elected.at_seconds)
    return _Run(leaderless, active - start, elected.epoch - epoch, dict(simulation.rpcs))


def _settled(simulation: QuorumSimulation, random: Random) -> int:
    """Wait for a leader that can act, then for a random moment."""
    end = simulation.now + _LONGEST_SECONDS
    while simulation.now < end:
        simulation.run(simulation.now + 1.0 + random.random() * max(1.0, simulation.timeouts.idle_interval_seconds))
        leader = simulation.leader()
        if leader is not None and simulation.run_until_active(leader, simulation.now):
            return leader
    raise RequestError("no controller stays active: the delays or losses of the network are too much for the timeouts")


def _apply(simulation: QuorumSimulation, failure: FailureKind, leader: int) -> None:
    if failure is FailureKind.KILLED:
        simulation.crash(leader)
    elif failure is FailureKind.VANISHED:
        simulation.crash(leader, Outage.VANISHED)
    elif failure is FailureKind.ISOLATED:
        simulation.partition([[leader]])
    elif failure is FailureKind.SHUT_DOWN:
        simulation.shut_down(leader)
    else:
        simulation.resign(leader)
