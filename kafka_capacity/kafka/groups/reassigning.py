"""Giving and moving single partitions in the general sticky assignment (4.3.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.groups.codes import Codes
from kafka_capacity.kafka.groups.loads import ASIDE, Loads
from kafka_capacity.kafka.groups.racks import Racks
from kafka_capacity.kafka.groups.subscriptions import Subscribers, Subscriptions, topics_by_list
from kafka_capacity.kafka.java.hash_map import JavaHashSet
from kafka_capacity.kafka.java.hashing import string_hashes, to_int

Pair = tuple[int, int]  # the member that had a partition before all moves, and the one that has it now


class Movements:
    """Moves of partitions between members, none of which may cross another (``PartitionMovements``, 4.3.1).

    Args:
        topic_of: the topic of a partition (by number).
        hash_of: its Java hash: where a set of partitions offers a choice, its first in Java's order is taken.
    """

    def __init__(self, topic_of: Callable[[int], int], hash_of: Callable[[int], int]) -> None:
        self._topic_of = topic_of
        self._hash_of = hash_of
        self._by_topic: dict[int, dict[Pair, JavaHashSet[int]]] = {}
        self._pair: dict[int, Pair] = {}

    def actual(self, code: int, holder: int, new: int) -> int:
        """Return which partition to move in the place of one: of its topic, one that came from the new member."""
        moves = self._by_topic.get(self._topic_of(code))
        if not moves:
            return code
        came_from = self._pair[code][0] if code in self._pair else holder
        crossing = moves.get((new, came_from))
        return code if crossing is None else next(iter(crossing))

    def record(self, code: int, holder: int, new: int) -> None:
        """Note a move; one back to where a partition was at first cancels out."""
        if code not in self._pair:
            self._add(code, (holder, new))
            return
        first = self._remove(code)
        if first != new:
            self._add(code, (first, new))

    def _add(self, code: int, pair: Pair) -> None:
        self._pair[code] = pair
        moves = self._by_topic.setdefault(self._topic_of(code), {})
        if pair not in moves:
            moves[pair] = JavaHashSet[int](self._hash_of)
        moves[pair].add(code)

    def _remove(self, code: int) -> int:
        pair = self._pair.pop(code)
        topic = self._topic_of(code)
        moves = self._by_topic[topic]
        moves[pair].discard(code)
        if not len(moves[pair]):
            del moves[pair]
        if not moves:
            del self._by_topic[topic]
        return pair[0]


_FIRST_LOOK = 16  # partitions looked at in one go, four times as many after each look in vain


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wishes:
    """Who subscribes to what. A topic that a member names twice counts twice, as in Kafka."""

    subscribers: Subscribers  # members of each topic
    topics: list[Ints]  # int64 arrays, topics of each member, in its own order
    most: list[int]  # how many partitions each member can get at most

    @classmethod
    def of(cls, found: Subscriptions) -> Wishes:
        """Read a group."""
        members = found.group.members
        wanted = topics_by_list(found.group, found.order, found.table)
        sizes = found.partition_counts()
        most = {key: int((sizes if len(t) == len(sizes) else sizes[t]).sum()) for key, t in wanted.items()}
        return cls(
            subscribers=found.subscribers(),
            topics=[wanted[id(member.topics)] for member in members],
            most=[most[id(member.topics)] for member in members],
        )


class Reassigning:
    """The moves of one assignment; ``loads`` are brought up to date.

    ``previous`` is who had a partition a generation ago.
    """

    def __init__(
        self, found: Subscriptions, codes: Codes, racks: Racks, wishes: Wishes, loads: Loads, previous: dict[int, int]
    ) -> None:
        self.loads = loads
        self.topic_of: list[int] = codes.topic.tolist()
        self.topics = codes.topic
        self._starts: list[int] = codes.start.tolist()
        self._racks = racks
        self._wishes = wishes
        self._previous = previous
        self._before = np.full(len(codes.topic), -1, dtype=np.int64)
        self._before[list(previous)] = list(previous.values())
        hashes = string_hashes(found.topic_names).tolist()
        numbers = codes.partition.tolist()
        self._movements = Movements(
            self.topic_of.__getitem__, lambda code: to_int(31 * (31 + numbers[code]) + hashes[self.topic_of[code]])
        )
        # A kept claim of a partition that does not exist makes Kafka's lists overlap.
        self._is_clean = not (loads.owner[codes.total :] >= 0).any()
        self._is_balanced: bool | None = None

    def give(self, codes: Ints) -> None:
        """Give away partitions, those of a topic together, each to the least loaded subscriber."""
        readers = self._wishes.subscribers
        self.loads.fill([(run, np.unique(readers.of_topic(topic))) for topic, run in self._runs(codes)])

    def give_in_rack(self, codes: Ints) -> Ints:
        """Give partitions to the least loaded subscriber in their racks each; list those for which there is none."""
        left: list[int] = []
        for topic, run in self._runs(codes):
            readers = frozenset(self._wishes.subscribers.of_topic(topic).tolist())
            for code in run.tolist():
                near = (i for i in self.loads.by_size() if i in readers and not self._racks.mismatch(i, code))
                member = next(near, None)
                if member is None:
                    left.append(code)
                else:
                    self.loads.give(code, member)
        return np.array(left, dtype=np.int64)

    def reassign(self, codes: Ints) -> bool:
        """Move partitions until no move helps; tell whether any moved."""
        runs = self._runs(codes)
        any_moved = False
        has_moved = True
        self._is_balanced = None
        while has_moved:
            has_moved = False
            for topic, run in runs:
                has_moved |= self._try(topic, run)
                if self._balanced():
                    break
            any_moved |= has_moved
        return any_moved

    def _runs(self, codes: Ints) -> list[tuple[int, Ints]]:
        """Cut a list of partitions where the topic changes."""
        if not len(codes):
            return []
        topics = self.topics[codes]
        cuts = np.flatnonzero(np.diff(topics)) + 1
        return list(zip(topics[np.append(0, cuts)].tolist(), np.split(codes, cuts), strict=True))

    def _try(self, topic: int, run: Ints) -> bool:
        """Move what may move of one topic, until all is balanced; tell whether any moved."""
        subscribers = self._wishes.subscribers.of_topic(topic)
        has_aside = self.loads.any_aside and bool((self.loads.weight[subscribers] == ASIDE).any())
        has_moved = False
        at = 0
        while at < len(run) and not self._balanced():
            if has_aside:
                moves = self._improve(int(run[at]), subscribers)
            else:
                fewest = int(self.loads.weight[subscribers].min())
                at = self._next(run, at, fewest)
                moves = at < len(run) and self._improve(int(run[at]), subscribers, fewest)
            if moves:
                has_moved = True
                self._is_balanced = None
            at += 1
        return has_moved

    def _next(self, run: Ints, at: int, fewest: int) -> int:
        """Find the next partition that could move, or for which Kafka fails; the length of the run if none does."""
        weight = self.loads.weight
        length = _FIRST_LOOK
        while at < len(run):
            looked = run[at : at + length]
            holds = weight[self.loads.owner[looked]]
            may_move = holds > fewest + 1
            if self._previous:
                before = self._before[looked]
                may_move |= (before >= 0) & ((weight[before] == ASIDE) | (holds > weight[before] + 1))
            if may_move.any():
                return at + int(may_move.argmax())
            at += length
            length *= 4
        return len(run)

    def _improve(self, code: int, subscribers: Ints, fewest: int | None = None) -> bool:
        """Move a partition if that helps; tell whether it does.

        ``subscribers`` are those of its topic, the least loaded of whom holds ``fewest`` partitions; ``None`` if one is
        set aside, for then Kafka fails when it comes to that one.
        """
        loads = self.loads
        holder = loads.holder(code)
        if code in self._previous:
            before = self._previous[code]
            if loads.size(holder) > loads.size(before) + 1:
                self._move(code, before)
                return True
        if fewest is not None:
            if loads.size(holder) <= fewest + 1:
                return False
            self._move(code, loads.lightest(subscribers))
            return True
        others = subscribers.tolist()
        rack = None if holder is None else self._racks.member[holder]
        is_placed = self._racks.count and rack is not None and rack in self._racks.partition[code]
        in_rack = [i for i in others if self._racks.member[i] in self._racks.partition[code]] if is_placed else []
        for other in (*in_rack, *others):
            if loads.size(holder) > loads.size(other) + 1:
                self._move(code, loads.lightest(subscribers))
                return True
        return False

    def _move(self, code: int, member: int) -> None:
        actual = self._movements.actual(code, int(self.loads.owner[code]), member)
        self._movements.record(actual, int(self.loads.owner[actual]), member)
        self.loads.move(actual, member)

    def _balanced(self) -> bool:
        """Return whether no move of one partition helps; known until the next move."""
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
            for topic in self._wishes.topics[member].tolist():
                if topic not in largest:
                    holders = loads.owner[self._starts[topic] : self._starts[topic + 1]]
                    heaviest = int(holders[int(loads.weight[holders].argmax())])
                    largest[topic] = loads.size(heaviest)
                if size + 1 < largest[topic]:
                    return False
        return True

    def _no_move_helps_overlapping(self) -> bool:
        loads = self.loads
        holders = loads.holders()
        for member in loads.by_size():
            held = loads.lists[member]
            size = len(held)
            if size == self._wishes.most[member]:
                continue
            others = loads.weight[holders]
            others[held] = 0
            for topic in self._wishes.topics[member].tolist():
                first, end = self._starts[topic], self._starts[topic + 1]
                helps = others[first:end] > size + 1
                if helps.any():
                    holder = int(holders[first + int(helps.argmax())])
                    return size + 1 >= loads.size(None if holder < 0 else holder)
        return True
