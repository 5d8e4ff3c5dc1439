"""Load what sizing needs from a pinned inventory, and store what came of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.cluster.assignment import replication_factors
from kafka_capacity.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.demand.expectation import DemandExpectation, expect_demand
from kafka_capacity.inventory.daily_history import topic_history
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.sizing_workload import sizing_workload
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.staging import load
from kafka_capacity.objects.dataset import Manifest
from kafka_capacity.objects.sizing_tables import sizing_exhaustion_table, sizing_options_table, sizing_use_table
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.request.plan_request import PlanRequest, parse_plan_request
from kafka_capacity.request.shape_catalogue import shapes_beside
from kafka_capacity.sizing.capacity.added import added_replica_bytes
from kafka_capacity.sizing.capacity.options import SizingRequest
from kafka_capacity.sizing.capacity.partition_advice import advise_partitions
from kafka_capacity.sizing.capacity.plain import plain_fields, plain_number
from kafka_capacity.sizing.capacity.reconcile import Waterfall, waterfalls
from kafka_capacity.sizing.capacity.shapes import Shape
from kafka_capacity.sizing.scores import STORED, TRAFFIC
from kafka_capacity.workflow.pinned import OWN_SHAPES, PlanInputs
from kafka_capacity.workflow.plan_dataset import SIZING, SIZING_DOCUMENT, write_share
from kafka_capacity.workflow.sizing_evaluation import Sized, SizingInputs, sizing_inputs
from kafka_capacity.workflow.traffic import pinned_profile, plan_load

LARGEST_ADVICE = 50
"""So many topics are advised on at most, the ones that lack most partitions first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundSizing:
    """What is to be sized, what is expected of it, and what was asked."""

    inputs: SizingInputs
    expectation: DemandExpectation
    asked: PlanRequest


def find_sizing(
    raw: RawInventory,
    snapshot: Snapshot,
    traffic: PartitionLoad,
    asked: PlanRequest,
    *,
    own_shapes: str = "",
    profile_days: pa.Table | None = None,
) -> FoundSizing:
    """Put together what sizing needs.

    Args:
        raw: the inventory.
        snapshot: the same as arrays.
        traffic: of its partitions.
        asked: the parameters.
        own_shapes: the deployment's own shapes and prices, as they were pinned.
        profile_days: the table of that name of the load profile, where there is one.

    Raises:
        RequestError: a planned event or a shape cannot be.
    """
    expectation = expect_demand(snapshot, traffic, asked.demand_settings(), topic_history(raw, profile_days))
    cores = raw.table("brokers").column("cpu_cores").drop_null().to_numpy()
    request = asked.sizing_request(
        snapshot.brokers,
        shapes_beside(own_shapes, OWN_SHAPES),
        observed_vcpu=float(np.median(cores)) if len(cores) else float("nan"),
        throttle_bytes_per_second=asked.throttle_bytes_per_second,
        disk_limit_ratio=asked.disk_limit_ratio,
        rack_rule=asked.rack_rule,
        balance=asked.balance,
        seed=asked.seed,
        heap_bytes=float(asked.broker_heap_bytes),
    )
    workload = sizing_workload(raw, snapshot, traffic, expectation.outlook)
    return FoundSizing(inputs=sizing_inputs(snapshot, workload, request), expectation=expectation, asked=asked)


def load_sizing(store: ObjectStore, inputs: PlanInputs) -> FoundSizing:
    """Read what is to be sized of the pinned inventory.

    Raises:
        InventoryError: the inventory is not the one that was pinned.
        RequestError: a planned event or a shape cannot be.
    """
    pinned = inputs.pinned
    raw = load(store, pinned.cluster, pinned.ds, manifest_sha256=pinned.inventory_sha256)
    snapshot = build_snapshot(raw)
    return find_sizing(
        raw,
        snapshot,
        plan_load(store, pinned, raw, snapshot),
        parse_plan_request(inputs.request),
        own_shapes=inputs.own_shapes,
        profile_days=pinned_profile(store, pinned, "profile_days"),
    )


def sizing_tables(found: FoundSizing, sized: Sized) -> dict[str, pa.Table]:
    """Give the tables about sizing."""
    advice = sized.advice
    return {
        "sizing_options": sizing_options_table(sized.results, recommended=advice.recommended, front=advice.front),
        "sizing_exhaustion": sizing_exhaustion_table(sized.results),
        "sizing_use": sizing_use_table(sized.results, found.inputs.request.limits),
    }


