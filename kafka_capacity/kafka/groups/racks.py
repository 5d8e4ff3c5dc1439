"""Which partitions have a replica in a member's rack, for the sticky assignors of the client (4.3.1).

Racks count only if some member's rack holds a replica and the racks of the partitions differ. Even if they do not
count, a member with a rack makes Kafka sort the partitions by how many members are in their racks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.range_ import partition_racks, racks_differ
from kafka_capacity.kafka.groups.subscriptions import Subscriptions


class Racks:
    """Racks of the members and of all partitions, which are numbered through, topic by topic."""

    member: list[str | None]  # the rack of each member, as the group lists them; all `None` where racks do not count
    partition: list[frozenset[str]]  # the racks of each partition; empty where racks do not count
    nearby: Ints | None  # int64[P], how many members are in the racks of each partition; `None` if no member has a rack

    def __init__(self, found: Subscriptions) -> None:
        members = found.group.members
        self.member = [None] * len(members)
        self.partition = []
        self.nearby = None
        counted = Counter(member.rack for member in members if member.rack)
        if not counted:
            return
        racks = [at for topic in found.topics for at in partition_racks(topic)]
        self.nearby = np.array([sum(counted[rack] for rack in at) for at in racks], dtype=np.int64)
        if racks_differ(frozenset(counted), racks):
            self.member = [member.rack or None for member in members]
            self.partition = racks

    @property
    def count(self) -> bool:
        """Whether racks are looked at."""
        return bool(self.partition)

    def mismatch(self, member: int, code: int) -> bool:
        """Return whether a member has a rack and a partition (which may not exist) has no replica in it."""
        rack = self.member[member]
        return rack is not None and not (code < len(self.partition) and rack in self.partition[code])

    def next_in_rack(self, code: int, members: Sequence[int], first: int) -> int | None:
        """Find the first member in a rack of a partition, from a position on and round; give its position."""
        at = self.partition[code]
        for step in range(len(members)) if at else ():
            position = (first + step) % len(members)
            rack = self.member[members[position]]
            if rack is not None and rack in at:
                return position
        return None
