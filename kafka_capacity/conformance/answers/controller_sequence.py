"""Answers of :mod:`kafka_capacity.conformance.models.zk_machine` to the recorded lives of partitions."""

from __future__ import annotations

from dataclasses import replace

from kafka_capacity.conformance.answers.controller_cases import read_assignment, write_leader_and_isr
from kafka_capacity.conformance.models.states import PartitionState, ReplicaState
from kafka_capacity.conformance.models.zk_election import BrokerView, Strategy
from kafka_capacity.conformance.models.zk_machine import ControlledPartition, Refusal
from kafka_capacity.conformance.registry import Case, answers_to

_STRATEGIES = {strategy.value: strategy for strategy in Strategy} | {"controlled": Strategy.CONTROLLED_SHUTDOWN}


@answers_to("zk_controller_sequence")
def zk_controller_sequence(given: Case) -> Case:
    """Lead a partition through its states."""
    partition = ControlledPartition(
        assignment=read_assignment(given),
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
        "leader_and_isr": write_leader_and_isr(partition.znode),
        "replicas": list(partition.assignment.replicas),
        "adding": list(partition.assignment.adding),
        "removing": list(partition.assignment.removing),
        "offline_partition_count": partition.offline_partition_count,
        "preferred_replica_imbalance_count": partition.preferred_replica_imbalance_count,
    }
