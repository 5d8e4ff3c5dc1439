"""``range``: each topic cut into runs of neighbours, one a member (``RangeAssignor`` of the client, 4.3.1).

Goals, in this order:
    1. Balance within a topic: two of its subscribers differ by at most one partition of it. (Over many topics the
       first members pile up: each topic's extra partitions go to them.)
    2. Co-partitioning: topics of one size and the same subscribers are cut alike.
    3. Racks, where members and replicas have them and they are not everywhere the same:
       :mod:`kafka_capacity.kafka.groups.range_racks`.

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
>>> {name: [p for _, p in part] for name, part in RangeAssignor().assign(group).lists().items()}
{'a': [0, 1, 2], 'b': [3, 4, 5], 'c': [6, 7]}
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.codes import Codes
from kafka_capacity.kafka.groups.model import Group
from kafka_capacity.kafka.groups.range_racks import TopicRanges, match_racks, needs_racks
from kafka_capacity.kafka.groups.registry import GroupProtocol, register
from kafka_capacity.kafka.groups.subscriptions import Subscribers, Subscriptions, join_places


@register("range", GroupProtocol.CLASSIC)
class RangeAssignor:
    """Kafka's oldest assignor, still the first default of a client."""

    name: str
    is_cooperative = False

    def assign(self, group: Group) -> Assignment:
        """Assign topic by topic."""
        found = Subscriptions.of(group)
        readers = found.subscribers().sorted_by(join_places(group, found.order))
        racks = [member.rack or None for member in group.members]
        if any(racks) and any(needs_racks(t, readers.of_topic(i).tolist(), racks) for i, t in enumerate(found.topics)):
            return _with_racks(found, readers, racks)
        codes = Codes(found.partition_counts())
        owner = cut_into_runs(codes, readers)
        return Assignment.of_owners(group, found.topic_names, owner=owner, topic=codes.topic, partition=codes.partition)


def cut_into_runs(codes: Codes, readers: Subscribers) -> NDArray[np.int64]:
    """Cut topics into runs: int64[P], who gets each partition.

    Args:
        codes: the partitions of the topics.
        readers: the subscribers of each topic in the order of the runs, at least one.
    """
    each, extra = np.divmod(np.diff(codes.start), readers.count)
    larger = each + 1
    in_larger = extra * larger
    partition, topic = codes.partition, codes.topic
    seat = partition // larger[topic]
    behind = np.flatnonzero(partition >= in_larger[topic])
    rest = topic[behind]
    seat[behind] = extra[rest] + (partition[behind] - in_larger[rest]) // each[rest]
    owner: NDArray[np.int64] = readers.member[readers.first[topic] + seat]
    return owner


def range_owners(partitions: int, members: NDArray[np.integer]) -> NDArray[np.int64]:
    """Cut one topic into runs: int64[partitions], who of the members (at least one) gets each."""
    each, extra = divmod(partitions, len(members))
    counts = np.full(len(members), each)
    counts[:extra] += 1
    return np.repeat(members, counts).astype(np.int64)


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
    topic, partition = codes.topic[rows], codes.partition[rows]
    return Assignment.of_owners(found.group, found.topic_names, owner=owner, topic=topic, partition=partition)
