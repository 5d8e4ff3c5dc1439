"""A quorum in time: replicas, the network between them, and what goes wrong. The same seed gives the same trace.

A discrete-event simulation in the manner of Kafka's own ``RaftEventSimulationTest``: a message takes a random delay and
may be lost; replicas crash. What a replica does follows Kafka's rules
(:mod:`.protocol`), one thing after another: what comes while a replica writes waits. Processors take no time, so
measure the delays between processes, not between hosts.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from math import inf
from random import Random
from typing import NamedTuple

from kafka_capacity.kafka.controller.quorum.messages import NOBODY, Error, Request, Response, Rpc
from kafka_capacity.kafka.controller.quorum.protocol import handle_request, handle_response, poll, take_refusal
from kafka_capacity.kafka.controller.quorum.replica import Replica, State
from kafka_capacity.kafka.controller.quorum.settings import Environment, Spread

SHUTDOWN_SECONDS = 5.0  # how long a controller that shuts down waits for its successor (`RaftManager`)


class FailureKind(StrEnum):
    """What happens to the active controller."""

    KILLED = "killed"  # its process ends; its host answers that nobody listens
    VANISHED = "vanished"  # its host is gone; requests to it run into their timeout
    SHUT_DOWN = "shut down"  # it ends in an orderly way, after it has resigned
    REMOVED = "removed"  # it votes no more, and resigns once the others have committed that (`RemoveVoterHandler`)


class Election(NamedTuple):
    """A replica that became leader: when, and of which epoch."""

    at_seconds: float
    leader: int
    epoch: int


class QuorumSimulation:
    """A quorum and its observers, which fetch and never vote, all started at 0 with empty logs.

    ``down`` says how the replicas that are down went, ``rpcs`` how many requests were sent. ``seed`` is
    that of everything that is random.
    """

    def __init__(
        self, voters: Sequence[int], *, observers: Sequence[int] = (), around: Environment | None = None, seed: int
    ) -> None:
        ids = [*voters, *observers]
        self.around = around or Environment()
        self.now = 0.0
        self.voters = tuple(voters)
        self.replicas = {i: Replica(i, voters, self.around.timeouts, Random(f"{seed}/{i}")) for i in ids}
        self.down: dict[int, FailureKind] = {}
        self.rpcs: Counter[Rpc] = Counter()
        self.elections: list[Election] = []
        self._random = Random(f"{seed}/network")
        # When, in which order among events at once, at which node, and the message; None where a node wakes by itself.
        self._events: list[tuple[float, int, int, Request | Response | None]] = []
        self._planned = 0
        self._wakes = dict.fromkeys(ids, inf)  # the earliest time at which something may be due
        self._busy_until = dict.fromkeys(ids, 0.0)
        self._log_ends = dict.fromkeys(ids, 0)
        for node_id in ids:
            self.step(node_id)

    # -- running -----------------------------------------------------------------------------------

    def run(self, until_seconds: float) -> None:
        """Go on until then."""
        while self._goes_on(until_seconds):
            pass
        self.now = max(self.now, until_seconds)

    def run_until_elected(self, above_epoch: int, until_seconds: float) -> Election | None:
        """Go on until a leader of a later epoch is elected; ``None`` where none is until then."""
        while self._goes_on(until_seconds):
            if self.elections and self.elections[-1].epoch > above_epoch:
                return self.elections[-1]
        self.now = until_seconds
        return None

    def run_until_active(self, leader: int, until_seconds: float) -> bool:
        """Go on until this leader has committed its first record, and so can act; whether it did while it led."""
        replica = self.replicas[leader]
        while self.leads(leader) and replica.high_watermark <= replica.epoch_start:
            if not self._goes_on(until_seconds):
                return False
        return self.leads(leader)

    def leads(self, node_id: int) -> bool:
        """Whether this node takes itself for the leader."""
        return node_id not in self.down and self.replicas[node_id].state is State.LEADER

    def leader(self) -> int | None:
        """Return the leader of the latest epoch that has one and lives."""
        return max(filter(self.leads, self.replicas), key=lambda node_id: self.replicas[node_id].epoch, default=None)

    def draw(self, spread: Spread) -> float:
        """Draw a time of these for something that the simulation does not play, in seconds."""
        return spread.draw(self._random)

    def begin_led(self, leader: int) -> None:
        """Make a voter the leader of the first epoch, at once, as if all others had just voted for it.

        For what comes of a failure, the first election is a detour: its replicas ask each other who leads, hundreds of
        times a second each, until the first of them is through with its election timeout.
        """
        replica = self.replicas[leader]
        if replica.state is not State.LEADER:
            replica.become_candidate(self.now)
            replica.become_leader(self.now)
            self.step(leader)

    # -- what goes wrong ---------------------------------------------------------------------------

    def fail(self, node_id: int, failure: FailureKind) -> None:
        """End a replica that lives: at once, or in an orderly way, where a leader resigns and waits for a successor.

        A leader that is removed resigns and lives on, as an observer.
        """
        if node_id in self.down:
            return
        if failure is FailureKind.REMOVED:
            self.voters = tuple(voter for voter in self.voters if voter != node_id)
            self.replicas[node_id].become_resigned(self.now)
            for replica in self.replicas.values():
                replica.vote_among(self.voters)
            self.step(node_id)
            return
        if failure is FailureKind.SHUT_DOWN:
            self.replicas[node_id].shutdown_at = self.now + SHUTDOWN_SECONDS
            self.step(node_id)
            return
        self.down[node_id] = failure
        self._wakes[node_id] = inf
        for other, replica in self.replicas.items():
            if node_id in replica.connections.expected and other not in self.down:
                self._refuse(node_id, other, replica.connections.expected[node_id])

    # -- events ------------------------------------------------------------------------------------

    def _plan(self, at_seconds: float, node_id: int, message: Request | Response | None) -> None:
        heapq.heappush(self._events, (at_seconds, self._planned, node_id, message))
        self._planned += 1

    def _wake_at(self, node_id: int, at_seconds: float) -> None:
        # Where it is later, the event that is planned already finds nothing to do and sets it.
        if at_seconds < self._wakes[node_id]:
            self._wakes[node_id] = at_seconds
            self._plan(at_seconds, node_id, None)

    def _goes_on(self, until_seconds: float) -> bool:
        """Let the next event happen; whether there was one until then."""
        if not self._events or self._events[0][0] > until_seconds:
            return False
        self.now, order, node_id, message = heapq.heappop(self._events)
        busy_until = self._busy_until[node_id]
        if node_id in self.down:
            if isinstance(message, Request):
                self._refuse(node_id, message.source, message.correlation)
        elif message is not None:
            if self.now < busy_until:
                # One thread does it all: what comes while it writes waits, in its order.
                heapq.heappush(self._events, (busy_until, order, node_id, message))
            else:
                self._take_in(node_id, message)
        elif self._wakes[node_id] <= self.now:
            if self.now < busy_until:
                self._wakes[node_id] = busy_until
                heapq.heappush(self._events, (busy_until, order, node_id, None))
            else:
                self._wakes[node_id] = inf
                self.step(node_id)
        return True

    def _take_in(self, node_id: int, message: Request | Response) -> None:
        replica = self.replicas[node_id]
        if self.now < self._wakes[node_id]:
            wake = take_refusal(replica, message, self.now)
            if wake is not None:
                self._say(replica, 0.0)
                self._wake_at(node_id, wake)
                return
        if isinstance(message, Request):
            handle_request(replica, message, self.now)
        else:
            handle_response(replica, message, self.now)
        self.step(node_id)

    def step(self, node_id: int) -> None:
        """Let a replica do what is due, and send what it said once it has written."""
        replica = self.replicas[node_id]
        wake = poll(replica, self.now)
        # It writes epoch, leader and vote once for each change of state that Kafka keeps.
        writes, replica.state_writes = replica.state_writes, 0
        written = sum(self.around.flush.draw(self._random) for _ in range(writes)) if writes else 0.0
        flushed = written
        if len(replica.log) != self._log_ends[node_id]:
            self._log_ends[node_id] = len(replica.log)
            flushed += self.around.flush.draw(self._random)
        self._busy_until[node_id] = max(self._busy_until[node_id], self.now + flushed)
        leads = replica.state is State.LEADER
        if leads and all(replica.epoch != known.epoch for known in reversed(self.elections)):
            self.elections.append(Election(self.now + written, node_id, replica.epoch))
        if replica.outbox:
            # A leader answers fetches before it flushes what it has written to its log.
            self._say(replica, written if leads else flushed)
        if replica.has_ended:
            self.fail(node_id, FailureKind.KILLED)
        else:
            self._wake_at(node_id, wake)

    def _say(self, replica: Replica, after_seconds: float) -> None:
        for message in replica.outbox:
            if isinstance(message, Request):
                self.rpcs[message.rpc] += 1
            self._send(message, after_seconds)
        replica.outbox.clear()

    def _send(self, message: Request | Response, after_seconds: float = 0.0) -> None:
        around = self.around
        at_seconds = self.now + (around.delay.draw(self._random) + after_seconds)
        if around.loss_ratio and self._random.random() < around.loss_ratio:
            return
        self._plan(at_seconds, message.target, message)

    def _refuse(self, node_id: int, asking: int, correlation: int) -> None:
        """The host of a process that was killed says that nobody listens; one that has vanished says nothing."""
        if self.down[node_id] is FailureKind.KILLED:
            self._send(Response(Rpc.FETCH, node_id, asking, correlation, Error.BROKER_NOT_AVAILABLE, 0, NOBODY))
