"""Answers of :mod:`kafka_capacity.kafka.groups` to the recorded cases of assignors and of the lives of groups."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafka_capacity.conformance.answers.group_cases import (
    client_group,
    client_output,
    client_topics,
    server_group,
    server_output,
)
from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.groups import Group, GroupProtocol, Member, assignor
from kafka_capacity.kafka.groups.life import ClassicLife, ServerLife


def _by_client(name: str, given: Case) -> Case:
    return {"assignment": client_output(assignor(name).assign(client_group(given)))}


def _by_server(name: str, protocol: GroupProtocol, given: Case) -> Case:
    return {"assignment": server_output(assignor(name, protocol).assign(server_group(given)))}


def _by_old_consumer(name: str, given: Case) -> Case:
    group = Group(
        topics=client_topics(given["topics"]),
        members=tuple(
            Member(
                member_id=consumer["id"],
                topics=tuple(topic for topic, _ in consumer["streams"]),
                threads=tuple(threads for _, threads in consumer["streams"]),
            )
            for consumer in given["consumers"]
        ),
    )
    answer = assignor(name, GroupProtocol.OLD).assign(group)
    threads = [] if answer.thread is None else answer.thread.tolist()
    output: dict[str, list[list[Any]]] = {}
    done = 0
    for consumer, pairs in answer.lists().items():
        output[consumer] = [
            [topic, partition, f"{consumer}-{thread}"]
            for (topic, partition), thread in zip(pairs, threads[done : done + len(pairs)], strict=True)
        ]
        done += len(pairs)
    return {"assignment": output}


for _name in ("range", "roundrobin", "sticky", "cooperative-sticky"):
    answers_to(f"consumer_{_name.replace('-', '_')}")(partial(_by_client, _name))
for _name in ("range", "roundrobin"):
    answers_to(f"scala_{_name}")(partial(_by_old_consumer, _name))
for _name, _protocol in (
    ("uniform", GroupProtocol.CONSUMER),
    ("range", GroupProtocol.CONSUMER),
    ("simple", GroupProtocol.SHARE),
):
    answers_to(f"server_{_name}")(partial(_by_server, _name, _protocol))


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
