"""Request and cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from kafka_capacity.plan.request import PlanRequest
from kafka_capacity.report.sections import section
from kafka_capacity.report.view import ReportView

_PRODUCED = "bytes_in_mean_bytes_per_second"  # known where there are rates
_FACTS = (
    ("broker_count", "Brokers", "count"),
    ("topic_count", "Topics", "count"),
    ("partition_count", "Partitions", "count"),
    ("replica_count", "Replicas", "count"),
    ("total_bytes", "Replica bytes", "bytes"),
    (_PRODUCED, "Produced on average", "rate"),
    ("rate_history_hours", "Hours of traffic history", "count"),
    ("source", "Source", "text"),
    ("kafka_version", "Kafka version", "text"),
    ("captured_at", "Captured at", "moment"),
)


@section("request", title="Request and cluster", order=50, is_closed=True)
def build(view: ReportView) -> dict[str, Any]:
    """Return the parameters of the plan, those that were given apart, and the size of the cluster."""
    facts, request = view.inputs.snapshot_facts, view.inputs.request
    given = [name for name in sorted(request) if not is_default(name, request[name])]
    return {
        "parameters": [_parameter(name, request[name]) for name in given],
        "defaults": [_parameter(name, request[name]) for name in sorted(request) if name not in given],
        "facts": [
            {"label": label, "value": facts[key], "format": kind}
            for key, label, kind in _FACTS
            if facts.get(key) is not None and (key != _PRODUCED or facts.get("rate_history_hours"))
        ],
    }


def is_default(name: str, value: Any) -> bool:
    """Return whether a parameter of a plan has its default."""
    field = PlanRequest.model_fields.get(name)
    if field is None or field.is_required():
        return False
    return bool(to_jsonable_python(field.get_default(call_default_factory=True)) == value)


def _parameter(name: str, value: Any) -> dict[str, Any]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or value in ("", [], (), {}):
        return {"label": name, "value": "none", "format": "text"}
    if is_number and name.endswith("throttle_bytes_per_second"):
        return {"label": name, "value": value, "format": "throttle"}
    if is_number and name.endswith("_ratio"):
        return {"label": name, "value": value, "format": "limit"}
    if isinstance(value, list | tuple):
        return {"label": name, "value": ", ".join(str(item) for item in value), "format": "text"}
    if isinstance(value, bool | Mapping):
        return {"label": name, "value": json.dumps(value, sort_keys=True, ensure_ascii=False), "format": "text"}
    return {"label": name, "value": str(value), "format": "text"}
