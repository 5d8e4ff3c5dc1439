"""Evaluate options: place once for each broker count, racks and factor, then judge every shape on the arrays.

The same functions serve Spark (one :class:`PlacementKey` a task), the command line and tests.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.cluster.brokers import Brokers
from kafka_capacity.cluster.diff import bytes_per_broker
from kafka_capacity.cluster.snapshot import LogDirs, Snapshot
from kafka_capacity.sizing.capacity.cost import (
    TrafficBetweenRacks,
    break_even_days,
    monthly_cost,
    moved_between_racks,
    traffic_between_racks,
)
from kafka_capacity.sizing.capacity.disk import partition_sizes
from kafka_capacity.sizing.capacity.judging import judge
from kafka_capacity.sizing.capacity.limits import FailureTolerance
from kafka_capacity.sizing.capacity.loads import PlacedLoads, capacity_use, placed_loads
from kafka_capacity.sizing.capacity.options import (
    SizingRequest,
    brokers_of,
    capacity_options,
    placement_keys,
    without_figures,
)
from kafka_capacity.sizing.capacity.results import (
    CapacityOption,
    CapacityResult,
    ChangeCost,
    MonthlyCost,
    OptionKind,
    PlacementKey,
)
from kafka_capacity.sizing.capacity.shapes import GIB, Shape, is_changed_in_place
from kafka_capacity.sizing.capacity.workload import PeakBasis, Workload
from kafka_capacity.sizing.evaluate import evaluate_placement
from kafka_capacity.sizing.excuse import Excuse
from kafka_capacity.sizing.scenario import PlacementScenario

_UNKNOWN_COST = MonthlyCost(brokers=math.nan, disks=math.nan, between_racks=math.nan, ingest=math.nan)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedOption:
    """One placement, ready for every shape.

    Attributes:
        key: which.
        brokers: with the figures of the observed ones.
        excuses: of the change itself, and of racks; for every shape alike.
        loads: ``None`` where Kafka would refuse the placement.
        traffic: what leaves its rack, ``None`` likewise.
        moved_bytes: what is copied when brokers keep their machines or disks.
        moved_between_racks_bytes: of these, to another rack.
        seconds: of copying; ``None`` for never.
        least_throttle_bytes_per_second: any above it ends.
        everything_bytes: all replicas, for brokers that cannot keep their disks.
        everything_between_racks_bytes: of these, to another rack.
        everything_seconds: of copying these.
        removed_brokers: how many of today's go.
        observed_brokers: how many there are today.
    """

    key: PlacementKey
    brokers: Brokers
    excuses: tuple[Excuse, ...]
    loads: PlacedLoads | None
    traffic: TrafficBetweenRacks | None
    moved_bytes: float
    moved_between_racks_bytes: float
    seconds: float | None
    least_throttle_bytes_per_second: float
    everything_bytes: float
    everything_between_racks_bytes: float
    everything_seconds: float
    removed_brokers: int
    observed_brokers: int


def place_option(
    snapshot: Snapshot,
    workload: Workload,
    key: PlacementKey,
    request: SizingRequest,
    *,
    sizes: NDArray[np.float64] | None = None,
) -> PlacedOption:
    """Place the replicas of one option and sum up what the brokers carry.

    Args:
        snapshot: the cluster as it is.
        workload: its partitions, in the same order.
        key: what is placed.
        request: how.
        sizes: what :func:`partition_sizes` gives, where the caller has it already.
    """
    brokers = brokers_of(snapshot.brokers, key)
    excuses: tuple[Excuse, ...] = ()
    if key.is_observed:
        after = snapshot.replicas
        moved = between = least_throttle = 0.0
        seconds: float | None = 0.0
    else:
        scenario = _scenario(key, without_figures(brokers), request)
        result = evaluate_placement(_without_log_dirs(snapshot), workload.load, scenario)
        # How to get there is judged with the change: a throttle can be raised.
        excuses = tuple(excuse for excuse in result.excuses if excuse.constraint != "throttle")
        if result.diff is None or result.metrics is None:
            return _refused(key, brokers, excuses)
        after, seconds = result.diff.after, result.metrics.duration_seconds
        least_throttle = result.metrics.smallest_throttle_bytes_per_second
        moved = float(result.metrics.moved_bytes)
        between = _between_racks(snapshot, workload, brokers, after, result.diff.added)
    loads = placed_loads(
        workload, brokers, after, request.loads, replication_factor=key.replication_factor, sizes=sizes
    )
    held = bytes_per_broker(brokers, after, workload.size_bytes)
    return PlacedOption(
        key=key,
        brokers=brokers,
        excuses=(*excuses, *_rack_excuses(loads, request)),
        loads=loads,
        traffic=traffic_between_racks(workload, loads),
        moved_bytes=moved,
        moved_between_racks_bytes=between,
        seconds=seconds,
        least_throttle_bytes_per_second=least_throttle,
        everything_bytes=float(held.sum()),
        everything_between_racks_bytes=_between_racks(snapshot, workload, brokers, after, after >= 0),
        everything_seconds=float(held.max(initial=0)) / request.loads.throttle_bytes_per_second,
        removed_brokers=int((brokers.index_of(snapshot.brokers.ids) < 0).sum()),
        observed_brokers=len(snapshot.brokers),
    )


def _without_log_dirs(snapshot: Snapshot) -> Snapshot:
    """Give the snapshot as if nobody had told its log dirs: brokers of other shapes have other disks."""
    nothing = np.empty(0, dtype=np.float64)
    none = LogDirs(broker_id=nothing.astype(np.int32), path=(), total_bytes=nothing, usable_bytes=nothing)
    return dataclasses.replace(snapshot, log_dirs=none, log_dir=np.full_like(snapshot.log_dir, -1))


def _between_racks(
    snapshot: Snapshot,
    workload: Workload,
    target: Brokers,
    after: NDArray[np.int32],
    copied: NDArray[np.bool_],
) -> float:
    return moved_between_racks(snapshot.brokers, target, snapshot.leader, after, copied, workload.size_bytes)


def _scenario(key: PlacementKey, target: Brokers, request: SizingRequest) -> PlacementScenario:
    return PlacementScenario(
        scenario_id=f"{key.broker_count:03d}-brokers",
        target=target,
        placer=request.placer,
        replication_factor=key.replication_factor,
        throttle_bytes_per_second=request.loads.throttle_bytes_per_second,
        rack_rule=request.rack_rule,
        balance=request.balance,
        tolerance_ratio=request.tolerance_ratio,
        disk_limit_ratio=request.limits.disk_ratio,
        seed=request.seed,
    )


def _refused(key: PlacementKey, brokers: Brokers, excuses: tuple[Excuse, ...]) -> PlacedOption:
    return PlacedOption(
        key=key,
        brokers=brokers,
        excuses=excuses,
        loads=None,
        traffic=None,
        moved_bytes=0.0,
        moved_between_racks_bytes=0.0,
        seconds=None,
        least_throttle_bytes_per_second=0.0,
        everything_bytes=0.0,
        everything_between_racks_bytes=0.0,
        everything_seconds=0.0,
        removed_brokers=0,
        observed_brokers=0,
    )


def _rack_excuses(loads: PlacedLoads, request: SizingRequest) -> tuple[Excuse, ...]:
    """Say where a rack cannot be lost, whatever the hardware."""
    if request.limits.tolerance is not FailureTolerance.ONE_RACK:
        return ()
    racks = len(loads.brokers.rack_names())
    if racks < 2:
        one = "there is one rack" if racks else "no broker tells its rack"
        return (
            Excuse(
                reason=f"no rack can be lost: {one}; spread the brokers over racks, or ask for one broker's loss only",
                constraint="racks",
                where="the whole cluster",
                needed=2.0,
                available=float(racks),
                unit="racks",
            ),
        )
    rack = np.where(loads.replicas >= 0, loads.brokers.rack_indexes()[loads.replicas.clip(min=0)], -1)
    copies = (rack >= 0).sum(axis=1)
    apart = ((rack != rack[:, :1]) & (rack >= 0)).any(axis=1)
    together = int(((copies > 1) & ~apart).sum())
    if not together:
        return ()
    which = "partition with several replicas has" if together == 1 else "partitions with several replicas have"
    return (
        Excuse(
            reason=f"{together:,} {which} all of them in one rack and would be gone with it; place them anew",
            constraint="racks",
            where="partitions in one rack",
            needed=float(together),
            available=0.0,
            unit="partitions",
        ),
    )


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
    cost = monthly_cost(shape, use, placed.loads, workload, placed.traffic, limits, request.estimate)
    excuses = (*placed.excuses, *found.excuses, *_unknown(workload, found.headroom_ratio))
    return CapacityResult(
        option=option,
        fits=not excuses,
        excuses=excuses,
        not_judged=found.not_judged,
        fits_until=None if placed.excuses else found.fits_until,
        headroom_ratio=found.headroom_ratio,
        tightest=found.tightest,
        exhaustion=found.exhaustion,
        cost=cost,
        change=_change(option, placed, request, cost, today),
        use=use if is_use_kept else None,
    )


def _unknown(workload: Workload, headroom_ratio: float | None) -> tuple[Excuse, ...]:
    if workload.traffic.basis is not PeakBasis.UNKNOWN and headroom_ratio is not None:
        return ()
    what = "rates" if workload.traffic.basis is PeakBasis.UNKNOWN else "capacities"
    mend = "stage an inventory with metrics" if what == "rates" else "say what the brokers can do"
    return (
        Excuse(
            reason=f"no {what} are known, so nothing can be said to fit; {mend}",
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
    in_place = is_changed_in_place(now, shape)
    moved, between, seconds = placed.moved_bytes, placed.moved_between_racks_bytes, placed.seconds
    leaving = placed.removed_brokers
    if not in_place:
        moved, between = placed.everything_bytes, placed.everything_between_racks_bytes
        seconds, leaving = placed.everything_seconds, placed.observed_brokers
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
        today: what doing nothing costs, for the time to break even.
        sizes: what :func:`partition_sizes` gives, where the caller has it already.
    """
    placed = place_option(snapshot, workload, key, request, sizes=sizes)
    return tuple(
        judge_option(option, placed, workload, request, today=today, is_use_kept=key.is_observed)
        for option in options
        if option.placement == key
    )


def evaluate_options(
    snapshot: Snapshot,
    workload: Workload,
    request: SizingRequest,
    options: Sequence[CapacityOption] | None = None,
) -> tuple[CapacityResult, ...]:
    """Judge all options, in their order, one placement after another; that of today keeps its details."""
    wanted = capacity_options(snapshot, request) if options is None else tuple(options)
    sizes = partition_sizes(workload)
    today: MonthlyCost | None = None
    found: dict[str, CapacityResult] = {}
    for key in _observed_first(placement_keys(wanted)):
        for result in evaluate_placed(snapshot, workload, request, key, wanted, today=today, sizes=sizes):
            found[result.option_id] = result
            if result.option.kind is OptionKind.DO_NOTHING:
                today = result.cost
    return tuple(found[option.option_id] for option in wanted)


def _observed_first(keys: Iterable[PlacementKey]) -> list[PlacementKey]:
    return sorted(keys, key=lambda key: not key.is_observed)
