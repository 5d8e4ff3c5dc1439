"""Partitions by topic, in as few words as will do: ``orders 0–3, 7``."""

from __future__ import annotations

from collections.abc import Iterable

MAX_TOPICS = 4
"""Topics that one cell of a table names; further ones are counted."""
MAX_RANGES = 8
"""Ranges of one topic that a cell names; further partitions are counted."""


def partition_ranges(names: Iterable[str]) -> list[list[str]]:
    """Give each topic with its partitions, runs of them as ranges.

    >>> partition_ranges(["orders-0", "orders-1", "orders-2", "orders-7", "a-b-3"])
    [['a-b', '3'], ['orders', '0–2, 7']]

    Args:
        names: of partitions, ``topic-partition``.
    """
    by_topic: dict[str, list[int]] = {}
    for name in names:
        topic, _, number = name.rpartition("-")
        by_topic.setdefault(topic, []).append(int(number))
    topics = sorted(by_topic)
    found = [[topic, _ranges(sorted(by_topic[topic]))] for topic in topics[:MAX_TOPICS]]
    rest = topics[MAX_TOPICS:]
    if rest:
        count = sum(len(by_topic[topic]) for topic in rest)
        found.append(["", f"and {count:,} of {len(rest):,} more topic{'' if len(rest) == 1 else 's'}"])
    return found


def _ranges(numbers: list[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [_run(run) for run in runs[:MAX_RANGES]]
    rest = sum(len(run) for run in runs[MAX_RANGES:])
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def _run(run: list[int]) -> str:
    if len(run) == 1:
        return str(run[0])
    return f"{run[0]}, {run[1]}" if len(run) == 2 else f"{run[0]}–{run[-1]}"
