"""Results of sizing as plain data for JSON."""

from __future__ import annotations

import dataclasses
import math
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_capacity.sizing.capacity.results import CapacityResult


def plain_number(value: float | None) -> float | None:
    """Give a number that JSON can hold: ``None`` for what is not known or has no end."""
    return None if value is None or not math.isfinite(value) else float(value)


def plain_fields(value: Any) -> dict[str, Any]:
    """Give the fields of a flat dataclass, NaN as ``None``."""
    found = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {name: _plain(entry) for name, entry in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return plain_number(value)
    return str(value) if isinstance(value, StrEnum) else value


def plain_result(result: CapacityResult) -> dict[str, Any]:
    """Give an option and how it fares, without the arrays."""
    option, cost = result.option, result.cost
    return {
        "option_id": option.option_id,
        "kind": str(option.kind),
        **plain_fields(option.placement),
        "idle_brokers": option.placement.idle_brokers,
        "shape": option.shape.name,
        "priced_on": option.shape.priced_on or None,
        "fits": result.fits,
        "fits_until": result.fits_until,
        "excuses": [excuse.as_dict() for excuse in result.excuses],
        "not_judged": [str(resource) for resource in result.not_judged],
        "headroom_ratio": plain_number(result.headroom_ratio),
        "tightest": None if result.tightest is None else plain_fields(result.tightest),
        "exhaustion": [plain_fields(one) for one in result.exhaustion],
        "usd_per_month": {**plain_fields(cost), "total": plain_number(cost.total)},
        "change": plain_fields(result.change),
    }
