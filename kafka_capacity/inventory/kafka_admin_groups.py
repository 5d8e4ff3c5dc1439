"""The groups of a live cluster and their members, in all protocols of consumers.

A group is listed and described by its coordinator, so each broker is asked for the groups that it has. Those of the
classic protocol, of the consumer protocol (KIP-848), of streams (KIP-1071) and share groups (KIP-932) take different
requests. Classic groups that are not of consumers (Kafka Connect's) are listed with their state and without members.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError, for_code

from kafka_capacity.health.problem import Problem, info, some, warning
from kafka_capacity.inventory.kafka_admin_messages import (
    ConsumerGroupDescribeRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from kafka_capacity.inventory.kafka_admin_session import AdminSession
from kafka_capacity.text import plural

_GROUPS_AT_ONCE = 100
_STANDBYS = "streams.num.standby.replicas"
_MOVED = ("NotCoordinator", "CoordinatorNotAvailable", "CoordinatorLoadInProgress")


def read_groups(
    session: AdminSession, brokers: Sequence[dict[str, Any]], remarks: list[Problem]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of ``groups`` and of ``members``."""
    listed = _list(session, brokers, remarks)
    groups, members = {group_id: _listed_row(group) for group_id, group in listed.items()}, []
    failed: list[str] = []
    for group_id, description in _describe(session, listed, failed):
        groups[group_id] |= {name: value for name, value in description["group"].items() if value}
        members += description["members"]
    if failed:
        message = f"members of {plural(len(failed), 'group')} are unknown: {some(sorted(failed), len(failed))}"
        remarks.append(warning("group_not_described", "members.member_id", message))
    by_hand = [group_id for group_id, group in listed.items() if _kind(group) is None]
    if by_hand:
        message = (
            f"{plural(len(by_hand), 'group')} that are not consumer groups, listed without members: "
            f"{some(sorted(by_hand), len(by_hand))}"
        )
        remarks.append(info("group_of_another_kind", "groups.group_type", message))
    members.sort(key=lambda row: (row["group_id"], row["member_id"]))
    return [groups[group_id] for group_id in sorted(groups)], members


def _list(
    session: AdminSession, brokers: Sequence[dict[str, Any]], remarks: list[Problem]
) -> dict[str, dict[str, Any]]:
    """List the groups by id, each with the broker that coordinates it."""
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
        found |= {group["group_id"]: group | {"coordinator": broker["broker_id"]} for group in groups}
    if silent:
        message = f"the groups coordinated by these brokers are unknown: {some(silent, len(silent))}"
        remarks.append(warning("groups_not_listed", "groups.group_id", message))
    return found


def _listed_row(group: dict[str, Any]) -> dict[str, Any]:
    return {
        "group_id": group["group_id"],
        "state": group.get("group_state") or None,
        # Before ListGroups v5 there was one protocol.
        "group_type": (group.get("group_type") or "classic").lower(),
        "protocol_type": group["protocol_type"] or None,
        "assignor": None,
    }


def _kind(group: dict[str, Any]) -> str | None:
    """Return by which request a group is described: its type, or none."""
    kind = (group.get("group_type") or "classic").lower()
    if kind == "classic" and group["protocol_type"] in ("consumer", ""):
        return "classic"
    return kind if kind in {"consumer", "share", "streams"} else None


