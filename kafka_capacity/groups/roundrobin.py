"""``roundrobin``: all partitions of all topics dealt in one circle (``RoundRobinAssignor`` of the client, 4.3.1).

Goals:
    Counts that differ by at most one, if all members subscribe to the same topics. Where subscriptions differ a
    member is passed over for topics that it does not want, and counts can differ by a lot.

Constraints:
    Members sort by ``group.instance.id``, those without one after the others by member id; topics sort by name.

Algorithm:
    The circle does not start anew at a topic: each partition goes to the next member, from the one after the last
    that got something, that subscribes to the topic.

Worked example, 8 partitions over 3 members:

>>> from kafka_capacity.groups.model import Group, Member, Topic
>>> members = tuple(Member(member_id=name, topics=("orders",)) for name in "abc")
>>> group = Group(topics=(Topic(name="orders", partitions=8),), members=members)
>>> {name: [p for _, p in part] for name, part in RoundRobinAssignor().assign(group).lists().items()}
{'a': [0, 3, 6], 'b': [1, 4, 7], 'c': [2, 5]}
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.errors import AssignmentError
from kafka_capacity.groups.assignment import Assignment
from kafka_capacity.groups.model import Group
from kafka_capacity.groups.registry import GroupProtocol, register
from kafka_capacity.groups.subscriptions import Subscriptions, join_order_key


@register("roundrobin", GroupProtocol.CLASSIC)
class RoundRobinAssignor:
    """One circle of members for all topics."""

    name: str
    is_cooperative = False

    def assign(self, group: Group) -> Assignment:
        """Deal the partitions.

        Raises:
            AssignmentError: the group has no member.
        """
        if not group.members:
            message = "a circle of members needs at least one member"
            raise AssignmentError(message, kafka_type="java.lang.IllegalArgumentException")
        found = Subscriptions.of(group)
        circle = sorted(found.order, key=lambda i: join_order_key(group.members[i]))
        seat = {member: position for position, member in enumerate(circle)}
        members = np.array(circle)
        subscribers = found.subscribers()
        seats_of = {
            key: np.array(sorted({seat[member] for member in listed}))
            for key, listed in {id(listed): listed for listed in subscribers}.items()
        }
        owners, topics, partitions = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        turn = 0
        for i in found.alphabetical():
            count = found.topics[i].partitions
            seats = seats_of[id(subscribers[i])]
            first = int(np.searchsorted(seats, turn))
            dealt = seats[(first + np.arange(count)) % len(seats)]
            turn = (int(dealt[-1]) + 1) % len(circle)
            owners.append(members[dealt])
            topics.append(np.full(count, i))
            partitions.append(np.arange(count))
        return Assignment.of_owners(
            group,
            found.topic_names,
            owner=np.concatenate(owners),
            topic=np.concatenate(topics),
            partition=np.concatenate(partitions),
        )
