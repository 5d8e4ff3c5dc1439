"""Evaluate the sizing options of a plan: on an executor, and on a laptop just the same.

Replicas are placed once for each broker count, racks and factor; every shape is then judged on the arrays. Executors
have numpy, scipy and pyarrow; nothing here, nor what it imports, may ask for more.
"""

from __future__ import annotations

import dataclasses
import math
import pickle  # of our own results, on their way from our own executors
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.calendar_days import days_later
from kafka_capacity.demand.workload import PeakBasis, Workload
from kafka_capacity.hardware.limits import GIB, RECOVERIES, RESOURCES, Resource
from kafka_capacity.hardware.plain import filled
from kafka_capacity.hardware.shapes import Shape, is_changed_in_place, usd_per_hour
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.capacity.choice import SizingAdvice, advise_size
from kafka_capacity.questions.capacity.cost import break_even_days, monthly_cost
from kafka_capacity.questions.capacity.idle import options_better_idle
from kafka_capacity.questions.capacity.judging import judge
from kafka_capacity.questions.capacity.loads import capacity_use
from kafka_capacity.questions.capacity.more_counts import with_more_counts
from kafka_capacity.questions.capacity.options import SizingInputs, placement_keys
from kafka_capacity.questions.capacity.placing import PlacedOption, place_option
from kafka_capacity.questions.capacity.results import (
    UNKNOWN,
    CapacityOption,
    CapacityResult,
    CapacityUse,
    ChangeCost,
    Copying,
    MonthlyCost,
    OptionKind,
    PlacementKey,
)

RESULTS = "results"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sized:
    """What came of it: the results in the order of the options, those of today and of the recommended with details."""

    results: tuple[CapacityResult, ...]
    advice: SizingAdvice


def simulate_sizing(
    inputs: SizingInputs, run: Callable[[SizingInputs, Sequence[PlacementKey]], Iterable[Mapping[str, pa.Table]]]
) -> Sized:
    """Judge all options, and say which to take.

    Each is judged on its own placement first, and so are counts between those that were tried, down to the fewest;
    those that had better leave brokers idle are judged once more. ``run`` does :func:`placement_results` for each
    placement, here or elsewhere, in any order.
    """
    keys = placement_keys(inputs.options)
    found = {one.option_id: one for key in keys if key.is_observed for one in evaluate_placed(inputs, key)}
    inputs = dataclasses.replace(inputs, today=found[OptionKind.DO_NOTHING].cost)
    keys = tuple(key for key in keys if not key.is_observed)
    while keys:
        found |= {one.option_id: one for one in unpacked(run(inputs, keys))}
        more = with_more_counts(inputs, found.values())
        keys = () if more is None else keys_to_try(more, found)
        inputs = more or inputs
    again = options_better_idle([found[one.option_id] for one in inputs.options], inputs)
    if again:
        judged_again = run(dataclasses.replace(inputs, options=again), placement_keys(again))
        found |= {one.option_id: one for one in unpacked(judged_again)}
    results = tuple(found[option.option_id] for option in inputs.options)
    advice = advise_size(results, inputs.workload.outlook.dates, inputs.request.budget_usd_per_month)
    return Sized(results=tuple(_detailed(inputs, one, advice.recommended) for one in results), advice=advice)


def keys_to_try(inputs: SizingInputs, found: Collection[str]) -> tuple[PlacementKey, ...]:
    """Return the placements of the options that are not among those found, by their ids."""
    return placement_keys(option for option in inputs.options if option.option_id not in found)


def placement_results(inputs: SizingInputs, key: PlacementKey) -> dict[str, pa.Table]:
    """Do one piece of work: every option of one placement, as one row each."""
    return packed(evaluate_placed(inputs, key))


def packed(results: Iterable[object]) -> dict[str, pa.Table]:
    """Return results of a piece of work as the rows of a table, which an executor can hand over."""
    return {RESULTS: pa.table({"data": pa.array([pickle.dumps(result) for result in results], pa.large_binary())})}


def unpacked(bundles: Iterable[Mapping[str, pa.Table]]) -> Iterator[Any]:
    """Yield the results of pieces of work that were packed."""
    for bundle in bundles:
        for data in bundle[RESULTS].column("data").to_pylist():
            yield pickle.loads(data)  # noqa: S301 - see above


def _detailed(inputs: SizingInputs, result: CapacityResult, recommended: str | None) -> CapacityResult:
    """Evaluate the recommended option once more, for what was not kept of it."""
    if result.option_id != recommended or result.use is not None:
        return result
    return judged_option(inputs, result.option, place_option(inputs, result.option.placement), is_use_kept=True)


def evaluate_placed(inputs: SizingInputs, key: PlacementKey) -> list[CapacityResult]:
    """Judge every option of one placement; doing nothing is the first of its own, which the others are held against."""
    placed = place_option(inputs, key)
    results: list[CapacityResult] = []
    for option in (one for one in inputs.options if one.placement == key):
        is_today = option.kind is OptionKind.DO_NOTHING
        results.append(judged_option(inputs, option, placed, is_use_kept=is_today))
        if is_today:
            inputs = dataclasses.replace(inputs, today=results[-1].cost)
    return results


