"""Giving and moving single partitions in the general sticky assignment (4.3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_capacity.groups.codes import Codes
from kafka_capacity.groups.loads import Loads
from kafka_capacity.groups.movements import Movements
from kafka_capacity.groups.racks import Racks
from kafka_capacity.groups.subscriptions import Subscriptions
from kafka_capacity.java.hashing import string_hashes, to_int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Who subscribes to what. A topic that a member names twice counts twice, as in Kafka.

    Attributes:
        subscribers: members of each topic.
        topics: topics of each member, in its own order.
        wanted: the same as sets.
        most: how many partitions each member can get at most.
    """

    subscribers: list[list[int]]
    topics: list[list[int]]
    wanted: list[frozenset[int]]
    most: list[int]

    @classmethod
    def of(cls, found: Subscriptions) -> Wishes:
        """Read a group."""
        topics = [[found.table[name] for name in m.topics if name in found.table] for m in found.group.members]
        sizes = [topic.partitions for topic in found.topics]
        return cls(
            subscribers=[found.subscribers().of_topic(i).tolist() for i in range(len(found.topics))],
            topics=topics,
            wanted=[frozenset(listed) for listed in topics],
            most=[sum(sizes) if len(t) == len(sizes) else sum(sizes[i] for i in t) for t in topics],
        )

    def is_shared(self, topic: int) -> bool:
        """Tell whether a topic has two subscribers or more."""
        return len(self.subscribers[topic]) >= 2


class Reassigning:
    """The moves of one assignment.

    Args:
        found: the group.
        codes: the numbers of its partitions.
        racks: where everything is.
        wishes: who subscribes to what.
        loads: who holds what; brought up to date.
        previous: who had a partition a generation ago.
    """

    def __init__(
        self,
        found: Subscriptions,
        codes: Codes,
        racks: Racks,
        wishes: Wishes,
        loads: Loads,
        previous: dict[int, int],
    ) -> None:
        self.loads = loads
        self.topic_of: list[int] = codes.topic.tolist()
        self._starts: list[int] = codes.start.tolist()
        self._racks = racks
        self._wishes = wishes
        self._previous = previous
        hashes = string_hashes(found.topic_names).tolist()
        numbers = codes.partition.tolist()
        self._movements = Movements(
            self.topic_of.__getitem__, lambda code: to_int(31 * (31 + numbers[code]) + hashes[self.topic_of[code]])
        )
        # A kept claim of a partition that does not exist makes Kafka's lists overlap.
        self._is_clean = all(code < codes.total for codes_held in loads.lists for code in codes_held)
        self._is_balanced: bool | None = None

    def give(self, code: int, *, in_rack: bool = False) -> bool:
        """Give a partition to the least loaded subscriber (in its racks); tell whether there was one."""
        topic = self.topic_of[code]
        for member in self.loads.by_size():
            if topic in self._wishes.wanted[member] and not (in_rack and self._racks.mismatch(member, code)):
                self.loads.give(code, member)
                return True
        return False

    def reassign(self, codes: Sequence[int]) -> bool:
        """Move partitions until no move helps; tell whether any moved."""
        any_moved = False
        has_moved = True
        self._is_balanced = None
        while has_moved:
            has_moved = False
            for code in codes:
                if self._balanced():
                    break
                if self._improve(code):
                    has_moved = any_moved = True
                    self._is_balanced = None
        return any_moved

    def _improve(self, code: int) -> bool:
        loads = self.loads
        holder = loads.owner.get(code)
        if code in self._previous:
            before = self._previous[code]
            if loads.size(holder) > loads.size(before) + 1:
                self._move(code, before)
                return True
        subscribers = self._wishes.subscribers[self.topic_of[code]]
        rack = None if holder is None else self._racks.member[holder]
        is_placed = self._racks.count and rack is not None and rack in self._racks.partition[code]
        in_rack = [i for i in subscribers if self._racks.member[i] in self._racks.partition[code]] if is_placed else []
        for other in (*in_rack, *subscribers):
            if loads.size(holder) > loads.size(other) + 1:
                self._move(code, self._least_loaded(code))
                return True
        return False

    def _least_loaded(self, code: int) -> int:
        topic = self.topic_of[code]
        return next(member for member in self.loads.by_size() if topic in self._wishes.wanted[member])

    def _move(self, code: int, member: int) -> None:
        actual = self._movements.actual(code, self.loads.owner[code], member)
        self._movements.record(actual, self.loads.owner[actual], member)
        self.loads.move(actual, member)

    def _balanced(self) -> bool:
        """Tell whether no move of one partition helps; known until the next move."""
        if self._is_balanced is None:
            fewest, most = self.loads.extremes()
            if fewest >= most - 1:
                self._is_balanced = True
            else:
                self._is_balanced = self._no_move_helps() if self._is_clean else self._no_move_helps_overlapping()
        return self._is_balanced

    def _no_move_helps(self) -> bool:
        loads = self.loads
        largest: dict[int, int] = {}
        for member in loads.by_size():
            size = len(loads.lists[member])
            if size == self._wishes.most[member]:
                continue
            for topic in self._wishes.topics[member]:
                if topic not in largest:
                    codes = range(self._starts[topic], self._starts[topic + 1])
                    largest[topic] = max(loads.size(holder) for holder in {loads.owner[code] for code in codes})
                if size + 1 < largest[topic]:
                    return False
        return True

    def _no_move_helps_overlapping(self) -> bool:
        loads = self.loads
        holders = loads.holders(range(self._starts[-1]))
        for member in loads.by_size():
            held = set(loads.lists[member])
            size = len(loads.lists[member])
            if size == self._wishes.most[member]:
                continue
            for topic in self._wishes.topics[member]:
                for code in range(self._starts[topic], self._starts[topic + 1]):
                    if code not in held and size + 1 < loads.size(holders.get(code)):
                        return False
        return True
