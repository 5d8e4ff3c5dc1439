"""Evaluate the sizing options of a plan: on an executor, and on a laptop just the same.

Executors have numpy, scipy and pyarrow; nothing here, nor what it imports, may ask for more.
"""

from __future__ import annotations

import dataclasses
import pickle  # of our own results, on their way from our own executors
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_capacity.demand.disk import partition_sizes
from kafka_capacity.demand.workload import Workload
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.questions.capacity.choice import SizingAdvice, advise_size
from kafka_capacity.questions.capacity.evaluate import evaluate_placed, judge_option
from kafka_capacity.questions.capacity.idle import options_better_idle
from kafka_capacity.questions.capacity.options import SizingRequest, capacity_options, placement_keys
from kafka_capacity.questions.capacity.placing import place_option
from kafka_capacity.questions.capacity.results import (
    CapacityOption,
    CapacityResult,
    MonthlyCost,
    OptionKind,
    PlacementKey,
)

RESULTS = "results"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SizingInputs:
    """Everything that evaluating needs.

    Attributes:
        snapshot: the cluster as it is.
        workload: its partitions.
        request: what is asked.
        options: all of them.
        sizes: float64, of every partition at every date, as :func:`partition_sizes` gives them.
        today: what doing nothing costs; ``None`` until that is known.
    """

    snapshot: Snapshot
    workload: Workload
    request: SizingRequest
    options: tuple[CapacityOption, ...]
    sizes: NDArray[np.float64]
    today: MonthlyCost | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sized:
    """What came of it: the results in the order of the options, those of today and of the recommended with details."""

    results: tuple[CapacityResult, ...]
    advice: SizingAdvice


def sizing_inputs(snapshot: Snapshot, workload: Workload, request: SizingRequest) -> SizingInputs:
    """Put together what evaluating needs."""
    sizes = partition_sizes(workload)
    return SizingInputs(
        snapshot=snapshot,
        workload=workload,
        request=request,
        options=capacity_options(snapshot, request, sizes),
        sizes=sizes,
    )


def placement_results(inputs: SizingInputs, key: PlacementKey) -> dict[str, pa.Table]:
    """Do one piece of work: every option of one placement, as one row each."""
    results = evaluate_placed(
        inputs.snapshot,
        inputs.workload,
        inputs.request,
        key,
        inputs.options,
        today=inputs.today,
        sizes=inputs.sizes,
    )
    return {RESULTS: pa.table({"data": pa.array([pickle.dumps(result) for result in results], pa.large_binary())})}


def simulate_sizing(
    inputs: SizingInputs,
    run: Callable[[SizingInputs, Sequence[PlacementKey]], Iterable[Mapping[str, pa.Table]]],
) -> Sized:
    """Judge all options, and say which to take.

    Each is judged on its own placement first; those that had better leave brokers idle are judged once more.

    Args:
        inputs: of the plan.
        run: does :func:`placement_results` for each placement, here or elsewhere, in any order.
    """
    keys = placement_keys(inputs.options)
    observed = [key for key in keys if key.is_observed]
    found: dict[str, CapacityResult] = {}
    for key in observed:
        for result in _unpacked([placement_results(inputs, key)]):
            found[result.option_id] = result
            if result.option.kind is OptionKind.DO_NOTHING:
                inputs = dataclasses.replace(inputs, today=result.cost)
    for result in _unpacked(run(inputs, [key for key in keys if not key.is_observed])):
        found[result.option_id] = result
    again = options_better_idle([found[one.option_id] for one in inputs.options], inputs.snapshot, inputs.request)
    if again:
        for result in _unpacked(run(dataclasses.replace(inputs, options=again), placement_keys(again))):
            found[result.option_id] = result
    results = tuple(found[option.option_id] for option in inputs.options)
    advice = advise_size(results, inputs.workload.outlook.dates, inputs.request.budget_usd_per_month)
    return Sized(results=tuple(_detailed(inputs, one, advice.recommended) for one in results), advice=advice)


def _unpacked(bundles: Iterable[Mapping[str, pa.Table]]) -> Iterable[CapacityResult]:
    for bundle in bundles:
        for data in bundle[RESULTS].column("data").to_pylist():
            yield pickle.loads(data)  # noqa: S301 - see above


def _detailed(inputs: SizingInputs, result: CapacityResult, recommended: str | None) -> CapacityResult:
    """Evaluate the recommended option once more, for what was not kept of it."""
    if result.option_id != recommended or result.use is not None:
        return result
    placed = place_option(inputs.snapshot, inputs.workload, result.option.placement, inputs.request, sizes=inputs.sizes)
    return judge_option(result.option, placed, inputs.workload, inputs.request, today=inputs.today, is_use_kept=True)
