"""A group as the simulation needs it, what is asked of it, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.groups.model import Member, Topic
from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.settings import GroupSettings

NOBODY = -1


class Event(StrEnum):
    """What may happen to a group."""

    SCALE = "scale"
    """From today's count to the proposed one, all at once; nothing where they are the same."""
    SCALE_ONE_BY_ONE = "scale-one-by-one"
    """The same, one member after the other."""
    ROLLING_RESTART = "rolling-restart"
    """Each member is stopped in order and comes back: a deploy."""
    CRASH = "crash"
    """One member, the busiest, dies and does not come back."""
    CRASH_RESTART = "crash-restart"
    """The busiest member dies and is started again at once by its platform, after ``restart_seconds``."""
    SLOW_MEMBER = "slow-member"
    """The busiest member takes ``slow_seconds`` over one batch."""
    MORE_PARTITIONS = "more-partitions"
    """Every subscribed topic gets more partitions."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupFacts:
    """What is known of one group; one entry a partition of its subscribed topics in every array.

    Attributes:
        group_id: its name.
        protocol: classic or consumer (KIP-848).
        assignor: the name of its assignor today.
        members: its members today, :attr:`~kafka_capacity.kafka.groups.model.Member.owned` is what they read.
        topics: the topics that any member subscribes to and that exist, by name, sorted; partitions are numbered
            0 to ``partitions - 1``.
        topic_ids: the id of each, as Kafka's assignors on the coordinator see it.
        topic: int32[P], position in :attr:`topics`; sorted by topic, then partition.
        partition: int32[P].
        owner: int32[P], position in :attr:`members`, -1 for nobody.
        mean_bytes_per_second: float64[P], produced, mean over the history.
        peak_bytes_per_second: float64[P], produced in the group's peak hour: the hour in which the whole group's
            rate has its 99th percentile, so that partitions which peak at other times are not added up.
        start_lag_bytes: float64[P], what is waiting today.
        cache_window_seconds: float64[P], how far back the page cache of the leader's broker reaches, NaN where it is
            not known.
        record_bytes: the mean size of a record.
        is_record_size_known: whether that was measured, or is a stand-in.
        estimated_capacity_bytes_per_second: the highest hourly rate that any one member has read so far, a lower bound
            of what a member can do; ``None`` without history or members.
        is_estimate_a_limit: whether the member that read most is itself behind: it did all it could.
        history_hours: how many hours the rates rest on.
    """

    group_id: str
    protocol: GroupProtocol
    assignor: str
    members: tuple[Member, ...]
    topics: tuple[Topic, ...]
    topic_ids: tuple[str, ...]
    topic: NDArray[np.int32]
    partition: NDArray[np.int32]
    owner: NDArray[np.int32]
    mean_bytes_per_second: NDArray[np.float64]
    peak_bytes_per_second: NDArray[np.float64]
    start_lag_bytes: NDArray[np.float64]
    cache_window_seconds: NDArray[np.float64]
    record_bytes: float
    is_record_size_known: bool
    estimated_capacity_bytes_per_second: float | None
    is_estimate_a_limit: bool
    history_hours: int

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
    """What if this group had so many members, this assignor and protocol?

    Attributes:
        scenario_id: unique in a plan, readable: ``orders-etl.006.classic-range.dynamic``.
        group_id: whose.
        member_count: how many members there shall be.
        protocol: classic or consumer.
        assignor: by its name.
        is_static: whether every member has a ``group.instance.id``.
        events: what is simulated.
        member_capacity_bytes_per_second: what one member can process; ``None`` takes the estimate.
        lag_slo_seconds: how old the oldest waiting record may get.
        failure_count: how many members may be gone at once, for good.
        catch_up_limit_seconds: how soon a group that is behind by more than the objective today must have caught up, at
            its mean rates.
        partitions_factor: by how much :attr:`Event.MORE_PARTITIONS` multiplies partition counts.
        settings: timeouts and habits.
        seed: of every random draw.
    """

    scenario_id: str
    group_id: str
    member_count: int
    protocol: GroupProtocol
    assignor: str
    is_static: bool
    events: tuple[Event, ...]
    member_capacity_bytes_per_second: float | None
    lag_slo_seconds: float
    catch_up_limit_seconds: float
    failure_count: int
    partitions_factor: int
    settings: GroupSettings
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interruptions:
    """Every time that a partition was not read, one entry each, by time of stop.

    Attributes:
        partition: int64[K], row of the partition; rows at and above the group's are partitions that an event added.
        stop_seconds: float64[K], after the event's start.
        start_seconds: float64[K], when it is read again; infinite if it never is.
        before: int64[K], who read it, a number of :attr:`EventTrace.member_ids`, -1 for nobody.
        after: int64[K], who reads it then.
        left_seconds: float64[K], when the member that read it last went away; NaN where it stayed.
    """

    partition: NDArray[np.int64]
    stop_seconds: NDArray[np.float64]
    start_seconds: NDArray[np.float64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    left_seconds: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.partition)

    @property
    def pause_seconds(self) -> NDArray[np.float64]:
        """float64[K], how long each lasted."""
        return self.start_seconds - self.stop_seconds

    @property
    def is_revoked(self) -> NDArray[np.bool_]:
        """bool[K], taken from a reader that was there, by a rebalance; else its reader stopped by itself."""
        is_by_itself = self.left_seconds <= self.stop_seconds
        return np.asarray((self.before != NOBODY) & ~is_by_itself, dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EventTrace:
    """How an event went: what protocols and assignors did, before rates and capacities come in.

    Attributes:
        member_ids: everyone who was a member at any time.
        identity: int64[M], for each of them the number of the member whose place it took when it was restarted, else
            its own.
        rebalances: generations (classic) or group epochs (KIP-848) that it took.
        interruptions: when which partition was not read.
        first_owner: int64[P'], who read each partition before, numbers of :attr:`member_ids`, -1 for nobody.
        last_owner: int64[P'], who reads it in the end. P' is P plus the partitions that the event added.
        unclean: int64[U], rows of partitions whose reader left without committing.
        sibling: int64[P'], the row whose keys a row shares: itself, or for an added partition the one it split from.
        end_seconds: when the group was settled.
        is_settled: False if it did not come to rest in the rounds that it was given.
    """

    member_ids: tuple[str, ...]
    identity: NDArray[np.int64]
    rebalances: int
    interruptions: Interruptions
    first_owner: NDArray[np.int64]
    last_owner: NDArray[np.int64]
    unclean: NDArray[np.int64]
    sibling: NDArray[np.int64]
    end_seconds: float
    is_settled: bool
