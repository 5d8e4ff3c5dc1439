"""The tables of a plan about sizing: options, when each runs out, and what the brokers of some of them carry."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.workload import ESTIMATES
from kafka_capacity.hardware.limits import CONDITIONS, RESOURCES, Limits
from kafka_capacity.hardware.plain import filled, plain_number
from kafka_capacity.objects.tables import Int32, Tables, cells_of, schema_of, table_of_columns, table_of_rows
from kafka_capacity.questions.capacity.judging import used_ratios
from kafka_capacity.questions.capacity.results import CapacityResult, CapacityUse


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionRow:
    """One row an option, in the order tried; what is not known or never ends is null.

    ``idle_brokers`` of its brokers hold nothing, and the ``removed_brokers`` of today are not among them; ``excuses``
    is a JSON list; where dollars are an estimate, ``priced_as`` names the shapes whose prices they are.
    """

    position: Int32
    option_id: str
    kind: str
    broker_count: Int32
    idle_brokers: Int32
    extra_racks: Int32
    replication_factor: Int32 | None
    removed_brokers: tuple[Int32, ...] | None = None
    shape: str
    provider: str
    priced_on: str | None
    priced_as: str | None = None
    fits: bool
    fits_until: str | None
    is_recommended: bool
    is_on_front: bool
    excuses: str
    not_judged: tuple[str, ...]
    headroom_ratio: float | None
    tightest_resource: str | None = None
    tightest_condition: str | None = None
    tightest_broker: Int32 | None = None
    tightest_date: str | None = None
    tightest_needed: float | None = None
    tightest_allowed: float | None = None
    brokers_usd_per_month: float | None
    disks_usd_per_month: float | None
    between_racks_usd_per_month: float | None
    ingest_usd_per_month: float | None
    total_usd_per_month: float | None
    by_date_usd_per_month: tuple[float, ...] | None = None
    moved_bytes: float
    moved_between_racks_bytes: float
    change_seconds: float | None
    least_throttle_bytes_per_second: float | None
    change_usd: float | None
    break_even_days: float | None
    is_in_place: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExhaustionRow:
    """One row an option and resource that could be judged: the days on which it passes its limit.

    They are null for not before the horizon.
    """

    option_id: str
    resource: str
    middle: str | None
    high: str | None
    condition: str | None
    broker_id: Int32 | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UseRow:
    """What each broker carries, of doing nothing and of the recommended option.

    ``used_ratio`` is of what the limit allows, so that 1 is the limit.
    """

    option_id: str
    date: str
    estimate: str
    condition: str
    resource: str
    broker_id: Int32
    rack: str | None
    load: float | None
    capacity: float | None
    limit_ratio: float
    used_ratio: float | None


SIZING_OPTIONS, SIZING_EXHAUSTION, SIZING_USE = schema_of(OptionRow), schema_of(ExhaustionRow), schema_of(UseRow)

SIZING_TABLES: Tables = {
    "sizing_options": (SIZING_OPTIONS, ("position",)),
    "sizing_exhaustion": (SIZING_EXHAUSTION, ("option_id", "resource")),
    "sizing_use": (SIZING_USE, ("option_id", "date", "estimate", "condition", "resource", "broker_id")),
}
"""By name: the schema of each table and what it is sorted by; an older plan may lack them."""


_PLACEMENT = ("broker_count", "idle_brokers", "extra_racks", "replication_factor", "removed_brokers")
_CHANGE = {"seconds": "change_seconds", "usd": "change_usd"}  # columns that are not named as the fields of `ChangeCost`


def sizing_options_table(
    results: Sequence[CapacityResult], *, recommended: str | None, front: Sequence[str]
) -> pa.Table:
    """Return the rows of ``sizing_options``."""
    rows = []
    for position, result in enumerate(results):
        option = result.option
        change = {_CHANGE.get(name, name): value for name, value in dataclasses.asdict(result.change).items()}
        costs = {**cells_of(result.cost), "total": plain_number(result.cost.total)}
        rows.append(
            filled(
                OptionRow,
                result,
                position=position,
                kind=option.kind,
                **{name: getattr(option.placement, name) for name in _PLACEMENT},
                shape=option.shape.name,
                provider=option.shape.provider,
                priced_on=option.shape.priced_on or None,
                priced_as=option.shape.priced_as,
                is_recommended=option.option_id == recommended,
                is_on_front=option.option_id in front,
                excuses=json.dumps([excuse.as_dict() for excuse in result.excuses], sort_keys=True),
                **cells_of(result.tightest, prefix="tightest_"),
                **{f"{part}_usd_per_month": usd for part, usd in costs.items()},
                **change,
            )
        )
    return table_of_rows(SIZING_OPTIONS, rows)


def sizing_exhaustion_table(results: Sequence[CapacityResult]) -> pa.Table:
    """Return the rows of ``sizing_exhaustion``, sorted."""
    rows = [
        {"option_id": result.option_id, **cells_of(one), "broker_id": one.broker}
        for result in results
        for one in result.exhaustion
    ]
    rows.sort(key=lambda row: (row["option_id"], row["resource"]))
    return table_of_rows(SIZING_EXHAUSTION, rows)


def sizing_use_table(results: Sequence[CapacityResult], limits: Limits) -> pa.Table:
    """Return the rows of ``sizing_use`` of the results that kept their details, sorted."""
    tables = [_use_rows(one.option_id, one.use, limits) for one in results if one.use is not None]
    if not tables:
        return SIZING_USE.empty_table()
    keys = [(name, "ascending") for name in SIZING_TABLES["sizing_use"][1]]
    return pa.concat_tables(tables).sort_by(keys).combine_chunks()


def _use_rows(option_id: str, use: CapacityUse, limits: Limits) -> pa.Table:
    judged = [place for place, condition in enumerate(CONDITIONS) if condition in limits.conditions()]
    load = use.load[judged]
    ratio = used_ratios(use, limits)[judged]
    shape = load.shape
    condition, resource, estimate, date, broker = (index.reshape(-1) for index in np.indices(shape))
    share = np.array([[limits.ratio(one, CONDITIONS[place]) for one in RESOURCES] for place in judged])

    def named(names: Sequence[object], index: Any) -> pa.Array[Any]:
        words = pa.array([None if one is None else str(one) for one in names], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(index, pa.int32()), words)

    columns = {
        "option_id": option_id,
        "date": named(use.dates, date),
        "estimate": named(ESTIMATES, estimate),
        "condition": named([CONDITIONS[place] for place in judged], condition),
        "resource": named(RESOURCES, resource),
        "broker_id": use.brokers.ids[broker],
        "rack": named(use.brokers.racks, broker),
        "load": load.reshape(-1),
        "capacity": use.capacity[resource, broker],
        "limit_ratio": share[condition, resource],
        "used_ratio": ratio.reshape(-1),
    }
    table = table_of_columns(SIZING_USE, load.size, columns)
    return table.filter(pa.array(np.isfinite(use.capacity[resource, broker])))
