"""``range`` of the group coordinator (KIP-848, ``RangeAssignor`` of the group coordinator, 4.3.1).

Goals:
    Balance within a topic, and co-partitioning of topics of one size with the same subscribers. It does not look at
    racks nor at what members have.

Constraints:
    Members sort by ``group.instance.id``, those without one after the others by member id. All topics must exist.

Algorithm:
    Of p partitions and c subscribers each gets p // c, the first p % c one more.

Worked example, 3 partitions over 2 members:

>>> from kafka_capacity.groups.model import Group, Member, Topic
>>> orders = "AAAAAAAAAAAAAAAAAAAAAQ"
>>> members = tuple(Member(member_id=name, topics=(orders,)) for name in "ab")
>>> group = Group(topics=(Topic(name=orders, partitions=3),), members=members)
>>> {name: [p for _, p in part] for name, part in ServerRangeAssignor().assign(group).lists().items()}
{'a': [0, 1], 'b': [2]}
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.groups.assignment import Assignment
from kafka_capacity.groups.coordinator import known_partition_count, members_in_map
from kafka_capacity.groups.model import Group
from kafka_capacity.groups.range_ import range_owners
from kafka_capacity.groups.registry import GroupProtocol, register
from kafka_capacity.groups.subscriptions import join_order_key


@register("range", GroupProtocol.CONSUMER)
class ServerRangeAssignor:
    """Runs of neighbours, topic by topic."""

    name: str
    is_cooperative = False

    def assign(self, group: Group) -> Assignment:
        """Assign topic by topic.

        Raises:
            AssignmentError: a member subscribes to a topic that does not exist.
        """
        position = {member.member_id: i for i, member in enumerate(group.members)}
        subscribers: dict[str, list[int]] = {}
        for member in sorted(members_in_map(group), key=join_order_key):
            for topic in dict.fromkeys(member.topics):
                subscribers.setdefault(topic, []).append(position[member.member_id])
        topics = tuple(sorted(subscribers))
        empty = np.empty(0, dtype=np.int64)
        owners = [range_owners(known_partition_count(group, topic), np.array(subscribers[topic])) for topic in topics]
        return Assignment.of_owners(
            group,
            topics,
            owner=np.concatenate([empty, *owners]),
            topic=np.concatenate([empty, *(np.full(len(owner), i) for i, owner in enumerate(owners))]),
            partition=np.concatenate([empty, *(np.arange(len(owner)) for owner in owners)]),
        )
