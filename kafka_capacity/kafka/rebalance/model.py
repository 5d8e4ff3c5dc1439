"""A group as the simulation needs it, what is asked of it, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.groups.model import Member, StreamsTopology, Topic
from kafka_capacity.kafka.groups.registry import GroupProtocol


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """What decides how long a rebalance takes; the defaults are those of Kafka 4.3.1 where Kafka has the setting."""

    heartbeat_interval_seconds: float = 3.0  # `heartbeat.interval.ms` of the clients, classic groups
    session_timeout_seconds: float = 45.0  # `session.timeout.ms` of the clients, classic groups
    # `group.consumer.heartbeat.interval.ms` of the brokers, KIP-848 groups; for streams groups `group.streams.…`
    server_heartbeat_interval_seconds: float = 5.0
    server_session_timeout_seconds: float = 45.0  # `group.consumer.session.timeout.ms` of the brokers, KIP-848 groups
    # `group.initial.rebalance.delay.ms` of the brokers: how long the first member of an empty classic group waits for
    # others
    initial_rebalance_delay_seconds: float = 3.0
    # `group.consumer.assignment.interval.ms` of the brokers: a KIP-848 group makes its target assignment at most that
    # often
    assignment_interval_seconds: float = 1.0
    # `max.poll.interval.ms`: also how long a classic rebalance waits for a member
    max_poll_interval_seconds: float = 300.0
    max_poll_records: int = 500  # `max.poll.records`
    auto_commit_interval_seconds: float = 5.0  # `auto.commit.interval.ms`, or how often the application commits
    metadata_max_age_seconds: float = 300.0  # `metadata.max.age.ms`: how late a client sees new partitions
    poll_seconds: float = 0.5  # the longest that a member takes between two polls when it is well
    # from the last member's join to records flowing again: JoinGroup, assignment, SyncGroup, committed offsets and the
    # first fetch
    round_trip_seconds: float = 0.2
    restart_seconds: float = 20.0  # how long a member is away while it is restarted
    settle_seconds: float = 10.0  # how long a rolling restart waits, after a member is back, before it stops the next
    # how long a slow member takes over one batch; only above `max_poll_interval_seconds` it matters
    slow_seconds: float = 360.0
    # how fast a member of a streams group restores state from changelogs; `None` where that is not known, and then
    # nothing waits for it
    restore_bytes_per_second: float | None = None


ACCEPTED_SESSION_SECONDS = {GroupProtocol.CLASSIC: ("group", 6.0, 1800.0)} | {
    protocol: (f"group.{protocol}", 45.0, 60.0) for protocol in (GroupProtocol.CONSUMER, GroupProtocol.STREAMS)
}
"""By protocol what the configs of the brokers begin with (such as ``group.consumer.min.session.timeout.ms``), and the
shortest and longest session timeout that they accept by default (``GroupCoordinatorConfig``, Kafka 4.3.1)."""
NOBODY = -1


class Event(StrEnum):
    """What may happen to a group."""

    SCALE = "scale"  # from today's count to the proposed one, all at once; nothing where they are the same
    SCALE_ONE_BY_ONE = "scale-one-by-one"  # the same, one member after the other
    ROLLING_RESTART = "rolling-restart"  # each member is stopped in order and comes back: a deploy
    CRASH = "crash"  # one member, the busiest, dies and does not come back
    CRASH_RESTART = "crash-restart"
    """The busiest member dies and is started again at once by its platform, after ``restart_seconds``."""
    SLOW_MEMBER = "slow-member"  # the busiest member takes `slow_seconds` over one batch
    MORE_PARTITIONS = "more-partitions"  # every subscribed topic gets more partitions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupFacts:
    """What is known of one group; one entry a partition of its subscribed topics in every array.

    Of a streams group :func:`~.tasks.as_tasks` makes facts with one entry a task: topics are subtopologies then.
    """

    group_id: str  # its name
    protocol: GroupProtocol  # classic, consumer (KIP-848) or streams (KIP-1071)
    assignor: str  # the name of its assignor today
    members: tuple[Member, ...]  # its members today, `owned` is what they read
    # the topics that any member subscribes to and that exist, by name, sorted; partitions are numbered 0 to `partitions
    # - 1`
    topics: tuple[Topic, ...]
    topic_ids: tuple[str, ...]  # the id of each, as Kafka's assignors on the coordinator see it
    topic: Int32s  # int32[P], position in `topics`; sorted by topic, then partition
    partition: Int32s  # int32[P]
    owner: Int32s  # int32[P], position in `members`, -1 for nobody
    mean_bytes_per_second: Floats  # float64[P], produced, mean over the history
    # float64[P], produced in the group's peak hour: the hour in which the whole group's rate has its 99th percentile,
    # so that partitions which peak at other times are not added up
    peak_bytes_per_second: Floats
    is_rate_known: Flags  # bool[P], whether anything is known of what is produced; where not the rates are 0
    is_offline: Flags  # bool[P], whether nobody leads it, so that no member can read it
    # the partition of `__consumer_offsets` of the group where nobody leads it, so that it has no coordinator
    offline_coordinator: int | None = None
    start_lag_bytes: Floats  # float64[P], what is waiting today, at most what the log holds
    start_lag_seconds: float  # how long ago the oldest of that was produced
    unknown_lag_partitions: int = 0  # of how many partitions it is not known what waits, which counts as nothing
    # float64[P], records that were deleted before the group had read them; 0 where it is not known what the log holds
    lost_records: Floats
    # float64[P], how far back the page cache of the leader's broker reaches, NaN where it is not known
    cache_window_seconds: Floats
    record_bytes: float  # the mean size of a record
    is_record_size_known: bool  # whether that was measured, or is a stand-in
    # the highest hourly rate that any one member has read so far, a lower bound of what a member can do; `None` without
    # history or members
    estimated_capacity_bytes_per_second: float | None
    is_estimate_a_limit: bool  # whether the member that read most is itself behind: it did all it could
    history_hours: int  # how many hours the rates rest on
    streams: StreamsTopology | None = None  # what a streams group runs, `None` for any other

    def __len__(self) -> int:
        return len(self.topic)

    @property
    def is_static(self) -> bool:
        """Whether every member has a ``group.instance.id``."""
        return bool(self.members) and all(member.instance_id is not None for member in self.members)

    def partition_name(self, row: int) -> str:
        """Return ``topic-partition`` of a row."""
        return f"{self.topics[int(self.topic[row])].name}-{int(self.partition[row])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupScenario:
    """What if this group had so many members, this assignor and protocol?"""

    scenario_id: str  # unique in a plan, readable: `orders-etl.006.classic-range.dynamic`
    group_id: str  # whose
    member_count: int  # how many members there shall be
    protocol: GroupProtocol  # classic, consumer or streams
    assignor: str  # by its name
    is_static: bool  # whether every member has a `group.instance.id`
    events: tuple[Event, ...]  # what is simulated
    member_capacity_bytes_per_second: float | None  # what one member can process; `None` takes the estimate
    lag_slo_seconds: float  # how old the oldest waiting record may get
    # how soon a group that is behind by more than the objective today must have caught up, at its mean rates
    catch_up_limit_seconds: float
    failure_count: int  # how many members may be gone at once, for good
    partitions_factor: int  # by how much `MORE_PARTITIONS` multiplies partition counts
    settings: GroupSettings  # timeouts and habits
    seed: int  # of every random draw
    standby_replicas: int | None = None  # standbys of each stateful task of a streams group, `None` for any other


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interruptions:
    """Every time that a partition was not read, one entry each, by time of stop."""

    partition: Ints  # int64[K], row of the partition; rows at and above the group's are partitions that an event added
    stop_seconds: Floats  # float64[K], after the event's start
    start_seconds: Floats  # float64[K], when it is read again; infinite if it never is
    before: Ints  # int64[K], who read it, a number of `member_ids`, -1 for nobody
    after: Ints  # int64[K], who reads it then
    left_seconds: Floats  # float64[K], when the member that read it last went away; NaN where it stayed

    def __len__(self) -> int:
        return len(self.partition)

    @property
    def pause_seconds(self) -> Floats:
        """float64[K], how long each lasted."""
        return self.start_seconds - self.stop_seconds

    @property
    def is_revoked(self) -> Flags:
        """bool[K], taken from a reader that was there, by a rebalance; else its reader stopped by itself."""
        is_by_itself = self.left_seconds <= self.stop_seconds
        return np.asarray((self.before != NOBODY) & ~is_by_itself, dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EventTrace:
    """How an event went: what protocols and assignors did, before rates and capacities come in."""

    member_ids: tuple[str, ...]  # everyone who was a member at any time
    # int64[M], for each of them the number of the member whose place it took when it was restarted, else its own
    identity: Ints
    rebalances: int  # generations (classic) or group epochs (KIP-848) that it took
    interruptions: Interruptions  # when which partition was not read
    first_owner: Ints  # int64[P'], who read each partition before, numbers of `member_ids`, -1 for nobody
    last_owner: Ints  # int64[P'], who reads it in the end. P' is P plus the partitions that the event added.
    unclean: Ints  # int64[U], rows of partitions whose reader left without committing
    sibling: Ints  # int64[P'], the row whose keys a row shares: itself, or for an added partition the one it split from
    end_seconds: float  # when the group was settled
    is_settled: bool  # False if it did not come to rest in the rounds that it was given
    # what members of a streams group restored of state before they went on; NaN where a size is not known
    restored_bytes: float = 0.0
    restore_seconds: float = 0.0  # the longest that any of them took for it; 0 where the rate is not known
