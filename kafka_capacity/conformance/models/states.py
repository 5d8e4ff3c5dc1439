"""The states of partitions and replicas in the ZooKeeper-era controller, and which may follow which (3.9.2).

Only an online partition serves reads and writes. A change that the table does not allow is refused and logged; the
state stays as it was. A partition may go from Online to Online: that is how a controller elects another leader.
"""

from __future__ import annotations

from enum import StrEnum


class PartitionState(StrEnum):
    """The state of a partition (``kafka.controller.PartitionState``)."""

    NON_EXISTENT = "NonExistentPartition"
    NEW = "NewPartition"
    ONLINE = "OnlinePartition"
    OFFLINE = "OfflinePartition"

    @property
    def valid_previous(self) -> frozenset[PartitionState]:
        """The states from which a partition may come to this one.

        >>> [state.name for state in PartitionState if state in PartitionState.NEW.valid_previous]
        ['NON_EXISTENT']
        """
        return _PARTITION_PREVIOUS[self]


class ReplicaState(StrEnum):
    """The state of a replica (``kafka.controller.ReplicaState``)."""

    NON_EXISTENT = "NonExistentReplica"
    NEW = "NewReplica"
    ONLINE = "OnlineReplica"
    OFFLINE = "OfflineReplica"
    DELETION_STARTED = "ReplicaDeletionStarted"
    DELETION_SUCCESSFUL = "ReplicaDeletionSuccessful"
    DELETION_INELIGIBLE = "ReplicaDeletionIneligible"

    @property
    def valid_previous(self) -> frozenset[ReplicaState]:
        """The states from which a replica may come to this one."""
        return _REPLICA_PREVIOUS[self]


_CREATED = frozenset({PartitionState.NEW, PartitionState.ONLINE, PartitionState.OFFLINE})
_PARTITION_PREVIOUS = {
    PartitionState.NON_EXISTENT: frozenset({PartitionState.OFFLINE}),
    PartitionState.NEW: frozenset({PartitionState.NON_EXISTENT}),
    PartitionState.ONLINE: _CREATED,
    PartitionState.OFFLINE: _CREATED,
}

_IN_USE = frozenset({ReplicaState.NEW, ReplicaState.ONLINE, ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE})
_REPLICA_PREVIOUS = {
    ReplicaState.NON_EXISTENT: frozenset({ReplicaState.DELETION_SUCCESSFUL}),
    ReplicaState.NEW: frozenset({ReplicaState.NON_EXISTENT}),
    ReplicaState.ONLINE: _IN_USE,
    ReplicaState.OFFLINE: _IN_USE,
    ReplicaState.DELETION_STARTED: frozenset({ReplicaState.OFFLINE}),
    ReplicaState.DELETION_SUCCESSFUL: frozenset({ReplicaState.DELETION_STARTED}),
    ReplicaState.DELETION_INELIGIBLE: frozenset({ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED}),
}
