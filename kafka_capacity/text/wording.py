"""Names and words as they stand in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from kafka_capacity.text.figures import NOTHING

MAIL_PREFIX = "[kafka-capacity] "  # what begins the subject of every mail

_MOST_DIGITS = 6  # more than usual, by which two amounts are told apart


def told_apart(write: Callable[[float, int], str], one: float, other: float) -> Callable[[float], str]:
    """Return how to write two amounts, and what belongs to them, with as many more digits as show that they differ.

    >>> write = told_apart(lambda gib, more: f"{gib:.{more}f} GiB", 0.31, 0.27)
    >>> write(0.31), write(0.27), write(12.0)
    ('0.31 GiB', '0.27 GiB', '12.00 GiB')
    """
    differing = (more for more in range(_MOST_DIGITS) if write(one, more) != write(other, more))
    more = next(differing, 0)
    return lambda amount: write(amount, more)


def few_names(names: Iterable[object], most: int, total: int | None = None) -> str:
    """Name a few: ``a, b, c and 7 more``; nothing of none. Without a total the names are all there are."""
    if total is None:
        names = list(names)
        total = len(names)
    shown = [str(name) for name in islice(names, most)]
    rest = total - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest > 0 else "")


_MOST_BROKERS = 6  # that are named


def named_brokers(brokers: Sequence[int]) -> str:
    """Name brokers by their ids: a few of them, and how many more there are."""
    return f"{'broker' if len(brokers) == 1 else 'brokers'} {few_names(brokers, _MOST_BROKERS)}"


def format_ids(ids: Sequence[int]) -> str:
    """Write a replica list as Kafka's tools print it, without its brackets."""
    return ", ".join(str(broker) for broker in ids)


def format_text(value: object) -> str:
    """Write a word as it is; nothing as a dash."""
    return NOTHING if value is None or value == "" else str(value)


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
    """Write ``1 broker``, ``2 brokers`` or ``2 processes``."""
    ending = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun if number == 1 else noun + ending}"


def first_lines(mistakes: Sequence[str], most: int) -> str:
    """Write some mistakes, a line each, and how many more there are."""
    more = len(mistakes) - most
    return "\n".join([*mistakes[:most], *([f"… and {more} more"] if more > 0 else [])])


def capitalised(text: str) -> str:
    """Begin a sentence: only the first letter changes."""
    return text[:1].upper() + text[1:]


def uncapitalised(text: str) -> str:
    """Put what began a sentence inside one."""
    return text[:1].lower() + text[1:]


def listed(names: Sequence[str], last: str = "and") -> str:
    """Write ``a``, ``a and b`` or ``a, b and c``.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
