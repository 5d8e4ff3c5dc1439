"""Answers of :mod:`kafka_capacity.kafka.groups.life` to the recorded lives of groups."""

from __future__ import annotations

from kafka_capacity.conformance.answers.group_cases import client_group, client_output, server_group, server_output
from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.groups import GroupProtocol, assignor
from kafka_capacity.kafka.groups.life import ClassicLife, ServerLife


@answers_to("group_consumer_sequence")
def group_consumer_sequence(given: Case) -> Case:
    """Rebalance a classic group step by step."""
    life = ClassicLife(assignor(given["assignor"]))
    steps = []
    for step in given["steps"]:
        group = client_group(step)
        restarted = [member["id"] for member in step["members"] if member.get("rejoin") == "reset"]
        rounds = life.rebalance(group.topics, group.members, restarted)
        steps.append(
            {"rounds": [{"generation": r.generation, "assignment": client_output(r.assignment)} for r in rounds]}
        )
    return {"steps": steps}


@answers_to("group_server_sequence")
def group_server_sequence(given: Case) -> Case:
    """Assign a group of the coordinator's step by step."""
    life = ServerLife(assignor(given["assignor"], GroupProtocol.CONSUMER))
    steps = []
    for step in given["steps"]:
        group = server_group(step)
        steps.append({"assignment": server_output(life.assign(group.topics, group.members))})
    return {"steps": steps}
