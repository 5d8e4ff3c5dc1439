"""Reads what controllers know of a partition from recorded cases, and writes it as the recordings do."""

from __future__ import annotations

from kafka_capacity.conformance.models.leadership import LeaderAndIsr, RecoveryState, ReplicaAssignment
from kafka_capacity.conformance.registry import Case


def read_assignment(given: Case) -> ReplicaAssignment:
    """Read the replicas of a partition."""
    replicas, adding, removing = (tuple(given.get(name) or ()) for name in ("replicas", "adding", "removing"))
    return ReplicaAssignment(replicas=replicas, adding=adding, removing=removing)


def read_leader_and_isr(given: Case | None) -> LeaderAndIsr | None:
    """Read leader and ISR, if they are known."""
    if given is None:
        return None
    return LeaderAndIsr(
        leader=given["leader"],
        leader_epoch=given["leader_epoch"],
        isr=tuple(given["isr"]),
        recovery=RecoveryState(given["leader_recovery_state"]),
        partition_epoch=given["partition_epoch"],
    )


def write_leader_and_isr(known: LeaderAndIsr | None) -> Case | None:
    """Write leader and ISR, if they are known."""
    if known is None:
        return None
    return {
        "leader": known.leader,
        "leader_epoch": known.leader_epoch,
        "isr": list(known.isr),
        "leader_recovery_state": known.recovery.value,
        "partition_epoch": known.partition_epoch,
    }
