"""Reads the groups of recorded cases, and writes assignments as the recordings do."""

from __future__ import annotations

from typing import Any

from kafka_capacity.conformance.registry import Case
from kafka_capacity.kafka.groups import Assignment, Group, Member, Topic, TopicPartitions, UserData


def client_group(given: Case) -> Group:
    """Read a classic group."""
    return Group(
        topics=client_topics(given["topics"]),
        members=tuple(
            Member(
                member_id=member["id"],
                topics=tuple(member["topics"]),
                instance_id=member.get("instance_id"),
                rack=member.get("rack"),
                owned=listed(member.get("owned")),
                generation=member.get("generation"),
                user_data=_user_data(member.get("user_data")),
            )
            for member in given["members"]
        ),
    )


def client_topics(topics: list[dict[str, Any]]) -> tuple[Topic, ...]:
    """Read topics, with the racks of their replicas."""
    return tuple(
        Topic(
            name=topic["name"],
            partitions=topic["partitions"],
            racks=tuple(map(tuple, topic["racks"])) if topic.get("racks") else None,
        )
        for topic in topics
    )


def server_group(given: Case) -> Group:
    """Read a group that the coordinator assigns."""
    assignable = given.get("assignable")
    return Group(
        topics=tuple(Topic(name=topic["id"], partitions=topic["partitions"]) for topic in given["topics"]),
        members=tuple(
            Member(
                member_id=member["id"],
                topics=tuple(member["topics"]),
                instance_id=member.get("instance_id"),
                owned=listed([[t, p] for t, numbers in member.get("assigned") or () for p in numbers]),
            )
            for member in given["members"]
        ),
        assignable=None if assignable is None else frozenset((t, p) for t, numbers in assignable for p in numbers),
    )


def listed(pairs: list[list[Any]] | None) -> TopicPartitions:
    """Read a list of partitions."""
    return TopicPartitions.of((topic, partition) for topic, partition in pairs or ())


def client_output(assignment: Assignment) -> Case:
    """Write each member's list as it is."""
    return {name: [list(pair) for pair in pairs] for name, pairs in assignment.lists().items()}


def server_output(assignment: Assignment) -> Case:
    """Write each member's partitions by topic, both sorted."""
    output: Case = {}
    for name, pairs in assignment.lists().items():
        by_topic: dict[str, list[int]] = {}
        for topic, partition in sorted(pairs):
            by_topic.setdefault(topic, []).append(partition)
        output[name] = [[topic, partitions] for topic, partitions in by_topic.items()]
    return output


def _user_data(given: dict[str, Any] | None) -> UserData | None:
    if given is None:
        return None
    generation = None if given.get("version") == 0 else given["generation"]
    return UserData(generation=generation, partitions=listed(given.get("partitions")))
