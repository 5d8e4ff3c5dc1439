"""The state machines of the ZooKeeper-era controller, for one partition and its replicas (3.9.2).

The controller keeps states in memory and leadership in ZooKeeper, with a copy of it in memory. A change of state that
the tables of :mod:`.leadership` do not allow is refused: Kafka logs it, and all stays as it was.

Partitions (``ZkPartitionStateMachine``):
    * New → Online makes the first live replica the leader and all live ones the ISR, and writes them. Without a live
      replica, or if ZooKeeper has a leader for the partition already, it stays New.
    * Offline → Online and Online → Online elect a leader by a given strategy, from what ZooKeeper says.
    * To Offline, New or NonExistent nothing but the state changes.

Replicas (``ZkReplicaStateMachine``):
    * A leader cannot become New. One that goes Online from New and is not assigned is added to the assignment.
    * Offline takes a replica out of the ISR, unless it is the last one in it; a leader leaves :data:`NO_LEADER`
      behind, and the leader epoch grows, while the *partition* stays Online.
    * NonExistent takes it out of the assignment.

Kept as Kafka has it:
    The count of partitions without their preferred leader is moved by differences, and cannot be told of a partition
    without replicas: a change that needs it fails half-way (``NoSuchElementException``). During a reassignment whose
    first replica is being added, that replica counts as the preferred leader *until* it is in sync.

>>> replicas, brokers = ReplicaAssignment(replicas=(1, 2)), BrokerView(live=frozenset({2}))
>>> partition = ControlledPartition(assignment=replicas, brokers=brokers)
>>> partition.move(PartitionState.NEW), partition.move(PartitionState.ONLINE)
(None, None)
>>> partition.znode
LeaderAndIsr(leader=2, leader_epoch=0, isr=(2,), recovery=<RecoveryState.RECOVERED: 'RECOVERED'>, partition_epoch=0)
>>> partition.preferred_replica_imbalance_count
1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kafka_capacity.conformance.models.leadership import (
    NO_LEADER,
    VALID_PREVIOUS,
    LeaderAndIsr,
    PartitionState,
    ReplicaAssignment,
    ReplicaState,
)
from kafka_capacity.conformance.models.zk_election import BrokerView, Strategy, elect
from kafka_capacity.errors import PlacementError


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a state was not changed."""

    reason: str  # in words
    kafka_type: str = "StateChangeFailedException"  # the Java class of the exception that Kafka logs
    is_told: bool = False  # whether Kafka's caller gets to know, as it does of elections; it only logs the rest


