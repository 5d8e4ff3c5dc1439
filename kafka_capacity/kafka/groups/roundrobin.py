"""``roundrobin``: all partitions of all topics dealt in one circle (``RoundRobinAssignor`` of the client, 4.3.1).

Goals:
    Counts that differ by at most one, if all members subscribe to the same topics. Where subscriptions differ a
    member is passed over for topics that it does not want, and counts can differ by a lot.

Constraints:
    Members sort by ``group.instance.id``, those without one after the others by member id; topics sort by name.

Algorithm:
    The circle does not start over at a topic: each partition goes to the next member, from the one after the last
    that got something, that subscribes to the topic.

Worked example, 8 partitions over 3 members:

>>> from kafka_capacity.kafka.groups.model import Group, Member, Topic
>>> members = tuple(Member(member_id=name, topics=("orders",)) for name in "abc")
>>> group = Group(topics=(Topic(name="orders", partitions=8),), members=members)
>>> {name: [p for _, p in part] for name, part in assign_round_robin(group).lists().items()}
{'a': [0, 3, 6], 'b': [1, 4, 7], 'c': [2, 5]}
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.codes import Codes
from kafka_capacity.kafka.groups.model import Group
from kafka_capacity.kafka.groups.subscriptions import Subscribers, Subscriptions, join_places


def assign_round_robin(group: Group) -> Assignment:
    """Deal the partitions of all topics to one circle of members, of at least one.

    Raises:
        AssignmentError: the group has no member.
    """
    if not group.members:
        message = "a circle of members needs at least one member"
        raise AssignmentError(message, kafka_type="java.lang.IllegalArgumentException")
    found = Subscriptions.of(group)
    seat = join_places(group, found.order)
    circle = np.argsort(seat)
    readers = found.subscribers().sorted_by(seat)
    alphabetical = found.alphabetical()
    codes = Codes(found.partition_counts())
    rows = codes.in_topics(np.array(alphabetical, dtype=np.int64))
    if readers.are_shared:
        owner = np.resize(circle[np.sort(seat[readers.member])], len(rows))
    else:
        owner = _pass_round(found, readers, alphabetical, seat)
    return Assignment.of_codes(group, found.topic_names, codes, owner=owner, code=rows)


def _pass_round(found: Subscriptions, readers: Subscribers, topics: list[int], seat: Ints) -> Ints:
    """Deal where members are passed over: int64[P], topics in the order given."""
    owners = [np.empty(0, dtype=np.int64)]
    turn = 0
    for i in topics:
        members = readers.of_topic(i)
        seats = seat[members]
        dealt = (int(np.searchsorted(seats, turn)) + np.arange(found.topics[i].partitions)) % len(seats)
        turn = (int(seats[dealt[-1]]) + 1) % len(seat)
        owners.append(members[dealt])
    return np.concatenate(owners)
