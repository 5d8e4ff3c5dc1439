"""A move in waves: what each does, when, and what every broker carries meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.reassignment.problem import MoveProblem, Order
from kafka_capacity.kafka.reassignment.refusal import MoveRefusal
from kafka_capacity.kafka.reassignment.throttle import BrokerThrottles

Band = tuple[float | None, float | None, float | None]
"""Seconds at the low, the expected and the high rates; ``None`` for never."""


class WaveKind(StrEnum):
    """What a wave is for."""

    LEADERSHIP = "leadership"
    """Leaders move off brokers that are drained; nothing is copied."""
    DROP = "drop"
    """Replicas go away and none are copied: a smaller replication factor."""
    COPY = "copy"
    """Replicas are copied, and the old ones go when the new ones are in sync."""
    DETOUR = "detour"
    """The same, with partitions that go by way of a third broker, since two full disks wait for each other."""
    REORDER = "reorder"
    """Replica lists change their order; nothing is copied."""


COPIES = frozenset({WaveKind.COPY, WaveKind.DETOUR})
"""Waves in which replicas are copied, be they empty or of unknown size."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wave:
    """One reassignment, n partitions.

    Attributes:
        number: from 1.
        kind: what it is for.
        rows: intp[n], the partitions, positions in the problem.
        replicas_before: int32[n, W], when it begins.
        replicas_after: int32[n, V], when it is done.
        log_dirs_before: int32[n, W], positions in the problem's log dirs, -1 where not known.
        log_dirs_after: int32[n, V], where joining replicas are to go, -1 where the broker may choose.
        leaders_before: int32[n], who leads when it begins, -1 for nobody.
        leaders_after: int32[n], who leads once it is done, and after the election.
        elects: bool[n], whether the preferred leader must be elected once it is done.
        start_seconds: after the start of the first wave: low, expected, high; ``None`` where it never begins.
        end_seconds: ``None`` where it never ends.
        copied_bytes: to be copied when it begins.
        in_flight_bytes: copied until it ends at the expected rates, with what is produced meanwhile.
        throttle_bytes_per_second: the smallest of the brokers that send or receive; for ``--throttle``.
        bottleneck_broker: who decides how long it takes, ``None`` where nothing is copied.
        bottleneck_direction: ``in``, ``out``, or ``fetch`` where the fetcher between two brokers decides.
        smallest_throttle_bytes_per_second: it ends with any throttle above: low, expected, high.
        broker_ids: int32[k], who takes part.
        disk_peak_bytes: float64[k], the most that each may hold, whichever partition is done first.
        log_dirs: intp[l], the directories that take part, positions in the problem's.
        log_dir_peak_bytes: float64[l].
    """

    number: int
    kind: WaveKind
    rows: NDArray[np.intp]
    replicas_before: NDArray[np.int32]
    replicas_after: NDArray[np.int32]
    log_dirs_before: NDArray[np.int32]
    log_dirs_after: NDArray[np.int32]
    leaders_before: NDArray[np.int32]
    leaders_after: NDArray[np.int32]
    elects: NDArray[np.bool_]
    start_seconds: Band
    end_seconds: Band
    copied_bytes: float
    in_flight_bytes: float
    throttle_bytes_per_second: float
    bottleneck_broker: int | None
    bottleneck_direction: str | None
    smallest_throttle_bytes_per_second: tuple[float, float, float]
    broker_ids: NDArray[np.int32]
    disk_peak_bytes: NDArray[np.float64]
    log_dirs: NDArray[np.intp]
    log_dir_peak_bytes: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrokerTimeline:
    """Each broker in each wave that it takes part in, by wave, then broker; C entries.

    Attributes:
        wave: int32[C], from 1.
        broker_id: int32[C].
        in_bytes, out_bytes: float64[C], copied to and from it, without what is produced meanwhile.
        disk_start_bytes, disk_end_bytes: float64[C], replica bytes before and after.
        disk_peak_bytes: float64[C], the most it may hold on the way.
        disk_expected_bytes: float64[C], the most if partitions are done as the model has it.
        disk_limit_bytes: float64[C], NaN where nothing limits it.
        leaders: int64[C], partitions it leads after the wave and its election.
    """

    wave: NDArray[np.int32]
    broker_id: NDArray[np.int32]
    in_bytes: NDArray[np.float64]
    out_bytes: NDArray[np.float64]
    disk_start_bytes: NDArray[np.float64]
    disk_end_bytes: NDArray[np.float64]
    disk_peak_bytes: NDArray[np.float64]
    disk_expected_bytes: NDArray[np.float64]
    disk_limit_bytes: NDArray[np.float64]
    leaders: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogDirTimeline:
    """Each log directory in each wave that it takes part in, by wave, then directory.

    Attributes:
        wave: int32[C], from 1.
        log_dir: intp[C], position in the problem's log dirs.
        start_bytes, peak_bytes, end_bytes: float64[C].
        limit_bytes: float64[C], NaN where nothing limits it.
    """

    wave: NDArray[np.int32]
    log_dir: NDArray[np.intp]
    start_bytes: NDArray[np.float64]
    peak_bytes: NDArray[np.float64]
    end_bytes: NDArray[np.float64]
    limit_bytes: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderOutcome:
    """What an order would lead to.

    Attributes:
        order: its name.
        wave_count: how many waves.
        total_seconds: at the expected rates, ``None`` for never.
        relieved_seconds: until the worst broker has no more than in the end, ``None`` for never or nobody.
    """

    order: Order
    wave_count: int
    total_seconds: float | None
    relieved_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthOutcome:
    """What waves of a length would lead to; seconds are ``None`` for never.

    Attributes:
        max_wave_seconds: the longest that a wave may take, ``None`` for any.
        wave_count: how many waves.
        total_seconds: at the expected rates.
        total_high_seconds: at the high rates.
        relieved_seconds: until the worst broker has no more than in the end, ``None`` for never or nobody.
    """

    max_wave_seconds: float | None
    wave_count: int
    total_seconds: float | None
    total_high_seconds: float | None
    relieved_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipOutcome:
    """What moving leaders off drained brokers first would lead to.

    Attributes:
        moved_leaders: how many partitions get another leader first.
        plain_seconds: without it, at the expected rates, ``None`` for never.
        leadership_first_seconds: with it.
        is_chosen: whether it is the faster one, and the schedule has it.
    """

    moved_leaders: int
    plain_seconds: float | None
    leadership_first_seconds: float | None
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Schedule:
    """A move in waves. After every wave one may stop.

    Attributes:
        problem: what was asked.
        waves: in their order.
        total_seconds: low, expected, high; ``None`` for never.
        never_ends: whether that is so at the expected rates.
        copied_bytes: by all waves; partitions on a detour count twice.
        smallest_throttle_bytes_per_second: all waves end with any throttle above: low, expected, high.
        throttles: of each broker and direction.
        order: the one chosen.
        orders: all that were tried.
        worst_broker: the fullest or busiest of those that the move relieves, ``None`` where it relieves nobody.
        worst_resource: what it is short of: ``disk``, ``network_in`` or ``network_out``.
        relieved_seconds: until it has no more than in the end, ``None`` for never or nobody.
        leadership: what moving leaders first would do; ``None`` where no drained broker leads what is copied.
        refusals: why some partitions are in no wave.
        detours: partitions that go by way of a third broker, positions in the problem.
        brokers: what each carries.
        lengths: those of waves that were tried; none where there was no choice.
        log_dirs: the same for log directories.
    """

    problem: MoveProblem
    waves: tuple[Wave, ...]
    total_seconds: Band
    never_ends: bool
    copied_bytes: float
    smallest_throttle_bytes_per_second: tuple[float, float, float]
    throttles: BrokerThrottles
    order: Order
    orders: tuple[OrderOutcome, ...]
    worst_broker: int | None
    worst_resource: str
    relieved_seconds: float | None
    leadership: LeadershipOutcome | None
    refusals: tuple[MoveRefusal, ...]
    detours: tuple[int, ...]
    brokers: BrokerTimeline
    log_dirs: LogDirTimeline
    lengths: tuple[LengthOutcome, ...] = ()
