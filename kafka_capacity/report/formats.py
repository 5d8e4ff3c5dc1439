"""Figures as people read them. Templates reach every function here by the name of its filter.

Amounts of bytes are IEC (KiB, MiB, …); a throttle is decimal (MB/s), since that is how it is typed for
``kafka-reassign-partitions --throttle``. Rounding never shows 1,024 of a unit or 60 of a smaller one. What is absurdly
large is in scientific notation, and what is no number is a dash: no figure is a reason for an error.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

INFINITE = "∞"
MINUS = "−"
NOTHING = "—"
ENDLESS = "endless"
"""Stands in data for a time that has no end, where ``None`` is one that is not known."""

_IEC = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SI = ("B", "kB", "MB", "GB", "TB", "PB")
_ABSURD_BYTES, _ABSURD_SECONDS, _ABSURD_RATIO = 1e24, 86_400e9, 1e13
"""From here on figures are in scientific notation, where the next smaller unit says nothing."""
_AXIS_UNITS = ((259_200.0, "d", 86_400.0), (7_200.0, "h", 3_600.0), (180.0, "min", 60.0), (-math.inf, "s", 1.0))
_TIMES = (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1))


def _number(value: float, decimals: int, *, at_most: float = 1e15) -> str:
    """Write a number with its commas, or in scientific notation above a limit."""
    size = as_float(value)
    if math.isnan(size):
        return NOTHING
    sign = MINUS if size < 0 and round(size, decimals) else ""
    if math.isinf(size):
        return sign + INFINITE
    if abs(size) < at_most:
        return f"{sign}{abs(value):,.{decimals}f}"
    return sign + f"{abs(size):.1e}".replace("e+", "e")


def as_float(value: float) -> float:
    """Give a number as a float; an integer that is too large for one is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def iec_unit(largest: float) -> tuple[str, int]:
    """Give the unit in which an amount is at least 1, and how many bytes it is.

    >>> iec_unit(3 * 1024**4)
    ('TiB', 1099511627776)
    """
    place = 0
    while place < len(_IEC) - 1 and abs(largest) >= 1024 ** (place + 1):
        place += 1
    return _IEC[place], 1024**place


def axis_time_unit(longest: float) -> tuple[str, float]:
    """Give the unit in which an axis up to that many seconds is easy to read, and how many seconds it is.

    >>> [axis_time_unit(seconds)[0] for seconds in (90, 600, 18_000, 400_000)]
    ['s', 'min', 'h', 'd']
    """
    return next((name, scale) for least, name, scale in _AXIS_UNITS if not longest < least)


def _scaled(amount: float, base: int, units: Sequence[str]) -> str:
    place = 0
    value = abs(as_float(amount))
    if math.isnan(value):
        return NOTHING
    # Compared after rounding, so that 1023.95 KiB is 1.0 MiB and never 1,024.0 KiB.
    while place < len(units) - 1 and round(value, 1 if place else 0) >= base:
        value /= base
        place += 1
    return f"{_number(math.copysign(value, as_float(amount)), 1 if place else 0, at_most=1e9)} {units[place]}"


def format_bytes(amount: float | None) -> str:
    """Write an amount of bytes.

    >>> [format_bytes(n) for n in (0, 1023, 1536, 1023.95 * 1024, 5 * 1024**4, None)]
    ['0 B', '1,023 B', '1.5 KiB', '1.0 MiB', '5.0 TiB', '—']
    """
    return NOTHING if amount is None else _scaled(amount, 1024, _IEC)


def format_rate(amount: float | None) -> str:
    """Write bytes a second, IEC.

    >>> format_rate(3 * 1024**2)
    '3.0 MiB/s'
    """
    return NOTHING if amount is None else f"{_scaled(amount, 1024, _IEC)}/s"


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


