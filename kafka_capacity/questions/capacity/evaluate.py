"""Evaluate options: place once for each broker count, racks and factor, then judge every shape on the arrays.

The same functions serve Spark (one :class:`PlacementKey` a task), the command line and tests.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.workload import PeakBasis, Workload
from kafka_capacity.hardware.limits import RESOURCES, Resource
from kafka_capacity.hardware.shapes import GIB, Shape, is_changed_in_place
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.capacity.cost import break_even_days, monthly_cost
from kafka_capacity.questions.capacity.judging import Judgement, judge
from kafka_capacity.questions.capacity.loads import capacity_use
from kafka_capacity.questions.capacity.options import SizingRequest
from kafka_capacity.questions.capacity.placing import PlacedOption, place_option
from kafka_capacity.questions.capacity.results import (
    CapacityOption,
    CapacityResult,
    ChangeCost,
    MonthlyCost,
    OptionKind,
    PlacementKey,
    day_before,
)

_UNKNOWN_COST = MonthlyCost(brokers=math.nan, disks=math.nan, between_racks=math.nan, ingest=math.nan)


def judge_option(
    option: CapacityOption,
    placed: PlacedOption,
    workload: Workload,
    request: SizingRequest,
    *,
    today: MonthlyCost | None,
    is_use_kept: bool = False,
) -> CapacityResult:
    """Judge one shape on a placement.

    Args:
        option: which.
        placed: its placement.
        workload: the partitions.
        request: limits and today's shape.
        today: what doing nothing costs; ``None`` when this is that.
        is_use_kept: whether the arrays are wanted in the result.
    """
    if placed.loads is None or placed.traffic is None:
        return _not_placed(option, placed)
    shape, limits = option.shape, request.limits
    use = capacity_use(workload, placed.loads, shape)
    found = judge(use, limits, shape, estimate=request.estimate)
    is_shrunk = option.kind is OptionKind.SHRINK_VOLUMES
    is_kept = is_changed_in_place(request.today, shape)
    cost = monthly_cost(
        shape,
        use,
        placed.loads,
        workload,
        placed.traffic,
        limits,
        request.estimate,
        provisioned_bytes=placed.provisioned_bytes if is_kept else None,
        is_replaced=is_shrunk or not is_kept,
    )
    unknown = _unknown(workload, found.headroom_ratio)
    excuses = (*placed.excuses, *found.excuses, *unknown)
    if workload.traffic.basis is PeakBasis.UNKNOWN:
        # Space as well: nobody knows what comes in.
        found = _left_open(found, frozenset(RESOURCES) - {Resource.REPLICAS})
    elif any(excuse.constraint == "sizes" for excuse in placed.excuses):
        found = _left_open(found, frozenset({Resource.DISK, Resource.RECOVERY}))
    return CapacityResult(
        option=option,
        fits=not excuses,
        excuses=excuses,
        not_judged=found.not_judged,
        fits_until=None if unknown else _until(found.fits_until, placed, workload.outlook.dates),
        headroom_ratio=found.headroom_ratio,
        tightest=found.tightest,
        exhaustion=found.exhaustion,
        cost=cost,
        change=_change(option, placed, request, cost, today),
        use=use if is_use_kept else None,
    )


def _until(fits_until: str | None, placed: PlacedOption, dates: Sequence[str]) -> str | None:
    """Return the last day before anything stands in the way; what tells no day does so from the first on."""
    first = min((excuse.when or "" for excuse in placed.excuses), default=None)
    if first is None or fits_until is None:
        return fits_until
    return min(day_before(first), fits_until) if first > dates[0] else None


def _left_open(found: Judgement, unknown: frozenset[Resource]) -> Judgement:
    """Return no days on which resources run out of whose load nothing is known."""
    judged = {one.resource for one in found.exhaustion} & unknown
    return dataclasses.replace(
        found,
        not_judged=tuple(one for one in RESOURCES if one in judged or one in found.not_judged),
        exhaustion=tuple(one for one in found.exhaustion if one.resource not in unknown),
    )


def _unknown(workload: Workload, headroom_ratio: float | None) -> tuple[Excuse, ...]:
    if workload.traffic.basis is not PeakBasis.UNKNOWN and headroom_ratio is not None:
        return ()
    what = "rates" if workload.traffic.basis is PeakBasis.UNKNOWN else "capacities"
    remedy = "stage an inventory with metrics" if what == "rates" else "say what the brokers can do"
    return (
        Excuse(
            reason=f"no {what} are known, so nothing can be said to fit; {remedy}",
            constraint=what,
            where="the inventory",
            needed=1.0,
            available=0.0,
            unit="ratio",
        ),
    )


def _not_placed(option: CapacityOption, placed: PlacedOption) -> CapacityResult:
    return CapacityResult(
        option=option,
        fits=False,
        excuses=placed.excuses,
        not_judged=(),
        fits_until=None,
        headroom_ratio=None,
        tightest=None,
        exhaustion=(),
        cost=_UNKNOWN_COST,
        change=ChangeCost(
            moved_bytes=0.0,
            moved_between_racks_bytes=0.0,
            seconds=None,
            least_throttle_bytes_per_second=0.0,
            usd=math.nan,
            break_even_days=None,
            is_in_place=True,
        ),
        use=None,
    )


def _change(
    option: CapacityOption,
    placed: PlacedOption,
    request: SizingRequest,
    cost: MonthlyCost,
    today: MonthlyCost | None,
) -> ChangeCost:
    """Cost the change: traffic between racks, and the brokers that run on until they are empty."""
    shape, now = option.shape, request.today
    in_place = is_changed_in_place(now, shape) and option.kind is not OptionKind.SHRINK_VOLUMES
    moved, between, seconds = placed.moved_bytes, placed.moved_between_racks_bytes, placed.seconds
    leaving = placed.removed_brokers
    if not in_place:
        moved, between = placed.everything_bytes, placed.everything_between_racks_bytes
        seconds = placed.everything_seconds
        leaving = 0 if option.kind is OptionKind.SHRINK_VOLUMES else placed.observed_brokers
    usd = math.inf if seconds is None else _change_usd(shape, now, between, leaving, seconds)
    if option.kind is OptionKind.DO_NOTHING:
        usd = 0.0
    return ChangeCost(
        moved_bytes=moved,
        moved_between_racks_bytes=between,
        seconds=seconds,
        least_throttle_bytes_per_second=placed.least_throttle_bytes_per_second if in_place else 0.0,
        usd=usd,
        break_even_days=None if today is None or math.isinf(usd) else break_even_days(usd, today, cost),
        is_in_place=in_place,
    )


def _change_usd(shape: Shape, now: Shape, between: float, leaving: int, seconds: float) -> float:
    price = 0.0 if shape.is_replication_free else shape.usd_per_gib_between_racks
    traffic = between / GIB * price if between else 0.0
    running = leaving * now.usd_per_hour * seconds / 3600 if leaving and seconds else 0.0
    return traffic + running


def evaluate_placed(
    snapshot: Snapshot,
    workload: Workload,
    request: SizingRequest,
    key: PlacementKey,
    options: Sequence[CapacityOption],
    *,
    today: MonthlyCost | None,
    sizes: NDArray[np.float64] | None = None,
) -> tuple[CapacityResult, ...]:
    """Judge every option of one placement: one unit of work.

    Args:
        snapshot: the cluster as it is.
        workload: its partitions, in the same order.
        request: what is asked.
        key: the placement.
        options: those of it; others are passed over.
        today: what doing nothing costs, for the time to break even; ``None`` where that is the first of the options.
        sizes: what :func:`partition_sizes` gives, where the caller has it already.
    """
    placed = place_option(snapshot, workload, key, request, sizes=sizes)
    results = []
    for option in (one for one in options if one.placement == key):
        is_today = option.kind is OptionKind.DO_NOTHING
        results.append(judge_option(option, placed, workload, request, today=today, is_use_kept=is_today))
        today = results[-1].cost if is_today else today
    return tuple(results)
