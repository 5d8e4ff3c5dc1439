"""What would happen to a consumer group under a scenario: the result of :func:`evaluate_group`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kafka_capacity.kafka.rebalance.lag import LagOverTime
from kafka_capacity.kafka.rebalance.model import Event, GroupScenario
from kafka_capacity.proposal.excuse import Excuse


class Verdict(StrEnum):
    """What is known of a scenario: what is not known is never called fitting."""

    FITS = "fits"
    DOES_NOT_FIT = "does-not-fit"
    NOT_JUDGED = "not-judged"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EventOutcome:
    """One event of a scenario, as it goes for a group that has caught up; what waits today is a metric of its own."""

    event: Event  # which
    members_before: int  # how many there are when it begins
    members_after: int  # how many there are in the end
    rebalances: int  # generations (classic) or group epochs (KIP-848)
    partition_pauses: int  # how often a partition stopped being read, over all partitions
    paused_partitions: int  # how many different partitions that were
    # how often a rebalance took a partition from a reader that was there: the pauses that a better protocol or assignor
    # spares; the others are those of a reader that stopped itself
    revoked: int
    paused_partition_seconds: float | None  # the sum of all pauses
    moved: int  # partitions that are read by another member in the end; a member that was restarted is no other
    returned: int  # partitions that stopped and are read in the end by the member that read them, restarted or not
    # of the pauses, over several draws of the clocks; 0 where there are none, `None` for one that does not end
    pause_median_seconds: float | None
    pause_p95_seconds: float | None  # the same
    pause_max_seconds: float | None  # the same; `None` for a pause that does not end
    # of the worst partition of all draws: from when the member that reads it goes away until anybody reads it again,
    # with rebalances, sessions and the first fetch; 0 where nobody goes away, `None` for never
    first_record_seconds: float | None
    duplicate_records: float  # read twice on average, since somebody left without committing
    duplicate_records_high: float  # at most
    # the most that any partition falls behind at peak rates; `None` for unbounded. Where the capacity is no limit, what
    # the pauses alone add.
    lag_max_seconds: float | None
    lag_max_partition: str | None  # which, `topic-partition`; `None` where nothing lags
    lag_max_bytes: float | None  # the most that the group falls behind in total
    # from the start until nothing waits in the slowest partition, at peak rates; an upper bound where the capacity is
    # no limit, `None` for never, or for not known, as without a capacity
    catch_up_seconds: float | None
    keeps_up: bool | None  # whether members can do their load at peak then; `None` where nobody was seen to do as much
    catch_up_partition: str | None  # the slowest partition; `None` where nothing lags
    # what the catch-up reads from disk since it fell out of the page cache; `None` where the caches are not known
    disk_read_bytes: float | None
    duration_seconds: float  # until the group has settled
    is_settled: bool  # False where the group did not come to rest
    # state that members of a streams group restore before they go on; `None` for other groups, or for not known
    restored_bytes: float | None = None
    # how long the slowest of them takes at the rate that is given, which pauses and lag have in them; `None` the same
    restore_seconds: float | None = None
    curve: LagOverTime  # all partitions at their rates of the group's peak hour; bytes are NaN where none is known


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestCounts:
    """The smallest member counts that will do with this assignor and protocol; ``None`` where no count will."""

    at_peak: int | None = None  # what each member reads in the peak hour is within the capacity, given or seen
    # the same with `failure_count` members gone for good, and the lag is within the objective in a crash if simulated
    after_failures: int | None = None
    # the lag stays within the objective during a rolling restart at peak; `None` also where that is not simulated
    while_restarting: int | None = None
    # all three, the lag stays within the objective in every other event that is simulated, and a group that is behind
    # today catches up in time
    for_all: int | None = None
    why_none: str | None = None  # why there is none for all, a sentence with numbers; `None` where there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetrics:
    """The steady state of a scenario."""

    partition_count: int  # of the subscribed topics
    idle_members: tuple[str, ...]  # names of members that get nothing
    min_partitions: int  # of any member
    max_partitions: int  # of any member
    busiest_member_id: str  # who reads most in the peak hour
    busiest_member_bytes_per_second: float  # at peak
    mean_member_bytes_per_second: float  # at peak
    group_peak_bytes_per_second: float  # all partitions in the peak hour
    group_mean_bytes_per_second: float  # all partitions, mean
    # what one member can process; `None` where it is neither given nor to be estimated
    capacity_bytes_per_second: float | None
    is_capacity_given: bool  # given, else the highest rate seen so far: a lower bound
    # whether more is known to be too much: it is given, or the group is behind today, so that its members have been
    # seen at their limit. Otherwise what nobody has been seen to do is not held against it.
    is_capacity_limit: bool
    load_ratio: float | None  # the busiest member's rate at peak ÷ capacity; `None` without a capacity
    same_as_count: int  # the smallest count with as few partitions on the fullest member: more than that are pointless
    # topics whose first partitions `range` piles up on the same members, where it bites; else empty
    skew_topics: tuple[str, ...]
    start_lag_bytes: float  # what waits today
    start_lag_seconds: float  # how long ago the oldest of that was produced
    # when that is gone with these members at mean rates; `None` for never, or where the capacity is not known
    catch_up_now_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberChange:
    """One member before and after the change from today to the scenario; peaks are what it reads at the group's.

    Partitions are ``topic-partition`` names in Kafka's order; members that do not exist yet have made-up ids.
    """

    member_id: str
    is_new: bool
    is_gone: bool
    partitions_before: tuple[str, ...]
    partitions_after: tuple[str, ...]
    peak_before_bytes_per_second: float
    peak_after_bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupResult:
    """What a scenario would do."""

    scenario: GroupScenario  # the request
    is_today: bool  # whether it is the group as it is: count, protocol, assignor and static membership
    # the constraints that do not hold: `assignment`, `offline`, `changelogs`, `member_capacity`, `lag_now`, `lag_slo`,
    # `settling`
    excuses: tuple[Excuse, ...]
    # what is not known, so that nobody can tell whether it fits; `None` where all is known
    not_judged: str | None = None
    metrics: GroupMetrics | None = None  # `None` when Kafka would throw
    smallest: SmallestCounts | None = None  # counts that will do; `None` in the same case
    events: tuple[EventOutcome, ...] = ()  # in the order asked for; empty in the same case
    members: tuple[MemberChange, ...] = ()  # who reads what before and after; empty in the same case

    @property
    def verdict(self) -> Verdict:
        """Whether it fits: what breaks a constraint does not, whatever else is not known."""
        if self.excuses:
            return Verdict.DOES_NOT_FIT
        return Verdict.FITS if self.not_judged is None else Verdict.NOT_JUDGED
