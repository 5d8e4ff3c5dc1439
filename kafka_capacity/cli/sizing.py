"""From the options of ``size`` to what came of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kafka_capacity import MODEL_VERSION, __version__
from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.plan_input import PlanInput, read_plan_input
from kafka_capacity.cli.size_options import size_request_of
from kafka_capacity.cluster.assignment import replication_factors
from kafka_capacity.demand.expectation import expect_demand
from kafka_capacity.inventory.column_values import floats
from kafka_capacity.inventory.daily_history import topic_history
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.sizing_workload import sizing_workload
from kafka_capacity.request.cpu_samples import read_cpu_samples
from kafka_capacity.request.plan_request import PlanRequest
from kafka_capacity.request.shape_catalogue import read_shapes
from kafka_capacity.sizing.capacity.choice import SizingAdvice, advise_size
from kafka_capacity.sizing.capacity.cpu import CpuCalibration
from kafka_capacity.sizing.capacity.disk import partition_sizes
from kafka_capacity.sizing.capacity.evaluate import evaluate_placed
from kafka_capacity.sizing.capacity.options import SizingRequest, capacity_options, placement_keys
from kafka_capacity.sizing.capacity.partition_advice import PartitionAdvice, advise_partitions
from kafka_capacity.sizing.capacity.plain import plain_fields
from kafka_capacity.sizing.capacity.reconcile import Waterfall, waterfalls
from kafka_capacity.sizing.capacity.results import CapacityResult, MonthlyCost, OptionKind
from kafka_capacity.sizing.capacity.shapes import Shape
from kafka_capacity.sizing.capacity.workload import Workload

SCHEMA_VERSION = 1
SIZE = "size.json"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sized:
    """All that sizing found out.

    Attributes:
        found: the snapshot.
        request: as it was parsed.
        sizing: what was tried.
        workload: of the partitions, with the outlook.
        cpu: what came of the samples of processors; ``None`` without.
        notes: a sentence for each planned event that was left out.
        results: of all options.
        advice: what to do.
        waterfalls: from calculators' counts to ours, for the recommended shape and the cheapest of Amazon's MSK.
        partitions: what each topic needs.
    """

    found: PlanInput
    request: PlanRequest
    sizing: SizingRequest
    workload: Workload
    cpu: CpuCalibration | None
    notes: tuple[str, ...]
    results: tuple[CapacityResult, ...]
    advice: SizingAdvice
    waterfalls: tuple[Waterfall, ...]
    partitions: tuple[PartitionAdvice, ...]

    @property
    def recommended(self) -> CapacityResult | None:
        """The result of the recommended option."""
        return next((result for result in self.results if result.option_id == self.advice.recommended), None)


def size_cluster(
    snapshot: str, given: Mapping[str, Any], shapes_file: Path | None, cpu_samples: Path | None, begin: Steps
) -> Sized:
    """Read, size and choose.

    Args:
        snapshot: its folder or address.
        given: fields of the request that were given.
        shapes_file: shapes of the user's own.
        cpu_samples: what brokers used of their processors at which traffic.
        begin: told of each step.

    Raises:
        KafkaCapacityError: an option, the snapshot or the file is wrong.
    """
    # Wrong options are told before a large snapshot is read.
    size_request_of("not read yet", "2000-01-01", given)
    catalogue = read_shapes(shapes_file)
    cpu = None if cpu_samples is None else read_cpu_samples(cpu_samples)
    begin("reading the snapshot")
    found = read_plan_input(snapshot)
    request = size_request_of(found.snapshot.cluster, found.snapshot.ds, given)
    sizing = _sizing_request(request, found, catalogue)
    if cpu is not None:
        sizing = dataclasses.replace(sizing, loads=dataclasses.replace(sizing.loads, cpu=cpu.costs))
    begin("looking ahead")
    expected = expect_demand(found.snapshot, found.load, request.demand_settings(), topic_history(found.raw))
    workload = sizing_workload(found.raw, found.snapshot, found.load, expected.outlook)
    results = _evaluate(found, workload, sizing, begin)
    advice = advise_size(results, workload.outlook.dates)
    return Sized(
        found=found,
        request=request,
        sizing=sizing,
        workload=workload,
        cpu=cpu,
        notes=expected.notes,
        results=results,
        advice=advice,
        waterfalls=tuple(
            waterfall
            for shape in _reconciled_shapes(results, advice)
            for waterfall in waterfalls(found.snapshot, workload, sizing, results, shape)
        ),
        partitions=advise_partitions(
            workload, replication_factors(found.snapshot.replicas), request.partition_rules(), estimate=sizing.estimate
        ),
    )


def _reconciled_shapes(results: Sequence[CapacityResult], advice: SizingAdvice) -> list[Shape]:
    """Choose the recommended shape, and the cheapest one that fits of those that Amazon's script knows."""
    chosen = next((one for one in results if one.option_id == advice.recommended), results[0]).option.shape
    known = [one for one in results if one.fits and one.option.shape.provider.startswith("aws-msk")]
    cheapest = min(known, key=lambda one: (one.cost.total, one.option_id), default=None)
    other = [] if cheapest is None or cheapest.option.shape.name == chosen.name else [cheapest.option.shape]
    return [chosen, *other]