def format_duration(seconds: float | None) -> str:
    """Write a time in its two largest units; ``None`` is one that never ends.

    >>> [format_duration(s) for s in (0, 12.5, 59.96, 75, 3_570, 11_520, 86_399, None)]
    ['0 s', '12.5 s', '1 min', '1 min 15 s', '59 min 30 s', '3 h 12 min', '1 d', 'never ends']
    """
    if seconds is None:
        return "never ends"
    if not seconds < _ABSURD_SECONDS:
        days = as_float(seconds) / 86_400
        return NOTHING if math.isnan(days) else f"{_number(days, 0, at_most=1e9)} d"
    rounded = round(seconds, 1)
    # Twice, since rounding in one unit can reach the next: 59 min 59.6 s is 1 h.
    for _ in range(2):
        step = next((step for _, length, _, step in _TIMES if rounded >= length), 0.1)
        rounded = math.floor(rounded / step + 0.5) * step
    for unit, length, smaller, step in _TIMES:
        if rounded >= length:
            count, rest = divmod(round(rounded), length)
            return f"{count:,} {unit}" + (f" {rest // step} {smaller}" if rest // step else "")
    return f"{round(rounded, 1):g} s"


def format_percent(ratio: float | None) -> str:
    """Write a ratio in percent, with one decimal below 100.

    >>> [format_percent(r) for r in (0, 0.00001, 0.0812, 0.9996, 9.9, None)]
    ['0 %', '<0.1 %', '8.1 %', '100 %', '990 %', '—']
    """
    if ratio is None:
        return NOTHING
    if not abs(as_float(ratio)) < _ABSURD_RATIO:
        text = _number(as_float(ratio) * 100, 0)
        return text if text == NOTHING else f"{text} %"
    value = Decimal(repr(float(ratio))) * 100
    if value == 0:
        return "0 %"
    sign = MINUS if value < 0 else ""
    size = abs(value)
    if size < Decimal("0.05"):
        return "<0.1 %" if value > 0 else f"{MINUS}<0.1 %"
    tenth = size.quantize(Decimal("0.1"), ROUND_HALF_EVEN)
    return f"{sign}{tenth:,} %" if tenth < 100 else f"{sign}{size.quantize(Decimal(1), ROUND_HALF_EVEN):,} %"


def format_limit(ratio: float | None) -> str:
    """Write a chosen ratio, without a decimal that nobody chose.

    >>> [format_limit(r) for r in (0.85, 0.025, None)]
    ['85 %', '2.5 %', '—']
    """
    return format_percent(ratio).replace(".0 %", " %")


def format_count(number: float | None) -> str:
    """Write a whole number.

    >>> format_count(18036)
    '18,036'
    """
    return NOTHING if number is None else _number(number, 0)


def format_factor(factor: float | None) -> str:
    """Write how many times as much.

    >>> [format_factor(f) for f in (9.94, 27.2, None)]
    ['9.9×', '27×', '—']
    """
    if factor is None:
        return NOTHING
    text = _number(factor, 1 if round(factor, 1) < 10 else 0)
    return text if text == NOTHING else f"{text}×"


def format_byte_delta(amount: float | None) -> str:
    """Write a change in bytes with its sign.

    >>> [format_byte_delta(d) for d in (2048, -2048, 0)]
    ['+2.0 KiB', '−2.0 KiB', '0 B']
    """
    return _signed(amount, format_bytes)


def format_count_delta(number: float | None) -> str:
    """Write a change of a count with its sign.

    >>> [format_count_delta(d) for d in (1204, -3, 0)]
    ['+1,204', '−3', '0']
    """
    return _signed(number, format_count)


def _signed(amount: float | None, write: Callable[[float | None], str]) -> str:
    text = write(amount)
    return f"+{text}" if amount is not None and amount > 0 else text


def format_duration_band(band: Sequence[float | None] | None) -> str:
    """Write the time at mean rates and at peak rates, once where they look the same.

    >>> [format_duration_band(b) for b in ((60, 60), (60, 120), (60, None))]
    ['1 min', '1 min to 2 min', '1 min; never ends at peak']
    """
    if band is None:
        return NOTHING
    mean, peak = format_duration(band[0]), format_duration(band[1])
    if mean == peak:
        return mean
    return f"{mean}; never ends at peak" if band[1] is None else f"{mean} to {peak}"


def format_percent_change(pair: Sequence[float | None] | None) -> str:
    """Write a ratio before and after."""
    if pair is None:
        return NOTHING
    return f"{format_percent(pair[0])} → {format_percent(pair[1])}"


def format_ids(ids: Sequence[int]) -> str:
    """Write a replica list as Kafka's tools print it, without its brackets."""
    return ", ".join(str(broker) for broker in ids)


def format_text(value: object) -> str:
    """Write a word as it is; nothing as a dash."""
    return NOTHING if value is None or value == "" else str(value)


def format_moment(text: str) -> str:
    """Write a moment to the minute; what is no ISO moment with a time zone stays as it is.

    >>> [format_moment(m) for m in ("2026-11-20T01:02:03+00:00", "2026-11-20T01:02:03Z", "yesterday")]
    ['2026-11-20 01:02 UTC', '2026-11-20 01:02 UTC', 'yesterday']
    """
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is None:
        return text
    return f"{moment.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"


def format_wait(seconds: float | str | None) -> str:
    """Write how long something lasts or how far it is behind, where it may not be known.

    >>> [format_wait(s) for s in (0.3, 252, ENDLESS, None)]
    ['0.3 s', '4 min 12 s', 'without end', '—']
    """
    if seconds == ENDLESS:
        return "without end"
    return NOTHING if seconds is None else format_duration(as_float(seconds))  # type: ignore[arg-type]  # no other word


def format_wait_change(pair: Sequence[float | str | None]) -> str:
    """Write such a time before and after, once where they look the same.

    >>> [format_wait_change(p) for p in ((252, 48), (48, 48), (None, 48), (ENDLESS, None))]
    ['4 min 12 s → 48 s', '48 s', '48 s', 'without end']
    """
    return _changed(pair, format_wait)


def format_count_change(pair: Sequence[float | None]) -> str:
    """Write a count before and after, once where they look the same.

    >>> [format_count_change(p) for p in ((6, 8), (8, 8), (None, 8), (6, None))]
    ['6 → 8', '8', '8', '6']
    """
    return _changed(pair, format_count)


def format_text_change(pair: Sequence[str | None]) -> str:
    """Write a word before and after, once where they are the same."""
    return _changed(pair, format_text)


def _changed(pair: Sequence[Any], write: Callable[[Any], str]) -> str:
    before, after = (write(value) for value in pair)
    if NOTHING in (before, after) or before == after:
        return after if before == NOTHING else before
    return f"{before} → {after}"


def format_load(load: Sequence[Any] | None) -> str:
    """Write a rate against a capacity, which is a limit or is at least so much.

    >>> [format_load(x) for x in ((1024**2, 2 * 1024**2, True), (1024**2, 2 * 1024**2, False), (1024, None, False))]
    ['1.0 MiB/s of 2.0 MiB/s', '1.0 MiB/s of at least 2.0 MiB/s', '1.0 KiB/s of an unknown capacity']
    """
    if load is None:
        return NOTHING
    rate, capacity, is_limit = load
    if capacity is None:
        return f"{format_rate(rate)} of an unknown capacity"
    return f"{format_rate(rate)} of {'' if is_limit else 'at least '}{format_rate(capacity)}"


def format_time_band(band: Sequence[float | None] | None) -> str:
    """Write a time with its band: what is expected, and from where to where it may be; once where all look the same.

    >>> [format_time_band(b) for b in ((60, 120, 240), (60, 60, 60), (60, 120, None), (60, None, None))]
    ['2 min (1 min to 4 min)', '1 min', '2 min (1 min to never)', 'never (1 min at least)']
    """
    if band is None:
        return NOTHING
    low, expected, high = (format_when(seconds) for seconds in band)
    if low == expected == high:
        return expected
    if expected == "never":
        return f"never ({low} at least)"
    return f"{expected} ({low} to {high})"


def format_when(seconds: float | None) -> str:
    """Write how long after the start something happens.

    >>> [format_when(s) for s in (0.0, 75.0, None)]
    ['0 s', '1 min 15 s', 'never']
    """
    return "never" if seconds is None else format_duration(seconds)


def format_ranges(topics: Sequence[Sequence[str]]) -> str:
    """Write partitions by topic: each entry is a topic and its partitions.

    >>> format_ranges([["orders", "0–3, 7"], ["payments", "2"]])
    'orders 0–3, 7; payments 2'
    """
    return "; ".join(" ".join(entry) for entry in topics) if topics else NOTHING


def format_yes(value: bool) -> str:
    """Write a truth."""
    return "yes" if value else "no"


FORMATS: Mapping[str, Callable[[Any], str]] = {
    "bytes": format_bytes,
    "byte_delta": format_byte_delta,
    "rate": format_rate,
    "throttle": format_throttle,
    "throttle_above": format_throttle_above,
    "duration": format_duration,
    "time_band": format_time_band,
    "when": format_when,
    "duration_band": format_duration_band,
    "percent": format_percent,
    "limit": format_limit,
    "percent_change": format_percent_change,
    "count": format_count,
    "count_delta": format_count_delta,
    "factor": format_factor,
    "ids": format_ids,
    "id": format_text,
    "text": format_text,
    "name": format_text,
    "moment": format_moment,
    "yes": format_yes,
    "wait": format_wait,
    "wait_change": format_wait_change,
    "count_change": format_count_change,
    "text_change": format_text_change,
    "load": format_load,
    "ranges": format_ranges,
}
"""Every format by the name that columns and figures carry."""

LEFT_ALIGNED = frozenset({"id", "ids", "text", "name", "moment", "yes", "verdict", "text_change", "ranges"})
"""Formats that are words rather than figures."""


def shown(value: Any, name: str) -> str:
    """Write a value in the format of that name."""
    return FORMATS[name](value)


def is_figure(name: str) -> bool:
    """Tell whether a format is set flush right."""
    return name not in LEFT_ALIGNED


def plural(number: int, noun: str) -> str:
    """Write ``1 broker`` or ``2 brokers``."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"
