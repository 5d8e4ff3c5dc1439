"""Figures as people read them. Templates reach every function here by the name of its filter.

Amounts of bytes are IEC (KiB, MiB, …); a throttle is decimal (MB/s), since that is how it is typed for
``kafka-reassign-partitions --throttle``. Rounding never shows 1,024 of a unit or 60 of a smaller one. What is absurdly
large is in scientific notation, and what is no number is a dash: no figure is a reason for an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kafka_capacity.text.amounts import (
    format_byte_delta,
    format_bytes,
    format_load,
    format_rate,
    format_throttle,
    format_throttle_above,
    iec_unit,
)
from kafka_capacity.text.figures import (
    NOTHING,
    changed,
    format_count,
    format_count_delta,
    format_factor,
    format_gap,
    format_limit,
    format_percent,
    format_percent_change,
    format_usd,
    whole_percent,
)
from kafka_capacity.text.times import (
    ENDLESS,
    axis_time_unit,
    endless,
    format_copying,
    format_duration,
    format_duration_band,
    format_moment,
    format_month,
    format_time_band,
    format_wait,
    format_when,
)
from kafka_capacity.text.wording import (
    capitalised,
    format_ids,
    format_ranges,
    format_text,
    format_yes,
    listed,
    plural,
    uncapitalised,
)

FORMATS: Mapping[str, Callable[[Any], str]] = {
    "bytes": format_bytes,
    "byte_delta": format_byte_delta,
    "rate": format_rate,
    "throttle": format_throttle,
    "throttle_above": format_throttle_above,
    "duration": format_duration,
    "copying": format_copying,
    "time_band": format_time_band,
    "when": format_when,
    "duration_band": format_duration_band,
    "percent": format_percent,
    "limit": format_limit,
    "percent_change": format_percent_change,
    "count": format_count,
    "count_delta": format_count_delta,
    "factor": format_factor,
    "gap": format_gap,
    "ids": format_ids,
    "id": format_text,
    "text": format_text,
    "name": format_text,
    "moment": format_moment,
    "yes": format_yes,
    "wait": format_wait,
    "wait_change": partial(changed, write=format_wait),
    "count_change": partial(changed, write=format_count),
    "text_change": partial(changed, write=format_text),
    "load": format_load,
    "ranges": format_ranges,
    "usd": format_usd,
    "day": format_text,
}
"""Every format by the name that columns and figures carry."""

LEFT_ALIGNED = frozenset({"id", "ids", "text", "name", "moment", "yes", "day", "verdict", "text_change", "ranges"})
"""Formats that are words rather than figures."""


def shown(value: Any, name: str) -> str:
    """Write a value in the format of that name."""
    return FORMATS[name](value)


def is_figure(name: str) -> bool:
    """Return whether a format is set flush right."""
    return name not in LEFT_ALIGNED
