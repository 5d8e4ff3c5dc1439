"""A move in waves: what each does, when, and what every broker carries meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kafka_capacity.kafka.arrays import Flags, Floats, Indices, Int32s, Ints
from kafka_capacity.kafka.reassignment.problem import MoveProblem, Order
from kafka_capacity.kafka.reassignment.refusal import MoveRefusal
from kafka_capacity.kafka.reassignment.traffic import BrokerThrottles

Band = tuple[float | None, float | None, float | None]
"""Seconds at the low, the expected and the high rates; ``None`` for never."""


class WaveKind(StrEnum):
    """What a wave is for."""

    LEADERSHIP = "leadership"  # leaders move off brokers that are drained; nothing is copied
    DROP = "drop"  # replicas go away and none are copied: a smaller replication factor
    COPY = "copy"  # replicas are copied, and the old ones go when the new ones are in sync
    DETOUR = "detour"
    """The same, with partitions that go by way of a third broker, since two full disks wait for each other."""
    REORDER = "reorder"  # replica lists change their order; nothing is copied


COPIES = frozenset({WaveKind.COPY, WaveKind.DETOUR})
"""Waves in which replicas are copied, be they empty or of unknown size."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wave:
    """One reassignment, n partitions."""

    number: int  # from 1
    kind: WaveKind  # what it is for
    rows: Indices  # intp[n], the partitions, positions in the problem
    replicas_before: Int32s  # int32[n, W], when it begins
    replicas_after: Int32s  # int32[n, V], when it is done
    log_dirs_before: Int32s  # int32[n, W], positions in the problem's log dirs, -1 where not known
    log_dirs_after: Int32s  # int32[n, V], where joining replicas are to go, -1 where the broker may choose
    leaders_before: Int32s  # int32[n], who leads when it begins, -1 for nobody
    leaders_after: Int32s  # int32[n], who leads once it is done, and after the election
    elects: Flags  # bool[n], whether the preferred leader must be elected once it is done
    start_seconds: Band  # after the start of the first wave: low, expected, high; `None` where it never begins
    end_seconds: Band  # `None` where it never ends
    seconds: Band  # how long it takes, also after one that never ends
    copied_bytes: float  # to be copied when it begins
    in_flight_bytes: float  # copied until it ends at the expected rates, with what is produced meanwhile
    throttle_bytes_per_second: float  # the smallest of the brokers that send or receive; for `--throttle`
    bottleneck_broker: int | None  # who decides how long it takes, `None` where nothing is copied
    bottleneck_direction: str | None  # `in`, `out`, or `fetch` where the fetcher between two brokers decides
    # it ends with any throttle above: low, expected, high; infinite where none helps
    smallest_throttle_bytes_per_second: tuple[float, float, float]
    broker_ids: Int32s  # int32[k], who takes part
    disk_peak_bytes: Floats  # float64[k], the most that each may hold, whichever partition is done first


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrokerTimeline:
    """Each broker in each wave that it takes part in, by wave, then broker; C entries."""

    wave: Int32s  # int32[C], from 1
    broker_id: Int32s  # int32[C]
    in_bytes: Floats  # float64[C], copied to it, without what is produced meanwhile
    out_bytes: Floats  # float64[C], copied from it, likewise
    disk_start_bytes: Floats  # float64[C], in use before
    disk_end_bytes: Floats  # float64[C], in use after
    disk_peak_bytes: Floats  # float64[C], the most it may hold on the way
    disk_expected_bytes: Floats  # float64[C], the most if partitions are done as the model has it
    disk_limit_bytes: Floats  # float64[C], NaN where nothing limits it
    leaders: Ints  # int64[C], partitions it leads after the wave and its election


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogDirTimeline:
    """Each log directory in each wave that it takes part in, by wave, then directory."""

    wave: Int32s  # int32[C], from 1
    log_dir: Indices  # intp[C], position in the problem's log dirs
    start_bytes: Floats  # float64[C]
    peak_bytes: Floats  # float64[C]
    end_bytes: Floats  # float64[C]
    limit_bytes: Floats  # float64[C], NaN where nothing limits it


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderOutcome:
    """What an order would lead to."""

    order: Order  # its name
    wave_count: int  # how many waves
    total_seconds: float | None  # at the expected rates, `None` for never
    relieved_seconds: float | None  # until the worst broker has no more than in the end, `None` for never or nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthOutcome:
    """What waves of a length would lead to; seconds are ``None`` for never."""

    max_wave_seconds: float | None  # the longest that a wave may take, `None` for any
    wave_count: int  # how many waves
    total_seconds: float | None  # at the expected rates
    total_high_seconds: float | None  # at the high rates
    relieved_seconds: float | None  # until the worst broker has no more than in the end, `None` for never or nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrun:
    """A wave that does not fit into any window, even if it begins when one opens."""

    wave: int  # its number
    seconds: float  # how long it takes from then, at the traffic of these hours
    # with which it fits; `None` where no throttle helps, since networks or fetchers decide
    throttle_bytes_per_second: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipOutcome:
    """What moving leaders off drained brokers first would lead to."""

    moved_leaders: int  # how many partitions get another leader first
    plain_seconds: float | None  # without it, at the expected rates, `None` for never
    leadership_first_seconds: float | None  # with it
    is_chosen: bool  # whether it is the faster one, and the schedule has it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Schedule:
    """A move in waves. After every wave one may stop."""

    problem: MoveProblem  # the request
    waves: tuple[Wave, ...]  # in their order
    total_seconds: Band  # low, expected, high; `None` for never
    never_ends: bool  # whether that is so at the expected rates
    copied_bytes: float  # by all waves; partitions on a detour count twice
    # all waves end with any throttle above: low, expected, high; infinite where none helps
    smallest_throttle_bytes_per_second: tuple[float, float, float]
    throttles: BrokerThrottles  # of each broker and direction
    order: Order  # the one chosen
    orders: tuple[OrderOutcome, ...]  # all that were tried
    worst_broker: int | None  # the fullest or busiest of those that the move relieves, `None` where it relieves nobody
    worst_resource: str  # what it is short of: `disk`, `network_in` or `network_out`
    relieved_seconds: float | None  # until it has no more than in the end, `None` for never or nobody
    leadership: LeadershipOutcome | None  # of moving leaders first; `None` where no drained broker leads what is copied
    refusals: tuple[MoveRefusal, ...]  # why some partitions are in no wave
    detours: tuple[int, ...]  # partitions that go by way of a third broker, positions in the problem
    brokers: BrokerTimeline  # what each carries
    log_dirs: LogDirTimeline  # the same for log directories
    lengths: tuple[LengthOutcome, ...] = ()  # those of waves that were tried; none where there was no choice
    overruns: tuple[Overrun, ...] = ()  # waves that do not fit into the window that was asked for
