"""How the leader of a classic group sees it: members and topics in the order of Kafka's hash maps (4.3.1).

The leader holds the subscriptions in a ``HashMap`` by member id, and gathers the topics that anyone subscribes to
in a ``HashSet``, from which it fills a ``HashMap`` of those that have metadata
(``org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor.assign``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Int32s, Ints
from kafka_capacity.kafka.groups.model import Group, Topic
from kafka_capacity.kafka.java.hash_map import put_order, stable_order
from kafka_capacity.kafka.java.hashing import string_hashes, utf16_keys


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subscribers:
    """Who subscribes to each of some topics. Where all members want the same, all topics share one run."""

    member: Ints  # int64[N], positions of members in the group
    first: Ints  # int64[T], where the run of each topic starts in `member`
    count: Ints  # int64[T], how long it is

    @classmethod
    def of(cls, group: Group, order: Sequence[int], table: dict[str, int]) -> Subscribers:
        """Find them, members listed in this order of positions; topics that are not in the table are left out."""
        members = np.array(order, dtype=np.int64)
        lists = distinct_lists(group, order)
        if len(lists) == 1 and len(set(lists[0])) == len(lists[0]):
            none = np.zeros(len(table), dtype=np.int64)
            return cls(member=members if table else members[:0], first=none, count=none + len(members))
        wanted = topics_by_list(group, order, table)
        pieces = [wanted[id(group.members[i].topics)] for i in order]
        topic = np.concatenate([np.empty(0, dtype=np.int64), *pieces])
        count = np.bincount(topic, minlength=len(table))
        rows = stable_order(topic, len(table))
        member = np.repeat(members, [len(piece) for piece in pieces])[rows]
        return cls(member=member, first=np.cumsum(count) - count, count=count)

    @property
    def are_shared(self) -> bool:
        """Whether all topics have one run."""
        return len(self.member) < int(self.count.sum()) or len(self.count) == 1

    def of_topic(self, topic: int) -> Ints:
        """List the subscribers of a topic."""
        first = int(self.first[topic])
        return self.member[first : first + int(self.count[topic])]

    def are_readers(self, member: Ints, topic: Ints) -> Flags:
        """Return for each pair of a member and a topic whether the member subscribes to it: bool[N]."""
        topics = len(self.count)
        if not len(member) or not topics:
            return np.zeros(len(member), dtype=np.bool_)
        pairs = np.repeat(np.arange(topics), self.count)
        pairs += topics * np.concatenate([self.of_topic(i) for i in range(topics)])
        return np.isin(member * topics + topic, pairs)

    def sorted_by(self, place: Ints) -> Subscribers:
        """Sort the subscribers of each topic by place, int64[M], all different; who names a topic twice counts once."""
        seated = np.argsort(place)
        if self.are_shared:
            once = seated[np.unique(place[self.member])]
            return Subscribers(member=once, first=self.first, count=np.full_like(self.count, len(once)))
        topic = np.repeat(np.arange(len(self.count)), self.count)
        key = np.unique(topic * len(place) + place[self.member])
        count = np.bincount(key // len(place), minlength=len(self.count))
        return Subscribers(member=seated[key % len(place)], first=np.cumsum(count) - count, count=count)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subscriptions:
    """The group as the leader walks over it."""

    group: Group  # the group
    order: list[int]  # positions in `group.members` in the order of the leader's map
    hashes: Int32s  # int32[M], hash of each member's id, as the group lists them
    topics: tuple[Topic, ...]  # the subscribed topics with metadata, in the order of the leader's map
    table: dict[str, int]  # position in `topics` by name

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

    def partition_counts(self) -> Ints:
        """Count the partitions of each of :attr:`topics`: int64[T]."""
        return np.array([topic.partitions for topic in self.topics], dtype=np.int64)

    def subscribers(self) -> Subscribers:
        """Find who names each of :attr:`topics`, in the order of the map, once a mention."""
        return Subscribers.of(self.group, self.order, self.table)

    def alphabetical(self) -> list[int]:
        """List the positions of :attr:`topics` by name."""
        return _by_name(list(range(len(self.topics))), [topic.name for topic in self.topics])


def distinct_lists(group: Group, order: Sequence[int]) -> list[tuple[str, ...]]:
    """List the lists of topics that members name, each once, in the order of the members."""
    by_identity = {id(group.members[i].topics): group.members[i].topics for i in order}
    return list(dict.fromkeys(by_identity.values()))


def topics_by_list(group: Group, order: Sequence[int], table: dict[str, int]) -> dict[int, Ints]:
    """Return the positions in ``table`` of each list of topics that members name, by the identity of the list."""
    found: dict[int, Ints] = {}
    for i in order:
        listed = group.members[i].topics
        if id(listed) not in found:
            places = [table[name] for name in listed if name in table]
            found[id(listed)] = np.array(places, dtype=np.int64)
    return found


def join_places(group: Group, order: Sequence[int]) -> Ints:
    """Return where each member comes, static ones first by instance id, then the others by member id: int64[M].

    ``order``, positions of the members, settles ties.
    """
    members = group.members
    static = [i for i in order if members[i].instance_id is not None]
    others = [i for i in order if members[i].instance_id is None]
    by_instance = _by_name(static, [members[i].instance_id or "" for i in static])
    return np.argsort(by_instance + _by_name(others, [members[i].member_id for i in others]))


def _by_name(positions: list[int], names: list[str]) -> list[int]:
    keys = utf16_keys(names)
    return [positions[i] for i in sorted(range(len(positions)), key=keys.__getitem__)]


def _put(names: list[str]) -> list[str]:
    return [names[i] for i in put_order(string_hashes(names)).tolist()]
