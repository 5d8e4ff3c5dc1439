"""The tables of a plan about sizing: options, when each runs out, and what the brokers of some of them carry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.workload import ESTIMATES
from kafka_capacity.hardware.limits import CONDITIONS, RESOURCES, Limits
from kafka_capacity.hardware.plain import plain_fields, plain_number
from kafka_capacity.objects.tables import Tables
from kafka_capacity.questions.capacity.judging import used_ratios
from kafka_capacity.questions.capacity.results import CapacityResult


def _text(name: str) -> pa.Field[pa.DataType]:
    return pa.field(name, pa.string(), nullable=False)


_COSTS = ("brokers", "disks", "between_racks", "ingest", "total")

SIZING_OPTIONS = pa.schema(
    [
        pa.field("position", pa.int32(), nullable=False),
        _text("option_id"),
        _text("kind"),
        pa.field("broker_count", pa.int32(), nullable=False),
        pa.field("idle_brokers", pa.int32(), nullable=False),
        pa.field("extra_racks", pa.int32(), nullable=False),
        pa.field("replication_factor", pa.int32()),
        _text("shape"),
        _text("provider"),
        pa.field("priced_on", pa.string()),
        pa.field("fits", pa.bool_(), nullable=False),
        pa.field("fits_until", pa.string()),
        pa.field("is_recommended", pa.bool_(), nullable=False),
        pa.field("is_on_front", pa.bool_(), nullable=False),
        _text("excuses"),
        pa.field("not_judged", pa.list_(pa.string()), nullable=False),
        pa.field("headroom_ratio", pa.float64()),
        pa.field("tightest_resource", pa.string()),
        pa.field("tightest_condition", pa.string()),
        pa.field("tightest_broker", pa.int32()),
        pa.field("tightest_date", pa.string()),
        pa.field("tightest_needed", pa.float64()),
        pa.field("tightest_allowed", pa.float64()),
        *(pa.field(f"{part}_usd_per_month", pa.float64()) for part in _COSTS),
        pa.field("moved_bytes", pa.float64(), nullable=False),
        pa.field("moved_between_racks_bytes", pa.float64(), nullable=False),
        pa.field("change_seconds", pa.float64()),
        pa.field("least_throttle_bytes_per_second", pa.float64(), nullable=False),
        pa.field("change_usd", pa.float64()),
        pa.field("break_even_days", pa.float64()),
        pa.field("is_in_place", pa.bool_(), nullable=False),
    ]
)
"""One row an option, in the order tried; ``idle_brokers`` of its brokers hold nothing; ``excuses`` is a JSON list; what
is not known or never ends is null."""

SIZING_EXHAUSTION = pa.schema(
    [
        _text("option_id"),
        _text("resource"),
        pa.field("middle", pa.string()),
        pa.field("high", pa.string()),
        pa.field("condition", pa.string()),
        pa.field("broker_id", pa.int32()),
    ]
)
"""One row an option and resource that could be judged: the days on which it passes its limit, null for not before the
horizon."""

SIZING_USE = pa.schema(
    [
        _text("option_id"),
        _text("date"),
        _text("estimate"),
        _text("condition"),
        _text("resource"),
        pa.field("broker_id", pa.int32(), nullable=False),
        pa.field("rack", pa.string()),
        pa.field("load", pa.float64()),
        pa.field("capacity", pa.float64()),
        pa.field("limit_ratio", pa.float64(), nullable=False),
        pa.field("used_ratio", pa.float64()),
    ]
)
"""What each broker carries, of doing nothing and of the recommended option; ``used_ratio`` is of what the limit allows,
so that 1 is the limit."""

SIZING_TABLES: Tables = {
    "sizing_options": (SIZING_OPTIONS, ("position",)),
    "sizing_exhaustion": (SIZING_EXHAUSTION, ("option_id", "resource")),
    "sizing_use": (SIZING_USE, ("option_id", "date", "estimate", "condition", "resource", "broker_id")),
}
"""By name: the schema of each table and what it is sorted by; an older plan may lack them."""


def sizing_options_table(
    results: Sequence[CapacityResult], *, recommended: str | None, front: Sequence[str]
) -> pa.Table:
    """Return the rows of ``sizing_options``."""
    rows = []
    for position, result in enumerate(results):
        option, change, tightest = result.option, result.change, result.tightest
        costs = {**plain_fields(result.cost), "total": plain_number(result.cost.total)}
        told = {} if tightest is None else {f"tightest_{name}": value for name, value in plain_fields(tightest).items()}
        rows.append(
            {
                "position": position,
                "option_id": option.option_id,
                "kind": str(option.kind),
                "broker_count": option.placement.broker_count,
                "idle_brokers": option.placement.idle_brokers,
                "extra_racks": option.placement.extra_racks,
                "replication_factor": option.placement.replication_factor,
                "shape": option.shape.name,
                "provider": option.shape.provider,
                "priced_on": option.shape.priced_on or None,
                "fits": result.fits,
                "fits_until": result.fits_until,
                "is_recommended": option.option_id == recommended,
                "is_on_front": option.option_id in front,
                "excuses": json.dumps([excuse.as_dict() for excuse in result.excuses], sort_keys=True),
                "not_judged": [str(resource) for resource in result.not_judged],
                "headroom_ratio": plain_number(result.headroom_ratio),
                **told,
                **{f"{part}_usd_per_month": costs[part] for part in _COSTS},
                "moved_bytes": change.moved_bytes,
                "moved_between_racks_bytes": change.moved_between_racks_bytes,
                "change_seconds": plain_number(change.seconds),
                "least_throttle_bytes_per_second": change.least_throttle_bytes_per_second,
                "change_usd": plain_number(change.usd),
                "break_even_days": plain_number(change.break_even_days),
                "is_in_place": change.is_in_place,
            }
        )
    return pa.Table.from_pylist(rows, schema=SIZING_OPTIONS)


def sizing_exhaustion_table(results: Sequence[CapacityResult]) -> pa.Table:
    """Return the rows of ``sizing_exhaustion``, sorted."""
    rows = [
        {
            "option_id": result.option_id,
            "resource": str(one.resource),
            "middle": one.middle,
            "high": one.high,
            "condition": None if one.condition is None else str(one.condition),
            "broker_id": one.broker,
        }
        for result in results
        for one in result.exhaustion
    ]
    rows.sort(key=lambda row: (row["option_id"], row["resource"]))
    return pa.Table.from_pylist(rows, schema=SIZING_EXHAUSTION)


def sizing_use_table(results: Sequence[CapacityResult], limits: Limits) -> pa.Table:
    """Return the rows of ``sizing_use`` of the results that kept their details, sorted."""
    tables = [_use_rows(result, limits) for result in results if result.use is not None]
    if not tables:
        return SIZING_USE.empty_table()
    keys = [(name, "ascending") for name in SIZING_TABLES["sizing_use"][1]]
    return pa.concat_tables(tables).sort_by(keys).combine_chunks()


def _use_rows(result: CapacityResult, limits: Limits) -> pa.Table:
    use = result.use
    if use is None:
        return SIZING_USE.empty_table()
    judged = [place for place, condition in enumerate(CONDITIONS) if condition in limits.conditions()]
    load = use.load[judged]
    ratio = used_ratios(use, limits)[judged]
    shape = load.shape
    condition, resource, estimate, date, broker = (index.reshape(-1) for index in np.indices(shape))
    share = np.array([[limits.ratio(one, CONDITIONS[place]) for one in RESOURCES] for place in judged])

    def named(names: Sequence[str | None], index: Any) -> pa.Array[Any]:
        return pa.DictionaryArray.from_arrays(pa.array(index, pa.int32()), pa.array(list(names), pa.string())).cast(
            pa.string()
        )

    def known(values: Any) -> pa.Array[Any]:
        flat = np.asarray(values, dtype=np.float64).reshape(-1)
        return pa.array(flat, pa.float64(), mask=~np.isfinite(flat))

    columns = {
        "option_id": pa.array([result.option_id] * load.size, pa.string()),
        "date": named(use.dates, date),
        "estimate": named(ESTIMATES, estimate),
        "condition": named([str(CONDITIONS[place]) for place in judged], condition),
        "resource": named([str(one) for one in RESOURCES], resource),
        "broker_id": pa.array(use.brokers.ids[broker], pa.int32()),
        "rack": named(use.brokers.racks, broker),
        "load": known(load),
        "capacity": known(use.capacity[resource, broker]),
        "limit_ratio": pa.array(share[condition, resource], pa.float64()),
        "used_ratio": known(ratio),
    }
    table = pa.table(columns, schema=SIZING_USE)
    return table.filter(pa.array(np.isfinite(use.capacity[resource, broker])))
