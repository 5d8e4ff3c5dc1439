"""Answers of :mod:`kafka_capacity.conformance.models.reassignment_rules` to the recorded cases of reassignments."""

from __future__ import annotations

from kafka_capacity.conformance.models.reassignment_rules import (
    ReassignmentReplicas,
    follower_throttles,
    leader_throttles,
    proposed_moves,
    reassigning_brokers,
)
from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.java.hashing import utf16_key


@answers_to("reassign_moves")
def reassign_moves(given: Case) -> Case:
    """Work out moves and throttles."""
    ongoing = {
        (topic, partition): ReassignmentReplicas(
            replicas=tuple(replicas), adding=tuple(adding), removing=tuple(removing)
        )
        for topic, partition, replicas, adding, removing in given.get("ongoing") or []
    }
    current, proposed = (
        {(topic, partition): replicas for topic, partition, replicas in given.get(name) or []}
        for name in ("current", "proposed")
    )
    moves = proposed_moves(ongoing, current, proposed)
    return {
        "moves": [
            [topic, partition, list(move.sources), list(move.destinations)]
            for (topic, partition), move in sorted(moves.items(), key=lambda item: (utf16_key(item[0][0]), item[0][1]))
        ],
        "leader_throttles": {topic: listed.split(",") for topic, listed in leader_throttles(moves).items()},
        "follower_throttles": {topic: listed.split(",") for topic, listed in follower_throttles(moves).items()},
        "reassigning_brokers": reassigning_brokers(moves),
    }


@answers_to("kraft_reassignment_replicas")
def kraft_reassignment_replicas(given: Case) -> Case:
    """Start a reassignment and offer it an ISR."""
    begun = ReassignmentReplicas.between(given["current"], given["target"])
    completed = begun.completed_by(given["isr"])
    return {
        "removing": list(begun.removing),
        "adding": list(begun.adding),
        "replicas": list(begun.replicas),
        "completed": completed and {"replicas": list(completed.replicas), "isr": list(completed.isr)},
    }
