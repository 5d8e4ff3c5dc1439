"""How long there is no active controller after a failure, and what the election costs, run by run.

Each run starts a quorum of its own with a leader, lets it settle, fails at a random moment of the leader's idle
interval and goes on until the next leader has committed its first record. The same seed gives the same runs.

>>> loss = ControllerLoss(FailureKind.SHUT_DOWN)
>>> max(run.leaderless_seconds for run in failovers(3, [loss], runs=20, seed=1)[loss]) < 0.3
True
"""

from __future__ import annotations

import pickle  # of our own simulations, to have them twice: copy.deepcopy takes three times as long
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from random import Random
from typing import NamedTuple, TypeVar

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.quorum.messages import Rpc
from kafka_capacity.kafka.controller.quorum.settings import Environment
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind, QuorumSimulation
from kafka_capacity.kafka.controller.quorum.voters import MAX_VOTERS, majority, tolerated_losses

_Thing = TypeVar("_Thing")

_LONGEST_SECONDS = 600.0
_SETTLING_SECONDS = 1.0  # from then on, what comes of a failure does not depend on how long a leader has led

_RUNS_APART = 1_000_003  # more than the runs of one call: seeds next to each other share no run


class ControllerLoss(NamedTuple):
    """A way to lose the active controller."""

    failure: FailureKind  # what happens to it
    lost_before: int = 0  # how many other voters are gone already, their hosts with them


class Failover(NamedTuple):
    """What came of one run."""

    leaderless_seconds: float  # from the failure until another leader's term begins; `inf` where none did in 10 minutes
    inactive_seconds: float  # until that leader, or a later one, has committed a record and can act
    epochs: int  # how many were used up; each beyond the first is an election nobody won or a leader that did not stay
    rpcs: Mapping[Rpc, int]  # requests by kind, sent by all replicas from the failure until the leader could act


def failovers(
    voters: int,
    losses: Sequence[ControllerLoss],
    *,
    runs: int,
    seed: int,
    first_run: int = 0,
    around: Environment | None = None,
) -> dict[ControllerLoss, list[Failover]]:
    """Fail the active controller of 1 to 9 voters in several ways, each once a run; return one failover a run and loss.

    What comes before a failure is the same for all: a run settles once, and each failure happens to a copy. Runs of the
    same seed can be shared out, by the number of the first.

    Raises:
        RequestError: a number is out of its range, too few voters are left for a leader to fail, or no leader stays.
    """
    around = around or Environment()
    if not 1 <= voters <= MAX_VOTERS or runs < 1:
        raise RequestError(f"voters must be from 1 to {MAX_VOTERS} and runs at least 1, not {voters} and {runs}")
    spare = tolerated_losses(voters)
    for loss in losses:
        if not 0 <= loss.lost_before <= spare:
            raise RequestError(
                f"lost_before must be from 0 to {spare}, not {loss.lost_before}: of {voters} voters "
                f"{majority(voters)} must be up for a leader to exist"
            )
    found: dict[ControllerLoss, list[Failover]] = {loss: [] for loss in losses}
    for run in range(first_run, first_run + runs):
        simulation = QuorumSimulation(
            range(1, voters + 1),
            observers=range(voters + 1, voters + around.observers + 1),
            around=around,
            seed=seed * _RUNS_APART + run,
        )
        random = Random(f"{seed}/{run}")
        simulation.begin_led(random.choice(simulation.voters))
        for loss, failover in _fail_each(simulation, losses, random):
            found[loss].append(failover)
    return found


def _spare(failure: FailureKind, voters: int) -> int:
    """Return how many may be lost so that a leader follows, the active one among them."""
    if failure is FailureKind.REMOVED:  # of which the others need nothing
        return 1 + tolerated_losses(voters - 1) if voters > 1 else 0
    return tolerated_losses(voters)


def _fail_each(
    simulation: QuorumSimulation, losses: Sequence[ControllerLoss], random: Random
) -> Iterator[tuple[ControllerLoss, Failover]]:
    leader = _settled(simulation, random)
    by_lost: dict[int, list[ControllerLoss]] = {}
    for loss in losses:
        by_lost.setdefault(loss.lost_before, []).append(loss)
    for (lost, alike), (fewer, drawn) in zip(by_lost.items(), _copies((simulation, random), len(by_lost)), strict=True):
        active = leader
        if lost:
            for node_id in drawn.sample([voter for voter in fewer.voters if voter != leader], lost):
                fewer.fail(node_id, FailureKind.VANISHED)
            active = _settled(fewer, drawn)
        for loss, failing in zip(alike, _copies(fewer, len(alike)), strict=True):
            yield loss, _fail(failing, loss, active)


def _copies(thing: _Thing, count: int) -> Iterator[_Thing]:
    """Return a thing so many times, each to be changed by itself."""
    stored = pickle.dumps(thing, pickle.HIGHEST_PROTOCOL) if count > 1 else b""
    for _ in range(count - 1):
        yield pickle.loads(stored)  # noqa: S301 - see above
    yield thing


def _settled(simulation: QuorumSimulation, random: Random) -> int:
    """Wait for a leader that can act, then for a random moment; return the leader."""
    end = simulation.now + _LONGEST_SECONDS
    while simulation.now < end:
        idle_seconds = simulation.around.timeouts.idle_interval_seconds
        simulation.run(simulation.now + _SETTLING_SECONDS + random.random() * max(1.0, idle_seconds))
        leader = simulation.leader()
        if leader is not None and simulation.run_until_active(leader, simulation.now):
            return leader
    raise RequestError("no controller stays active: network delays or losses are too large for the timeouts")


def _fail(simulation: QuorumSimulation, loss: ControllerLoss, leader: int) -> Failover:
    epoch, start = simulation.replicas[leader].epoch, simulation.now
    simulation.rpcs.clear()
    if loss.lost_before >= _spare(loss.failure, len(simulation.voters)):
        return Failover(inf, inf, 0, {})
    simulation.fail(leader, loss.failure)
    leaderless = inf
    elected = simulation.run_until_elected(epoch, start + _LONGEST_SECONDS)
    used = 0
    around = simulation.around
    start -= simulation.draw(around.first_election)  # not played: it is over that much later
    while elected is not None:
        leaderless, used = min(leaderless, elected.at_seconds - start), elected.epoch - epoch
        if simulation.run_until_active(elected.leader, start + _LONGEST_SECONDS):
            inactive = simulation.now - start + simulation.draw(around.first_work)
            return Failover(leaderless, inactive, used, simulation.rpcs)
        elected = simulation.run_until_elected(elected.epoch, start + _LONGEST_SECONDS)
    return Failover(leaderless, inf, used, simulation.rpcs)
