"""How the leader of a classic group sees it: members and topics in the order of Kafka's hash maps (4.3.1).

The leader holds the subscriptions in a ``HashMap`` by member id, and gathers the topics that anyone subscribes to
in a ``HashSet``, from which it fills a ``HashMap`` of those that have metadata
(``org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor.assign``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.groups.model import Group, Member, Topic
from kafka_capacity.java.hash_map import put_order
from kafka_capacity.java.hashing import string_hashes, utf16_key


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subscriptions:
    """The group as the leader walks over it.

    Attributes:
        group: the group.
        order: positions in ``group.members`` in the order of the leader's map.
        hashes: int32[M], hash of each member's id, as the group lists them.
        topics: the subscribed topics with metadata, in the order of the leader's map.
        table: position in :attr:`topics` by name.
    """

    group: Group
    order: list[int]
    hashes: NDArray[np.int32]
    topics: tuple[Topic, ...]
    table: dict[str, int]

    @classmethod
    def of(cls, group: Group) -> Subscriptions:
        """Read a group."""
        members = group.members
        hashes = string_hashes([member.member_id for member in members])
        order = put_order(hashes).tolist()
        named = dict.fromkeys(topic for listed in distinct_lists(group, order) for topic in listed)
        subscribed = _put(list(named))
        known = [name for name in subscribed if (group.partition_count(name) or 0) > 0]
        topics = tuple(group.topic(name) for name in _put(known))
        table = {topic.name: i for i, topic in enumerate(topics)}
        return cls(group=group, order=order, hashes=hashes, topics=topics, table=table)

    @property
    def topic_names(self) -> tuple[str, ...]:
        """The names of :attr:`topics`."""
        return tuple(topic.name for topic in self.topics)

    def subscribers(self) -> list[list[int]]:
        """List for each of :attr:`topics` the members that name it, in the order of the map, once a mention.

        Where all members name the same, the lists are one and the same object.
        """
        found: list[list[int]] = [[] for _ in self.topics]
        lists = distinct_lists(self.group, self.order)
        if len(lists) == 1 and len(set(lists[0])) == len(lists[0]):
            return [self.order] * len(self.topics)
        for i in self.order:
            for name in self.group.members[i].topics:
                topic = self.table.get(name)
                if topic is not None:
                    found[topic].append(i)
        return found

    def alphabetical(self) -> list[int]:
        """List the positions of :attr:`topics` by name."""
        return sorted(range(len(self.topics)), key=lambda i: utf16_key(self.topics[i].name))


def distinct_lists(group: Group, order: Sequence[int]) -> list[tuple[str, ...]]:
    """List the lists of topics that members name, each once, in the order of the members."""
    by_identity = {id(group.members[i].topics): group.members[i].topics for i in order}
    return list(dict.fromkeys(by_identity.values()))


def join_order_key(member: Member) -> tuple[bool, bytes]:
    """Give a key under which static members come first, by instance id, then the others by member id."""
    if member.instance_id is not None:
        return False, utf16_key(member.instance_id)
    return True, utf16_key(member.member_id)


def _put(names: list[str]) -> list[str]:
    return [names[i] for i in put_order(string_hashes(names)).tolist()]
