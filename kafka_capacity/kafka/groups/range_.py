"""``range``: each topic cut into runs of neighbours, one a member (``RangeAssignor`` of the client, 4.3.1).

Goals, in this order:
    1. Balance within a topic: two of its subscribers differ by at most one partition of it. (Over many topics the
       first members pile up: each topic's extra partitions go to them.)
    2. Co-partitioning: topics of one size and the same subscribers are cut alike.
    3. Racks, where members and replicas have them and they are not everywhere the same.

Constraints:
    Members sort by ``group.instance.id``, those without one after the others by member id. Topics without metadata
    are left out. The topics of a list come in the order of a Java hash map, or sorted where any topic took the
    rack-aware path.

Algorithm:
    Of p partitions and c subscribers each gets p // c, the first p % c one more.

Worked example, 8 partitions over 3 members:

>>> from kafka_capacity.kafka.groups.model import Group, Member, Topic
>>> members = tuple(Member(member_id=name, topics=("orders",)) for name in "abc")
>>> group = Group(topics=(Topic(name="orders", partitions=8),), members=members)
>>> {name: [p for _, p in part] for name, part in assign_ranges(group).lists().items()}
{'a': [0, 1, 2], 'b': [3, 4, 5], 'c': [6, 7]}
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.codes import Codes
from kafka_capacity.kafka.groups.coordinator import known_partition_count, map_order
from kafka_capacity.kafka.groups.model import Group, Topic
from kafka_capacity.kafka.groups.subscriptions import Subscribers, Subscriptions, distinct_lists, join_places


def assign_ranges(group: Group) -> Assignment:
    """Assign as clients do by default, with Kafka's oldest assignor."""
    found = Subscriptions.of(group)
    readers = found.subscribers().sorted_by(join_places(group, found.order))
    racks = [member.rack or None for member in group.members]
    if any(racks) and any(needs_racks(t, readers.of_topic(i).tolist(), racks) for i, t in enumerate(found.topics)):
        return _with_racks(found, readers, racks)
    codes = Codes(found.partition_counts())
    owner = cut_into_runs(codes, readers)
    return Assignment.of_owners(group, found.topic_names, owner=owner, topic=codes.topic, partition=codes.partition)


def cut_into_runs(codes: Codes, readers: Subscribers) -> Ints:
    """Cut topics into runs over their subscribers, at least one each, in order: int64[P], who gets each partition."""
    each, extra = np.divmod(np.diff(codes.start), readers.count)
    larger = each + 1
    in_larger = extra * larger
    partition, topic = codes.partition, codes.topic
    seat = partition // larger[topic]
    behind = np.flatnonzero(partition >= in_larger[topic])
    rest = topic[behind]
    seat[behind] = extra[rest] + (partition[behind] - in_larger[rest]) // each[rest]
    owner: Ints = readers.member[readers.first[topic] + seat]
    return owner


def _with_racks(found: Subscriptions, readers: Subscribers, racks: list[str | None]) -> Assignment:
    states = [TopicRanges(topic, readers.of_topic(i).tolist(), racks) for i, topic in enumerate(found.topics)]
    match_racks(states)
    for state in states:
        state.assign_ranges()
    # All lists are sorted by topic name, then partition.
    order = found.alphabetical()
    codes = Codes(found.partition_counts())
    rows = codes.in_topics(np.array(order, dtype=np.int64))
    owner = np.array([member for i in order for member in states[i].owner], dtype=np.int64)
    return Assignment.of_codes(found.group, found.topic_names, codes, owner=owner, code=rows)


def partition_racks(topic: Topic) -> list[frozenset[str]]:
    """Return the racks of the replicas of each partition."""
    if topic.racks is None:
        return [frozenset()] * topic.partitions
    sets = {replicas: frozenset(rack for rack in replicas if rack is not None) for replicas in set(topic.racks)}
    return [sets[replicas] for replicas in topic.racks]


def racks_differ(member_racks: frozenset[str], racks: Sequence[frozenset[str]]) -> bool:
    """Return whether it pays to look at racks: members are where replicas are, not all partitions everywhere."""
    distinct = set(racks)
    everywhere = frozenset().union(*distinct)
    return not member_racks.isdisjoint(everywhere) and any(found != everywhere for found in distinct)


def needs_racks(topic: Topic, members: Sequence[int], racks: Sequence[str | None]) -> bool:
    """Return whether a topic takes the rack-aware path by itself."""
    if topic.racks is None:
        return False
    member_racks = frozenset(rack for i in members if (rack := racks[i]) is not None)
    return bool(member_racks) and racks_differ(member_racks, partition_racks(topic))


