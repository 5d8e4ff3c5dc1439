"""Rates, times and names as they stand in the sentences of excuses and advice."""

from __future__ import annotations

from collections.abc import Iterable


def shown_rate(bytes_per_second: float) -> str:
    """Write a rate: ``12.3 MiB/s``."""
    for unit, size in (("GiB/s", 2**30), ("MiB/s", 2**20), ("KiB/s", 2**10)):
        if bytes_per_second >= size:
            return f"{_three_digits(bytes_per_second / size)} {unit}"
    return f"{_three_digits(bytes_per_second)} B/s"


def shown_throttle(bytes_per_second: float) -> str:
    """Write a throttle, in the decimal units that people set it in: ``12.3 MB/s``."""
    return f"{bytes_per_second / 1e6:,.1f} MB/s" if bytes_per_second >= 1e5 else f"{bytes_per_second:,.0f} B/s"


def few_names(names: Iterable[object], most: int) -> str:
    """Name a few: ``a, b, c and 7 more``; nothing of none."""
    every = [str(name) for name in names]
    rest = len(every) - most
    return ", ".join(every[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"
