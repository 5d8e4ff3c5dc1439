"""Plain figures: counts, ratios, and what stands for a figure that there is none of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

INFINITE = "∞"
MINUS = "−"
PROVEN_RATIO = 1e-6
"""Closer to a bound than this nothing is left to save: bounds are rounded, and solvers reckon with floats."""

NOTHING = "—"

_ABSURD_RATIO = 1e13
_CENTS_BELOW = 100.0


def write_number(value: float, decimals: int, *, at_most: float = 1e15) -> str:
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


def steady(value: Any) -> Any:
    """Return plain data with its fractions to nine digits: processors differ in the last ones of a logarithm.

    So the same inputs give the same bytes of what people read on other machines too. Whole numbers stay exact.

    >>> steady({"ratio": 0.1 + 0.2, "bytes": 16188846591474.0})
    {'ratio': 0.3, 'bytes': 16188846591474.0}
    """
    if isinstance(value, Mapping):
        return {key: steady(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [steady(entry) for entry in value]
    return value if not isinstance(value, float) or value.is_integer() else float(f"{value:.9g}")


def as_float(value: float) -> float:
    """Return a number as a float; an integer that is too large for one is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def format_percent(ratio: float | None) -> str:
    """Write a ratio in percent, with one decimal below 100.

    >>> [format_percent(r) for r in (0, 0.00001, 0.0812, 0.9996, 9.9, None)]
    ['0 %', '<0.1 %', '8.1 %', '100 %', '990 %', '—']
    """
    if ratio is None:
        return NOTHING
    if not abs(as_float(ratio)) < _ABSURD_RATIO:
        text = write_number(as_float(ratio) * 100, 0)
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


def whole_percent(ratio: float, more_digits: int = 0, *, signed: bool = False) -> str:
    """Write a ratio in whole percent or finer, for sentences; with its sign where that is asked for and it is not 0.

    >>> whole_percent(0.847), whole_percent(12.5, signed=True), whole_percent(-0.002, signed=True)
    ('85 %', '+1,250 %', '0 %')
    """
    percent = f"{ratio:z,.{more_digits}%}"
    sign = "+" if signed and ratio > 0 and percent != "0%" else ""
    return f"{sign}{percent}".replace("%", " %").replace("-", MINUS)


def format_limit(ratio: float | None) -> str:
    """Write a chosen ratio, without a decimal that nobody chose.

    >>> [format_limit(r) for r in (0.85, 0.025, 0.9999, None)]
    ['85 %', '2.5 %', '99.99 %', '—']
    """
    if ratio is None or not abs(as_float(ratio)) < _ABSURD_RATIO:
        return format_percent(ratio)
    percent = (Decimal(repr(float(ratio))) * 100).quantize(Decimal("0.0001")).normalize()
    return f"{percent:,f} %".replace("-", MINUS)


def format_count(number: float | None) -> str:
    """Write a whole number.

    >>> format_count(18036)
    '18,036'
    """
    return NOTHING if number is None else write_number(number, 0)


def format_usd(amount: float | None, more_digits: int = 0) -> str:
    """Write US dollars, with cents below a hundred, or where more digits are wanted.

    >>> [format_usd(amount) for amount in (25_074.4, 12.5, 0.0, -3.2, None)]
    ['$25,074', '$12.50', '$0', '−$3.20', '—']
    """
    if amount is None:
        return NOTHING
    size = abs(as_float(amount))
    text = write_number(size, 2 if more_digits or 0 < round(size, 2) < _CENTS_BELOW else 0)
    return text if text == NOTHING else f"{MINUS if amount < 0 and round(size, 2) else ''}${text}"


def format_factor(factor: float | None) -> str:
    """Write how many times as much.

    >>> [format_factor(f) for f in (9.94, 27.2, None)]
    ['9.9×', '27×', '—']
    """
    if factor is None:
        return NOTHING
    text = write_number(factor, 1 if round(factor, 1) < 10 else 0)
    return text if text == NOTHING else f"{text}×"


def format_gap(ratio: float | None) -> str:
    """Write how far a plan is above the least possible: at most, since no plan need reach a bound.

    >>> [format_gap(r) for r in (0.0, 1e-9, 0.0001, 0.021, None)]
    ['0 %', '0 %', '<0.1 %', 'at most 2.1 %', '—']
    """
    if ratio is None:
        return NOTHING
    if ratio <= PROVEN_RATIO:
        return format_percent(0.0)
    text = format_percent(ratio)
    return text if text.startswith("<") else f"at most {text}"


def format_count_delta(number: float | None) -> str:
    """Write a change of a count with its sign.

    >>> [format_count_delta(d) for d in (1204, -3, 0)]
    ['+1,204', '−3', '0']
    """
    return signed(number, format_count)


def signed(amount: float | None, write: Callable[[float | None], str]) -> str:
    """Write a change with its sign."""
    text = write(amount)
    return f"+{text}" if amount is not None and amount > 0 else text


def format_percent_change(pair: Sequence[float | None] | None) -> str:
    """Write a ratio before and after."""
    if pair is None:
        return NOTHING
    return f"{format_percent(pair[0])} → {format_percent(pair[1])}"


def changed(pair: Sequence[Any], write: Callable[[Any], str]) -> str:
    """Write what was before and is after, once where they look the same or one of them is not known.

    >>> [changed(pair, format_count) for pair in ((6, 8), (8, 8), (None, 8), (6, None))]
    ['6 → 8', '8', '8', '6']
    """
    before, after = (write(value) for value in pair)
    if NOTHING in (before, after) or before == after:
        return after if before == NOTHING else before
    return f"{before} → {after}"
