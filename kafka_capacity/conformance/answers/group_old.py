"""Answers of :mod:`kafka_capacity.kafka.groups` to the recorded cases of the old Scala consumer's assignors."""

from __future__ import annotations

from typing import Any

from kafka_capacity.conformance.answers.group_cases import client_topics
from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.groups import Group, GroupProtocol, Member, assignor


@answers_to("scala_range")
def scala_range(given: Case) -> Case:
    """Assign with the old ``range``."""
    return _assigned("range", given)


@answers_to("scala_roundrobin")
def scala_roundrobin(given: Case) -> Case:
    """Assign with the old ``roundrobin``."""
    return _assigned("roundrobin", given)


def _assigned(name: str, given: Case) -> Case:
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