def judged_option(
    inputs: SizingInputs, option: CapacityOption, placed: PlacedOption, *, is_use_kept: bool
) -> CapacityResult:
    """Judge one shape on a placement; the arrays are in the result where they are to be kept."""
    if placed.loads is None or placed.traffic is None:
        return CapacityResult(option=option, fits=False, excuses=placed.excuses)
    shape, workload, request = option.shape, placed.loads.workload, inputs.request
    is_in_place = is_changed_in_place(request.today, shape)
    use = capacity_use(placed.loads, shape, keeps_disks=is_in_place)
    found = judge(use, request.limits, shape, estimate=request.estimate, unknown=_unknown_loads(workload, placed))
    # Smaller volumes take the place of today's now: what they save is what is saved from now on.
    is_kept = is_in_place and option.kind is not OptionKind.SHRINK_VOLUMES
    cost = monthly_cost(
        shape,
        use,
        placed.loads,
        placed.traffic,
        request,
        provisioned_bytes=provisioned_bytes(inputs.snapshot.brokers, placed.brokers) if is_kept else None,
        is_replaced=not is_kept and option.kind is not OptionKind.SHRINK_VOLUMES,
    )
    unknown = _unknown(workload, use)
    # What tells no day is in the way already.
    excuses = tuple(sorted((*placed.excuses, *found.excuses, *unknown), key=lambda excuse: excuse.when or ""))
    if any(excuse.constraint in UNKNOWN for excuse in excuses):
        # That what is known passes a limit some day says nothing of whether all of it does so now.
        today = workload.outlook.dates[0]
        excuses = tuple(one for one in excuses if one.constraint in UNKNOWN or (one.when or today) <= today)
    return filled(
        CapacityResult,
        found,
        option=option,
        fits=not excuses,
        excuses=excuses,
        fits_until=None if unknown else _until(found.fits_until, placed, workload.outlook.dates),
        cost=cost,
        change=_change(inputs, option, placed, cost),
        use=use if is_use_kept else None,
        is_fewer=shape.name == request.today.name and option.placement.broker_count < len(inputs.start),
        unknown_load=inputs.unknown_load,
    )


def provisioned_bytes(observed: Brokers, target: Brokers) -> Floats:
    """Return float64[B], the disks of those that stay, 0 for new ones and where they are not known."""
    stays = observed.index_of(target.ids) >= 0
    return np.where(stays, np.nan_to_num(target.disk_capacity_bytes), 0.0)


def _until(fits_until: str | None, placed: PlacedOption, dates: Sequence[str]) -> str | None:
    """Return the last day before anything stands in the way; what tells no day does so from the first on."""
    first = min((excuse.when or "" for excuse in placed.excuses), default=None)
    if first is None or fits_until is None:
        return fits_until
    return min(days_later(first, -1), fits_until) if first > dates[0] else None


def _unknown_loads(workload: Workload, placed: PlacedOption) -> frozenset[Resource]:
    """Return the resources of whose load nothing is known."""
    if workload.traffic.basis is PeakBasis.UNKNOWN:
        return frozenset(RESOURCES) - {Resource.REPLICAS}  # space as well: nobody knows what comes in
    are_sizes_unknown = any(excuse.constraint == "sizes" for excuse in placed.excuses)
    return RECOVERIES | {Resource.DISK} if are_sizes_unknown else frozenset()


def _unknown(workload: Workload, use: CapacityUse) -> tuple[Excuse, ...]:
    if workload.traffic.basis is not PeakBasis.UNKNOWN and not np.isnan(use.capacity).all():
        return ()
    what, missing, remedy = "capacities", "no capacities are known", "give the capacity of the brokers"
    if workload.traffic.basis is PeakBasis.UNKNOWN:
        what, remedy = "rates", "stage an inventory with metrics"
        missing = "every rate is 0 although data is stored" if workload.load.hours else "no rates are known"
    reason = f"{missing}, so no option can be said to fit; {remedy}"
    where = "the inventory"
    return (Excuse(reason=reason, constraint=what, where=where, needed=1.0, available=0.0, unit="ratio"),)


def _change(inputs: SizingInputs, option: CapacityOption, placed: PlacedOption, cost: MonthlyCost) -> ChangeCost:
    """Cost the change: traffic between racks, and the brokers that run on until they are empty."""
    observed, now, shape = inputs.snapshot.brokers, inputs.request.today, option.shape
    is_shrunk = option.kind is OptionKind.SHRINK_VOLUMES
    in_place = is_changed_in_place(now, shape) and not is_shrunk
    copying = placed.in_place if in_place else placed.everything
    is_leaving = placed.brokers.index_of(observed.ids) < 0
    if not in_place:
        is_leaving[:] = not is_shrunk
    leaving_usd_per_hour = usd_per_hour(now, observed, inputs.request.estimates)[is_leaving]
    usd = _change_usd(now, shape, leaving_usd_per_hour, copying) if option.kind is not OptionKind.DO_NOTHING else 0.0
    today = inputs.today
    return filled(
        ChangeCost,
        copying,
        usd=usd,
        break_even_days=None if today is None or math.isinf(usd) else break_even_days(usd, today, cost),
        is_in_place=in_place,
    )


def _change_usd(now: Shape, shape: Shape, leaving_usd_per_hour: Floats, copying: Copying) -> float:
    """Price what is copied between racks, at the dearer of both kinds of brokers, and those that run on meanwhile."""
    if copying.seconds is None:
        return math.inf
    prices = [0.0 if one.is_replication_free else one.usd_per_gib_between_racks for one in (now, shape)]
    price = float(np.nanmax(prices)) if np.isfinite(prices).any() else math.nan
    traffic = copying.moved_between_racks_bytes / GIB * price if copying.moved_between_racks_bytes else 0.0
    # What copies nothing needs no price.
    running = float(leaving_usd_per_hour.sum()) * copying.seconds / 3600 if copying.seconds else 0.0
    return traffic + running