@dataclass(slots=True, kw_only=True)
class ControlledPartition:
    """One partition as the controller has it (``ControllerContext``), and its node in ZooKeeper."""

    assignment: ReplicaAssignment  # its replicas; change it by `assign`
    brokers: BrokerView  # which brokers live
    is_unclean_allowed: bool = False  # the topic's `unclean.leader.election.enable`
    is_recovery_supported: bool = True  # whether an unclean leader is marked as recovering
    state: PartitionState | None = None  # of the partition, `None` before it was ever asked to change
    # of each replica that was ever asked to change
    replica_states: dict[int, ReplicaState] = field(default_factory=dict)
    known: LeaderAndIsr | None = None  # leader and ISR in the controller's memory
    znode: LeaderAndIsr | None = None  # leader and ISR in ZooKeeper; the version of the node is the partition epoch
    preferred_replica_imbalance_count: int = 0  # 1 if somebody else than the preferred leader leads

    @property
    def offline_partition_count(self) -> int:
        """1 if the partition is in the state Offline; one that merely lost its leader is not."""
        return int(self.state is PartitionState.OFFLINE)

    def move(
        self, target: PartitionState, strategy: Strategy | None = None, *, is_unclean_forced: bool = False
    ) -> Refusal | None:
        """Change the state of the partition (``handleStateChanges``), or tell why it stays as it was.

        ``strategy`` is how to elect a leader, if one has to be elected; ``is_unclean_forced`` whether an offline
        election may be unclean whatever the topic says.
        """
        source = self.state = self.state or PartitionState.NON_EXISTENT
        if source not in VALID_PREVIOUS[target]:
            refusal: Refusal | None = _illegal(source, target)
        elif target is not PartitionState.ONLINE:
            refusal = None
        elif source is PartitionState.NEW:
            refusal = self._initialize()
        else:
            refusal = self._elect(strategy, is_unclean_forced)
        if refusal is None:
            self.state = target
        return refusal

    def move_replica(self, replica: int, target: ReplicaState) -> Refusal | None:
        """Change the state of a replica (``handleStateChanges``), or tell why it stays as it was."""
        source = self.replica_states.setdefault(replica, ReplicaState.NON_EXISTENT)
        if source not in VALID_PREVIOUS[target]:
            refusal: Refusal | None = _illegal(source, target)
        else:
            try:
                refusal = self._prepare(replica, source, target)
            except PlacementError as error:
                refusal = Refusal(kafka_type=error.kafka_type, reason=str(error))
        if refusal is None:
            self.replica_states[replica] = target
            if target is ReplicaState.NON_EXISTENT:
                del self.replica_states[replica]
        return refusal

    def alter_isr(self, isr: Sequence[int]) -> None:
        """Let the leader have another ISR written, if there is a node; the leader epoch stays (``AlterPartition``)."""
        if self.znode is not None:
            self._write(replace(self.znode, isr=tuple(isr)))

    def assign(self, assignment: ReplicaAssignment) -> None:
        """Change the replicas (``updatePartitionFullReplicaAssignment``).

        Raises:
            PlacementError: there are none, before or after, while a leader is known (Java:
                ``NoSuchElementException``). The replicas are changed all the same.
        """
        before, self.assignment = self.assignment, assignment
        self._count(before, self.known, -1)
        self._count(assignment, self.known, +1)

    def _learn(self, leader_and_isr: LeaderAndIsr) -> None:
        before, self.known = self.known, leader_and_isr
        self._count(self.assignment, before, -1)
        self._count(self.assignment, leader_and_isr, +1)

    def _count(self, assignment: ReplicaAssignment, known: LeaderAndIsr | None, step: int) -> None:
        if known is not None and not _has_preferred_leader(assignment, known):
            self.preferred_replica_imbalance_count += step

    def _write(self, leader_and_isr: LeaderAndIsr) -> None:
        version = 0 if self.znode is None else self.znode.partition_epoch + 1
        self.znode = replace(leader_and_isr, partition_epoch=version)
        self._learn(self.znode)

    def _initialize(self) -> Refusal | None:
        live = tuple(broker for broker in self.assignment.replicas if self.brokers.is_online(broker))
        if not live:
            return Refusal(reason=f"none of the replicas {list(self.assignment.replicas)} is alive")
        if self.znode is not None:
            return Refusal(kafka_type="NodeExistsException", reason="ZooKeeper has leader and ISR of it already")
        self._write(LeaderAndIsr(leader=live[0], isr=live))
        return None

    def _elect(self, strategy: Strategy | None, is_unclean_forced: bool) -> Refusal | None:
        if strategy is None:
            reason = "a leader has to be elected, and no strategy is given"
            return Refusal(kafka_type="IllegalArgumentException", reason=reason, is_told=True)
        if self.znode is None:
            return Refusal(reason="ZooKeeper has no leader and ISR of it", is_told=True)
        # With a live replica in sync Kafka does not even read the topic's configuration.
        is_clean = any(map(self.brokers.is_online, self.znode.isr))
        elected = elect(
            strategy,
            self.assignment,
            self.znode,
            self.brokers,
            is_unclean_allowed=not is_clean and (is_unclean_forced or self.is_unclean_allowed),
            is_recovery_supported=self.is_recovery_supported,
        ).leader_and_isr
        if elected is None:
            reason = (
                f"nobody can lead by the strategy {strategy}: replicas {list(self.assignment.replicas)}, "
                f"ISR {list(self.znode.isr)}, live brokers {sorted(self.brokers.live)}"
            )
            return Refusal(reason=reason, is_told=True)
        self._write(elected)
        return None

    def _prepare(self, replica: int, source: ReplicaState, target: ReplicaState) -> Refusal | None:
        """Do what goes with the new state of a replica."""
        if target is ReplicaState.NEW and self.known is not None and self.known.leader == replica:
            return Refusal(reason=f"replica {replica} is the leader")
        if target is ReplicaState.ONLINE and source is ReplicaState.NEW and replica not in self.assignment.replicas:
            self.assign(replace(self.assignment, replicas=(*self.assignment.replicas, replica)))
        if target is ReplicaState.OFFLINE and self.known is not None:
            return self._remove_from_isr(replica)
        if target is ReplicaState.NON_EXISTENT:
            self.assign(self.assignment.without(replica))
        return None

    def _remove_from_isr(self, replica: int) -> Refusal | None:
        found = self.znode
        if found is None:
            return Refusal(reason="ZooKeeper has no leader and ISR of the partition")
        if replica not in found.isr:
            self._learn(found)
            return None
        others = tuple(broker for broker in found.isr if broker != replica)
        leader = NO_LEADER if found.leader == replica else found.leader
        self._write(found.led_by(leader, others if len(found.isr) > 1 else found.isr))
        return None


def _has_preferred_leader(assignment: ReplicaAssignment, known: LeaderAndIsr) -> bool:
    if not assignment.replicas:
        raise PlacementError(
            "the partition has a leader and no replicas, so nobody is preferred",
            kafka_type="java.util.NoSuchElementException",
        )
    preferred = assignment.replicas[0]
    return preferred not in known.isr if preferred in assignment.adding else known.leader == preferred


def _illegal(source: PartitionState | ReplicaState, target: PartitionState | ReplicaState) -> Refusal:
    allowed = ", ".join(sorted(VALID_PREVIOUS[target]))
    return Refusal(kafka_type="IllegalStateException", reason=f"{target} follows on {allowed}, not on {source}")