def _describe(
    session: AdminSession, listed: dict[str, dict[str, Any]], failed: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    batches: dict[tuple[int, str], list[str]] = {}
    for group_id, group in sorted(listed.items()):
        kind = _kind(group)
        if kind is not None:
            batches.setdefault((group["coordinator"], kind), []).append(group_id)
    for (coordinator, kind), group_ids in batches.items():
        ask = {"classic": _ask_classic, "consumer": _ask_consumer, "share": _ask_share, "streams": _ask_streams}[kind]
        for start in range(0, len(group_ids), _GROUPS_AT_ONCE):
            batch = group_ids[start : start + _GROUPS_AT_ONCE]
            yield from _describe_batch(session, ask, batch, coordinator, failed)


def _describe_batch(
    session: AdminSession, ask: Any, group_ids: list[str], coordinator: int, failed: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Describe some groups at once, and where that fails one by one, so that one bad group spoils no other."""
    try:
        answers = session.try_to_ask(ask, session, group_ids, coordinator)
    except Exception:  # kafka-python decodes what members sent, which can be anything
        if len(group_ids) == 1:
            failed.extend(group_ids)
            return
        for group_id in group_ids:
            yield from _describe_batch(session, ask, [group_id], coordinator, failed)
        return
    for group_id in group_ids:
        if group_id in answers:
            yield group_id, answers[group_id]
        else:
            failed.append(group_id)


def _ask_classic(session: AdminSession, group_ids: list[str], coordinator: int) -> dict[str, dict[str, Any]]:
    described = session.client.describe_groups(group_ids, group_coordinator_id=coordinator)
    moved = [group_id for group_id, group in described.items() if _has_moved(group.get("error"))]
    if moved:
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


def _has_moved(error: str | None) -> bool:
    return error is not None and any(name in error for name in _MOVED)


def _classic_member(group_id: str, member: dict[str, Any]) -> dict[str, Any]:
    subscription = member["member_metadata"] or {}
    assignment = member["member_assignment"] or {}
    return {
        "group_id": group_id,
        "member_id": member["member_id"],
        "client_id": member["client_id"],
        "host": member["client_host"],
        "instance_id": member.get("group_instance_id") or None,
        "rack": subscription.get("rack_id") or None,
        "subscribed": sorted(subscription.get("topics") or []),
        "assigned": _assigned(
            (each["topic"], each["partitions"]) for each in assignment.get("assigned_partitions") or []
        ),
    }


def _described(session: AdminSession, request: Any, coordinator: int) -> list[Any]:
    """Send a request that kafka-python does not know, and return the groups of the answer that have no error."""

    async def send() -> Any:
        return await session.client._manager.send(request, node_id=coordinator)

    response = session.client._manager.run(send)
    for group in response.groups:
        error = for_code(group.error_code)
        if error.retriable:
            raise error(group.error_message)
    return [group for group in response.groups if not group.error_code]


def _ask_consumer(session: AdminSession, group_ids: list[str], coordinator: int) -> dict[str, dict[str, Any]]:
    request = ConsumerGroupDescribeRequest(group_ids=group_ids, include_authorized_operations=False)
    return {
        group.group_id: {
            "group": {"state": group.group_state, "protocol_type": "consumer", "assignor": group.assignor_name},
            "members": _consumer_members(group),
        }
        for group in _described(session, request, coordinator)
    }


def _ask_share(session: AdminSession, group_ids: list[str], coordinator: int) -> dict[str, dict[str, Any]]:
    request = ShareGroupDescribeRequest(group_ids=group_ids, include_authorized_operations=False)
    return {
        group.group_id: {
            "group": {"state": group.group_state, "protocol_type": "share", "assignor": group.assignor_name},
            "members": [_coordinated_member(group.group_id, member, set(), None) for member in group.members],
        }
        for group in _described(session, request, coordinator)
    }


def _ask_streams(session: AdminSession, group_ids: list[str], coordinator: int) -> dict[str, dict[str, Any]]:
    request = StreamsGroupDescribeRequest(group_ids=group_ids, include_authorized_operations=False)
    standbys = _standby_replicas(session, group_ids)
    found = {}
    for group in _described(session, request, coordinator):
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
    return {
        "group_id": group_id,
        "member_id": member.member_id,
        "client_id": member.client_id,
        "host": member.client_host,
        "instance_id": member.instance_id or None,
        "rack": member.rack_id or None,
        "subscribed": sorted({topic for topics in sources.values() for topic in topics}),
        "assigned": _assigned(
            (topic, tasks.partitions)
            for tasks in member.assignment.active_tasks
            for topic in sources.get(tasks.subtopology_id, ())
        ),
        "process_id": member.process_id,
        "standby_tasks": [
            {"subtopology": tasks.subtopology_id, "partition": partition}
            for tasks in member.assignment.standby_tasks
            for partition in tasks.partitions
        ],
    }


def _consumer_members(group: Any) -> list[dict[str, Any]]:
    # Only brokers know what a regular expression matches. Every topic that it does is to be read by somebody.
    matched: dict[str, set[str]] = {}
    for member in group.members:
        for assignment in (member.assignment, member.target_assignment):
            topics = {each.topic_name for each in assignment.topic_partitions}
            matched.setdefault(member.subscribed_topic_regex or "", set()).update(topics)
    matched[""] = set()
    return [
        _coordinated_member(
            group.group_id, member, matched[member.subscribed_topic_regex or ""], member.instance_id or None
        )
        for member in group.members
    ]


def _coordinated_member(group_id: str, member: Any, matched: set[str], instance_id: str | None) -> dict[str, Any]:
    return {
        "group_id": group_id,
        "member_id": member.member_id,
        "client_id": member.client_id,
        "host": member.client_host,
        "instance_id": instance_id,
        "rack": member.rack_id or None,
        "subscribed": sorted(matched.union(member.subscribed_topic_names or [])),
        "assigned": _assigned((each.topic_name, each.partitions) for each in member.assignment.topic_partitions),
    }


def _assigned(topics: Iterator[tuple[str, Sequence[int]]]) -> list[dict[str, Any]]:
    pairs = sorted((topic, partition) for topic, partitions in topics for partition in partitions)
    return [{"topic": topic, "partition": partition} for topic, partition in pairs]
