"""The groups that the assignors are timed on: made up by rule, and written for the Java side to read."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_capacity.kafka.groups import Group, GroupProtocol, Member, Topic, TopicPartitions, UserData, assignor

EQUAL_ASSIGNORS = (
    (GroupProtocol.CLASSIC, "range"),
    (GroupProtocol.CLASSIC, "roundrobin"),
    (GroupProtocol.CLASSIC, "sticky"),
    (GroupProtocol.CLASSIC, "cooperative-sticky"),
    (GroupProtocol.CONSUMER, "uniform"),
    (GroupProtocol.CONSUMER, "range"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How large the groups are and who subscribes to what.

    Attributes:
        name: as the table shows it.
        members: how many members a group has.
        topics: how many topics.
        partitions: of each topic.
        wanted: how many of the topics each member names, in a window that moves on by one from member to member;
            ``None`` for all.
    """

    name: str
    members: int
    topics: int
    partitions: int
    wanted: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing to time.

    Attributes:
        shape: name of the shape.
        event: what happened before: nothing (``fresh``), ``one leaves`` or ``one joins``.
        protocol: of the group.
        assignor: by name.
        group: what the assignor is given.
    """

    shape: str
    event: str
    protocol: GroupProtocol
    assignor: str
    group: Group


def cases_of(shape: Shape) -> Iterator[Case]:
    """Return the cases of a shape, for every assignor."""
    for protocol, name in EQUAL_ASSIGNORS:
        topics = _topics(shape, protocol)
        everyone = _members(shape, topics)
        fresh = Group(topics=topics, members=everyone)
        made = assignor(name, protocol)
        events = {"fresh": fresh}
        if name in ("sticky", "cooperative-sticky", "uniform"):
            settled = _remembering(fresh, name, protocol)
            events["one leaves"] = replace(fresh, members=settled[:-1])
            without = _remembering(replace(fresh, members=everyone[:-1]), name, protocol)
            events["one joins"] = replace(fresh, members=(*without, everyone[-1]))
        for event, group in events.items():
            yield Case(shape=shape.name, event=event, protocol=protocol, assignor=made.name, group=group)


def write_case(case: Case, path: Path) -> None:
    """Write a case for the Java side: lines of fields that tabs separate, topics by their position."""
    place = {topic.name: i for i, topic in enumerate(case.group.topics)}
    lists = list({id(member.topics): member.topics for member in case.group.members}.values())
    list_at = {id(listed): i for i, listed in enumerate(lists)}
    lines = [f"assignor\t{case.protocol}\t{case.assignor}"]
    lines += [f"topic\t{topic.name}\t{topic.partitions}" for topic in case.group.topics]
    lines += ["list\t" + " ".join(str(place[name]) for name in listed) for listed in lists]
    for member in case.group.members:
        held = member.owned if member.user_data is None or not member.user_data.partitions else None
        pairs = member.user_data.partitions if held is None and member.user_data is not None else member.owned
        text = " ".join(f"{place[topic]} {partition}" for topic, partition in pairs)
        lines.append(f"member\t{member.member_id}\t{member.known_generation}\t{list_at[id(member.topics)]}\t{text}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _topics(shape: Shape, protocol: GroupProtocol) -> tuple[Topic, ...]:
    names = (
        base64.urlsafe_b64encode((7919 * (i + 1) << 64 | i).to_bytes(16, "big")).decode()[:22]
        if protocol is GroupProtocol.CONSUMER
        else f"topic-{i:04d}"
        for i in range(shape.topics)
    )
    return tuple(Topic(name=name, partitions=shape.partitions) for name in names)


def _members(shape: Shape, topics: tuple[Topic, ...]) -> tuple[Member, ...]:
    names = tuple(topic.name for topic in topics)
    width = shape.wanted or len(names)
    windows = [tuple(names[(i + j) % len(names)] for j in range(width)) for i in range(len(names))]
    lists = windows if width < len(names) else [names]
    return tuple(Member(member_id=f"consumer-{i:05d}", topics=lists[i % len(lists)]) for i in range(shape.members))


def _remembering(group: Group, name: str, protocol: GroupProtocol) -> tuple[Member, ...]:
    """Let the members remember what they get in a first generation."""
    parts = assignor(name, protocol).assign(group).parts()
    return tuple(_with(member, parts[member.member_id], name, protocol) for member in group.members)


def _with(member: Member, had: TopicPartitions, name: str, protocol: GroupProtocol) -> Member:
    if protocol is GroupProtocol.CONSUMER:
        return replace(member, owned=had)
    if name == "sticky":
        return replace(member, generation=1, user_data=UserData(generation=1, partitions=had))
    return replace(member, generation=1, owned=had, user_data=UserData(generation=1))