def sizing_document(found: FoundSizing, sized: Sized) -> dict[str, Any]:
    """Say in plain data what the tables do not: the advice, what is expected, and what it rests on."""
    inputs, outlook = found.inputs, found.expectation.outlook
    request, workload = inputs.request, inputs.workload
    factors = replication_factors(inputs.snapshot.replicas)
    advised = advise_partitions(workload, factors, found.asked.partition_rules(), estimate=request.estimate)
    wanted = sorted(
        (one for one in advised if one.needed > one.partitions or one.is_hot),
        key=lambda one: (one.partitions - one.needed, one.topic),
    )
    return {
        "advice": plain_data(sized.advice),
        "dates": list(outlook.dates),
        "high_quantile": outlook.high_quantile,
        "classes": [
            {
                **plain_fields(basis),
                "partitions": int((outlook.class_of == number).sum()),
                "rate_ratio": _plain(outlook.rate_ratio[number]),
                "rate_ratio_high": _plain(outlook.rate_ratio_high[number]),
                "retention_ratio": _plain(outlook.retention_ratio[number]),
            }
            for number, basis in enumerate(outlook.classes)
        ],
        "added_topics": [plain_fields(topic) for topic in outlook.added],
        "notes": list(found.expectation.notes),
        TRAFFIC: _expected_traffic(found),
        STORED: _expected_bytes(found),
        "limits": plain_data(request.limits),
        "conditions": [str(condition) for condition in request.limits.conditions()],
        "cpu": plain_data(request.loads.cpu),
        "peak_basis": str(workload.traffic.basis),
        "today": plain_data(request.today),
        "shapes": [plain_data(shape) for shape in request.shapes],
        "waterfalls": [_waterfall(one) for shape in _reconciled(request) for one in _waterfalls(found, sized, shape)],
        "partitions": [plain_fields(one) for one in wanted[:LARGEST_ADVICE]],
        "partitions_advised": len(wanted),
    }


def _reconciled(request: SizingRequest) -> tuple[Shape, ...]:
    return (request.today, *request.shapes)


def _waterfalls(found: FoundSizing, sized: Sized, shape: Shape) -> tuple[Waterfall, ...]:
    inputs = found.inputs
    return waterfalls(inputs.snapshot, inputs.workload, inputs.request, sized.results, shape, sizes=inputs.sizes)


def _waterfall(one: Waterfall) -> dict[str, Any]:
    return {**plain_data(one), "steps": [{**plain_fields(step), "change": step.change} for step in one.steps]}


def _expected_traffic(found: FoundSizing) -> dict[str, list[float | None]]:
    """Give what is produced to the whole cluster at each date at peak, both estimates."""
    workload = found.inputs.workload
    hours = workload.traffic.bytes_in
    classes = workload.outlook.class_of
    count = len(workload.outlook.classes)
    by_class = np.zeros((count, hours.shape[1]))
    for number in range(count):
        by_class[number] = hours[classes == number].sum(axis=0, dtype=np.float64)
    ratios = workload.rate_ratios()
    peak = np.percentile(np.einsum("ced,ch->edh", ratios, by_class), 99, axis=2)
    return {"middle": _plain(peak[0]), "high": _plain(peak[1])}


def _expected_bytes(found: FoundSizing) -> dict[str, list[float | None]]:
    """Give what all replicas take on disk at each date, both estimates, with today's replication factors."""
    inputs = found.inputs
    factors = replication_factors(inputs.snapshot.replicas).astype(np.float64)
    stored = np.einsum("p,ped->ed", factors, inputs.sizes) + added_replica_bytes(inputs.workload)
    return {"middle": _plain(stored[0]), "high": _plain(stored[1])}


def plain_data(value: Any) -> Any:
    """Give a tree of dataclasses as plain data, numbers that JSON cannot hold as null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain_data(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(entry) for entry in value]
    if isinstance(value, float):
        return plain_number(value)
    return value if value is None or isinstance(value, bool | int) else str(value)


def _plain(values: Any) -> list[float | None]:
    return [plain_number(float(value)) for value in values]


def write_sizing(store: ObjectStore, inputs: PlanInputs, found: FoundSizing, sized: Sized) -> Manifest:
    """Store the share of a plan about sizing: the same names and bytes whoever did the work."""
    tables = sizing_tables(found, sized)
    return write_share(
        store,
        inputs,
        SIZING,
        tables=tables,
        documents={SIZING_DOCUMENT: {**sizing_document(found, sized), "scores": inputs.scores}},
        scenario_count=len(tables["sizing_options"]),
    )
