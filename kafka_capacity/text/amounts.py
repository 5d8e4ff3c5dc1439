"""Bytes, and bytes a second."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kafka_capacity.text.figures import NOTHING, as_float, signed, write_number
from kafka_capacity.text.wording import told_apart

_IEC = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SI = ("B", "kB", "MB", "GB", "TB", "PB")
_ABSURD_BYTES = 1e24  # from here on figures are in scientific notation, where the next smaller unit says nothing


def iec_unit(largest: float) -> tuple[str, int]:
    """Return the unit in which an amount is at least 1, and how many bytes it is.

    >>> iec_unit(3 * 1024**4)
    ('TiB', 1099511627776)
    """
    place = 0
    while place < len(_IEC) - 1 and abs(largest) >= 1024 ** (place + 1):
        place += 1
    return _IEC[place], 1024**place


def _scaled(amount: float, base: int, units: Sequence[str], more_digits: int = 0) -> str:
    place = 0
    value = abs(as_float(amount))
    if math.isnan(value):
        return NOTHING
    # Compared after rounding, so that 1023.95 KiB is 1.0 MiB and never 1,024.0 KiB.
    while place < len(units) - 1 and round(value, 1 if place else 0) >= base:
        value /= base
        place += 1
    decimals = (1 if place else 0) + more_digits
    return f"{write_number(math.copysign(value, as_float(amount)), decimals, at_most=1e9)} {units[place]}"


def format_bytes(amount: float | None, more_digits: int = 0) -> str:
    """Write an amount of bytes, to the usual number of digits or more.

    >>> [format_bytes(n) for n in (0, 1023, 1536, 1023.95 * 1024, 5 * 1024**4, None)]
    ['0 B', '1,023 B', '1.5 KiB', '1.0 MiB', '5.0 TiB', '—']
    """
    return NOTHING if amount is None else _scaled(amount, 1024, _IEC, more_digits)


def format_rate(amount: float | None, more_digits: int = 0) -> str:
    """Write bytes a second, IEC, to the usual number of digits or more.

    >>> format_rate(3 * 1024**2), format_rate(3 * 1024**2, 1)
    ('3.0 MiB/s', '3.00 MiB/s')
    """
    return NOTHING if amount is None else f"{_scaled(amount, 1024, _IEC, more_digits)}/s"


def format_throttle(amount: float | None) -> str:
    """Write a throttle in the decimal unit that it was chosen in.

    >>> [format_throttle(t) for t in (50e6, 12_500_000, 999_960)]
    ['50 MB/s', '12.5 MB/s', '1 MB/s']
    """
    if amount is None:
        return NOTHING
    return _scaled(amount, 1000, _SI).replace(".0 ", " ") + "/s"


def format_throttle_above(amount: float | None) -> str:
    """Write a throttle that is not enough, rounded up, so that what is read is never too small.

    >>> format_throttle_above(6_110_000)
    '6.2 MB/s'
    """
    if amount is None or not math.isfinite(as_float(amount)) or abs(amount) >= _ABSURD_BYTES:
        return format_throttle(amount)
    step = 1000 ** max(0, sum(1 for place in range(1, len(_SI)) if abs(amount) >= 1000**place)) / 10
    return format_throttle(math.ceil(amount / step) * step)


def format_byte_delta(amount: float | None) -> str:
    """Write a change in bytes with its sign.

    >>> [format_byte_delta(d) for d in (2048, -2048, 0)]
    ['+2.0 KiB', '−2.0 KiB', '0 B']
    """
    return signed(amount, format_bytes)


def format_load(load: Sequence[Any] | None) -> str:
    """Write a rate against a capacity, which is a limit or is at least so much; one that exceeds it is seen to.

    >>> [format_load(x) for x in ((1024**2, 2 * 1024**2, True), (1024**2, 2 * 1024**2, False), (1024, None, False))]
    ['1.0 MiB/s of 2.0 MiB/s', '1.0 MiB/s of at least 2.0 MiB/s', '1.0 KiB/s of an unknown capacity']
    >>> format_load((6_000_000, 5_994_000, True)), format_load((5_994_000, 6_000_000, True))
    ('5.722 MiB/s of 5.716 MiB/s', '5.7 MiB/s of 5.7 MiB/s')
    """
    if load is None:
        return NOTHING
    rate, capacity, is_limit = load
    if capacity is None:
        return f"{format_rate(rate)} of an unknown capacity"
    write = told_apart(format_rate, rate, capacity) if rate > capacity else format_rate
    return f"{write(rate)} of {'' if is_limit else 'at least '}{write(capacity)}"
