"""Random traces of a quorum under everything that can go wrong, to look for one that breaks an invariant.

A trace draws its own voters, observers, delays, losses and timeouts from its seed, then crashes, restarts, cuts off,
heals, resigns and shuts down at random moments, any number of replicas at once. In the end everything is fixed, and
the quorum must commit again: safety that comes from never doing anything would be worth nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from kafka_capacity.kafka.controller.quorum.settings import Environment, QuorumTimeouts, Spread
from kafka_capacity.kafka.controller.quorum.simulation import SHUTDOWN_SECONDS, FailureKind
from kafka_capacity.kafka.controller.quorum.voters import MAX_VOTERS
from tests.unit.kafka.controller.quorum.watched import SafetyViolationError, WatchedSimulation

_MEND_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What came of a random trace.

    Attributes:
        voters: how many there were.
        faults: how many things went wrong.
        elections: how many leaders there were.
        committed: how many records were committed.
        recovery_seconds: from when all was fixed until a new record was committed.
    """

    voters: int
    faults: int
    elections: int
    committed: int
    recovery_seconds: float


def random_trace(seed: int, *, faults: int = 30) -> Trace:
    """Run one trace.

    Args:
        seed: of everything in it.
        faults: how many things go wrong.

    Raises:
        SafetyViolationError: an invariant did not hold, or the fixed quorum did not come back.
    """
    random = Random(seed)
    slowest = random.choice([0.005, 0.05, 0.5])
    around = Environment(
        delay=Spread(slowest / 10, slowest),
        loss_ratio=random.choice([0.0, 0.02, 0.2]),
        timeouts=QuorumTimeouts(idle_interval_seconds=random.choice([0.05, 0.5])),
    )
    voters = range(1, random.randint(1, MAX_VOTERS) + 1)
    observers = range(100, 100 + random.randint(0, 2))
    simulation = WatchedSimulation(voters, observers=observers, around=around, seed=seed)
    nodes = [*voters, *observers]
    for _ in range(faults):
        # Many things at once, or long after each other.
        simulation.run(simulation.now + random.choice([0.0, 0.01, 0.3, 2.0]) * random.random() * 2)
        _go_wrong(simulation, nodes, random)
    return Trace(
        voters=len(voters),
        faults=faults,
        elections=len(simulation.elections),
        recovery_seconds=_recovery(simulation),
        committed=len(simulation.committed),
    )


def _go_wrong(simulation: WatchedSimulation, nodes: list[int], random: Random) -> None:
    node = random.choice(nodes)
    leader = simulation.leader()
    # Leaders are where it affects.
    victim = leader if leader is not None and random.random() < 0.5 else node
    fault = random.randrange(8)
    if fault <= 1:
        simulation.fail(victim, random.choice([FailureKind.KILLED, FailureKind.VANISHED]))
    elif fault <= 3:
        for down in list(simulation.down):
            if random.random() < 0.7:
                simulation.restart(down)
    elif fault == 4:
        simulation.groups = (frozenset(random.sample(nodes, random.randint(1, len(nodes)))),)
    elif fault == 5:
        simulation.groups = ()
    elif fault == 6:
        simulation.resign(victim)
    else:
        simulation.fail(victim, FailureKind.SHUT_DOWN)


def _recovery(simulation: WatchedSimulation) -> float:
    simulation.groups = ()
    simulation.around = replace(simulation.around, loss_ratio=0.0, delay=Spread(0.001, 0.01))
    # A replica that shuts down does so in the end, and is started again as those that crashed are.
    simulation.run(simulation.now + 2 * SHUTDOWN_SECONDS)
    for node_id in list(simulation.down):
        simulation.restart(node_id)
    start = simulation.now
    committed = len(simulation.committed)
    while simulation.now < start + _MEND_SECONDS:
        simulation.run(simulation.now + 0.05)
        if len(simulation.committed) > committed:
            return simulation.now - start
    raise SafetyViolationError(f"nothing was committed in {_MEND_SECONDS} s after everything was fixed")
