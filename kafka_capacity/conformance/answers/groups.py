"""Answers of :mod:`kafka_capacity.kafka.groups` to the recorded cases of assignors and of the lives of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from kafka_capacity.conformance.models.old_consumer import (
    Assigned,
    Consumers,
    assign_old_ranges,
    assign_old_round_robin,
)
from kafka_capacity.conformance.models.simple import assign_shares
from kafka_capacity.conformance.registry import Case, answers_to
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KAFKA_4_4, KafkaRelease
from kafka_capacity.kafka.groups import (
    Assignment,
    Group,
    GroupProtocol,
    Member,
    Topic,
    TopicPartition,
    TopicPartitions,
    UserData,
    assignor,
)
from kafka_capacity.kafka.groups.life import ClassicLife, ServerLife
from kafka_capacity.kafka.groups.model import StreamsTopology
from kafka_capacity.kafka.groups.processes import Task
from kafka_capacity.kafka.groups.sticky_tasks import assign_streams


def _by_client(name: str, given: Case) -> Case:
    return {"assignment": _client_output(assignor(name).assign(_client_group(given)))}


def _by_server(name: str, given: Case) -> Case:
    group = _server_group(given)
    if name == "simple":
        answer = assign_shares(group, _assignable(given.get("assignable")))
    else:
        answer = assignor(name, GroupProtocol.CONSUMER).assign(group)
    assigned = _server_output(answer)
    if name != "range" and not any(member.topics for member in group.members):
        assigned = {}  # Kafka lists no members where nobody subscribes to anything
    return {"assignment": assigned}


def _by_old_consumer(assign: Callable[[Mapping[str, int], Consumers], Assigned], given: Case) -> Case:
    topics = {topic["name"]: topic["partitions"] for topic in given["topics"]}
    found = assign(topics, {consumer["id"]: dict(consumer["streams"]) for consumer in given["consumers"]})
    return {"assignment": {consumer: [list(row) for row in rows] for consumer, rows in found.items()}}


for _name in ("range", "roundrobin", "sticky", "cooperative-sticky"):
    answers_to(f"consumer_{_name.replace('-', '_')}")(partial(_by_client, _name))
answers_to("scala_range")(partial(_by_old_consumer, assign_old_ranges))
answers_to("scala_roundrobin")(partial(_by_old_consumer, assign_old_round_robin))
for _name in ("uniform", "range", "simple"):
    answers_to(f"server_{_name}")(partial(_by_server, _name))


@answers_to("group_consumer_sequence")
def group_consumer_sequence(given: Case) -> Case:
    """Rebalance a classic group step by step."""
    life = ClassicLife(assignor(given["assignor"]))
    steps = []
    for step in given["steps"]:
        group = _client_group(step)
        restarted = [member["id"] for member in step["members"] if member.get("rejoin") == "reset"]
        rounds = life.rebalance(group.topics, group.members, restarted)
        steps.append(
            {"rounds": [{"generation": r.generation, "assignment": _client_output(r.assignment)} for r in rounds]}
        )
    return {"steps": steps}


@answers_to("group_server_sequence")
def group_server_sequence(given: Case) -> Case:
    """Assign a group of the coordinator's step by step."""
    life = ServerLife(assignor(given["assignor"], GroupProtocol.CONSUMER))
    steps = []
    for step in given["steps"]:
        group = _server_group(step)
        steps.append({"assignment": _server_output(life.assign(group.topics, group.members))})
    return {"steps": steps}


def _streams_sticky_tasks(release: KafkaRelease, given: Case) -> Case:
    """Assign the tasks of a streams group; only up to 4.3 does an assignment name warm-up tasks, and never has any."""
    warmup: Case = {"warmup": {}} if release < KAFKA_4_4 else {}
    subtopologies = given["subtopologies"]
    streams = StreamsTopology(
        sources={},
        state_bytes={each["id"]: () for each in subtopologies if each["stateful"]},
        standby_replicas=given.get("num_standby_replicas") or 0,
        release=release,
    )
    members = tuple(
        Member(
            member_id=member["id"],
            topics=(),
            process_id=member["process_id"],
            owned=TopicPartitions.of(_tasks(member.get("active"))),
            standby=_tasks(member.get("standby")),
        )
        for member in {member["id"]: member for member in given["members"]}.values()  # the last put of an id counts
    )
    topics = tuple(Topic(name=each["id"], partitions=each["partitions"]) for each in subtopologies)
    assigned = assign_streams(Group(topics=topics, members=members, streams=streams))
    return {
        "members": {
            name: {"active": _by_name(active), "standby": _by_name(assigned.standby.get(name, ())), **warmup}
            for name, active in assigned.lists().items()
        }
    }


answers_to("streams_sticky_tasks_4_3_1")(partial(_streams_sticky_tasks, KAFKA_4_3))
answers_to("streams_sticky_tasks_4_4_0")(partial(_streams_sticky_tasks, KAFKA_4_4))


def _tasks(given: dict[str, list[int]] | None) -> tuple[Task, ...]:
    return tuple((name, number) for name, numbers in (given or {}).items() for number in numbers)


def _client_group(given: Case) -> Group:
    return Group(
        topics=_client_topics(given["topics"]),
        members=tuple(
            Member(
                member_id=member["id"],
                topics=tuple(member["topics"]),
                instance_id=member.get("instance_id"),
                rack=member.get("rack"),
                owned=_listed(member.get("owned")),
                generation=member.get("generation"),
                user_data=_user_data(member.get("user_data")),
            )
            for member in given["members"]
        ),
    )


def _client_topics(topics: list[dict[str, Any]]) -> tuple[Topic, ...]:
    return tuple(
        Topic(
            name=topic["name"],
            partitions=topic["partitions"],
            racks=tuple(map(tuple, topic["racks"])) if topic.get("racks") else None,
        )
        for topic in topics
    )


def _server_group(given: Case) -> Group:
    return Group(
        topics=tuple(Topic(name=topic["id"], partitions=topic["partitions"]) for topic in given["topics"]),
        members=tuple(
            Member(
                member_id=member["id"],
                topics=tuple(member["topics"]),
                instance_id=member.get("instance_id"),
                owned=_listed([[t, p] for t, numbers in member.get("assigned") or () for p in numbers]),
            )
            for member in given["members"]
        ),
    )


def _assignable(given: list[tuple[str, list[int]]] | None) -> frozenset[TopicPartition] | None:
    return None if given is None else frozenset((topic, number) for topic, numbers in given for number in numbers)


def _listed(pairs: list[list[Any]] | None) -> TopicPartitions:
    return TopicPartitions.of((topic, partition) for topic, partition in pairs or ())


def _client_output(assignment: Assignment) -> Case:
    return {name: [list(pair) for pair in pairs] for name, pairs in assignment.lists().items()}


def _server_output(assignment: Assignment) -> Case:
    """Write each member's partitions by topic, both sorted."""
    return {
        name: [[topic, partitions] for topic, partitions in _by_name(pairs).items()]
        for name, pairs in assignment.lists().items()
    }


def _by_name(pairs: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Return the numbers of each topic or subtopology, both sorted."""
    numbers: dict[str, list[int]] = {}
    for name, number in sorted(pairs):
        numbers.setdefault(name, []).append(number)
    return numbers


def _user_data(given: dict[str, Any] | None) -> UserData | None:
    if given is None:
        return None
    generation = None if given.get("version") == 0 else given["generation"]
    return UserData(generation=generation, partitions=_listed(given.get("partitions")))
