"""Numbers and trees of dataclasses as plain data for JSON, and dataclasses made of others."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, TypeVar

import numpy as np

from kafka_capacity.kafka.arrays import Floats

T = TypeVar("T")


def filled(kind: type[T], of: object, /, **given: Any) -> T:
    """Make a dataclass of what is given and, where that is nothing, of what something else has under the same name."""
    own = (field.name for field in dataclasses.fields(kind) if field.name not in given)  # type: ignore[arg-type]  # it is one
    return kind(**{name: getattr(of, name) for name in own if hasattr(of, name)}, **given)


def plain_number(value: float | None) -> float | None:
    """Return a number that JSON can hold: ``None`` for what is not known or has no end."""
    return None if value is None or not math.isfinite(value) else float(value)


def or_nan(value: float | None) -> float:
    """Return a number that may be missing, NaN where it is."""
    return math.nan if value is None else value


def known_median(values: Floats) -> float:
    """Return the median of the finite values, NaN where there is none."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else math.nan


def to_plain(value: Any) -> Any:
    """Return a tree of dataclasses and arrays as plain data, numbers that JSON cannot hold as null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    if isinstance(value, float):
        return plain_number(value)
    return value if value is None or isinstance(value, bool | int) else str(value)
