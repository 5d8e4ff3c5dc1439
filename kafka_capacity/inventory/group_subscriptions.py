"""Which groups can be simulated, and what they subscribe to.

A group is simulated if its members share partitions among themselves and rebalance: classic consumer groups, those of
KIP-848, and streams groups whose subtopologies are known. Of share groups (KIP-932) it is known what they read. The
others are skipped, each with the reason.

A member whose subscription is not told subscribes to all that the members of its group subscribe to or are assigned:
what an assignor gave to one of them it might have given to another. Topics that do not exist are left out: Kafka's
assignors skip them, too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.cluster.snapshot import Group, Snapshot
from kafka_capacity.kafka.groups.registry import GroupProtocol

_PROTOCOLS = frozenset({GroupProtocol.CONSUMER, GroupProtocol.SHARE, GroupProtocol.STREAMS})  # by the type of a group
_NO_MEMBERS = "It has no members, so there are no subscriptions."


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedGroup:
    """A group that is not simulated."""

    group_id: str  # its name
    reason: str  # why, a sentence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubscribedGroup:
    """A group that can be simulated, and its partitions."""

    group: Group  # as it was observed
    protocol: GroupProtocol  # classic, consumer, share or streams
    subscriptions: tuple[tuple[str, ...], ...]  # of each member, filled in; topics that exist
    topics: Ints  # int64[T], the subscribed topics that exist, positions in the snapshot's, ascending
    rows: Ints  # int64[N], their partitions, rows of the snapshot, ascending
    topic: Int32s  # int32[N], position in `topics`


def subscribed_group(group: Group, snapshot: Snapshot) -> SubscribedGroup | SkippedGroup:
    """Find what a group reads, or say why it is not simulated."""
    kind, reason = group.group_type, _why_not(group)
    if reason is not None:
        return SkippedGroup(group_id=group.group_id, reason=reason)
    subscriptions = _subscriptions(group)
    names = snapshot.partitions.topics
    wanted = {name for subscription in subscriptions for name in subscription}
    places = [_place_of(names, name) for name in sorted(wanted)]
    topics = np.array([place for place in places if place >= 0], dtype=np.int64)
    if not len(topics):
        reason = f"None of its topics is in the inventory ({_some(sorted(wanted))})."
        return SkippedGroup(group_id=group.group_id, reason=reason)
    existing = {names[index] for index in topics.tolist()}
    bounds = np.searchsorted(snapshot.partitions.topic, np.stack([topics, topics + 1]))
    return SubscribedGroup(
        group=group,
        protocol=GroupProtocol(kind) if kind in _PROTOCOLS else GroupProtocol.CLASSIC,
        subscriptions=tuple(tuple(name for name in each if name in existing) for each in subscriptions),
        topics=topics,
        rows=np.concatenate([np.arange(start, end) for start, end in bounds.T.tolist()]),
        topic=np.repeat(np.arange(len(topics), dtype=np.int32), bounds[1] - bounds[0]),
    )


def _place_of(names: Sequence[str], name: str) -> int:
    """Return the place of a name in a sorted list of them, -1 where it is not there."""
    place = bisect_left(names, name)
    return place if place < len(names) and names[place] == name else -1


def _why_not(group: Group) -> str | None:
    """Return why a group cannot be simulated; ``None`` where it can."""
    kind, protocol = group.group_type, group.protocol_type
    if kind == GroupProtocol.STREAMS:
        if not group.subtopologies:
            return "A streams group without subtopologies in the inventory: its tasks are unknown."
        return None if group.members else _NO_MEMBERS
    if kind not in ("", "classic", *_PROTOCOLS):
        return f"A group of type {kind!r}: its members do not share partitions as consumers do."
    if kind not in _PROTOCOLS and protocol not in ("", "consumer"):
        return f"A group of protocol type {protocol!r}: its members share something other than partitions."
    says_something = any(member.subscribed or member.assigned for member in group.members)
    if not says_something and not group.assignor and protocol == "" and kind not in _PROTOCOLS and group.lags:
        return "Its consumers assign partitions manually (assign), so it never rebalances."
    if not group.members:
        return _NO_MEMBERS
    if not says_something and not group.is_stable:
        return f"It was {group.state!r} when the inventory was taken: Kafka shows assignments only when it is 'Stable'."
    if not says_something:
        return "The inventory has neither subscriptions nor assignments of its members."
    return None


def _subscriptions(group: Group) -> tuple[tuple[str, ...], ...]:
    members = group.members
    if group.group_type == GroupProtocol.STREAMS:
        return (tuple(sorted({topic for one in group.subtopologies for topic in one.topics})),) * len(members)
    told = {topic for member in members for topic in member.subscribed}
    everything = tuple(sorted(told | {topic for member in members for topic, _ in member.assigned}))
    return tuple(member.subscribed or everything for member in members)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:3]))
    return shown if len(names) <= 3 else f"{shown}, …"
