"""What must hold in every course of a quorum, looked at after every step.

The invariants that Kafka asserts in its own simulation (``RaftEventSimulationTest``): epochs only grow (also over a
crash), an epoch has one leader, the high watermark of a leader only grows and is held by a majority, and what is
committed is the same everywhere and stays. On top: a new leader has all that is committed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_capacity.kafka.controller.quorum.messages import UNKNOWN_OFFSET, Record
from kafka_capacity.kafka.controller.quorum.replica import Replica
from kafka_capacity.kafka.controller.quorum.states import State


class SafetyViolationError(AssertionError):
    """An invariant of the protocol did not hold: the model, not the quorum, is wrong."""


class SafetyCheck:
    """The invariants over all replicas of one course.

    Args:
        replicas: by node id.
        voters: node ids.
    """

    def __init__(self, replicas: Mapping[int, Replica], voters: Sequence[int]) -> None:
        self.committed: list[Record] = []
        self.leaders: dict[int, int] = {}
        self._replicas = replicas
        self._voters = tuple(voters)
        self._epochs = dict.fromkeys(replicas, 0)
        self._checked = dict.fromkeys(replicas, 0)

    def on_restart(self, node_id: int) -> None:
        """The high watermark of a replica is not durable: it is looked at again."""
        self._checked[node_id] = 0

    def on_step(self, replica: Replica) -> list[tuple[int, int]]:
        """Look at a replica after a step, and give (leader, epoch) where it leads a new epoch.

        Raises:
            SafetyViolationError: an invariant does not hold.
        """
        node_id = replica.node_id
        if replica.epoch < self._epochs[node_id]:
            raise SafetyViolationError(
                f"replica {node_id} went back from epoch {self._epochs[node_id]} to {replica.epoch}"
            )
        self._epochs[node_id] = replica.epoch
        elected = self._on_leader(replica) if replica.state is State.LEADER else []
        if replica.high_watermark not in (UNKNOWN_OFFSET, self._checked[node_id]):
            self._on_high_watermark(replica)
        return elected

    def _on_leader(self, replica: Replica) -> list[tuple[int, int]]:
        known = self.leaders.get(replica.epoch)
        if known == replica.node_id:
            return []
        if known is not None:
            raise SafetyViolationError(f"epoch {replica.epoch} has the leaders {known} and {replica.node_id}")
        self.leaders[replica.epoch] = replica.node_id
        self._checked[replica.node_id] = 0
        if replica.log.records[: len(self.committed)] != self.committed:
            raise SafetyViolationError(f"leader {replica.node_id} of epoch {replica.epoch} lacks committed records")
        return [(replica.node_id, replica.epoch)]

    def _on_high_watermark(self, replica: Replica) -> None:
        start, end = self._checked[replica.node_id], replica.high_watermark
        if end < start:
            raise SafetyViolationError(f"the high watermark of {replica.node_id} fell from {start} to {end}")
        if end > len(replica.log.records):
            raise SafetyViolationError(f"replica {replica.node_id} lacks records below its high watermark {end}")
        if end > len(self.committed):
            if replica.state is not State.LEADER:
                raise SafetyViolationError(f"replica {replica.node_id} committed up to {end} before any leader did")
            self.committed.extend(replica.log.records[len(self.committed) : end])
            self._held_by_majority(end)
        if replica.log.records[start:end] != self.committed[start:end]:
            raise SafetyViolationError(f"replica {replica.node_id} committed other records up to {end}")
        self._checked[replica.node_id] = end

    def _held_by_majority(self, end: int) -> None:
        logs = [self._replicas[voter].log.records for voter in self._voters]
        holding = sum(len(log) >= end and log[end - 1] == self.committed[end - 1] for log in logs)
        if 2 * holding <= len(self._voters):
            raise SafetyViolationError(f"{holding} of {len(logs)} voters hold the committed offset {end - 1}")
