"""The order in which ``java.util.PriorityQueue`` hands out items of equal priority (JDK 17).

Algorithm:
    A binary heap in an array: a new item goes to the end and rises above every parent of a *higher* priority value; the
    last item takes the place of the one handed out and sinks below its smaller child, the left one where both are
    alike. Python's :mod:`heapq` sinks the last item to the bottom first and lets it rise from there, so that items of
    equal priority leave it in another order.

>>> queue = JavaPriorityQueue[str]()
>>> for name in "abcd":
...     queue.add(0, name)
>>> [queue.poll() for _ in range(4)]
['a', 'd', 'c', 'b']
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class JavaPriorityQueue(Generic[T]):
    """Items by their priority, the smallest first; an item's priority stays as it was when it was added."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[tuple[float, T]] = []

    def add(self, priority: float, item: T) -> None:
        """Add an item (``siftUp``)."""
        entries = self._entries
        place = len(entries)
        entries.append((priority, item))
        while place and entries[(place - 1) >> 1][0] > priority:
            entries[place] = entries[(place - 1) >> 1]
            place = (place - 1) >> 1
        entries[place] = (priority, item)

    def poll(self) -> T:
        """Take the item of the smallest priority out (``siftDown``); IndexError where there is none."""
        entries = self._entries
        first = entries[0][1]
        last = entries.pop()
        if entries:
            place = 0
            while (child := 2 * place + 1) < len(entries):
                if child + 1 < len(entries) and entries[child][0] > entries[child + 1][0]:
                    child += 1
                if last[0] <= entries[child][0]:
                    break
                entries[place] = entries[child]
                place = child
            entries[place] = last
        return first

    def __len__(self) -> int:
        return len(self._entries)
