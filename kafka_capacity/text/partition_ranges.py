"""Partitions by topic, in as few words as will do: ``orders 0–3, 7``."""

from __future__ import annotations

from collections.abc import Iterable

MAX_TOPICS = 4  # topics that one cell of a table names; further ones are counted
MAX_RANGES = 8  # ranges of one topic that a cell names; further partitions are counted


def by_topic(names: Iterable[str]) -> dict[str, list[int]]:
    """Group partitions, ``topic-partition``, by topic: the numbers of each, ascending.

    >>> by_topic(["orders-1", "a-b-3", "orders-0"])
    {'orders': [0, 1], 'a-b': [3]}
    """
    found: dict[str, list[int]] = {}
    for name in names:
        topic, _, number = name.rpartition("-")
        found.setdefault(topic, []).append(int(number))
    return {topic: sorted(numbers) for topic, numbers in found.items()}


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and last of each run of neighbours among ascending numbers.

    >>> runs([0, 1, 2, 7])
    [(0, 2), (7, 7)]
    """
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def number_ranges(numbers: Iterable[int]) -> str:
    """Write numbers with runs of three and more as ranges.

    >>> number_ranges([8, 1, 2, 3, 4, 6, 7])
    '1–4, 6–8'
    """
    return ", ".join(_run(first, last) for first, last in runs(sorted(numbers)))


def partition_ranges(names: Iterable[str]) -> list[list[str]]:
    """Return each topic with its partitions, given as ``topic-partition``, runs of them as ranges.

    >>> partition_ranges(["orders-0", "orders-1", "orders-2", "orders-7", "a-b-3"])
    [['a-b', '3'], ['orders', '0–2, 7']]
    """
    listed = by_topic(names)
    topics = sorted(listed)
    found = [[topic, _ranges(listed[topic])] for topic in topics[:MAX_TOPICS]]
    rest = topics[MAX_TOPICS:]
    if rest:
        count = sum(len(listed[topic]) for topic in rest)
        found.append(["", f"and {count:,} of {len(rest):,} more topic{'' if len(rest) == 1 else 's'}"])
    return found


def _ranges(numbers: list[int]) -> str:
    found = runs(numbers)
    shown = [_run(low, high) for low, high in found[:MAX_RANGES]]
    rest = sum(high - low + 1 for low, high in found[MAX_RANGES:])
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def _run(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return f"{low}, {high}" if high == low + 1 else f"{low}–{high}"
