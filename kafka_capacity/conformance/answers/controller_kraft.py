"""Answers of :mod:`kafka_capacity.conformance.models.kraft_change` to the recorded changes of partitions."""

from __future__ import annotations

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
_BROKER_LISTS = ("replicas", "isr", "removing", "adding", "elr", "last_known_elr")


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
    return PartitionRegistration(
        **{name: tuple(given.get(name) or ()) for name in _BROKER_LISTS},
        leader=given["leader"],
        recovery=RecoveryState(given["leader_recovery_state"]),
        leader_epoch=given["leader_epoch"],
        partition_epoch=given["partition_epoch"],
        directories=tuple(map(_directory, given.get("replicas") or ())),
    )


def _target(given: Case) -> PartitionTarget:
    lists = {name: given.get(f"target_{name}") for name in ("isr", "replicas", "removing", "adding")}
    recovery = given.get("target_recovery_state")
    return PartitionTarget(
        election=Election(given.get("election") or Election.ONLINE),
        **{name: None if brokers is None else tuple(brokers) for name, brokers in lists.items()},
        recovery=None if recovery is None else RecoveryState(recovery),
        unclean_shutdown=frozenset(given.get("unclean_shutdown") or ()),
    )


def _directory(broker: int) -> str:
    """Name the log directory of a broker: the cases give each broker one of its own."""
    return f"directory of {broker}"


def _record(change: PartitionChange) -> Case:
    return {
        "leader": _NO_LEADER_CHANGE if change.leader is None else change.leader,
        **_broker_lists(change),
        "leader_recovery_state": _RECOVERY_CODES[change.recovery],
        "directories_changed": change.directories is not None,
    }


def _written(partition: PartitionRegistration) -> Case:
    return {
        **_broker_lists(partition),
        "leader": partition.leader,
        "leader_recovery_state": partition.recovery.value,
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
    }


def _broker_lists(source: PartitionRegistration | PartitionChange) -> dict[str, list[int] | None]:
    lists = {name: getattr(source, name) for name in _BROKER_LISTS}
    return {name: None if brokers is None else list(brokers) for name, brokers in lists.items()}
