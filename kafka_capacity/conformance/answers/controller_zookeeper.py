"""Answers of :mod:`kafka_capacity.kafka.controller` to the recorded elections of the ZooKeeper-era controller."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from kafka_capacity.conformance.models.leadership import (
    VALID_PREVIOUS,
    LeaderAndIsr,
    PartitionState,
    RecoveryState,
    ReplicaAssignment,
    ReplicaState,
)
from kafka_capacity.conformance.models.zk_election import (
    BrokerView,
    Strategy,
    controlled_shutdown_leader,
    elect,
    first_in_sync,
    offline_leader,
    preferred_leader,
)
from kafka_capacity.conformance.models.zk_machine import ControlledPartition, Refusal
from kafka_capacity.conformance.registry import Case, answers_to


@answers_to("zk_leader_algorithms")
def zk_leader_algorithms(given: Case) -> Case:
    """Choose a leader in each of the ways."""
    asked = (given["assignment"], given["isr"], given["live"])
    return {
        "offline_clean": offline_leader(*asked, is_unclean_allowed=False),
        "offline_unclean": offline_leader(*asked, is_unclean_allowed=True),
        "reassign": first_in_sync(*asked),
        "preferred": preferred_leader(*asked),
        "controlled_shutdown": controlled_shutdown_leader(*asked, given.get("shutting_down") or ()),
    }


@answers_to("zk_valid_previous_states")
def zk_valid_previous_states(_: Case) -> Case:
    """Write down which state may follow which."""

    def table(states: type[PartitionState] | type[ReplicaState]) -> dict[str, list[StrEnum]]:
        return {state.value: sorted(VALID_PREVIOUS[state]) for state in states}

    return {"partition": table(PartitionState), "replica": table(ReplicaState)}


@answers_to("zk_election")
def zk_election(given: Case) -> Case:
    """Elect the leader of one partition."""
    result = elect(
        Strategy(given["kind"]),
        _assignment(given),
        _leader_and_isr(given.get("leader_and_isr")),
        BrokerView(
            live=frozenset(given.get("live") or ()),
            shutting_down=frozenset(given.get("shutting_down") or ()),
            offline_dirs=frozenset(given.get("offline_dirs") or ()),
        ),
        is_unclean_allowed=given.get("unclean", False),
        is_recovery_supported=given.get("leader_recovery_supported", True),
    )
    return {"leader_and_isr": _written(result.leader_and_isr), "live_replicas": list(result.recipients)}


def _assignment(given: Case) -> ReplicaAssignment:
    return ReplicaAssignment(**{name: tuple(given.get(name) or ()) for name in ("replicas", "adding", "removing")})


def _leader_and_isr(given: Case | None) -> LeaderAndIsr | None:
    if given is None:
        return None
    return LeaderAndIsr(
        leader=given["leader"],
        leader_epoch=given["leader_epoch"],
        isr=tuple(given["isr"]),
        recovery=RecoveryState(given["leader_recovery_state"]),
        partition_epoch=given["partition_epoch"],
    )


def _written(known: LeaderAndIsr | None) -> Case | None:
    if known is None:
        return None
    return {
        "leader": known.leader,
        "leader_epoch": known.leader_epoch,
        "isr": list(known.isr),
        "leader_recovery_state": known.recovery.value,
        "partition_epoch": known.partition_epoch,
    }


_STRATEGIES = {strategy.value: strategy for strategy in Strategy} | {"controlled": Strategy.CONTROLLED_SHUTDOWN}


@answers_to("zk_controller_sequence")
def zk_controller_sequence(given: Case) -> Case:
    """Lead a partition through its states."""
    partition = ControlledPartition(
        assignment=_assignment(given),
        brokers=BrokerView(
            live=frozenset(given.get("live") or ()), shutting_down=frozenset(given.get("shutting_down") or ())
        ),
        is_unclean_allowed=given.get("unclean", False),
        is_recovery_supported=given.get("leader_recovery_supported", True),
    )
    steps = []
    for step in given["steps"]:
        refusal = _do(partition, step)
        reported = {"election_error": refusal.kafka_type} if refusal is not None and refusal.is_told else {}
        steps.append(reported | _seen(partition))
    return {"steps": steps}


def _do(partition: ControlledPartition, step: Case) -> Refusal | None:
    match step["op"]:
        case "partition":
            strategy = step.get("strategy")
            return partition.move(
                PartitionState(step["target"]),
                None if strategy is None else _STRATEGIES[strategy],
                is_unclean_forced=bool(step.get("allow_unclean")),
            )
        case "replica":
            return partition.move_replica(step["replica"], ReplicaState(step["target"]))
        case "live":
            partition.brokers = replace(partition.brokers, live=frozenset(step["brokers"]))
        case "shutting_down":
            partition.brokers = replace(partition.brokers, shutting_down=frozenset(step["brokers"]))
        case "set_isr":
            partition.alter_isr(step["isr"])
        case "reassign":
            partition.assign(partition.assignment.reassigned_to(step["target"]))
        case unknown:
            raise ValueError(f"no such operation: {unknown!r}")
    return None


def _seen(partition: ControlledPartition) -> Case:
    return {
        "partition_state": partition.state and partition.state.value,
        "replica_states": {str(broker): state.value for broker, state in sorted(partition.replica_states.items())},
        "leader_and_isr": _written(partition.znode),
        "replicas": list(partition.assignment.replicas),
        "adding": list(partition.assignment.adding),
        "removing": list(partition.assignment.removing),
        "offline_partition_count": partition.offline_partition_count,
        "preferred_replica_imbalance_count": partition.preferred_replica_imbalance_count,
    }
