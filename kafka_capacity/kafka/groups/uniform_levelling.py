"""Who is next to get a partition and who to give one away (``MemberAssignmentBalancer``, 4.3.1).

The subscribers of a topic are sorted by how many partitions they hold. From the left a range of equally loaded ones
fills up, one each, and widens when its level reaches the next; from the right another one empties likewise. Members
with nothing to give are swapped out at the right end.

>>> levels = Levels([0, 1, 2], [0, 1, 3])
>>> [levels.next_lowest() for _ in range(4)]
[0, 0, 1, 0]
"""

from __future__ import annotations

from collections.abc import Sequence


class Levels:
    """The two ends of the subscribers of one topic.

    Args:
        members: indices of the subscribers, at least one.
        sizes: how many partitions each member of the group holds; read while it changes.
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

    def spread(self) -> int:
        """Return the difference between the most and the least loaded member."""
        return self._sizes[self._sorted[-1]] - self._sizes[self._sorted[0]]

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
