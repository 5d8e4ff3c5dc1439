"""Options and how they fare as plain data for JSON."""

from __future__ import annotations

from typing import Any

from kafka_capacity.hardware.plain import plain_fields, plain_number
from kafka_capacity.questions.capacity.results import CapacityResult


def plain_result(result: CapacityResult) -> dict[str, Any]:
    """Return an option and how it fares, without the arrays."""
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