def _sizing_request(request: PlanRequest, found: PlanInput, catalogue: Mapping[str, Shape]) -> SizingRequest:
    return request.sizing_request(
        found.snapshot.brokers,
        catalogue,
        observed_vcpu=observed_vcpu(found.raw),
        throttle_bytes_per_second=request.throttle_bytes_per_second,
        disk_limit_ratio=request.disk_limit_ratio,
        rack_rule=request.rack_rule,
        balance=request.balance,
        seed=request.seed,
        heap_bytes=float(request.broker_heap_bytes),
    )


def observed_vcpu(raw: RawInventory) -> float:
    """Give the median of the brokers' cores, NaN where none is known."""
    cores = floats(raw.table("brokers").column("cpu_cores"))
    known = cores[np.isfinite(cores)]
    return float(np.median(known)) if len(known) else float("nan")


def _evaluate(found: PlanInput, workload: Workload, sizing: SizingRequest, begin: Steps) -> tuple[CapacityResult, ...]:
    options = capacity_options(found.snapshot, sizing)
    keys = sorted(placement_keys(options), key=lambda key: not key.is_observed)
    sizes = partition_sizes(workload)
    today: MonthlyCost | None = None
    results: dict[str, CapacityResult] = {}
    for key in keys:
        begin(f"sizing {key.broker_count} brokers", steps=len(keys) + 3)
        for result in evaluate_placed(found.snapshot, workload, sizing, key, options, today=today, sizes=sizes):
            results[result.option_id] = result
            if result.option.kind is OptionKind.DO_NOTHING:
                today = result.cost
    return tuple(results[option.option_id] for option in options)


def size_document(sized: Sized) -> dict[str, Any]:
    """Give ``size.json``: null where there is no figure, or none that ends."""
    outlook, advice = sized.workload.outlook, sized.advice
    return {
        "schema_version": SCHEMA_VERSION,
        "code_version": __version__,
        "model_version": MODEL_VERSION,
        "cluster": sized.found.snapshot.cluster,
        "ds": sized.found.snapshot.ds,
        "request": sized.request.model_dump(mode="json"),
        "cpu": {
            **plain_fields(sized.sizing.loads.cpu),
            "samples": None if sized.cpu is None else sized.cpu.samples,
            "reason": None if sized.cpu is None else sized.cpu.reason,
        },
        "peaks": str(sized.workload.traffic.basis),
        "demand": {
            "dates": list(outlook.dates),
            "classes": [
                {
                    **plain_fields(one),
                    "rate_ratio": outlook.rate_ratio[place].tolist(),
                    "rate_ratio_high": outlook.rate_ratio_high[place].tolist(),
                }
                for place, one in enumerate(outlook.classes)
            ],
            "notes": list(sized.notes),
        },
        "recommended": advice.recommended,
        "reason": advice.reason,
        "front": list(advice.front),
        "recommended_until": [{"date": date, "option_id": option} for date, option in advice.by_date],
        "options": [result.as_dict() for result in sized.results],
        "waterfalls": [_waterfall(one) for one in sized.waterfalls],
        "partitions": [plain_fields(one) for one in sized.partitions],
        "groups_beyond_page_cache_today": [
            {"group_id": group, "from_date": date}
            for result in sized.results
            if result.use is not None
            for group, date in result.use.fallen_out
        ],
    }


def _waterfall(one: Waterfall) -> dict[str, Any]:
    return {
        "calculator": one.calculator,
        "shape": one.shape,
        "theirs": {**plain_fields(one.theirs)},
        "steps": [{**plain_fields(step), "change": step.change} for step in one.steps],
        "ours": one.ours,
        "is_placed": one.is_placed,
    }
