"""One quorum that loses its active controller, in one way after another, each time as if nothing had happened yet."""

from __future__ import annotations

import pickle  # of our own simulations, to have them twice: copy.deepcopy takes three times as long
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from random import Random
from typing import NamedTuple, TypeVar

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.quorum.availability import majority
from kafka_capacity.kafka.controller.quorum.events import Outage
from kafka_capacity.kafka.controller.quorum.messages import Rpc
from kafka_capacity.kafka.controller.quorum.simulation import QuorumSimulation

_Thing = TypeVar("_Thing")

_LONGEST_SECONDS = 600.0


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


class ControllerLoss(NamedTuple):
    """A way to lose the active controller.

    Attributes:
        failure: what happens to it.
        lost_before: how many other voters are gone already, their hosts with them.
    """

    failure: FailureKind
    lost_before: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one run: seconds, epochs used up, requests by kind."""

    leaderless: float
    inactive: float
    epochs: int
    rpcs: Mapping[Rpc, int]


def fail_each(
    simulation: QuorumSimulation, losses: Sequence[ControllerLoss], random: Random
) -> Iterator[tuple[ControllerLoss, Run]]:
    """Let a new quorum settle and lose its leader in each of these ways.

    What comes before a failure is the same for all, so it is done once, and each failure happens to a copy.

    Raises:
        RequestError: no leader stays.
    """
    leader = _settled(simulation, random)
    by_lost: dict[int, list[ControllerLoss]] = {}
    for loss in losses:
        by_lost.setdefault(loss.lost_before, []).append(loss)
    for alike, (fewer, drawn) in zip(by_lost.values(), _copies((simulation, random), len(by_lost)), strict=True):
        active = _lose_others(fewer, leader, alike[0].lost_before, drawn)
        for loss, failing in zip(alike, _copies(fewer, len(alike)), strict=True):
            yield loss, _fail(failing, loss, active)


def _copies(thing: _Thing, count: int) -> Iterator[_Thing]:
    """Return a thing so many times, each to be changed by itself."""
    stored = pickle.dumps(thing, pickle.HIGHEST_PROTOCOL) if count > 1 else b""
    for _ in range(count - 1):
        yield pickle.loads(stored)  # noqa: S301 - see above
    yield thing


def _lose_others(simulation: QuorumSimulation, leader: int, count: int, random: Random) -> int:
    """Lose so many voters beside the leader, and give who leads when that has settled."""
    if not count:
        return leader
    for node_id in random.sample([voter for voter in simulation.voters if voter != leader], count):
        simulation.crash(node_id, Outage.VANISHED)
    return _settled(simulation, random)


def _fail(simulation: QuorumSimulation, loss: ControllerLoss, leader: int) -> Run:
    epoch = simulation.replicas[leader].epoch
    start = simulation.now
    simulation.rpcs.clear()
    lost = loss.lost_before + (loss.failure is not FailureKind.RESIGNED)
    if len(simulation.voters) - lost < majority(len(simulation.voters)):
        return Run(inf, inf, 0, {})
    _apply(simulation, loss.failure, leader)
    elected = simulation.run_until_elected(epoch, start + _LONGEST_SECONDS)
    if elected is None:
        return Run(inf, inf, 0, dict(simulation.rpcs))
    leaderless = elected.at_seconds - start
    while not simulation.run_until_active(elected.leader, start + _LONGEST_SECONDS):
        following = simulation.run_until_elected(elected.epoch, start + _LONGEST_SECONDS)
        if following is None:
            return Run(leaderless, inf, elected.epoch - epoch, dict(simulation.rpcs))
        elected = following
    # A single voter commits in the step that makes it leader, which ends with a write.
    active = max(simulation.now, elected.at_seconds)
    return Run(leaderless, active - start, elected.epoch - epoch, dict(simulation.rpcs))


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
