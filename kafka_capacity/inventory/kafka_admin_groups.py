"""The groups of a live cluster and their members, in all protocols of consumers.

A group is listed and described by its coordinator, so each broker is asked for the groups that it has. Those of the
classic protocol, of the consumer protocol (KIP-848), of streams (KIP-1071) and share groups (KIP-932) take different
requests. Classic groups that are not of consumers (Kafka Connect's) are listed with their state and without members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError, for_code

from kafka_capacity.health.problem import Problem, info, problem_of, warning
from kafka_capacity.inventory.kafka_admin_messages import (
    ConsumerGroupDescribeRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from kafka_capacity.inventory.kafka_admin_session import AdminSession

_GROUPS_AT_ONCE = 100
_STANDBYS = "streams.num.standby.replicas"
_MOVED = ("NotCoordinator", "CoordinatorNotAvailable", "CoordinatorLoadInProgress")


def read_groups(
    session: AdminSession, brokers: Sequence[dict[str, Any]], remarks: list[Problem]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of ``groups`` and of ``members``."""
    listed = _list(session, brokers, remarks)
    groups = {
        group_id: {
            "group_id": group_id,
            "state": group.get("group_state") or None,
            "group_type": group["group_type"],
            "protocol_type": group["protocol_type"] or None,
        }
        for group_id, group in listed.items()
    }
    members: list[dict[str, Any]] = []
    described = _describe(session, listed)
    for group_id, description in described.items():
        groups[group_id] |= {name: value for name, value in description["group"].items() if value}
        members += description["members"]
    failed = sorted(one for one, group in listed.items() if _is_described(group) and one not in described)
    message = "members of {count} are unknown: {names}"
    remarks += problem_of(failed, "group", warning, "group_not_described", "members.member_id", message)
    by_hand = sorted(group_id for group_id, group in listed.items() if not _is_described(group))
    message = "{count} that are not consumer groups, listed without members: {names}"
    remarks += problem_of(by_hand, "group", info, "group_of_another_kind", "groups.group_type", message)
    members.sort(key=lambda row: (row["group_id"], row["member_id"]))
    return [groups[group_id] for group_id in sorted(groups)], members


def _list(
    session: AdminSession, brokers: Sequence[dict[str, Any]], remarks: list[Problem]
) -> dict[str, dict[str, Any]]:
    """List the groups by id, each with its type, and the broker that coordinates it."""
    found: dict[str, dict[str, Any]] = {}
    silent: list[int] = []
    for broker in brokers:
        if broker["is_fenced"]:
            continue
        try:
            groups = session.try_to_ask(session.client.list_groups, broker_ids=[broker["broker_id"]])
        except KafkaError:
            silent.append(broker["broker_id"])
            continue
        for group in groups:
            # Before ListGroups v5 there was one protocol.
            kind = (group.get("group_type") or "classic").lower()
            found[group["group_id"]] = group | {"coordinator": broker["broker_id"], "group_type": kind}
    message = "the groups coordinated by these brokers are unknown: {names}"
    remarks += problem_of(silent, "broker", warning, "groups_not_listed", "groups.group_id", message)
    return found


def _is_described(group: dict[str, Any]) -> bool:
    if group["group_type"] == "classic":
        return group["protocol_type"] in ("consumer", "")
    return group["group_type"] in _QUESTIONS


