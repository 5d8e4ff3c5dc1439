"""Figures as people read them. Templates reach every function here by the name of its filter.

Amounts of bytes are IEC (KiB, MiB, …); a throttle is decimal (MB/s), since that is how it is typed for
``kafka-reassign-partitions --throttle``. Rounding never shows 1,024 of a unit or 60 of a smaller one. What is absurdly
large is in scientific notation, and what is no number is a dash: no figure is a reason for an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafka_capacity.text import amounts, figures, times, wording
from kafka_capacity.text.amounts import (
    format_byte_delta,
    format_bytes,
    format_rate,
    format_throttle,
    format_throttle_above,
    iec_unit,
)
from kafka_capacity.text.figures import (
    NOTHING,
    format_count,
    format_count_delta,
    format_factor,
    format_gap,
    format_limit,
    format_percent,
    format_usd,
    whole_percent,
)
from kafka_capacity.text.times import (
    ENDLESS,
    axis_time_unit,
    format_duration,
    format_duration_band,
    format_moment,
    format_month,
    format_wait,
    format_when,
)
from kafka_capacity.text.wording import capitalised, listed, plural, uncapitalised

FORMATS: Mapping[str, Callable[[Any], str]] = {
    "bytes": amounts.format_bytes,
    "byte_delta": amounts.format_byte_delta,
    "rate": amounts.format_rate,
    "throttle": amounts.format_throttle,
    "throttle_above": amounts.format_throttle_above,
    "duration": times.format_duration,
    "time_band": times.format_time_band,
    "when": times.format_when,
    "duration_band": times.format_duration_band,
    "percent": figures.format_percent,
    "limit": figures.format_limit,
    "percent_change": figures.format_percent_change,
    "count": figures.format_count,
    "count_delta": figures.format_count_delta,
    "factor": figures.format_factor,
    "gap": figures.format_gap,
    "ids": wording.format_ids,
    "id": wording.format_text,
    "text": wording.format_text,
    "name": wording.format_text,
    "moment": times.format_moment,
    "yes": wording.format_yes,
    "wait": times.format_wait,
    "wait_change": times.format_wait_change,
    "count_change": figures.format_count_change,
    "text_change": wording.format_text_change,
    "load": amounts.format_load,
    "ranges": wording.format_ranges,
    "usd": figures.format_usd,
    "day": wording.format_text,
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
