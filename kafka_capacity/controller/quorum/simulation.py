"""A quorum in time: replicas, the network between them, and what goes wrong. The same seed gives the same course.

A discrete-event simulation in the manner of Kafka's own ``RaftEventSimulationTest``: a message takes a random delay and
may be lost; replicas crash and come back with what is durable; the network falls apart and heals. What a replica does
follows Kafka's rules (:mod:`~kafka_capacity.controller.quorum.replica` and its handlers); processors take no time, so
measure the delays between processes, not between hosts.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from math import inf
from random import Random
from typing import NamedTuple

from kafka_capacity.controller.quorum.messages import NOBODY, Error, Request, Response, Rpc
from kafka_capacity.controller.quorum.polling import poll
from kafka_capacity.controller.quorum.replica import Replica, State
from kafka_capacity.controller.quorum.requests import handle_request
from kafka_capacity.controller.quorum.responses import handle_response
from kafka_capacity.controller.quorum.safety import SafetyCheck
from kafka_capacity.controller.quorum.settings import QuorumTimeouts
from kafka_capacity.controller.quorum.voters import MOST_VOTERS
from kafka_capacity.errors import RequestError

SHUTDOWN_SECONDS = 5.0
"""How long a controller that shuts down waits for its successor (``RaftManager``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The way between two processes.

    Attributes:
        least_delay_seconds: of a message one way, with the time to handle it.
        most_delay_seconds: each delay is drawn evenly from between the two.
        loss_ratio: share of messages that never arrive.
    """

    least_delay_seconds: float = 0.0002
    most_delay_seconds: float = 0.001
    loss_ratio: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.least_delay_seconds <= self.most_delay_seconds < inf:
            raise RequestError(
                f"least_delay_seconds must be above 0 and not above most_delay_seconds, not "
                f"{self.least_delay_seconds} and {self.most_delay_seconds}"
            )
        if not 0 <= self.loss_ratio <= 1:
            raise RequestError(f"loss_ratio must be from 0 to 1, not {self.loss_ratio}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """The disk of each replica: what it has written it tells only after a flush.

    How much flushes differ decides how far apart the timers of two followers run, and so how often votes are split.

    Attributes:
        least_flush_seconds: of a flush of the log, or of the file that holds epoch and vote.
        most_flush_seconds: each flush is drawn evenly from between the two.
    """

    least_flush_seconds: float = 0.001
    most_flush_seconds: float = 0.01

    def __post_init__(self) -> None:
        if not 0 <= self.least_flush_seconds <= self.most_flush_seconds < inf:
            raise RequestError(
                f"least_flush_seconds must not be negative and not above most_flush_seconds, not "
                f"{self.least_flush_seconds} and {self.most_flush_seconds}"
            )


class Outage(StrEnum):
    """How a node is gone."""

    KILLED = "killed"
    """The process is gone, its host answers that nobody listens."""

    VANISHED = "vanished"
    """The host or its network is gone: nobody answers."""


class Election(NamedTuple):
    """A replica that became leader.

    Attributes:
        at_seconds: when.
        leader: node id.
        epoch: that it leads.
    """

    at_seconds: float
    leader: int
    epoch: int


class QuorumSimulation:
    """A quorum and its observers, all started at 0 with empty logs.

    Args:
        voters: node ids, 1 to 9.
        observers: node ids of replicas that fetch and never vote, such as brokers.
        timeouts: of all replicas.
        network: between all replicas.
        storage: of all replicas.
        seed: of everything that is random.

    Raises:
        RequestError: there are no voters, or too many, or two replicas have one id.
    """

    def __init__(
        self,
        voters: Sequence[int],
        *,
        observers: Sequence[int] = (),
        timeouts: QuorumTimeouts | None = None,
        network: Network | None = None,
        storage: Storage | None = None,
        seed: int,
    ) -> None:
        ids = [*voters, *observers]
        if not 1 <= len(voters) <= MOST_VOTERS or len(set(ids)) < len(ids):
            raise RequestError(f"name 1 to {MOST_VOTERS} voters, and each replica once, not {ids}")
        self.timeouts = timeouts or QuorumTimeouts()
        self.network = network or Network()
        self.storage = storage or Storage()
        self.now = 0.0
        self.voters = tuple(voters)
        self.replicas = {i: Replica(i, voters, self.timeouts, Random(f"{seed}/{i}")) for i in ids}
        self.down: dict[int, Outage] = {}
        self.rpcs: Counter[Rpc] = Counter()
        self.elections: list[Election] = []
        self.safety = SafetyCheck(self.replicas, self.voters)
        self._random = Random(f"{seed}/network")
        self._events: list[tuple[float, int, int, Request | Response | None]] = []
        self._order = count()
        self._wakes = dict.fromkeys(ids, inf)
        self._groups: tuple[frozenset[int], ...] = ()
        self._written = dict.fromkeys(ids, (0, 0, NOBODY, NOBODY))
        for node_id in ids:
            self._step(node_id)

    # -- running -----------------------------------------------------------------------------------

    def run(self, until_seconds: float) -> None:
        """Go on until then."""
        while self._events and self._events[0][0] <= until_seconds:
            self._next()
        self.now = max(self.now, until_seconds)

    def run_until_elected(self, above_epoch: int, until_seconds: float) -> Election | None:
        """Go on until a leader of a later epoch is elected; ``None`` where none is until then."""
        while self._events and self._events[0][0] <= until_seconds:
            self._next()
            if self.elections and self.elections[-1].epoch > above_epoch:
                return self.elections[-1]
        self.now = until_seconds
        return None

    def run_until_active(self, leader: int, until_seconds: float) -> bool:
        """Go on until this leader has committed its first record, and so can act; whether it did while it led."""
        while self.leads(leader) and not self._is_active(leader):
            if not self._events or self._events[0][0] > until_seconds:
                return False
            self._next()
        return self.leads(leader)

    def leads(self, node_id: int) -> bool:
        """Whether this node takes itself for the leader."""
        return node_id not in self.down and self.replicas[node_id].state is State.LEADER

    def leader(self) -> int | None:
        """Give the leader of the latest epoch that has one and lives."""
        leading = [replica for node_id, replica in self.replicas.items() if self.leads(node_id)]
        return max(leading, key=lambda replica: replica.epoch).node_id if leading else None

    # -- what goes wrong ---------------------------------------------------------------------------

    def crash(self, node_id: int, outage: Outage = Outage.KILLED) -> None:
        """End a replica at once."""
        self._take_down(node_id, outage)

    def restart(self, node_id: int) -> None:
        """Start a replica that is down, with what is durable."""
        if self.down.pop(node_id, None) is not None:
            self.replicas[node_id].start(self.now)
            self.safety.on_restart(node_id)
            self._step(node_id)

    def shut_down(self, node_id: int) -> None:
        """End a replica in an orderly way: a leader resigns and waits for a successor."""
        if node_id not in self.down:
            self.replicas[node_id].shutdown_at = self.now + SHUTDOWN_SECONDS
            self._step(node_id)

    def resign(self, node_id: int) -> None:
        """Have a leader resign; others pass it over."""
        if self.leads(node_id):
            self.replicas[node_id].resign_requested = True
            self._step(node_id)

    def partition(self, groups: Iterable[Iterable[int]]) -> None:
        """Let messages through within a group only; nodes in no group are a group together."""
        self._groups = tuple(frozenset(group) for group in groups)

    def heal(self) -> None:
        """Let all messages through again."""
        self._groups = ()

    # -- events ------------------------------------------------------------------------------------

    def _next(self) -> None:
        self.now, _, node_id, message = heapq.heappop(self._events)
        if message is None:
            if self._wakes[node_id] <= self.now and node_id not in self.down:
                self._wakes[node_id] = inf
                self._step(node_id)
        elif node_id in self.down:
            self._refuse(node_id, message)
        else:
            replica = self.replicas[node_id]
            if isinstance(message, Request):
                handle_request(replica, message, self.now)
            else:
                handle_response(replica, message, self.now)
            self._step(node_id)

    def _step(self, node_id: int) -> None:
        """Let a replica do what is due, look at what became of it, and send what it said."""
        replica = self.replicas[node_id]
        wake = poll(replica, self.now)
        for election in self.safety.on_step(replica):
            self.elections.append(Election(self.now, *election))
        said, replica.outbox = replica.outbox, []
        flush = self._flush(replica) if said else 0.0
        for message in said:
            if isinstance(message, Request):
                self.rpcs[message.rpc] += 1
            self._send(message, flush)
        if replica.has_ended:
            self._take_down(node_id, Outage.KILLED)
        elif wake < self._wakes[node_id]:
            # Where it is later, the event that is queued already finds nothing to do and sets it.
            self._wakes[node_id] = wake
            heapq.heappush(self._events, (wake, next(self._order), node_id, None))

    def _flush(self, replica: Replica) -> float:
        """Give how long a replica writes before it speaks; nothing where nothing durable has changed."""
        durable = (replica.log.end.offset, replica.epoch, replica.leader, replica.voted)
        if durable == self._written[replica.node_id]:
            return 0.0
        self._written[replica.node_id] = durable
        return self._random.uniform(self.storage.least_flush_seconds, self.storage.most_flush_seconds)

    def _send(self, message: Request | Response, flush_seconds: float = 0.0) -> None:
        delay = self._delay() + flush_seconds
        is_lost = self.network.loss_ratio > 0 and self._random.random() < self.network.loss_ratio
        if not is_lost and self._is_connected(message.source, message.target):
            heapq.heappush(self._events, (self.now + delay, next(self._order), message.target, message))

    def _refuse(self, node_id: int, message: Request | Response) -> None:
        if isinstance(message, Request) and self.down[node_id] is Outage.KILLED:
            self._reset_connection(message.source, node_id, message.correlation)

    def _reset_connection(self, source: int, node_id: int, correlation: int) -> None:
        self._send(Response(Rpc.FETCH, node_id, source, correlation, Error.BROKER_NOT_AVAILABLE, 0, NOBODY))

    def _take_down(self, node_id: int, outage: Outage) -> None:
        if node_id in self.down:
            return
        self.down[node_id] = outage
        self._wakes[node_id] = inf
        if outage is Outage.KILLED:
            for other, replica in self.replicas.items():
                correlation = replica.connections.awaits(node_id)
                if other not in self.down and correlation is not None:
                    self._reset_connection(other, node_id, correlation)

    def _is_connected(self, source: int, target: int) -> bool:
        return all((source in group) == (target in group) for group in self._groups)

    def _delay(self) -> float:
        network = self.network
        return self._random.uniform(network.least_delay_seconds, network.most_delay_seconds)

    def _is_active(self, node_id: int) -> bool:
        replica = self.replicas[node_id]
        return replica.high_watermark > replica.epoch_start
