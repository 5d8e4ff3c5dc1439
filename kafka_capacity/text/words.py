"""Words, names and lists."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_capacity.text.figures import NOTHING, changed


def format_ids(ids: Sequence[int]) -> str:
    """Write a replica list as Kafka's tools print it, without its brackets."""
    return ", ".join(str(broker) for broker in ids)


def format_text(value: object) -> str:
    """Write a word as it is; nothing as a dash."""
    return NOTHING if value is None or value == "" else str(value)


def format_text_change(pair: Sequence[str | None]) -> str:
    """Write a word before and after, once where they are the same."""
    return changed(pair, format_text)


def format_ranges(topics: Sequence[Sequence[str]]) -> str:
    """Write partitions by topic: each entry is a topic and its partitions.

    >>> format_ranges([["orders", "0–3, 7"], ["payments", "2"]])
    'orders 0–3, 7; payments 2'
    """
    return "; ".join(" ".join(entry) for entry in topics) if topics else NOTHING


def format_yes(value: bool) -> str:
    """Write a truth."""
    return "yes" if value else "no"


def plural(number: int, noun: str) -> str:
    """Write ``1 broker`` or ``2 brokers``."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """Write ``a``, ``a and b`` or ``a, b and c``.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
