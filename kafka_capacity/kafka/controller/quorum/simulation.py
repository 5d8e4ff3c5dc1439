"""A quorum in time: replicas, the network between them, and what goes wrong. The same seed gives the same course.

A discrete-event simulation in the manner of Kafka's own ``RaftEventSimulationTest``: a message takes a random delay and
may be lost; replicas crash and come back with what is durable; the network falls apart and heals. What a replica does
follows Kafka's rules (:mod:`.replica` and its handlers), one thing after another: what
comes while a replica writes waits. Processors take no time, so measure the delays between processes, not between hosts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf
from random import Random

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.quorum.events import Election, Outage, Schedule
from kafka_capacity.kafka.controller.quorum.messages import NOBODY, Error, Request, Response, Rpc
from kafka_capacity.kafka.controller.quorum.polling import poll
from kafka_capacity.kafka.controller.quorum.refusals import take_refusal
from kafka_capacity.kafka.controller.quorum.replica import Replica
from kafka_capacity.kafka.controller.quorum.requests import handle_request
from kafka_capacity.kafka.controller.quorum.responses import handle_response
from kafka_capacity.kafka.controller.quorum.safety import SafetyCheck
from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts
from kafka_capacity.kafka.controller.quorum.states import State
from kafka_capacity.kafka.controller.quorum.surroundings import Network, Storage
from kafka_capacity.kafka.controller.quorum.voters import MAX_VOTERS

SHUTDOWN_SECONDS = 5.0
"""How long a controller that shuts down waits for its successor (``RaftManager``)."""


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
        if not 1 <= len(voters) <= MAX_VOTERS or len(set(ids)) < len(ids):
            raise RequestError(f"name 1 to {MAX_VOTERS} voters, and each replica once, not {ids}")
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
        self._schedule = Schedule(ids)
        self._busy_until = dict.fromkeys(ids, 0.0)
        self._groups: tuple[frozenset[int], ...] = ()
        self._log_ends = dict.fromkeys(ids, 0)
        for node_id in ids:
            self._step(node_id)

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
        while self.leads(leader) and not self._is_active(leader):
            if not self._goes_on(until_seconds):
                return False
        return self.leads(leader)

    def leads(self, node_id: int) -> bool:
        """Whether this node takes itself for the leader."""
        return node_id not in self.down and self.replicas[node_id].state is State.LEADER

    def leader(self) -> int | None:
        """Return the leader of the latest epoch that has one and lives."""
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
            self._busy_until[node_id] = self.now
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

    def _goes_on(self, until_seconds: float) -> bool:
        """Let the next event happen; whether there was one until then."""
        event = self._schedule.next(until_seconds)
        if event is None:
            return False
        self.now, _, node_id, message = event
        if node_id in self.down:
            if message is not None:
                self._refuse(node_id, message)
        elif self.now < self._busy_until[node_id]:
            # One thread does it all: what comes while it writes waits, in its order.
            self._schedule.put_off(event, self._busy_until[node_id])
        elif message is not None:
            self._take_in(node_id, message)
        elif self._schedule.wakes[node_id] <= self.now:
            self._schedule.wakes[node_id] = inf
            self._step(node_id)
        return True

    def _take_in(self, node_id: int, message: Request | Response) -> None:
        replica = self.replicas[node_id]
        if self.now < self._schedule.wakes[node_id]:
            wake = take_refusal(replica, message, self.now)
            if wake is not None:
                self._say(replica)
                self._schedule.wake_at(node_id, wake)
                return
        if isinstance(message, Request):
            handle_request(replica, message, self.now)
        else:
            handle_response(replica, message, self.now)
        self._step(node_id)

    def _step(self, node_id: int) -> None:
        """Let a replica do what is due, look at what became of it, and send what it said once it has written."""
        replica = self.replicas[node_id]
        wake = poll(replica, self.now)
        written = self._write_state(replica) if replica.state_writes else 0.0
        flushed = written
        if replica.log.end.offset != self._log_ends[node_id]:
            flushed += self._flush_log(replica)
        self._busy_until[node_id] = max(self._busy_until[node_id], self.now + flushed)
        for election in self.safety.on_step(replica):
            self.elections.append(Election(self.now + written, *election))
        if replica.outbox:
            # A leader answers fetches before it flushes what it has written to its log.
            self._say(replica, written if replica.state is State.LEADER else flushed)
        if replica.has_ended:
            self._take_down(node_id, Outage.KILLED)
        else:
            self._schedule.wake_at(node_id, wake)

    def _write_state(self, replica: Replica) -> float:
        """Return how long a replica writes epoch, leader and vote: once for each change of state that Kafka keeps."""
        writes, replica.state_writes = replica.state_writes, 0
        return sum(self.storage.flush_seconds(self._random) for _ in range(writes))

    def _flush_log(self, replica: Replica) -> float:
        """Return how long a replica flushes its log."""
        self._log_ends[replica.node_id] = replica.log.end.offset
        return self.storage.flush_seconds(self._random)

    def _say(self, replica: Replica, after_seconds: float = 0.0) -> None:
        for message in replica.outbox:
            if isinstance(message, Request):
                self.rpcs[message.rpc] += 1
            self._send(message, after_seconds)
        replica.outbox.clear()

    def _send(self, message: Request | Response, after_seconds: float = 0.0) -> None:
        delay = self.network.delay_seconds(self._random) + after_seconds
        is_lost = self.network.loss_ratio > 0 and self._random.random() < self.network.loss_ratio
        if not is_lost and (not self._groups or self._is_connected(message.source, message.target)):
            self._schedule.plan(self.now + delay, message.target, message)

    def _refuse(self, node_id: int, message: Request | Response) -> None:
        if isinstance(message, Request) and self.down[node_id] is Outage.KILLED:
            self._reset_connection(message.source, node_id, message.correlation)

    def _reset_connection(self, source: int, node_id: int, correlation: int) -> None:
        self._send(Response(Rpc.FETCH, node_id, source, correlation, Error.BROKER_NOT_AVAILABLE, 0, NOBODY))

    def _take_down(self, node_id: int, outage: Outage) -> None:
        if node_id in self.down:
            return
        self.down[node_id] = outage
        self._schedule.wakes[node_id] = inf
        if outage is Outage.KILLED:
            for other, replica in self.replicas.items():
                correlation = replica.connections.awaits(node_id)
                if other not in self.down and correlation is not None:
                    self._reset_connection(other, node_id, correlation)

    def _is_connected(self, source: int, target: int) -> bool:
        return all((source in group) == (target in group) for group in self._groups)

    def _is_active(self, node_id: int) -> bool:
        replica = self.replicas[node_id]
        return replica.high_watermark > replica.epoch_start