def _describe(session: AdminSession, listed: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    by_question: dict[tuple[int, str], list[str]] = {}
    for group_id, group in sorted(listed.items()):
        if _is_described(group):
            by_question.setdefault((group["coordinator"], group["group_type"]), []).append(group_id)
    found: dict[str, dict[str, Any]] = {}
    for (coordinator, kind), group_ids in by_question.items():
        ask = partial(_QUESTIONS[kind], session, coordinator)
        # kafka-python decodes what members sent, which can be anything: so can be its errors.
        found |= session.ask_of_groups(ask, group_ids, _GROUPS_AT_ONCE, [], Exception)
    return found


def _ask_classic(session: AdminSession, coordinator: int, group_ids: list[str]) -> dict[str, dict[str, Any]]:
    described = session.client.describe_groups(group_ids, group_coordinator_id=coordinator)
    errors = {group_id: group.get("error") or "" for group_id, group in described.items()}
    if moved := [group_id for group_id, error in errors.items() if any(name in error for name in _MOVED)]:
        described |= session.client.describe_groups(moved)
    return {
        group_id: {
            "group": {
                "state": group["group_state"],
                "protocol_type": group["protocol_type"],
                "assignor": group["protocol_data"],
            },
            "members": [_classic_member(group_id, member) for member in group["members"]],
        }
        for group_id, group in described.items()
        if not group.get("error")
    }


def _classic_member(group_id: str, member: dict[str, Any]) -> dict[str, Any]:
    subscription, assignment = member["member_metadata"] or {}, member["member_assignment"] or {}
    assigned = assignment.get("assigned_partitions") or []
    return {
        "group_id": group_id,
        "member_id": member["member_id"],
        "client_id": member["client_id"],
        "host": member["client_host"],
        "instance_id": member.get("group_instance_id") or None,
        "rack": subscription.get("rack_id") or None,
        "subscribed": sorted(subscription.get("topics") or []),
        "assigned": _assigned((each["topic"], each["partitions"]) for each in assigned),
    }


def _described(session: AdminSession, coordinator: int, request_type: Any, group_ids: list[str]) -> list[Any]:
    """Send a request that kafka-python does not know, and return the groups of the answer that have no error."""
    request = request_type(group_ids=group_ids, include_authorized_operations=False)
    groups = session.send(request, coordinator).groups
    for group in groups:
        error = for_code(group.error_code)
        if error.retriable:
            raise error(group.error_message)
    return [group for group in groups if not group.error_code]


def _ask_coordinator(
    request_type: Any, protocol_type: str, session: AdminSession, coordinator: int, group_ids: list[str]
) -> dict[str, dict[str, Any]]:
    """Ask for groups whose assignments the coordinator makes: of the consumer protocol, and share groups."""
    found = {}
    for group in _described(session, coordinator, request_type, group_ids):
        matched = _matched_by_regex(group) if protocol_type == "consumer" else {}
        members = []
        for member in group.members:
            topics = matched.get(getattr(member, "subscribed_topic_regex", None) or "", set())
            assigned = ((each.topic_name, each.partitions) for each in member.assignment.topic_partitions)
            subscribed = topics.union(member.subscribed_topic_names or [])
            members.append(_coordinated_member(group.group_id, member, subscribed, assigned))
        state = {"state": group.group_state, "protocol_type": protocol_type, "assignor": group.assignor_name}
        found[group.group_id] = {"group": state, "members": members}
    return found


def _matched_by_regex(group: Any) -> dict[str, set[str]]:
    # Only brokers know what a regular expression matches. Every topic that it does is to be read by somebody.
    matched: dict[str, set[str]] = {}
    for member in group.members:
        for assignment in (member.assignment, member.target_assignment):
            topics = {each.topic_name for each in assignment.topic_partitions}
            matched.setdefault(member.subscribed_topic_regex or "", set()).update(topics)
    return matched | {"": set()}


def _coordinated_member(
    group_id: str, member: Any, subscribed: Iterable[str], assigned: Iterable[tuple[str, Sequence[int]]]
) -> dict[str, Any]:
    return {
        "group_id": group_id,
        "member_id": member.member_id,
        "client_id": member.client_id,
        "host": member.client_host,
        "instance_id": getattr(member, "instance_id", None) or None,  # members of share groups have none
        "rack": member.rack_id or None,
        "subscribed": sorted(subscribed),
        "assigned": _assigned(assigned),
    }


def _ask_streams(session: AdminSession, coordinator: int, group_ids: list[str]) -> dict[str, dict[str, Any]]:
    standbys = _standby_replicas(session, group_ids)
    found = {}
    for group in _described(session, coordinator, StreamsGroupDescribeRequest, group_ids):
        parts = (group.topology.subtopologies if group.topology is not None else None) or []
        sources = {
            part.subtopology_id: sorted([*part.source_topics, *(one.name for one in part.repartition_source_topics)])
            for part in parts
        }
        found[group.group_id] = {
            "group": {
                "state": group.group_state,
                "protocol_type": "streams",
                "assignor": "sticky",
                "num_standby_replicas": standbys.get(group.group_id),
                "subtopologies": [
                    {
                        "subtopology": part.subtopology_id,
                        "topics": sources[part.subtopology_id],
                        "changelogs": sorted(one.name for one in part.state_changelog_topics),
                    }
                    for part in parts
                ],
            },
            "members": [_streams_member(group.group_id, member, sources) for member in group.members],
        }
    return found


def _standby_replicas(session: AdminSession, group_ids: list[str]) -> dict[str, int]:
    """Return how many standbys each group is to have, where Kafka tells."""
    resources = [ConfigResource(ConfigResourceType.GROUP, group_id, [_STANDBYS]) for group_id in group_ids]
    try:
        configs = session.client.describe_configs(resources, config_filter="all").get("group", {})
    except KafkaError:
        return {}
    return {
        group_id: int(config[_STANDBYS]["value"])
        for group_id, config in configs.items()
        if config.get(_STANDBYS, {}).get("value") is not None
    }


def _streams_member(group_id: str, member: Any, sources: dict[str, list[str]]) -> dict[str, Any]:
    subscribed = {topic for topics in sources.values() for topic in topics}
    assigned = (
        (topic, tasks.partitions)
        for tasks in member.assignment.active_tasks
        for topic in sources.get(tasks.subtopology_id, ())
    )
    return _coordinated_member(group_id, member, subscribed, assigned) | {
        "process_id": member.process_id,
        "standby_tasks": [
            {"subtopology": tasks.subtopology_id, "partition": partition}
            for tasks in member.assignment.standby_tasks
            for partition in tasks.partitions
        ],
    }


def _assigned(topics: Iterable[tuple[str, Sequence[int]]]) -> list[dict[str, Any]]:
    pairs = sorted((topic, partition) for topic, partitions in topics for partition in partitions)
    return [{"topic": topic, "partition": partition} for topic, partition in pairs]


_QUESTIONS: dict[str, Callable[..., dict[str, dict[str, Any]]]] = {
    "classic": _ask_classic,
    "consumer": partial(_ask_coordinator, ConsumerGroupDescribeRequest, "consumer"),
    "share": partial(_ask_coordinator, ShareGroupDescribeRequest, "share"),
    "streams": _ask_streams,
}
"""By the type of a group: how its coordinator is asked for it."""