class TopicRanges:
    """One topic while it is handed out to its subscribers, sorted positions in the group.

    ``rack_of`` is the rack of each member of the group, ``racks`` those of the replicas of each partition; ``owner`` is
    the member of each partition, -1 where there is none yet.
    """

    def __init__(self, topic: Topic, members: list[int], racks: Sequence[str | None]) -> None:
        self.members = members
        self.rack_of = racks
        self.owner = [-1] * topic.partitions
        self.needs_racks = needs_racks(topic, members, racks)
        self.has_member_racks = any(racks[i] is not None for i in members)
        self.racks = partition_racks(topic)
        self._count = dict.fromkeys(members, 0)
        self._left = topic.partitions
        self._each, self._extra = divmod(topic.partitions, len(members))

    def room(self, member: int) -> int:
        """Return how many more partitions a member may get."""
        return max(0, self._each + (1 if self._extra > 0 else 0) - self._count[member])

    def give(self, member: int, partitions: list[int]) -> None:
        """Assign partitions to a member in one go."""
        for partition in partitions:
            self.owner[partition] = member
        self._left -= len(partitions)
        self._count[member] += len(partitions)
        if self._count[member] > self._each:
            self._extra -= 1

    def assign_ranges(self, *, in_rack: bool = False) -> None:
        """Let each member take its share of what is left, from the front."""
        left: dict[str | None, Iterator[int]] = {}
        for member in self.members:
            if not self._left:
                break
            rack = self.rack_of[member] if in_rack else None
            if rack not in left:
                left[rack] = self._left_in(rack)
            if taken := list(itertools.islice(left[rack], self.room(member))):
                self.give(member, taken)

    def _left_in(self, rack: str | None) -> Iterator[int]:
        """Yield the partitions without an owner by then, of a rack or of all, from the front."""
        for partition, racks in enumerate(self.racks):
            if self.owner[partition] < 0 and (rack is None or rack in racks):
                yield partition


def match_racks(states: Sequence[TopicRanges]) -> None:
    """Hand out what can be matched, co-partitioned topics together.

    Goals, in this order:
        1. The balance of ``range`` within a topic, unchanged.
        2. Co-partitioning: where several topics have one size and the same subscribers, partition n of all of them goes
           to one member, and only if the racks match for all.
        3. Partitions go to members that have a replica in their rack.

    Algorithm:
        A topic needs racks if a subscriber's rack holds some replica, and the racks of its partitions are not all the
        same. If any topic does, groups of co-partitioned topics are matched number by number, a topic alone (if it
        needs it) member by member: each takes the first partitions in its rack, up to its share. A member without a
        rack matches everything. What is left is handed out in runs as if there were no racks.

    This is ``RangeAssignor`` of the client (KIP-881, 4.3.1).
    """
    groups: dict[tuple[frozenset[int], int], list[TopicRanges]] = {}
    for state in states:
        # Kafka counts the partitions whose racks it knows: none where no subscriber has a rack.
        known = len(state.owner) if state.has_member_racks else 0
        groups.setdefault((frozenset(state.members), known), []).append(state)
    for (_, partitions), together in groups.items():
        if len(together) > 1:
            _match_together(together, partitions)
        elif together[0].needs_racks:
            together[0].assign_ranges(in_rack=True)


def _match_together(states: list[TopicRanges], partitions: int) -> None:
    # Of one size, with the same members, and handed out alike: what one has room for, all have.
    first, remaining = states[0], list(states[0].members)
    for partition in range(partitions):
        racks = frozenset.intersection(*(state.racks[partition] for state in states))
        member = next(
            (i for i in remaining if ((rack := first.rack_of[i]) is None or rack in racks) and first.room(i) > 0), None
        )
        if member is None:
            continue
        for state in states:
            state.give(member, [partition])
        if not first.room(member):
            remaining.remove(member)
            if not remaining:
                break


def assign_server_ranges(group: Group) -> Assignment:
    """Assign as ``range`` of the group coordinator does (KIP-848, ``RangeAssignor`` there, 4.3.1): by the same runs.

    All topics must exist. It does not look at racks nor at what members have. 3 partitions over 2 members:

    >>> from kafka_capacity.kafka.groups.model import Group, Member, Topic
    >>> orders = "AAAAAAAAAAAAAAAAAAAAAQ"
    >>> members = tuple(Member(member_id=name, topics=(orders,)) for name in "ab")
    >>> group = Group(topics=(Topic(name=orders, partitions=3),), members=members)
    >>> {name: [p for _, p in part] for name, part in assign_server_ranges(group).lists().items()}
    {'a': [0, 1], 'b': [2]}

    Raises:
        AssignmentError: a member subscribes to a topic that does not exist.
    """
    order = map_order(group)
    topics = tuple(sorted({topic for listed in distinct_lists(group, order) for topic in listed}))
    table = {topic: i for i, topic in enumerate(topics)}
    counts = [known_partition_count(group, topic) for topic in topics]
    codes = Codes(np.array(counts, dtype=np.int64))
    readers = Subscribers.of(group, order, table).sorted_by(join_places(group, order))
    owner = cut_into_runs(codes, readers)
    return Assignment.of_owners(group, topics, owner=owner, topic=codes.topic, partition=codes.partition)
