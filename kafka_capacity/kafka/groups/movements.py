"""What the general sticky assignment has moved so far, so that no two moves cross (``PartitionMovements``, 4.3.1)."""

from __future__ import annotations

from collections.abc import Callable

from kafka_capacity.kafka.java.hash_map import JavaHashSet

Pair = tuple[int, int]  # the member that had a partition before all moves, and the one that has it now


class Movements:
    """Moves of partitions between members.

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
