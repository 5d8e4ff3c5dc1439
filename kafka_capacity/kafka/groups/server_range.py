"""``range`` of the group coordinator (KIP-848, ``RangeAssignor`` of the group coordinator, 4.3.1).

Goals:
    Balance within a topic, and co-partitioning of topics of one size with the same subscribers. It does not look at
    racks nor at what members have.

Constraints:
    Members sort by ``group.instance.id``, those without one after the others by member id. All topics must exist.

Algorithm:
    Of p partitions and c subscribers each gets p // c, the first p % c one more.

Worked example, 3 partitions over 2 members:

>>> from kafka_capacity.kafka.groups.model import Group, Member, Topic
>>> orders = "AAAAAAAAAAAAAAAAAAAAAQ"
>>> members = tuple(Member(member_id=name, topics=(orders,)) for name in "ab")
>>> group = Group(topics=(Topic(name=orders, partitions=3),), members=members)
>>> {name: [p for _, p in part] for name, part in ServerRangeAssignor().assign(group).lists().items()}
{'a': [0, 1], 'b': [2]}
"""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.codes import Codes
from kafka_capacity.kafka.groups.coordinator import known_partition_count, map_order
from kafka_capacity.kafka.groups.model import Group
from kafka_capacity.kafka.groups.range_ import cut_into_runs
from kafka_capacity.kafka.groups.registry import GroupProtocol, register
from kafka_capacity.kafka.groups.subscriptions import Subscribers, distinct_lists, join_places


@register("range", GroupProtocol.CONSUMER)
def assign_server_ranges(group: Group) -> Assignment:
    """Assign runs of neighbours, topic by topic.

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
