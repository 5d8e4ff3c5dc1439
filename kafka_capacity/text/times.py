"""Times: how long, when, and from where to where that may be."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence

from kafka_capacity.text.figures import NOTHING, as_float, write_number

ENDLESS = "endless"  # stands in data for a time that has no end, where `None` is one that is not known

_AXIS_UNITS = ((259_200.0, "d", 86_400.0), (7_200.0, "h", 3_600.0), (180.0, "min", 60.0), (-math.inf, "s", 1.0))
_TIMES = (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1))
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
"""Not those of the locale: the same bytes everywhere."""
_ABSURD_SECONDS = 86_400e9  # from here on days are in scientific notation


def axis_time_unit(longest: float) -> tuple[str, float]:
    """Return the unit in which an axis up to that many seconds is easy to read, and how many seconds it is.

    >>> [axis_time_unit(seconds)[0] for seconds in (90, 600, 18_000, 400_000)]
    ['s', 'min', 'h', 'd']
    """
    return next((name, scale) for least, name, scale in _AXIS_UNITS if not longest < least)


def format_duration(seconds: float | None) -> str:
    """Write a time in its two largest units; ``None`` is one that never finishes.

    >>> [format_duration(s) for s in (0, 12.5, 59.96, 75, 3_570, 11_520, 86_399, None)]
    ['0 s', '12.5 s', '1 min', '1 min 15 s', '59 min 30 s', '3 h 12 min', '1 d', 'never finishes']
    """
    if seconds is None:
        return "never finishes"
    if not seconds < _ABSURD_SECONDS:
        days = as_float(seconds) / 86_400
        return NOTHING if math.isnan(days) else f"{write_number(days, 0, at_most=1e9)} d"
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


def format_duration_band(band: Sequence[float | None] | None) -> str:
    """Write the time at mean rates and at peak rates, once where they look the same.

    >>> [format_duration_band(b) for b in ((60, 60), (60, 120), (60, None))]
    ['1 min', '1 min to 2 min', '1 min; never finishes at peak']
    """
    if band is None:
        return NOTHING
    mean, peak = format_duration(band[0]), format_duration(band[1])
    if mean == peak:
        return mean
    return f"{mean}; never finishes at peak" if band[1] is None else f"{mean} to {peak}"


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


def format_month(day: str) -> str:
    """Write the month of an ISO day; what is none stays as it is.

    >>> [format_month(day) for day in ("2027-04-16", "soon")]
    ['April 2027', 'soon']
    """
    try:
        found = datetime.date.fromisoformat(day)
    except ValueError:
        return day
    return f"{_MONTHS[found.month - 1]} {found.year}"


def endless(seconds: float | None) -> float | str:
    """Return a time, where null says that it has no end."""
    return ENDLESS if seconds is None else seconds


def format_wait(seconds: float | str | None) -> str:
    """Write how long something lasts or how far it is behind, where it may not be known.

    >>> [format_wait(s) for s in (0.3, 252, ENDLESS, None)]
    ['0.3 s', '4 min 12 s', 'unbounded', '—']
    """
    if seconds == ENDLESS:
        return "unbounded"
    return NOTHING if seconds is None else format_duration(as_float(seconds))  # type: ignore[arg-type]  # no other word


def format_copying(seconds: float | str | None) -> str:
    """Write how long something is copied, where it may not be known.

    >>> [format_copying(s) for s in (252, ENDLESS, None)]
    ['4 min 12 s', 'never finishes', '—']
    """
    return format_duration(None) if seconds == ENDLESS else format_wait(seconds)


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
