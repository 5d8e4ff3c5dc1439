"""What the coordinator knows of a group, and what it said in its log."""

from __future__ import annotations

import base64
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka.admin import KafkaAdminClient

from kafka_capacity.inventory.kafka_admin_messages import ConsumerGroupDescribeRequest
from kafka_capacity.kafka.groups import GroupProtocol, TopicPartition
from tests.live.cluster import KafkaCluster

_LINE = re.compile(r"^(\d{13}) \S+ +(?:\[GroupCoordinator [^]]*\] )?(.*) \(\S+\)$")
_ROUND = re.compile(r"Stabilized group \S+ generation (\d+) with (\d+) members")
_TARGET = re.compile(r"Computed a new target assignment for epoch (\d+) with")
_OPENED = re.compile(r"Preparing to rebalance group|Bumped group epoch to")


@dataclass(frozen=True, slots=True)
class DescribedMember:
    """A member as the coordinator describes it."""

    member_id: str
    assigned: frozenset[TopicPartition]
    target: frozenset[TopicPartition]
    epoch: int | None


@dataclass(frozen=True, slots=True)
class DescribedGroup:
    """A group as its coordinator describes it; members by client id."""

    state: str
    epochs: tuple[int, int] | None
    members: Mapping[str, DescribedMember]

    @property
    def is_settled(self) -> bool:
        """Whether every member has what it is to have, and knows it."""
        at_rest = all(each.assigned == each.target for each in self.members.values())
        epochs = set(self.epochs or ()) | {each.epoch for each in self.members.values()}
        return self.state == "Stable" and at_rest and len(epochs) == 1


@dataclass(frozen=True, slots=True)
class CoordinatorLine:
    """A line of a broker's log about one group; seconds since the epoch."""

    at: float
    text: str

    @property
    def opens(self) -> bool:
        """Whether the coordinator begins a rebalance here."""
        return _OPENED.search(self.text) is not None

    @property
    def generation(self) -> int | None:
        """The number of the generation, or epoch with an assignment, that begins here."""
        found = _ROUND.search(self.text) or _TARGET.search(self.text)
        return None if found is None else int(found[1])

    @property
    def members(self) -> int | None:
        """How many members a classic generation has."""
        found = _ROUND.search(self.text)
        return None if found is None else int(found[2])


def describe(admin: KafkaAdminClient, protocol: GroupProtocol, group_id: str) -> DescribedGroup:
    """Ask the coordinator of a group for it."""
    return _describe_classic(admin, group_id) if protocol is GroupProtocol.CLASSIC else _describe(admin, group_id)


def _describe_classic(admin: KafkaAdminClient, group_id: str) -> DescribedGroup:
    group = admin.describe_groups([group_id])[group_id]
    members = {}
    for member in group["members"]:
        assignment = member["member_assignment"] or {}
        assigned = frozenset(
            (each["topic"], number)
            for each in assignment.get("assigned_partitions") or ()
            for number in each["partitions"]
        )
        members[member["client_id"]] = DescribedMember(member["member_id"], assigned, assigned, None)
    return DescribedGroup(group["group_state"], None, members)


def _describe(admin: KafkaAdminClient, group_id: str) -> DescribedGroup:
    request = ConsumerGroupDescribeRequest(group_ids=[group_id], include_authorized_operations=False)

    async def send() -> Any:
        coordinator = await admin._find_coordinator_id(group_id)
        return await admin._manager.send(request, node_id=coordinator)

    (group,) = admin._manager.run(send).groups
    members = {
        member.client_id: DescribedMember(
            member.member_id, _pairs(member.assignment), _pairs(member.target_assignment), member.member_epoch
        )
        for member in group.members
    }
    return DescribedGroup(group.group_state, (group.group_epoch, group.assignment_epoch), members)


def _pairs(assignment: Any) -> frozenset[TopicPartition]:
    return frozenset((each.topic_name, number) for each in assignment.topic_partitions for number in each.partitions)


def topic_id(admin: KafkaAdminClient, topic: str) -> str:
    """Return the id of a topic as Kafka writes it: 22 characters of base64url."""
    (described,) = admin.describe_topics([topic])
    number = uuid.UUID(str(described["topic_id"]))
    return base64.urlsafe_b64encode(number.bytes).decode().rstrip("=")


def coordinator_lines(cluster: KafkaCluster, group_id: str, since: float) -> list[CoordinatorLine]:
    """Return what the brokers logged about a group from then on, in order."""
    name = re.compile(rf"(\[GroupId {re.escape(group_id)}\]|group {re.escape(group_id)}\b(?!-))", re.IGNORECASE)
    found = []
    for broker_id in cluster.nodes:
        for line in cluster.log_tail(broker_id, characters=2_000_000).splitlines():
            parts = _LINE.match(line)
            if parts and name.search(parts[2]) and int(parts[1]) / 1000 >= since:
                found.append(CoordinatorLine(int(parts[1]) / 1000, parts[2]))
    return sorted(found, key=lambda line: line.at)
