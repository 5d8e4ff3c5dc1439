"""Evaluate one placement scenario: the same function for Spark, for the command line and for tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.errors import PlacementError
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.diff import AssignmentDiff, diff_assignments
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.placement.bounds import lower_bound
from kafka_capacity.kafka.placement.problem import BrokerLimits, PlacementProblem
from kafka_capacity.kafka.placement.registry import placer
from kafka_capacity.kafka.placement.relaxing import limit_states
from kafka_capacity.kafka.placement.relieving import placed_log_dirs
from kafka_capacity.kafka.placement.shares import balance_limits, narrow_partitions
from kafka_capacity.kafka.placement.shares import broker_loads as target_loads
from kafka_capacity.kafka.reassignment.duration import MoveDuration, move_duration
from kafka_capacity.proposal.constraints import placement_excuses
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.growing import Grown, factors_today, grown, later_size_bytes, made
from kafka_capacity.proposal.loads import broker_loads, network_in, network_out
from kafka_capacity.proposal.log_dirs import full_log_dirs, log_dir_room, target_log_dirs
from kafka_capacity.proposal.looser_racks import with_looser_racks
from kafka_capacity.proposal.pins import partitions_off_pins, pinned_brokers
from kafka_capacity.proposal.scenario import BrokerLoads, PlacementMetrics, PlacementResult, PlacementScenario

GENERATE_SEEDS = 20
"""How many seeds stand for what ``--generate`` would do: its own shuffle is not seeded, so one run says little."""


def placement_problem(
    snapshot: Snapshot, load: PartitionLoad, scenario: PlacementScenario, *, seed: int
) -> PlacementProblem:
    """Put a scenario as the problem that placers solve."""
    own = factors_today(snapshot)
    wanted = np.full(len(own), scenario.replication_factor) if scenario.replication_factor is not None else own
    dirs = target_log_dirs(snapshot, scenario.target, dict(scenario.replaced))
    return PlacementProblem(
        partitions=snapshot.partitions,
        before=snapshot.replicas,
        leader=snapshot.leader,
        size_bytes=snapshot.partition_size_bytes(),
        bytes_in_bytes_per_second=load.bytes_in_mean_bytes_per_second,
        target=scenario.target,
        replication_factor=wanted.astype(np.int32),
        seed=seed,
        rack_rule=scenario.rack_rule,
        balance=scenario.balance,
        tolerance_ratio=scenario.tolerance_ratio,
        allowed_brokers=pinned_brokers(scenario.pins, snapshot.partitions, scenario.target),
        broker_limits=broker_limits(scenario),
        limit_in_bytes_per_second=load.bytes_in_peak_bytes_per_second,
        limit_out_bytes_per_second=load.bytes_out_peak_bytes_per_second,
        log_dirs=log_dir_room(snapshot, dirs, scenario.target, scenario.disk_limit_ratio),
        in_sync=snapshot.in_sync,
    )


def broker_limits(scenario: PlacementScenario) -> BrokerLimits:
    """Give what no broker of a scenario may pass: disks as far as they may be filled, networks, replicas."""
    target = scenario.target
    return BrokerLimits.of(
        len(target),
        disk_bytes=target.disk_capacity_bytes * scenario.disk_limit_ratio,
        network_in_bytes_per_second=target.network_in_bytes_per_second,
        network_out_bytes_per_second=target.network_out_bytes_per_second,
        replica_count=scenario.most_replicas_per_broker,
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Placed:
    """A placement, and what the seeds that were tried would copy."""

    diff: AssignmentDiff
    low_bytes: int
    high_bytes: int
    seeds: int


def evaluate_placement(
    snapshot: Snapshot, load: PartitionLoad, scenario: PlacementScenario, like: PlacementResult | None = None
) -> PlacementResult:
    """Say what a scenario would move, how long it would take, and whether it fits.

    Args:
        snapshot: the cluster as it is.
        load: its traffic, in the order of ``snapshot.partitions``.
        scenario: what if.
        like: the result of a scenario that has another throttle and is the same in all else: its placement is taken.

    Returns:
        The result; a placement that Kafka itself would refuse is a result with an excuse, not an error.

    Raises:
        RequestError: the scenario names a placer that does not exist.
    """
    if like is not None and like.diff is None:
        return dataclasses.replace(like, scenario=scenario)
    more = grown(snapshot, load, scenario)
    start, later = (snapshot, load) if more is None else (more.snapshot, more.load)
    problem = placement_problem(start, later, scenario, seed=scenario.seed)
    try:
        placed = _place(problem, scenario) if like is None else _placed_as(like)
    except PlacementError as error:
        return _refused(scenario, problem, error)
    diff = placed.diff
    if more is not None:
        more = made(more, diff.after, scenario.target)
        start = more.snapshot
        diff = diff_assignments(start.replicas, diff.after)
        problem = dataclasses.replace(problem, before=start.replicas, leader=start.leader)
    loads = broker_loads(snapshot, load, scenario.target, diff, problem.size_bytes, more)
    metrics = _metrics(start, later, scenario, problem, dataclasses.replace(placed, diff=diff), loads)
    if more is not None:
        metrics = dataclasses.replace(metrics, created_partitions=int(more.is_new.sum()))
    narrow = narrow_partitions(problem, diff.after)
    states = limit_states(problem, diff.after)
    dirs = target_log_dirs(snapshot, scenario.target, dict(scenario.replaced))
    in_dirs = placed_log_dirs(problem, diff.after)
    excuses = placement_excuses(
        scenario,
        loads,
        metrics,
        limits=states,
        narrow_partitions=narrow,
        off_pins=partitions_off_pins(problem, diff.after),
        full_dirs=() if in_dirs is None else full_log_dirs(problem, dirs, in_dirs),
        stale_partitions=_without_in_sync(start, diff),
        later_bytes=None if more is None else _later_bytes(more, loads, diff),
        unknown_size_ratio=snapshot.unknown_size_partitions / max(1, len(snapshot.partitions)),
    )
    result = PlacementResult(
        scenario=scenario,
        fits=not excuses,
        excuses=excuses,
        metrics=metrics,
        diff=diff,
        loads=loads,
        limits=states,
        log_dirs=dirs,
        log_dir_after=None if in_dirs is None else in_dirs.log_dir,
        grown=more,
    )
    return with_looser_racks(result, problem, lambda other: evaluate_placement(snapshot, load, other))


def _later_bytes(more: Grown, loads: BrokerLoads, diff: AssignmentDiff) -> NDArray[np.float64]:
    """Give float64[B], what each broker holds once the records of topics with new partitions have been replaced."""
    rows, columns = np.nonzero(diff.after >= 0)
    return loads.brokers.sum_at(diff.after[rows, columns], later_size_bytes(more)[rows])


def evaluate_all(
    snapshot: Snapshot, load: PartitionLoad, scenarios: Iterable[PlacementScenario]
) -> list[PlacementResult]:
    """Evaluate scenarios one after another, in the order given."""
    return [evaluate_placement(snapshot, load, scenario) for scenario in scenarios]


def _place(problem: PlacementProblem, scenario: PlacementScenario) -> _Placed:
    """Place with one seed, or with several and take the run whose moved bytes are the (lower) median."""
    chosen = placer(scenario.placer)
    seeds = GENERATE_SEEDS if scenario.placer == "generate" else 1
    runs: list[tuple[int, int, AssignmentDiff]] = []
    for offset in range(seeds):
        seeded = dataclasses.replace(problem, seed=scenario.seed + offset)
        diff = diff_assignments(problem.before, chosen.place(seeded))
        runs.append((diff.moved_bytes(problem.size_bytes), offset, diff))
    runs.sort(key=lambda run: run[:2])
    middle = runs[(len(runs) - 1) // 2]
    return _Placed(diff=middle[2], low_bytes=runs[0][0], high_bytes=runs[-1][0], seeds=seeds)


def _placed_as(like: PlacementResult) -> _Placed:
    """Give the placement of a result that has one."""
    assert like.diff is not None and like.metrics is not None  # noqa: S101, PT018 - for the type checker
    low, high = like.metrics.moved_bytes_low, like.metrics.moved_bytes_high
    return _Placed(diff=like.diff, low_bytes=low, high_bytes=high, seeds=like.metrics.seeds_tried)


def _refused(scenario: PlacementScenario, problem: PlacementProblem, error: PlacementError) -> PlacementResult:
    is_usable = ~scenario.target.is_fenced
    allowed, topic = problem.allowed_brokers, problem.partitions.topic
    usable = np.full(len(topic), is_usable.sum()) if allowed is None else (allowed & is_usable).sum(axis=1)[topic]
    # The partition that lacks the most brokers, where one does.
    row = int(np.argmax(problem.replication_factor - usable)) if len(topic) else 0
    excuse = Excuse(
        reason=str(error),
        constraint="placement",
        where="the whole cluster",
        needed=float(problem.replication_factor[row]) if len(topic) else 0.0,
        available=float(usable[row]) if len(topic) else float(is_usable.sum()),
        unit="brokers",
    )
    return PlacementResult(scenario=scenario, fits=False, excuses=(excuse,), metrics=None, diff=None, loads=None)


def _duration(
    snapshot: Snapshot,
    scenario: PlacementScenario,
    loads: BrokerLoads,
    diff: AssignmentDiff,
    size_bytes: NDArray[np.int64],
    bytes_in: NDArray[np.float64],
    bytes_out: NDArray[np.float64],
) -> MoveDuration:
    brokers = loads.brokers
    traffic_in = network_in(brokers, diff.before, bytes_in)
    traffic_out = network_out(brokers, diff.before, snapshot.leader, bytes_in, bytes_out)
    is_follower = snapshot.in_sync & (snapshot.replicas >= 0) & (snapshot.replicas != snapshot.leader[:, None])
    return move_duration(
        diff,
        brokers=loads.brokers,
        leader=snapshot.leader,
        in_sync_followers=is_follower.sum(axis=1, dtype=np.int32),
        size_bytes=size_bytes,
        bytes_in_bytes_per_second=bytes_in,
        throttle_bytes_per_second=scenario.throttle_bytes_per_second,
        spare_in_bytes_per_second=brokers.network_in_bytes_per_second - traffic_in,
        spare_out_bytes_per_second=brokers.network_out_bytes_per_second - traffic_out,
    )


def _without_in_sync(snapshot: Snapshot, diff: AssignmentDiff) -> int:
    """Count the partitions that would give up every replica in sync, get none anew, and keep one that is behind.

    One that comes anew is copied from the leader, and the old ones stay until it is in sync.
    """
    is_kept = (snapshot.replicas >= 0) & ~diff.removed
    loses = (is_kept & ~snapshot.in_sync).any(axis=1) & ~(is_kept & snapshot.in_sync).any(axis=1)
    loses &= ~diff.added.any(axis=1)
    return int((loses & (diff.removed & snapshot.in_sync).any(axis=1)).sum())


def _leader_imbalance(problem: PlacementProblem, after: NDArray[np.int32]) -> float:
    rates = problem.bytes_in_bytes_per_second
    unit = rates if (rates > 0).any() else np.ones(len(rates))
    index = problem.target.index_of(after[:, 0]) if after.shape[1] else np.empty(0, dtype=np.int32)
    load = np.bincount(index[index >= 0], weights=unit[: len(index)][index >= 0], minlength=len(problem.target))
    mean = float(load.mean()) if len(load) else 0.0
    return float(np.max(np.abs(load / mean - 1.0))) if mean > 0 else 0.0


def _imbalance_today(
    snapshot: Snapshot, problem: PlacementProblem, fair: NDArray[np.float64], load: NDArray[np.float64]
) -> float:
    """Return the largest distance of a target broker of today from its fair share among these.

    Brokers that join hold nothing yet: that says nothing about balance.
    """
    is_there = np.isin(problem.target.ids, snapshot.brokers.ids) & (fair > 0)
    share = fair[is_there] / fair[is_there].sum() * load[is_there].sum() if is_there.any() else fair[is_there]
    return float(np.max(np.abs(load[is_there] / share - 1.0))) if (share > 0).any() else 0.0


def _metrics(
    snapshot: Snapshot,
    load: PartitionLoad,
    scenario: PlacementScenario,
    problem: PlacementProblem,
    placed: _Placed,
    loads: BrokerLoads,
) -> PlacementMetrics:
    diff = placed.diff
    size = problem.size_bytes
    limits = balance_limits(problem)
    now, then = target_loads(problem, limits, diff.before), target_loads(problem, limits, diff.after)
    bound = lower_bound(problem, limits.widened_to(then))
    moved_bytes = diff.moved_bytes(size)
    mean = _duration(
        snapshot, scenario, loads, diff, size, load.bytes_in_mean_bytes_per_second, load.bytes_out_mean_bytes_per_second
    )
    peak = _duration(
        snapshot, scenario, loads, diff, size, load.bytes_in_peak_bytes_per_second, load.bytes_out_peak_bytes_per_second
    )
    # Below the bound is only who breaks the rack rule: the bound says nothing of such a plan.
    gap = (moved_bytes - bound.bytes) / bound.bytes if 0 < bound.bytes <= moved_bytes else None
    if not moved_bytes and not bound.bytes:
        gap = 0.0
    return PlacementMetrics(
        broker_count=len(scenario.target),
        moved_replicas=diff.moved_replicas,
        moved_bytes=moved_bytes,
        moved_bytes_low=placed.low_bytes,
        moved_bytes_high=placed.high_bytes,
        seeds_tried=placed.seeds,
        changed_partitions=diff.changed_partitions,
        leaders_changed=diff.preferred_leaders_changed,
        total_replicas=int((diff.after >= 0).sum()),
        total_bytes=int((replication_factors(diff.after).astype(np.int64) * size).sum()),
        lower_bound_bytes=bound.bytes,
        lower_bound_kind=bound.kind,
        gap_ratio=gap,
        balance_before=_imbalance_today(snapshot, problem, limits.fair, now),
        balance_after=limits.imbalance_ratio(then),
        leader_balance_after=_leader_imbalance(problem, diff.after),
        duration_seconds=mean.seconds,
        duration_peak_seconds=peak.seconds,
        bottleneck_broker=mean.bottleneck_broker,
        bottleneck_direction=mean.bottleneck_direction,
        smallest_throttle_bytes_per_second=mean.smallest_throttle_bytes_per_second,
        smallest_throttle_peak_bytes_per_second=peak.smallest_throttle_bytes_per_second,
        unreachable_partitions=mean.unreachable_partitions,
    )
