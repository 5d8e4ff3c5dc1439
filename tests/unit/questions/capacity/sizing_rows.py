"""Rows of the tables of sizing in a few words, and what is read from them."""

from __future__ import annotations

import json

import pyarrow as pa

from kafka_capacity.questions.capacity.sizing_steps import read_sizing
from kafka_capacity.questions.capacity.tables import SIZING_EXHAUSTION, SIZING_OPTIONS, SIZING_USE
from tests.report.plans import make_inputs

DATES = ["2026-11-15", "2027-04-15", "2027-08-15", "2027-11-15"]
PARTS = ("brokers", "disks", "between_racks", "ingest")


def too_small(option_id):
    return {"reason": f"{option_id} is too small", "constraint": "disk", "needed": 2.0, "available": 1.0}


def option(option_id, kind, count, *, until, usd=None, shape="today", **more):
    """Return a row of ``sizing_options``; ``until`` is the last date it fits, ``None`` for none of them."""
    row = dict.fromkeys(SIZING_OPTIONS.names)
    row |= {
        "position": 0,
        "option_id": option_id,
        "kind": kind,
        "broker_count": count,
        "idle_brokers": 0,
        "extra_racks": 0,
        "shape": shape,
        "provider": "x",
        "fits": until == DATES[-1],
        "fits_until": until,
        "is_recommended": False,
        "is_on_front": False,
        "headroom_ratio": 0.1 if until == DATES[-1] else -0.1,
        "excuses": "[]" if until == DATES[-1] else json.dumps([too_small(option_id)]),
        "not_judged": [],
        "moved_bytes": 0.0,
        "moved_between_racks_bytes": 0.0,
        "least_throttle_bytes_per_second": 0.0,
        "is_in_place": True,
        **{f"{part}_usd_per_month": None if usd is None else 0.0 for part in PARTS},
        "total_usd_per_month": usd,
    }
    return row | more


def passing(option_id, high, middle=None, resource="disk"):
    return {
        "option_id": option_id,
        "resource": resource,
        "middle": middle,
        "high": high,
        "condition": "normal",
        "broker_id": 8,
    }


def view_of(rows, exhaustion=(), *, recommended=None, by_date=(), estimate="high"):
    """Read a plan of these options."""
    rows = [row | {"is_recommended": row["option_id"] == recommended} for row in rows]
    inputs = make_inputs(placers=("zk",))
    tables = {
        "sizing_options": pa.Table.from_pylist(rows, schema=SIZING_OPTIONS),
        "sizing_exhaustion": pa.Table.from_pylist(list(exhaustion), schema=SIZING_EXHAUSTION),
        "sizing_use": SIZING_USE.empty_table(),
    }
    document = {"dates": DATES, "advice": {"by_date": list(by_date)}, "classes": [], "peak_basis": "same-hours"}
    return read_sizing({**inputs.tables, **tables}, document, {**inputs.request, "sized_estimate": estimate})


GROWING = (
    option("do-nothing", "do-nothing", 12, until=None),
    option("009", "scale-in", 9, until=None),
    option("015", "scale-out", 15, until=DATES[1]),
    option("018", "scale-out", 18, until=DATES[2]),
    option("021", "scale-out", 21, until=DATES[3]),
    option("024", "scale-out", 24, until=DATES[3]),
)
PASSED = (
    passing("do-nothing", "2026-11-15", "2026-11-15"),
    passing("015", "2027-04-16", "2027-08-14"),
    passing("018", "2027-08-29"),
    passing("018", "2027-10-01", resource="cpu"),
)
