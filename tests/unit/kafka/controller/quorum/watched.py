"""A simulated quorum with what must hold in every trace of it, looked at after every step.

The invariants that Kafka asserts in its own simulation (``RaftEventSimulationTest``): epochs only grow (also over a
crash), an epoch has one leader, the high watermark of a leader only grows and is held by a majority, and what is
committed is the same everywhere and stays. On top: a new leader has all that is committed.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_capacity.kafka.controller.quorum.messages import UNKNOWN_OFFSET, Request, Response
from kafka_capacity.kafka.controller.quorum.replica import Replica, State
from kafka_capacity.kafka.controller.quorum.settings import Environment
from kafka_capacity.kafka.controller.quorum.simulation import QuorumSimulation


class SafetyViolationError(AssertionError):
    """An invariant of the protocol did not hold: the model, not the quorum, is wrong."""


class WatchedSimulation(QuorumSimulation):
    """A quorum that stops where an invariant does not hold; ``committed`` holds the epoch of each committed record.

    Messages pass only between nodes that are in the same of ``groups``, or in none.
    """

    def __init__(
        self, voters: Sequence[int], *, observers: Sequence[int] = (), around: Environment | None = None, seed: int
    ) -> None:
        self.groups: tuple[frozenset[int], ...] = ()
        self.committed: list[int] = []
        self._led: dict[int, int] = {}
        self._epochs = dict.fromkeys([*voters, *observers], 0)
        self._checked = dict.fromkeys([*voters, *observers], 0)
        super().__init__(voters, observers=observers, around=around, seed=seed)

    def restart(self, node_id: int) -> None:
        """Start a replica that is down, with what is durable: its high watermark is not, and is looked at again."""
        if self.down.pop(node_id, None) is not None:
            self._checked[node_id] = 0
            self.replicas[node_id].start(self.now)
            self._busy_until[node_id] = self.now
            self.step(node_id)

    def _plan(self, at_seconds: float, node_id: int, message: Request | Response | None) -> None:
        is_cut = message is not None and any(
            (message.source in group) != (message.target in group) for group in self.groups
        )
        if not is_cut:
            super()._plan(at_seconds, node_id, message)

    def resign(self, node_id: int) -> None:
        """Have a leader resign."""
        if self.leads(node_id):
            self.replicas[node_id].become_resigned(self.now)
            self.step(node_id)

    def step(self, node_id: int) -> None:
        """Let a replica do what is due, and look at it.

        Raises:
            SafetyViolationError: an invariant does not hold.
        """
        super().step(node_id)
        replica = self.replicas[node_id]
        if replica.epoch < self._epochs[node_id]:
            raise SafetyViolationError(
                f"replica {node_id} went back from epoch {self._epochs[node_id]} to {replica.epoch}"
            )
        self._epochs[node_id] = replica.epoch
        if replica.state is State.LEADER:
            self._on_leader(replica)
        if replica.high_watermark not in (UNKNOWN_OFFSET, self._checked[node_id]):
            self._on_high_watermark(replica)

    def _on_leader(self, replica: Replica) -> None:
        known = self._led.get(replica.epoch)
        if known == replica.node_id:
            return
        if known is not None:
            raise SafetyViolationError(f"epoch {replica.epoch} has the leaders {known} and {replica.node_id}")
        self._led[replica.epoch] = replica.node_id
        self._checked[replica.node_id] = 0
        if replica.log[: len(self.committed)] != self.committed:
            raise SafetyViolationError(f"leader {replica.node_id} of epoch {replica.epoch} lacks committed records")

    def _on_high_watermark(self, replica: Replica) -> None:
        start, end = self._checked[replica.node_id], replica.high_watermark
        if end < start:
            raise SafetyViolationError(f"the high watermark of {replica.node_id} fell from {start} to {end}")
        if end > len(replica.log):
            raise SafetyViolationError(f"replica {replica.node_id} lacks records below its high watermark {end}")
        if end > len(self.committed):
            if replica.state is not State.LEADER:
                raise SafetyViolationError(f"replica {replica.node_id} committed up to {end} before any leader did")
            self.committed.extend(replica.log[len(self.committed) : end])
            self._held_by_majority(end)
        if replica.log[start:end] != self.committed[start:end]:
            raise SafetyViolationError(f"replica {replica.node_id} committed other records up to {end}")
        self._checked[replica.node_id] = end

    def _held_by_majority(self, end: int) -> None:
        logs = [self.replicas[voter].log for voter in self.voters]
        holding = sum(len(log) >= end and log[end - 1] == self.committed[end - 1] for log in logs)
        if 2 * holding <= len(self.voters):
            raise SafetyViolationError(f"{holding} of {len(logs)} voters hold the committed offset {end - 1}")
