"""Answers of :mod:`kafka_capacity.conformance.models.kraft_change` to the recorded changes of partitions."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_capacity.conformance.models.kraft_change import (
    ChangeRules,
    Election,
    MetadataVersion,
    PartitionChange,
    PartitionRegistration,
    PartitionTarget,
    partition_change,
)
from kafka_capacity.conformance.models.leadership import RecoveryState
from kafka_capacity.conformance.registry import Case, answers_to

_RECOVERY_CODES = {None: -1, RecoveryState.RECOVERED: 0, RecoveryState.RECOVERING: 1}
_NO_LEADER_CHANGE = -2


@answers_to("kraft_partition_change")
def kraft_partition_change(given: Case) -> Case:
    """Change a partition, and tell what it is afterwards."""
    before = _registration(given["registration"])
    rules = ChangeRules(
        version=MetadataVersion.parse(given["metadata_version"]),
        min_isr=given["min_isr"],
        has_elr=given.get("elr_enabled", False),
        uses_last_known_leader=given.get("use_last_known_leader", True),
        default_directory=_directory,
    )
    acceptable = frozenset(given.get("acceptable_leaders") or ())
    change = partition_change(before, _target(given), rules, acceptable.__contains__)
    if change is None:
        return {"record": None, "after": None}
    return {"record": _record(change), "after": _written(before.merge(change))}


def _registration(given: Case) -> PartitionRegistration:
    replicas, isr, removing, adding, elr, last_known_elr = (
        tuple(given.get(name) or ()) for name in ("replicas", "isr", "removing", "adding", "elr", "last_known_elr")
    )
    return PartitionRegistration(
        replicas=replicas,
        isr=isr,
        removing=removing,
        adding=adding,
        elr=elr,
        last_known_elr=last_known_elr,
        leader=given["leader"],
        recovery=RecoveryState(given["leader_recovery_state"]),
        leader_epoch=given["leader_epoch"],
        partition_epoch=given["partition_epoch"],
        directories=tuple(map(_directory, replicas)),
    )


def _target(given: Case) -> PartitionTarget:
    isr, replicas, removing, adding = (
        None if given.get(name) is None else tuple(given[name])
        for name in ("target_isr", "target_replicas", "target_removing", "target_adding")
    )
    recovery = given.get("target_recovery_state")
    return PartitionTarget(
        election=Election(given.get("election") or Election.ONLINE),
        isr=isr,
        replicas=replicas,
        removing=removing,
        adding=adding,
        recovery=None if recovery is None else RecoveryState(recovery),
        unclean_shutdown=frozenset(given.get("unclean_shutdown") or ()),
    )


def _directory(broker: int) -> str:
    """Name the log directory of a broker: the cases give each broker one of its own."""
    return f"directory of {broker}"


def _record(change: PartitionChange) -> Case:
    return {
        "leader": _NO_LEADER_CHANGE if change.leader is None else change.leader,
        "isr": _listed(change.isr),
        "replicas": _listed(change.replicas),
        "removing": _listed(change.removing),
        "adding": _listed(change.adding),
        "elr": _listed(change.elr),
        "last_known_elr": _listed(change.last_known_elr),
        "leader_recovery_state": _RECOVERY_CODES[change.recovery],
        "directories_changed": change.directories is not None,
    }


def _written(partition: PartitionRegistration) -> Case:
    return {
        "replicas": list(partition.replicas),
        "isr": list(partition.isr),
        "removing": list(partition.removing),
        "adding": list(partition.adding),
        "elr": list(partition.elr),
        "last_known_elr": list(partition.last_known_elr),
        "leader": partition.leader,
        "leader_recovery_state": partition.recovery.value,
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
    }


def _listed(brokers: Sequence[int] | None) -> list[int] | None:
    return None if brokers is None else list(brokers)
