"""``range``: each topic cut into runs of neighbours, one a member (``RangeAssignor`` of the client, 4.3.1).

Goals, in this order:
    1. Balance within a topic: two of its subscribers differ by at most one partition of it. (Over many topics the
       first members pile up: each topic's extra partitions go to them.)
    2. Co-partitioning: topics of one size and the same subscribers are cut alike.
    3. Racks, where members and replicas have them and they are not everywhere the same:
       :mod:`kafka_capacity.groups.range_racks`.

Constraints:
    Members sort by ``group.instance.id``, those without one after the others by member id. Topics without metadata
    are left out. The topics of a list come in the order of a Java hash map, or sorted where any topic took the
    rack-aware path.

Algorithm:
    Of p partitions and c subscribers each gets p // c, the first p % c one more.

Worked example, 8 partitions over 3 members:

>>> from kafka_capacity.groups.model import Group, Member, Topic
>>> members = tuple(Member(member_id=name, topics=("orders",)) for name in "abc")
>>> group = Group(topics=(Topic(name="orders", partitions=8),), members=members)
>>> {name: [p for _, p in part] for name, part in RangeAssignor().assign(group).lists().items()}
{'a': [0, 1, 2], 'b': [3, 4, 5], 'c': [6, 7]}
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.groups.assignment import Assignment
from kafka_capacity.groups.model import Group
from kafka_capacity.groups.range_racks import TopicRanges, match_racks, needs_racks
from kafka_capacity.groups.registry import GroupProtocol, register
from kafka_capacity.groups.subscriptions import Subscriptions, join_order_key


@register("range", GroupProtocol.CLASSIC)
class RangeAssignor:
    """Kafka's oldest assignor, still the first default of a client."""

    name: str
    is_cooperative = False

    def assign(self, group: Group) -> Assignment:
        """Assign topic by topic."""
        found = Subscriptions.of(group)
        keys = [join_order_key(member) for member in group.members]
        mentions = found.subscribers()
        # A member that names a topic twice counts once.
        lists = {
            key: list(dict.fromkeys(sorted(listed, key=keys.__getitem__)))
            for key, listed in {id(listed): listed for listed in mentions}.items()
        }
        subscribers = [lists[id(listed)] for listed in mentions]
        racks = [member.rack or None for member in group.members]
        if any(needs_racks(found.topics[i], members, racks) for i, members in enumerate(subscribers)):
            return _with_racks(found, subscribers, racks)
        arrays = {key: np.array(members) for key, members in lists.items()}
        rows = [
            (range_owners(topic.partitions, arrays[id(listed)]), i)
            for i, (topic, listed) in enumerate(zip(found.topics, mentions, strict=True))
        ]
        return _joined(found, rows)


def range_owners(partitions: int, members: NDArray[np.integer]) -> NDArray[np.int64]:
    """Cut one topic into runs: int64[partitions], who of the members (at least one) gets each."""
    each, extra = divmod(partitions, len(members))
    counts = np.full(len(members), each)
    counts[:extra] += 1
    return np.repeat(members, counts).astype(np.int64)


def _joined(found: Subscriptions, rows: list[tuple[NDArray[np.int64], int]]) -> Assignment:
    empty = np.empty(0, dtype=np.int64)
    return Assignment.of_owners(
        found.group,
        found.topic_names,
        owner=np.concatenate([empty, *(owner for owner, _ in rows)]),
        topic=np.concatenate([empty, *(np.full(len(owner), i) for owner, i in rows)]),
        partition=np.concatenate([empty, *(np.arange(len(owner)) for owner, _ in rows)]),
    )


def _with_racks(found: Subscriptions, subscribers: list[list[int]], racks: list[str | None]) -> Assignment:
    states = [TopicRanges(topic, members, racks) for topic, members in zip(found.topics, subscribers, strict=True)]
    match_racks(states)
    for state in states:
        state.assign_ranges()
    # All lists are sorted by topic name, then partition.
    return _joined(found, [(np.array(states[i].owner, dtype=np.int64), i) for i in found.alphabetical()])
