"""Numbers and flat dataclasses as plain data for JSON."""

from __future__ import annotations

import dataclasses
import math
from enum import StrEnum
from typing import Any


def plain_number(value: float | None) -> float | None:
    """Return a number that JSON can hold: ``None`` for what is not known or has no end."""
    return None if value is None or not math.isfinite(value) else float(value)


def plain_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a flat dataclass, NaN as ``None``."""
    found = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {name: _plain(entry) for name, entry in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return plain_number(value)
    return str(value) if isinstance(value, StrEnum) else value
