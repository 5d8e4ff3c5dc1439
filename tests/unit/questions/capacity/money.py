"""What tests of prices, budgets and recovery are asked, and how they read what was sized."""

from __future__ import annotations

from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.questions.capacity.document import to_plain
from kafka_capacity.questions.capacity.sizing_steps import view_sizing
from kafka_capacity.questions.capacity.tables import (
    sizing_exhaustion_table,
    sizing_options_table,
    sizing_use_table,
)
from tests.shapes import read_shapes
from tests.unit.questions.capacity.workloads import GIB, brokers

OWN_PRICE = {"vcpu": 16.0, "usd_per_hour": 1.0, "usd_per_gib_between_racks": 0.0}
"""Three brokers cost 3 x 730 dollars a month."""


def viewed(results, advice, dates=("2026-11-20", "2026-12-20")):
    tables = {
        "sizing_options": sizing_options_table(results, recommended=advice.recommended, front=advice.front),
        "sizing_exhaustion": sizing_exhaustion_table(results),
        "sizing_use": sizing_use_table([], None),
    }
    return view_sizing(tables, {"advice": to_plain(advice), "dates": list(dates)}, {})


def asked(list_of=None, *, cpu_cores=16.0, **given):
    observed = brokers(3, memory_bytes=64 * GIB, cpu_cores=cpu_cores) if list_of is None else list_of
    return parse_plan_request({"cluster": "payments", **given}).sizing_request(observed, read_shapes())
