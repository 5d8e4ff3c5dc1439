"""Make a placement: the problem that a scenario puts to a placer, and what the placer makes of it."""

from __future__ import annotations

import dataclasses
import functools
import pickle  # of our own problems, within this process

import numpy as np

from kafka_capacity.kafka.arrays import Int32s
from kafka_capacity.kafka.cluster.diff import AssignmentDiff, diff_assignments
from kafka_capacity.kafka.cluster.release import KAFKA_4_4
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.placement.problem import Balance, BrokerLimits, PlacementProblem
from kafka_capacity.kafka.placement.refining import MAX_STEPS
from kafka_capacity.kafka.placement.registry import FEWEST_BYTES, placer
from kafka_capacity.kafka.placement.relaxing import limit_states
from kafka_capacity.proposal.constraints.registry import broker_limits, tolerated_limits
from kafka_capacity.proposal.expansion import factors_today
from kafka_capacity.proposal.grid import DEFAULT_TOLERANCE_RATIO
from kafka_capacity.proposal.loads import broker_loads
from kafka_capacity.proposal.log_dirs import log_dir_room, target_log_dirs
from kafka_capacity.proposal.pins import pinned_brokers
from kafka_capacity.proposal.scenario import PlacementScenario

GENERATE_SEEDS = 20
"""How many seeds stand for what ``--generate`` would do: its own shuffle is not seeded, so one run says little."""

_ATTAINABLE_RATIO = 0.98
"""How much of the goal all brokers together may need: with less room racks and bytes leave no such lists."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """A placement, and what the seeds that were tried would copy."""

    diff: AssignmentDiff
    moved_bytes_low: int
    moved_bytes_high: int
    seeds_tried: int


def placement_problem(snapshot: Snapshot, load: PartitionLoad, scenario: PlacementScenario) -> PlacementProblem:
    """Put a scenario as the problem that placers solve.

    They can only add up, so that networks are those of partitions that all peak at once: what keeps that keeps less.
    """
    own = factors_today(snapshot)
    wanted = np.full(len(own), scenario.replication_factor) if scenario.replication_factor is not None else own
    dirs = target_log_dirs(snapshot, scenario.target, dict(scenario.replaced))
    size_bytes = snapshot.partition_size_bytes()
    balance, tolerance_ratio = scenario.balance, scenario.tolerance_ratio
    if balance is Balance.BYTES and not size_bytes.any():
        # Any placement is even where no replica is known to hold a byte, one that leaves new brokers empty as well.
        balance, tolerance_ratio = Balance.REPLICAS, DEFAULT_TOLERANCE_RATIO[Balance.REPLICAS]
    return PlacementProblem(
        partitions=snapshot.partitions,
        before=snapshot.replicas,
        leader=snapshot.leader,
        size_bytes=size_bytes,
        bytes_in_bytes_per_second=load.bytes_in_mean_bytes_per_second,
        target=scenario.target,
        replication_factor=wanted.astype(np.int32),
        seed=scenario.seed,
        rack_rule=scenario.rack_rule,
        balance=balance,
        tolerance_ratio=tolerance_ratio,
        allowed_brokers=pinned_brokers(scenario.pins, snapshot.partitions, scenario.target),
        broker_limits=broker_limits(scenario),
        tolerated_limits=_tolerated(snapshot, load, scenario),
        limit_in_bytes_per_second=load.bytes_in_peak_bytes_per_second,
        limit_out_bytes_per_second=load.bytes_out_peak_bytes_per_second,
        log_dirs=log_dir_room(snapshot, dirs, scenario.target, scenario.disk_limit_ratio),
        in_sync=snapshot.in_sync,
        are_cordons_strict=snapshot.release >= KAFKA_4_4,
        is_takeover_levelled=scenario.is_takeover_levelled,
    )


def _tolerated(snapshot: Snapshot, load: PartitionLoad, scenario: PlacementScenario) -> BrokerLimits | None:
    """Return what brokers may carry where a limit cannot be kept: what they carry today."""
    if not scenario.is_judged_against_today:
        return None
    nothing = diff_assignments(snapshot.replicas, snapshot.replicas)
    today = broker_loads(snapshot, load, scenario.target, nothing, snapshot.partition_size_bytes())
    return tolerated_limits(scenario, today)


def placed_so(problem: PlacementProblem, after: Int32s) -> Placed:
    """Return a placement that was made elsewhere."""
    diff = diff_assignments(problem.before, after)
    moved = diff.moved_bytes(problem.size_bytes)
    return Placed(diff=diff, moved_bytes_low=moved, moved_bytes_high=moved, seeds_tried=1)


def placed_within_goal(problem: PlacementProblem, scenario: PlacementScenario) -> Placed:
    """Place; once more, with the goal as a limit, where a broker would hold more replicas and need not.

    What is made even by bytes may leave many small replicas on few brokers.
    """
    placed, goal, target = _place(problem, scenario), scenario.replica_goal, scenario.target
    wanted, takes = int(problem.replication_factor.sum()), int(target.takes_replicas.sum())
    if goal is None or scenario.placer != FEWEST_BYTES or wanted > _ATTAINABLE_RATIO * goal * takes:
        return placed
    after = placed.diff.after
    if np.bincount(target.index_of(after[after >= 0]), minlength=len(target)).max(initial=0) <= goal:
        return placed
    limits = problem.broker_limits or BrokerLimits.of(len(target))
    limits = dataclasses.replace(limits, replica_count=np.minimum(limits.replica_count, goal))
    spread = _place(dataclasses.replace(problem, broker_limits=limits), scenario)
    states = zip(limit_states(problem, after), limit_states(problem, spread.diff.after), strict=True)
    return spread if all(then.highest_ratio <= max(1.0, now.highest_ratio) for now, then in states) else placed


def _place(problem: PlacementProblem, scenario: PlacementScenario) -> Placed:
    """Place with one seed, or with several and take the run whose moved bytes are the (lower) median."""
    name, size = scenario.placer, problem.size_bytes
    seeds = GENERATE_SEEDS if name == "generate" else 1
    placed = (_after(dataclasses.replace(problem, seed=scenario.seed + offset), name) for offset in range(seeds))
    runs = sorted((diff_assignments(problem.before, each) for each in placed), key=lambda run: run.moved_bytes(size))
    low, high = (runs[at].moved_bytes(size) for at in (0, -1))
    return Placed(diff=runs[(seeds - 1) // 2], moved_bytes_low=low, moved_bytes_high=high, seeds_tried=seeds)


def _after(problem: PlacementProblem, name: str) -> Int32s:
    """Return what a placer makes of a problem: int32[P, W], read-only where it may be asked for again.

    Sizing asks for the same placements over and over: after an action that changes only traffic, and on each shape.
    Those that are refined take far longer than it takes to recognise their problem.
    """
    if name != FEWEST_BYTES or int(problem.replication_factor.sum()) * len(problem.target) > MAX_STEPS:
        return placer(name).place(problem)
    return refined_after(pickle.dumps(problem))


@functools.lru_cache(maxsize=64)
def refined_after(pickled: bytes) -> Int32s:
    """Place a small pickled problem with the fewest bytes, once a process."""
    after = placer(FEWEST_BYTES).place(pickle.loads(pickled))  # noqa: S301 - made just now
    after.flags.writeable = False
    return after
