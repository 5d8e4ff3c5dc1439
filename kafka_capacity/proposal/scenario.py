"""A placement scenario, and what would happen if it were done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import AssignmentDiff
from kafka_capacity.kafka.cluster.snapshot import LogDirs, Snapshot
from kafka_capacity.kafka.placement.problem import Balance, RackRule
from kafka_capacity.kafka.placement.relaxing import LimitState
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.expansion import Expanded
from kafka_capacity.proposal.pins import Pin


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementScenario:
    """What if the cluster had these brokers, and this placer put the replicas there?

    Attributes:
        scenario_id: unique in a plan, readable.
        target: the whole list of brokers: absent is removed, new is hypothetical.
        placer: the placer's name.
        replication_factor: for all topics; ``None`` keeps each topic's own.
        throttle_bytes_per_second: per broker and direction.
        rack_rule: how far replicas must be spread.
        balance: what is made even.
        tolerance_ratio: how far from its share a broker may be.
        disk_limit_ratio: how full a disk may be after the change.
        seed: of every random draw.
        pins: which topics may be on some brokers only.
        broker_maxima: pairs of a constraint, such as ``replica_count``, and how many a broker may have.
        partition_counts: pairs of a topic and how many partitions it shall have, more than today.
        replaced: pairs of an old broker and the new one that has its log directories.
        is_judged_against_today: whether a limit that a broker is over today is no reason against the change if that
            makes it no worse (:mod:`kafka_capacity.proposal.constraints`).
    """

    scenario_id: str
    target: Brokers
    placer: str
    replication_factor: int | None
    throttle_bytes_per_second: float
    rack_rule: RackRule
    balance: Balance
    tolerance_ratio: float
    disk_limit_ratio: float
    seed: int
    pins: tuple[Pin, ...] = ()
    broker_maxima: tuple[tuple[str, int], ...] = ()
    replaced: tuple[tuple[int, int], ...] = ()
    partition_counts: tuple[tuple[str, int], ...] = ()
    is_judged_against_today: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementMetrics:
    """The figures of one scenario.

    Attributes:
        broker_count: brokers in the target.
        moved_replicas: replicas that are copied.
        moved_bytes: what is copied, at today's sizes.
        moved_bytes_low: the least over the seeds tried; ``moved_bytes`` where there is one.
        moved_bytes_high: the most over the seeds tried.
        seeds_tried: 20 for ``generate``, whose answer hangs on chance; ``moved_bytes`` is then the median.
        changed_partitions: replica lists that differ.
        leaders_changed: preferred leaders that differ.
        total_replicas: after the change.
        total_bytes: replica bytes after the change.
        lower_bound_bytes: what any plan with this balance must copy.
        lower_bound_kind: ``counting``, ``surplus``, ``deficit`` or ``flow``; see
            :mod:`kafka_capacity.kafka.placement.bounds`; or ``solver`` where an integer program proves more
            (:mod:`kafka_capacity.kafka.placement.proving`).
        gap_ratio: (moved − bound) ÷ bound, the most that a better plan could save; 0 when both are 0, ``None`` where it
            says nothing: the bound is (next to) 0, or the plan is below it because it breaks the rack rule.
        balance_before: the largest distance of a target broker from its fair share now, as a ratio of it.
        balance_after: the same after the change.
        leader_balance_after: the largest distance of a broker's preferred-leader traffic from the mean.
        duration_seconds: at the mean rates, ``None`` when it never ends.
        duration_peak_seconds: as if the whole move ran at each partition's 99th percentile, ``None`` for never.
        bottleneck_broker: whose throttle decides.
        bottleneck_direction: ``in`` or ``out``.
        smallest_throttle_bytes_per_second: any throttle above it ends, at the mean rates.
        smallest_throttle_peak_bytes_per_second: the same at the 99th percentile.
        unreachable_partitions: partitions to be copied that nobody leads.
        created_partitions: partitions that are added to topics before anything moves; none of them is copied.
    """

    broker_count: int
    moved_replicas: int
    moved_bytes: int
    moved_bytes_low: int
    moved_bytes_high: int
    seeds_tried: int
    changed_partitions: int
    leaders_changed: int
    total_replicas: int
    total_bytes: int
    lower_bound_bytes: int
    lower_bound_kind: str
    gap_ratio: float | None
    balance_before: float
    balance_after: float
    leader_balance_after: float
    duration_seconds: float | None
    duration_peak_seconds: float | None
    bottleneck_broker: int | None
    bottleneck_direction: str | None
    smallest_throttle_bytes_per_second: float
    smallest_throttle_peak_bytes_per_second: float
    unreachable_partitions: int
    created_partitions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrokerLoads:
    """Each broker before and after, observed and proposed ones together.

    Attributes:
        brokers: the union of both lists.
        is_new: bool[B], not in the observed cluster.
        is_removed: bool[B], not in the target.
        replicas_before, replicas_after: int64[B].
        leaders_before, leaders_after: int64[B], preferred leaders.
        bytes_before, bytes_after: int64[B], replica bytes on disk.
        move_in_bytes, move_out_bytes: int64[B], what the change makes it fetch and send.
        peak_in_before, peak_in_after: float64[B], bytes/s written on it (as leader and follower), each partition at
            its 99th percentile: an upper estimate, since partitions do not all peak together.
        peak_out_before, peak_out_after: float64[B], bytes/s sent to consumers and followers, in the same way.
    """

    brokers: Brokers
    is_new: NDArray[np.bool_]
    is_removed: NDArray[np.bool_]
    replicas_before: NDArray[np.int64]
    replicas_after: NDArray[np.int64]
    leaders_before: NDArray[np.int64]
    leaders_after: NDArray[np.int64]
    bytes_before: NDArray[np.int64]
    bytes_after: NDArray[np.int64]
    move_in_bytes: NDArray[np.int64]
    move_out_bytes: NDArray[np.int64]
    peak_in_before: NDArray[np.float64]
    peak_in_after: NDArray[np.float64]
    peak_out_before: NDArray[np.float64]
    peak_out_after: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementResult:
    """What a scenario would do.

    Attributes:
        scenario: what was asked.
        excuses: the constraints that are reasons against it.
        standing: those that are broken, and were before at the same broker, where the change makes them no worse; none
            where the scenario is not judged against today.
        metrics: ``None`` when Kafka would refuse the placement, so that there is nothing to measure.
        diff: before and after; ``None`` in the same case.
        loads: each broker; ``None`` in the same case.
        limits: how the brokers stand to their hard limits, and which of these bind; empty in the same case, and where
            no limit is known.
        log_dirs: the directories of observed and wanted brokers; ``None`` in the same case.
        log_dir_after: int32 like ``diff.after``, positions in :attr:`log_dirs`, -1 where not known; ``None`` where no
            broker has several directories, so that there is nothing to choose.
        expanded: the cluster when the move begins, where partitions are added before; rows of ``diff`` are then its
            partitions. ``None`` where the cluster is as it is.
    """

    scenario: PlacementScenario
    excuses: tuple[Excuse, ...]
    standing: tuple[Excuse, ...] = ()
    metrics: PlacementMetrics | None
    diff: AssignmentDiff | None
    loads: BrokerLoads | None
    limits: tuple[LimitState, ...] = ()
    log_dirs: LogDirs | None = None
    log_dir_after: NDArray[np.int32] | None = None
    expanded: Expanded | None = None

    @property
    def fits(self) -> bool:
        """Whether nothing speaks against it: every constraint holds, or was broken before and is no worse."""
        return not self.excuses

    def start(self, snapshot: Snapshot) -> Snapshot:
        """Return the cluster when the move begins, whose partitions are the rows of :attr:`diff`."""
        return snapshot if self.expanded is None else self.expanded.snapshot
