"""What a controller knows of one partition: its replicas, its leader, its in-sync replicas and their epochs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum

NO_LEADER = -1
"""Kafka's own mark of a partition without a leader: it stands in records, in lists of replicas and in ZooKeeper."""


class RecoveryState(StrEnum):
    """Whether a leader still has to recover from an unclean election (``LeaderRecoveryState``)."""

    RECOVERED = "RECOVERED"
    RECOVERING = "RECOVERING"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAndIsr:
    """Who leads a partition and who is in sync (``kafka.api.LeaderAndIsr``, 3.9.2)."""

    leader: int  # a broker id, or `NO_LEADER`
    leader_epoch: int = 0  # grows with each election, also with one that confirms the leader
    isr: tuple[int, ...]  # broker ids, in Kafka's order
    recovery: RecoveryState = RecoveryState.RECOVERED  # whether the leader is recovering from an unclean election
    partition_epoch: int = 0  # grows with each write; in ZooKeeper's time the version of the znode

    def led_by(
        self, leader: int, isr: Sequence[int] | None = None, recovery: RecoveryState | None = None
    ) -> LeaderAndIsr:
        """Return the outcome of an election: a new leader epoch; what is not named stays as it is."""
        return replace(
            self,
            leader=leader,
            leader_epoch=self.leader_epoch + 1,
            isr=self.isr if isr is None else tuple(isr),
            recovery=self.recovery if recovery is None else recovery,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaAssignment:
    """The replicas of a partition, with those that a reassignment adds and removes (``ReplicaAssignment``, 3.9.2)."""

    replicas: tuple[int, ...]  # all of them, the preferred leader first
    adding: tuple[int, ...] = ()  # those among them that are being added
    removing: tuple[int, ...] = ()  # those among them that are being removed

    @property
    def origin(self) -> tuple[int, ...]:
        """The replicas before the reassignment."""
        return _without(self.replicas, self.adding)

    @property
    def target(self) -> tuple[int, ...]:
        """The replicas after the reassignment."""
        return _without(self.replicas, self.removing)

    def reassigned_to(self, target: Sequence[int]) -> ReplicaAssignment:
        """Start a reassignment; one under way is replaced, starting from where that one started.

        >>> ReplicaAssignment(replicas=(1, 2)).reassigned_to([3, 1])
        ReplicaAssignment(replicas=(3, 1, 2), adding=(3,), removing=(2,))
        """
        origin = self.origin
        replicas = tuple(dict.fromkeys((*target, *origin)))
        return ReplicaAssignment(
            replicas=replicas, adding=_without(replicas, origin), removing=_without(replicas, target)
        )

    def without(self, replica: int) -> ReplicaAssignment:
        """Drop a replica altogether."""
        lists = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(self, **{name: tuple(i for i in listed if i != replica) for name, listed in lists.items()})


def _without(replicas: Sequence[int], others: Iterable[int]) -> tuple[int, ...]:
    """Take each of the others out once, as Scala's ``diff`` does."""
    left = list(replicas)
    for other in others:
        if other in left:
            left.remove(other)
    return tuple(left)


class PartitionState(StrEnum):
    """The state of a partition (``kafka.controller.PartitionState``).

    Only an online partition serves reads and writes. A change that the table does not allow is refused and logged; the
    state stays as it was. A partition may go from Online to Online: that is how a controller elects another leader.
    """

    NON_EXISTENT = "NonExistentPartition"
    NEW = "NewPartition"
    ONLINE = "OnlinePartition"
    OFFLINE = "OfflinePartition"


class ReplicaState(StrEnum):
    """The state of a replica (``kafka.controller.ReplicaState``)."""

    NON_EXISTENT = "NonExistentReplica"
    NEW = "NewReplica"
    ONLINE = "OnlineReplica"
    OFFLINE = "OfflineReplica"
    DELETION_STARTED = "ReplicaDeletionStarted"
    DELETION_SUCCESSFUL = "ReplicaDeletionSuccessful"
    DELETION_INELIGIBLE = "ReplicaDeletionIneligible"


_CREATED = frozenset({PartitionState.NEW, PartitionState.ONLINE, PartitionState.OFFLINE})
_IN_USE = frozenset({ReplicaState.NEW, ReplicaState.ONLINE, ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE})
VALID_PREVIOUS: Mapping[PartitionState | ReplicaState, frozenset[PartitionState | ReplicaState]] = {
    PartitionState.NON_EXISTENT: frozenset({PartitionState.OFFLINE}),
    PartitionState.NEW: frozenset({PartitionState.NON_EXISTENT}),
    PartitionState.ONLINE: _CREATED,
    PartitionState.OFFLINE: _CREATED,
    ReplicaState.NON_EXISTENT: frozenset({ReplicaState.DELETION_SUCCESSFUL}),
    ReplicaState.NEW: frozenset({ReplicaState.NON_EXISTENT}),
    ReplicaState.ONLINE: _IN_USE,
    ReplicaState.OFFLINE: _IN_USE,
    ReplicaState.DELETION_STARTED: frozenset({ReplicaState.OFFLINE}),
    ReplicaState.DELETION_SUCCESSFUL: frozenset({ReplicaState.DELETION_STARTED}),
    ReplicaState.DELETION_INELIGIBLE: frozenset({ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED}),
}
"""The states from which a partition, or a replica, may come to each."""
