"""A placement scenario, and what would happen if it were done."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import AssignmentDiff
from kafka_capacity.kafka.cluster.snapshot import LogDirs, Snapshot
from kafka_capacity.kafka.placement.problem import Balance, RackRule
from kafka_capacity.kafka.placement.relaxing import LimitState
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.expansion import Expanded
from kafka_capacity.proposal.pins import Pin


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementRules:
    """What is asked of a placement, whatever the brokers and the placer."""

    replication_factor: int | None  # for all topics; `None` keeps each topic's own
    throttle_bytes_per_second: float  # per broker and direction
    rack_rule: RackRule  # how far replicas must be spread
    balance: Balance  # what is made even
    disk_limit_ratio: float  # how full a disk may be after the change
    seed: int  # of every random draw
    pins: tuple[Pin, ...] = ()  # which topics may be on some brokers only
    # pairs of a constraint, such as `replica_count`, and how many a broker may have
    broker_maxima: tuple[tuple[str, int], ...] = ()
    # how many replicas a broker should hold, where lists can be had that keep to it; `None` for any number
    replica_goal: int | None = None
    # pairs of a topic and how many partitions it shall have, more than today
    partition_counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementScenario(PlacementRules):
    """What if the cluster had these brokers, and this placer put the replicas there?"""

    scenario_id: str  # unique in a plan, readable
    target: Brokers  # the whole list of brokers: absent is removed, new is hypothetical
    placer: str  # the placer's name
    tolerance_ratio: float  # how far from its share a broker may be
    replaced: tuple[tuple[int, int], ...] = ()  # pairs of an old broker and the new one that has its log directories
    # whether a limit that a broker is over today is no reason against the change if that makes it no worse
    # (`proposal.constraints`)
    is_judged_against_today: bool = False
    is_takeover_levelled: bool = True  # whether lists are put in an order that levels what is taken over after losses


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementMetrics:
    """The figures of one scenario."""

    broker_count: int  # brokers in the target
    moved_replicas: int  # replicas that are copied
    moved_bytes: int  # what is copied, at today's sizes
    moved_bytes_low: int  # the least over the seeds tried; `moved_bytes` where there is one
    moved_bytes_high: int  # the most over the seeds tried
    seeds_tried: int  # 20 for `generate`, whose answer hangs on chance; `moved_bytes` is then the median
    changed_partitions: int  # replica lists that differ
    leaders_changed: int  # preferred leaders that differ
    total_replicas: int  # after the change
    total_bytes: int  # replica bytes after the change
    lower_bound_bytes: int  # what any plan with this balance must copy
    # `counting`, `surplus`, `deficit` or `flow` (see `kafka.placement.bounds`); or `solver` where an integer program
    # proves more (`kafka.placement.exact`)
    lower_bound_kind: str
    # (moved − bound) ÷ bound, the most that a better plan could save; 0 when both are 0, `None` where it says nothing:
    # the bound is (next to) 0, or the plan is below it because it breaks the rack rule
    gap_ratio: float | None
    balance_before: float  # the largest distance of a target broker from its fair share now, as a ratio of it
    balance_after: float  # the same after the change
    duration_seconds: float | None  # at the mean rates, `None` when it never ends
    # as if the whole move ran at each partition's 99th percentile, `None` for never
    duration_peak_seconds: float | None
    bottleneck_broker: int | None  # whose throttle decides
    bottleneck_direction: str | None  # `in` or `out`
    smallest_throttle_bytes_per_second: float  # any above it ends, at the mean rates; infinite where none helps
    smallest_throttle_peak_bytes_per_second: float  # the same at the 99th percentile
    unreachable_partitions: int  # partitions to be copied that nobody leads
    # what each network that copies has left beside clients at peak, before and after, at the least; `None` for unknown
    spare_network_bytes_per_second: float | None = None
    created_partitions: int = 0  # partitions that are added to topics before anything moves; none of them is copied
    deleted_replicas: int = 0  # replicas that go without another one in their place: a smaller replication factor
    deleted_bytes: int = 0  # what they hold


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrokerLoads:
    """Each broker before and after, observed and proposed ones together."""

    brokers: Brokers  # the union of both lists
    is_new: Flags  # bool[B], not in the observed cluster
    is_removed: Flags  # bool[B], not in the target
    replicas_before: Ints  # int64[B]
    replicas_after: Ints  # int64[B]
    leaders_before: Ints  # int64[B], preferred leaders
    leaders_after: Ints  # int64[B], preferred leaders
    bytes_before: Ints  # int64[B], replica bytes on disk
    bytes_after: Ints  # int64[B], replica bytes on disk
    move_in_bytes: Ints  # int64[B], what the change makes it fetch
    move_out_bytes: Ints  # int64[B], what the change makes it send
    # Peaks are upper estimates: each partition at its 99th percentile, though they do not all peak together.
    peak_in_before: Floats  # float64[B], bytes/s written on it, as leader and follower
    peak_in_after: Floats  # float64[B], likewise
    peak_out_before: Floats  # float64[B], bytes/s sent to consumers and followers
    peak_out_after: Floats  # float64[B], likewise


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementResult:
    """What a scenario would do."""

    scenario: PlacementScenario  # the request
    excuses: tuple[Excuse, ...]  # the constraints that are reasons against it
    # those that are broken, and were before at the same broker, where the change makes them no worse; none where the
    # scenario is not judged against today
    standing: tuple[Excuse, ...] = ()
    # `None` when Kafka would refuse the placement, so that there is nothing to measure
    metrics: PlacementMetrics | None
    diff: AssignmentDiff | None  # before and after; `None` in the same case
    loads: BrokerLoads | None  # each broker; `None` in the same case
    # how the brokers stand to their hard limits, and which of these bind; empty in the same case, and where no limit is
    # known
    limits: tuple[LimitState, ...] = ()
    log_dirs: LogDirs | None = None  # the directories of observed and wanted brokers; `None` in the same case
    # int32 like `diff.after`, positions in `log_dirs`, -1 where not known; `None` where no broker has several
    # directories, so that there is nothing to choose
    log_dir_after: Int32s | None = None
    # the cluster when the move begins, where partitions are added before; rows of `diff` are then its partitions.
    # `None` where the cluster is as it is.
    expanded: Expanded | None = None

    @property
    def fits(self) -> bool:
        """Whether nothing speaks against it: every constraint holds, or was broken before and is no worse."""
        return not self.excuses

    def start(self, snapshot: Snapshot) -> Snapshot:
        """Return the cluster when the move begins, whose partitions are the rows of :attr:`diff`."""
        return snapshot if self.expanded is None else self.expanded.snapshot
