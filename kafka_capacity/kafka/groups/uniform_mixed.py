"""``uniform`` where subscriptions differ (``UniformHeterogeneousAssignmentBuilder``, 4.3.1).

Algorithm:
    1. Members keep everything they have of topics that they still subscribe to.
    2. The other partitions go to the least loaded subscribers of their topic, topics with the most partitions for
       each subscriber first.
    3. Topic by topic in the same order, partitions go from the most loaded of its subscribers to the least loaded
       until those differ by at most one; round and round until nothing moves, at most 16 times.

Members count by their index in the coordinator's map, which settles ties.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.codes import Codes, order_by
from kafka_capacity.kafka.groups.coordinator import held_partitions, known_partition_count, map_order
from kafka_capacity.kafka.groups.loads import fill_from_below
from kafka_capacity.kafka.groups.model import Group, known_rows
from kafka_capacity.kafka.groups.subscriptions import Subscribers, distinct_lists
from kafka_capacity.kafka.java.hash_map import stable_order
from kafka_capacity.kafka.java.hashing import uuid_halves

_MAX_ROUNDS = 16  # UniformHeterogeneousAssignmentBuilder.MAX_ITERATION_COUNT


def assign_mixed(group: Group) -> Assignment:
    """Assign, topic by topic.

    Raises:
        AssignmentError: a subscribed topic does not exist, or a member has a partition that does not exist.
    """
    work = _Mixed(group)
    if not work.topics:
        return Assignment.of(group, {})
    work.keep()
    work.give_rest()
    work.balance()
    code = np.flatnonzero(work.owner >= 0)
    doubled = np.array(sorted(work.overlaps), dtype=np.int64).reshape(-1, 2)
    seat = np.concatenate((work.owner[code], doubled[:, 0]))
    return Assignment.of_sets(group, work.topics, work.codes, work.order[seat], np.concatenate((code, doubled[:, 1])))


class _Mixed:
    """The owners of all partitions, while they change. Members count by their seat, the place in Kafka's map.

    Attributes:
        order: int64[M], the position in the group of the member on each seat.
        topics: the topics that anyone subscribes to, by name.
        codes: the numbers of their partitions.
        owner: int64[P], the seat of who has each partition, -1 for nobody.
        overlaps: (seat, partition): what members keep though another one holds it too.
    """

    def __init__(self, group: Group) -> None:
        order = map_order(group)
        named = dict.fromkeys(topic for listed in distinct_lists(group, order) for topic in listed)
        counts = {topic: known_partition_count(group, topic) for topic in named}
        self.order = np.array(order, dtype=np.int64)
        self.topics = tuple(sorted(counts))
        self.codes = Codes(np.array([counts[topic] for topic in self.topics], dtype=np.int64))
        self.owner = np.full(self.codes.total, -1, dtype=np.int64)
        self.overlaps: set[tuple[int, int]] = set()
        self._group = group
        self._table = {topic: i for i, topic in enumerate(self.topics)}
        self._readers = Subscribers.of(group, order, self._table).sorted_by(np.argsort(self.order))
        self._seat = np.argsort(self.order)
        self._sizes = np.zeros(len(order), dtype=np.int64)
        self._sorted_topics = sorted(range(len(self.topics)), key=self._topic_key)

    def keep(self) -> None:
        """Let the members keep what they have and still subscribe to."""
        lists = [self._group.members[i].owned for i in self.order.tolist()]
        seat, topic, partition = known_rows(lists, self._table)
        stays = self._readers.are_readers(self.order[seat], topic)
        seat, topic, partition = seat[stays], topic[stays], partition[stays]
        is_outside = (partition < 0) | (partition >= np.diff(self.codes.start)[topic])
        if is_outside.any():
            self._refuse(int(seat[is_outside].min()))
        held = np.unique(seat * self.codes.total + self.codes.start[topic] + partition)
        seat, code = np.divmod(held, max(self.codes.total, 1))
        self._sizes += np.bincount(seat, minlength=len(self._sizes))
        # Of equal numbers the last one stays: that is the member that comes last.
        self.owner[code] = seat
        doubled = self.owner[code] != seat
        self.overlaps.update(zip(seat[doubled].tolist(), code[doubled].tolist(), strict=True))

    def give_rest(self) -> None:
        """Give the partitions that nobody holds to the least loaded subscribers."""
        for topic in self._sorted_topics:
            first, end = self.codes.start[topic : topic + 2].tolist()
            free = first + np.flatnonzero(self.owner[first:end] < 0)
            if not len(free):
                continue
            seats = self._seats(topic)
            seats = seats[order_by(self._sizes[seats], seats)]
            to = seats[fill_from_below(len(free), self._sizes[seats], np.arange(len(seats)))]
            self.owner[free] = to
            self._sizes += np.bincount(to, minlength=len(self._sizes))

    def balance(self) -> None:
        """Move partitions within the topics that have two subscribers or more."""
        topics = [topic for topic in self._sorted_topics if self._readers.count[topic] >= 2]
        last_changed: int | None = None
        for _ in range(_MAX_ROUNDS):
            for position, topic in enumerate(topics):
                if position == last_changed:
                    return
                if self._balance_topic(topic) or last_changed is None:
                    last_changed = position

    def _balance_topic(self, topic: int) -> int:
        """Move partitions of one topic; tell how many."""
        seats = self._seats(topic)
        if int(np.ptp(self._sizes[seats])) <= 1:
            return 0
        sizes: list[int] = self._sizes.tolist()
        levels = Levels(seats.tolist(), sizes)
        first, end = self.codes.start[topic : topic + 2].tolist()
        owners = self.owner[first:end]
        # What each member has of the topic: those on one seat together, the end of each run and what is left of it.
        by_seat = (first + stable_order(owners, len(sizes))).tolist()
        left: list[int] = np.bincount(owners, minlength=len(sizes)).tolist()
        run_start: list[int] = (np.cumsum(left) - left).tolist()
        moved = 0
        while not levels.is_balanced():
            giver = levels.next_highest()
            while giver is not None and not left[giver]:
                levels.exclude_highest()
                giver = levels.next_highest()
            if giver is None:
                break
            left[giver] -= 1
            taker = levels.next_lowest()
            if levels.is_balanced():
                break
            code = by_seat[run_start[giver] + left[giver]]
            self.overlaps.discard((giver, code))
            self.owner[code] = taker
            sizes[giver] -= 1
            sizes[taker] += 1
            moved += 1
        self._sizes = np.array(sizes, dtype=np.int64)
        return moved

    def _seats(self, topic: int) -> Ints:
        return self._seat[self._readers.of_topic(topic)]

    def _refuse(self, seat: int) -> None:
        """Fail on the first partition of a member that does not exist, in the order in which Kafka walks over them."""
        member = self._group.members[int(self.order[seat])]
        for topic, partitions in held_partitions(member.owned).items():
            count = known_partition_count(self._group, topic) if topic in member.topics else None
            outside = [n for n in partitions if count is not None and not 0 <= n < count]
            if outside:
                raise AssignmentError(
                    f"{member.member_id!r} has partition {outside[0]} of {topic}, which has {count}",
                    kafka_type="java.lang.ArrayIndexOutOfBoundsException",
                )

    def _topic_key(self, topic: int) -> tuple[float, int, tuple[int, int]]:
        subscribers = int(self._readers.count[topic])
        partitions = int(self.codes.start[topic + 1] - self.codes.start[topic])
        return -partitions / subscribers, subscribers, uuid_halves(self.topics[topic])


class Levels:
    """Who of a topic's subscribers gets a partition next, and who gives one (``MemberAssignmentBalancer``, 4.3.1).

    The subscribers of a topic are sorted by how many partitions they hold. From the left a range of equally loaded ones
    fills up, one each, and widens when its level reaches the next; from the right another one empties likewise. Members
    with nothing to give are swapped out at the right end.

    >>> levels = Levels([0, 1, 2], [0, 1, 3])
    >>> [levels.next_lowest() for _ in range(4)]
    [0, 0, 1, 0]

    ``members`` are indices of the subscribers, at least one; ``sizes``, how many partitions each member of the group
    holds, is read while it changes.
    """

    def __init__(self, members: Sequence[int], sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._sorted = sorted(members, key=lambda index: (sizes[index], index))
        self._low_end = 0
        self._low_level = sizes[self._sorted[0]] - 1
        self._low_next = 0
        self._high_start = self._high_end = len(self._sorted)
        self._high_level = sizes[self._sorted[-1]] + 1
        self._high_next = len(self._sorted) - 1

    def is_balanced(self) -> bool:
        """Return whether the levels of the two ranges differ by one or less."""
        return self._high_level - self._low_level <= 1

    def next_lowest(self) -> int:
        """Return the member to get the next partition."""
        if self._low_next >= self._low_end:
            self._low_level += 1
            while self._low_end < len(self._sorted) and self._size_at(self._low_end) == self._low_level:
                self._low_end += 1
            self._low_next = 0
        member = self._sorted[self._low_next]
        self._low_next += 1
        return member

    def next_highest(self) -> int | None:
        """Return the member to give the next partition away, ``None`` when nobody has any."""
        if self._high_next < self._high_start:
            if self._high_end <= self._high_start and self._high_start > 0:
                # All of the range were swapped out: go on from the next member, whatever it holds.
                self._high_level = self._size_at(self._high_start - 1)
            else:
                self._high_level -= 1
            while self._high_start > 0 and self._size_at(self._high_start - 1) == self._high_level:
                self._high_start -= 1
            self._high_next = self._high_end - 1
        if self._high_next < 0:
            return None
        member = self._sorted[self._high_next]
        self._high_next -= 1
        return member

    def exclude_highest(self) -> None:
        """Swap the member that :meth:`next_highest` gave last out of its range: it has nothing to give."""
        at, end = self._high_next + 1, self._high_end - 1
        self._sorted[at], self._sorted[end] = self._sorted[end], self._sorted[at]
        self._high_end -= 1

    def _size_at(self, position: int) -> int:
        return self._sizes[self._sorted[position]]
