"""Answers of :mod:`kafka_capacity.kafka.controller` to the recorded elections of the ZooKeeper-era controller."""

from __future__ import annotations

from enum import StrEnum

from kafka_capacity.conformance.answers.controller_cases import (
    read_assignment,
    read_leader_and_isr,
    write_leader_and_isr,
)
from kafka_capacity.conformance.models.states import PartitionState, ReplicaState
from kafka_capacity.conformance.models.zk_election import (
    BrokerView,
    Strategy,
    controlled_shutdown_leader,
    elect,
    first_in_sync,
    offline_leader,
    preferred_leader,
)
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
        return {state.value: sorted(state.valid_previous) for state in states}

    return {"partition": table(PartitionState), "replica": table(ReplicaState)}


@answers_to("zk_election")
def zk_election(given: Case) -> Case:
    """Elect the leader of one partition."""
    result = elect(
        Strategy(given["kind"]),
        read_assignment(given),
        read_leader_and_isr(given.get("leader_and_isr")),
        BrokerView(
            live=frozenset(given.get("live") or ()),
            shutting_down=frozenset(given.get("shutting_down") or ()),
            offline_dirs=frozenset(given.get("offline_dirs") or ()),
        ),
        is_unclean_allowed=given.get("unclean", False),
        is_recovery_supported=given.get("leader_recovery_supported", True),
    )
    return {
        "leader_and_isr": write_leader_and_isr(result.leader_and_isr),
        "live_replicas": list(result.recipients),
    }
