"""Evaluate one placement scenario: the same function for Spark, for the command line and for tests."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from kafka_capacity.demand.workload import Traffic
from kafka_capacity.errors import PlacementError
from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.arrays import Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import NO_BROKER, replication_factors
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import AssignmentDiff, diff_assignments
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.placement.bounds import LowerBound
from kafka_capacity.kafka.placement.exact import bound_of_plan
from kafka_capacity.kafka.placement.overflow_relief import placed_log_dirs
from kafka_capacity.kafka.placement.problem import PlacementProblem, RackRule
from kafka_capacity.kafka.placement.registry import FEWEST_BYTES
from kafka_capacity.kafka.placement.relaxing import BINDS_FROM_RATIO, LimitState, limit_states
from kafka_capacity.kafka.placement.shares import balance_limits
from kafka_capacity.kafka.placement.shares import broker_loads as target_loads
from kafka_capacity.kafka.reassignment.flow import MoveDuration, move_duration
from kafka_capacity.proposal.constraints.brokers import NETWORK_IN, NETWORK_OUT
from kafka_capacity.proposal.constraints.kinds import Proposal
from kafka_capacity.proposal.constraints.moves import ALL_AT_ONCE, LOG_DIR, PLACEMENT
from kafka_capacity.proposal.constraints.registry import judged
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.expansion import created, expanded, size_bytes_to_place
from kafka_capacity.proposal.gap import gap_ratio
from kafka_capacity.proposal.loads import broker_loads, is_of_same_hours, network_out
from kafka_capacity.proposal.log_dirs import target_log_dirs
from kafka_capacity.proposal.placing import Placed, placed_so, placed_within_goal, placement_problem
from kafka_capacity.proposal.scenario import BrokerLoads, PlacementMetrics, PlacementResult, PlacementScenario
from kafka_capacity.text.wording import plural


def placement_as_made(
    snapshot: Snapshot, load: PartitionLoad, scenario: PlacementScenario, after: Int32s
) -> PlacementResult:
    """Return a placement that was made elsewhere, from its replica lists alone: to stand on, not judged again.

    ``after`` is ``diff.after`` of the result that :func:`evaluate_placement` gave for the scenario.
    """
    more = expanded(snapshot, load, scenario)
    if more is not None:
        more = created(more, after, scenario.target)
    before = snapshot.replicas if more is None else more.snapshot.replicas
    diff = diff_assignments(before, after)
    return PlacementResult(scenario=scenario, excuses=(), metrics=None, diff=diff, loads=None, expanded=more)


def evaluate_placement(
    snapshot: Snapshot,
    load: PartitionLoad,
    scenario: PlacementScenario,
    like: PlacementResult | None = None,
    *,
    traffic: Traffic | None = None,
    made: Int32s | None = None,
    is_bound_solved: bool = True,
) -> PlacementResult:
    """Describe what a scenario would move, how long it would take, and whether it fits.

    A placement that Kafka itself would refuse is a result with an excuse, not an error. Networks are judged by the
    hours of ``traffic``, where they are given, else as if all partitions peaked at once. ``like`` is the result of a
    scenario that has another throttle and is the same in all else: its placement is taken. ``made``, int32[P, W], are
    replica lists of the snapshot's partitions that are judged as they are, whatever the placer. Of a small plan the
    lower bound is solved for, which takes longer than to place it; ``is_bound_solved`` is false where nobody reads it.

    Raises:
        RequestError: the scenario names a placer that does not exist.
    """
    if like is not None and like.diff is None:
        return dataclasses.replace(like, scenario=scenario)
    scenario = dataclasses.replace(scenario, target=scenario.target.with_other_data_of(snapshot.brokers))
    more = expanded(snapshot, load, scenario)
    start, later = (snapshot, load) if more is None else (more.snapshot, more.load)
    problem = placement_problem(start, later, scenario)
    later_bytes = problem.size_bytes if more is None else size_bytes_to_place(more)
    try:
        placed = _placed(problem, later_bytes, scenario, like, made)
    except PlacementError as error:
        return _refused(scenario, problem, error)
    diff = placed.diff
    if more is not None:
        more = created(more, diff.after, scenario.target)
        start = more.snapshot
        diff = diff_assignments(start.replicas, diff.after)
        problem = dataclasses.replace(problem, before=start.replicas, leader=start.leader)
    loads = None if like is None else like.loads
    if loads is None:
        loads = broker_loads(snapshot, load, scenario.target, diff, problem.size_bytes, more, traffic=traffic)
    placed = dataclasses.replace(placed, diff=diff)
    is_solved = is_bound_solved and scenario.placer == FEWEST_BYTES
    bound = bound_of_plan(problem, diff.after, is_solved=is_solved)
    metrics = _metrics(start, later, scenario, problem, placed, loads, later_bytes, bound)
    if more is not None:
        metrics = dataclasses.replace(metrics, created_partitions=int(more.is_new.sum()))
    states = limit_states(problem, diff.after)
    if is_of_same_hours(traffic):
        states = tuple(_in_the_same_hours(state, loads) for state in states)
    in_dirs = placed_log_dirs(problem, diff.after)
    proposal = Proposal(
        snapshot=snapshot,
        scenario=scenario,
        problem=problem,
        diff=diff,
        loads=loads,
        metrics=metrics,
        limits=states,
        dirs=target_log_dirs(snapshot, scenario.target, dict(scenario.replaced)),
        in_dirs=in_dirs,
        expanded=more,
    )
    excuses, standing = judged(proposal)
    result = filled(
        PlacementResult,
        proposal,
        excuses=excuses,
        standing=standing,
        log_dirs=proposal.dirs,
        log_dir_after=None if in_dirs is None else in_dirs.log_dir,
    )
    return _with_relaxed_rack_rule(snapshot, load, result, problem, traffic)


def _placed(
    problem: PlacementProblem,
    later_bytes: Ints,
    scenario: PlacementScenario,
    like: PlacementResult | None,
    made: Int32s | None,
) -> Placed:
    """Take the placement of ``like``, or replica lists as they are, or else place partitions by their later sizes."""
    if like is not None:
        return filled(Placed, like.metrics, diff=like.diff)
    if made is not None:
        return placed_so(problem, made)
    if later_bytes is problem.size_bytes:
        return placed_within_goal(problem, scenario)
    even = dataclasses.replace(problem, size_bytes=later_bytes)
    return placed_so(problem, placed_within_goal(even, scenario).diff.after)


def _in_the_same_hours(state: LimitState, loads: BrokerLoads) -> LimitState:
    """Return how networks stand to their limits in the same hours, of which nothing is proven; others as they are."""
    if state.constraint not in (NETWORK_IN.name, NETWORK_OUT.name):
        return state
    way, brokers = state.constraint.removeprefix("network_"), loads.brokers
    carried, may = getattr(loads, f"peak_{way}_after"), getattr(brokers, f"network_{way}_bytes_per_second")
    ratio = np.where(np.isfinite(may) & ~loads.is_removed, carried / np.maximum(may, 1e-9), 0.0)
    binding = tuple(brokers.ids[ratio >= BINDS_FROM_RATIO].tolist())
    highest = float(ratio.max(initial=0.0))
    return dataclasses.replace(state, binding_brokers=binding, highest_ratio=highest, proven_ratio=0.0, shortages=())


def _refused(scenario: PlacementScenario, problem: PlacementProblem, error: PlacementError) -> PlacementResult:
    is_usable = scenario.target.takes_replicas
    allowed, topic = problem.allowed_brokers, problem.partitions.topic
    usable = np.full(len(topic), is_usable.sum()) if allowed is None else (allowed & is_usable).sum(axis=1)[topic]
    # The partition that lacks the most brokers, where one does.
    row = int(np.argmax(problem.replication_factor - usable)) if len(topic) else 0
    cordoned = int(scenario.target.is_cordoned.sum())
    hint = f"; {plural(cordoned, 'broker')} would take more once uncordoned (cordoned.log.dirs)" if cordoned else ""
    excuse = Excuse(
        reason=f"{error}{hint}",
        constraint=PLACEMENT,
        where="the whole cluster",
        needed=float(problem.replication_factor[row]) if len(topic) else 0.0,
        available=float(usable[row]) if len(topic) else float(is_usable.sum()),
        unit="brokers",
    )
    return PlacementResult(scenario=scenario, excuses=(excuse,), metrics=None, diff=None, loads=None)


def time_move(
    snapshot: Snapshot,
    coming: Floats,
    going: Floats,
    *,
    throttle_bytes_per_second: float,
    brokers: Brokers,
    diff: AssignmentDiff,
    size_bytes: Ints,
) -> MoveDuration:
    """Time a move between ``brokers`` while so much, float64[P], is written to each partition and read from it."""
    # A fenced broker leads nothing: who has its only replicas in sync there has nobody to copy from.
    is_alive = np.isin(snapshot.replicas, snapshot.brokers.ids[~snapshot.brokers.is_fenced])
    leader = np.where((snapshot.in_sync & is_alive).any(axis=1), snapshot.leader, NO_BROKER)
    is_follower = snapshot.in_sync & (snapshot.replicas >= 0) & (snapshot.replicas != snapshot.leader[:, None])
    traffic_out = network_out(brokers, diff.before, snapshot.leader, coming, going)
    return move_duration(
        diff,
        brokers=brokers,
        leader=leader,
        in_sync_followers=is_follower.sum(axis=1, dtype=np.int32),
        size_bytes=size_bytes,
        bytes_in_bytes_per_second=coming,
        throttle_bytes_per_second=throttle_bytes_per_second,
        spare_in_bytes_per_second=brokers.network_in_bytes_per_second - brokers.sum_held(diff.before, coming),
        spare_out_bytes_per_second=brokers.network_out_bytes_per_second - traffic_out,
    )


def _spare_network(loads: BrokerLoads) -> float | None:
    """Return what the networks of brokers that fetch or send copies have left at peak; ``None`` where none is known."""
    brokers = loads.brokers
    coming = brokers.network_in_bytes_per_second - np.maximum(loads.peak_in_before, loads.peak_in_after)
    going = brokers.network_out_bytes_per_second - np.maximum(loads.peak_out_before, loads.peak_out_after)
    left = np.concatenate([coming[loads.move_in_bytes > 0], going[loads.move_out_bytes > 0]])
    known = left[np.isfinite(left)]
    return max(0.0, float(known.min())) if known.size else None


def _imbalance_today(snapshot: Snapshot, problem: PlacementProblem, fair: Floats, load: Floats) -> float:
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
    placed: Placed,
    loads: BrokerLoads,
    later_bytes: Ints,
    bound: LowerBound,
) -> PlacementMetrics:
    diff = placed.diff
    size = problem.size_bytes
    limits = balance_limits(problem)
    even = dataclasses.replace(problem, size_bytes=later_bytes)
    limits_then = limits if later_bytes is size else balance_limits(even)
    now = target_loads(problem, limits, diff.before)
    moved_bytes = diff.moved_bytes(size)
    timed = functools.partial(
        time_move,
        snapshot,
        throttle_bytes_per_second=scenario.throttle_bytes_per_second,
        brokers=loads.brokers,
        diff=diff,
        size_bytes=size,
    )
    mean = timed(load.bytes_in_mean_bytes_per_second, load.bytes_out_mean_bytes_per_second)
    peak = timed(load.bytes_in_peak_bytes_per_second, load.bytes_out_peak_bytes_per_second)
    return filled(
        PlacementMetrics,
        mean,
        broker_count=len(scenario.target),
        moved_replicas=diff.moved_replicas,
        moved_bytes=moved_bytes,
        moved_bytes_low=placed.moved_bytes_low,
        moved_bytes_high=placed.moved_bytes_high,
        seeds_tried=placed.seeds_tried,
        changed_partitions=diff.changed_partitions,
        leaders_changed=diff.preferred_leaders_changed,
        total_replicas=int((diff.after >= 0).sum()),
        total_bytes=int((replication_factors(diff.after).astype(np.int64) * size).sum()),
        lower_bound_bytes=bound.bytes,
        lower_bound_kind=bound.kind,
        gap_ratio=gap_ratio(moved_bytes, bound.bytes),
        balance_before=_imbalance_today(snapshot, problem, limits.fair, now),
        balance_after=limits_then.imbalance_ratio(target_loads(even, limits_then, diff.after)),
        deleted_replicas=int(diff.deleted_replicas.sum()),
        deleted_bytes=int((diff.deleted_replicas * size).sum()),
        duration_seconds=mean.seconds,
        duration_peak_seconds=peak.seconds,
        smallest_throttle_peak_bytes_per_second=peak.smallest_throttle_bytes_per_second,
        spare_network_bytes_per_second=_spare_network(loads),
    )


def _with_relaxed_rack_rule(
    snapshot: Snapshot, load: PartitionLoad, result: PlacementResult, problem: PlacementProblem, traffic: Traffic | None
) -> PlacementResult:
    """Describe in the first excuse about a limit that the rule ``two-racks`` would do, if it would."""
    asked = result.scenario
    if asked.placer != FEWEST_BYTES or asked.rack_rule is not RackRule.STRICT or result.diff is None:
        return result
    passed = {state.constraint for state in result.limits if state.is_passed}
    broken = {excuse.constraint for excuse in result.excuses}
    others = broken - passed - {LOG_DIR, *ALL_AT_ONCE}
    if not passed & broken or others:
        return result
    states = limit_states(dataclasses.replace(problem, rack_rule=RackRule.TWO_RACKS), result.diff.after)
    if any(state.proven_ratio > 1.0 for state in states if state.constraint in passed):
        return result  # a limit that cannot be kept under the other rule either, whatever the plan
    two_racks = dataclasses.replace(asked, rack_rule=RackRule.TWO_RACKS)
    relaxed = evaluate_placement(snapshot, load, two_racks, traffic=traffic, is_bound_solved=False)
    if any(excuse.constraint not in ALL_AT_ONCE for excuse in relaxed.excuses):
        return result
    at = next(number for number, excuse in enumerate(result.excuses) if excuse.constraint in passed)
    amended = dataclasses.replace(
        result.excuses[at], reason=f"{result.excuses[at].reason}; so would the rack rule two-racks instead of strict"
    )
    return dataclasses.replace(result, excuses=(*result.excuses[:at], amended, *result.excuses[at + 1 :]))
