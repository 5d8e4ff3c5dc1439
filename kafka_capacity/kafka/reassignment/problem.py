"""What a schedule is asked: where replicas are, where they shall be, and what must hold on the way."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KAFKA_4_4, KafkaRelease
from kafka_capacity.kafka.cluster.snapshot import LogDirs, PartitionLoad, Snapshot
from kafka_capacity.kafka.reassignment.clock import WEEK_HOURS, Clock, Window

BAND = ("low", "expected", "high")  # the rows of everything that depends on traffic
LOW, EXPECTED, HIGH = range(len(BAND))
DELETE_DELAY_SECONDS = 60.0
"""Kafka's default ``file.delete.delay.ms``: a replica that goes away keeps its disk space for so long."""

DEFAULT_HEADROOM_RATIO = 0.2  # the share of network and disk that an automatic throttle leaves free


class Order(StrEnum):
    """Which partitions move first."""

    RELIEF_FIRST = "relief-first"
    SMALLEST_FIRST = "smallest-first"
    HOTTEST_FIRST = "hottest-first"


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttle:
    """How fast a broker may send, and receive, what moves."""

    # of every broker and direction; where `is_automatic`, only of those whose network is not known
    bytes_per_second: float
    is_automatic: bool = False  # take the largest that leaves headroom at each broker's peak, by broker and direction
    # the share of network and disk that an automatic throttle leaves free
    headroom_ratio: float = DEFAULT_HEADROOM_RATIO


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveSettings:
    """How to cut a move into waves."""

    # how many copies a broker may receive, and how many it may send, at once; `None` for any
    max_concurrent_moves_per_broker: int | None = None
    # a wave takes at most this long at the expected rates; `None` for any. A partition that takes longer by itself gets
    # a wave in which it is the longest.
    max_wave_seconds: float | None = None
    # longest waves to choose from where `max_wave_seconds` is `None`; the first is taken of about equals
    tried_wave_seconds: tuple[float, ...] = ()
    # the share of a throttle that what is produced to the moving partitions may take, since it is what the copies lose;
    # `None` for all of it
    max_traffic_ratio: float | None = 0.5
    # between a wave and the next, until the disk space of what has gone is free
    pause_seconds: float = DELETE_DELAY_SECONDS
    fetchers: int = 1  # `num.replica.fetchers`, connections from one follower to one leader
    fetcher_bytes_per_second: float | None = None  # the most that one of them brings; `None` where that is not known
    # those to be tried; the first is taken of equals
    orders: tuple[Order, ...] = (Order.RELIEF_FIRST, Order.SMALLEST_FIRST, Order.HOTTEST_FIRST)
    tries_leadership_first: bool = True  # whether to compare with moving leadership off drained brokers first
    # whether a partition may go by way of a third broker where two full disks wait for each other
    allows_detours: bool = True
    window: Window | None = None  # the part of each day in which waves may run, `None` for all of it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MoveProblem:
    """A move to be scheduled."""

    partitions: Partitions  # of the cluster, P of them
    brokers: Brokers  # every broker that holds a replica before or after, B of them
    before: Int32s  # int32[P, W], the replicas now, the preferred leader first, padded with -1
    after: Int32s  # int32[P, V], the replicas wanted
    leader: Int32s  # int32[P], who leads now, -1 for nobody
    in_sync: Flags  # bool[P, W], whether each replica of `before` is in the ISR
    size_bytes: Ints  # int64[P], of one replica
    min_insync_replicas: Int32s  # int32[P]
    bytes_in_bytes_per_second: Floats  # float64[3, P], produced to each partition: low, expected, high
    bytes_out_bytes_per_second: Floats  # float64[3, P], read by consumers
    throttle: Throttle  # how fast
    disk_limit_bytes: Floats  # float64[B], how full the disks of a broker may be; NaN where nothing limits it
    disk_bytes_per_second: Floats  # float64[B], what its disks write and read together; NaN where it is not known
    log_dirs: LogDirs  # the log directories that are known, D of them
    log_dir: Int32s  # int32[P, W], where each replica of `before` is, -1 where that is not known
    log_dir_limit_bytes: Floats  # float64[D], how full the volume of a directory may be, NaN where nothing limits it
    settings: WaveSettings = field(default_factory=WaveSettings)  # how to cut waves
    # int32[P, V] like `after`, where joining replicas shall go, -1 where the broker may choose; `None` where that
    # is the only directory of their broker, and any of several
    log_dir_after: Int32s | None = None
    release: KafkaRelease = KAFKA_4_3  # that the brokers run
    leaving: tuple[int, ...] = ()  # ids of the brokers that are to be empty in the end, and may be shut down then
    # ids of the brokers that hold nothing today and are to hold something; `None` for those that `before` tells, which
    # may have partitions that are not made yet
    joining: tuple[int, ...] | None = None
    clock: Clock | None = None  # when waves may run; `None` for at any time, one after another

    @property
    def max_wave_seconds(self) -> float | None:
        """How long a wave may take: as long as is asked for, and never longer than the window; ``None`` for any."""
        limits = [self.settings.max_wave_seconds, None if self.clock is None else self.clock.window.seconds]
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def cutting_ratio(self) -> float:
        """The traffic for which waves are cut, over the mean: that of the busiest hour in which they may run."""
        return 1.0 if self.clock is None else self.clock.busiest_ratio

    def names_fenced(self, replicas: Int32s) -> Flags:
        """Return which lists of int32[P, V] name a broker that is down: bool[P].

        Kafka's tool refuses a file with one of them as a whole (``ReassignPartitionsCommand.verifyBrokerIds``).
        """
        return self._names_any(replicas, self.brokers.is_fenced)

    def names_cordoned(self, replicas: Int32s) -> Flags:
        """Return which lists of int32[P, V] Kafka refuses since they name a cordoned broker: bool[P].

        Up to 4.3 nobody minds, and brokers take what they are told to have: cordons count since 4.4.0
        (``ReplicationControlManager.validateManualPartitionAssignment``). Placers leave such brokers out all the same.
        """
        return self._names_any(replicas, self.brokers.is_cordoned & (self.release >= KAFKA_4_4))

    def _names_any(self, replicas: Int32s, brokers: Flags) -> Flags:
        index = self.brokers.index_of(replicas)
        return np.asarray(((index >= 0) & brokers[index]).any(axis=1), dtype=np.bool_)

    def drained(self) -> Flags:
        """Return which brokers give up all that they hold: bool[B]."""
        count = len(self.brokers)
        held, kept = (np.zeros(count, dtype=np.bool_) for _ in range(2))
        for seen, matrix in ((held, self.before), (kept, self.after)):
            index = self.brokers.index_of(np.unique(matrix[matrix >= 0]))
            seen[index[index >= 0]] = True
        return held & ~kept


def move_problem(
    snapshot: Snapshot,
    load: PartitionLoad,
    *,
    brokers: Brokers,
    after: Int32s,
    throttle: Throttle,
    disk_limit_ratio: float,
    settings: WaveSettings | None = None,
    disk_bytes_per_second: Floats | None = None,
    log_dirs: LogDirs | None = None,
    log_dir_after: Int32s | None = None,
    tolerated_bytes: Floats | None = None,
    tolerated_log_dir_bytes: Floats | None = None,
    week_ratio: Sequence[float] | None = None,
    leaving: Sequence[int] = (),
    joining: Sequence[int] | None = None,
) -> MoveProblem:
    """Put a target for a snapshot as a problem: low is a cluster nobody writes to, high every partition's peak.

    Arguments are the fields of :class:`MoveProblem`, but for these. ``disk_limit_ratio`` is how full a disk may be on
    the way, ``tolerated_bytes``, float64[B], what each broker may hold in any case, such as what it holds today, and
    ``tolerated_log_dir_bytes``, float64[D], the same of the directories. ``log_dirs`` are those of the snapshot at
    their positions, then those of wanted brokers; ``None`` for the first alone. ``week_ratio`` is the cluster's traffic
    of each hour of a week, from Monday 0:00 UTC, over its mean, ``None`` where that is not known: waves that may run in
    a window only are timed by it.
    """
    settings, clock = settings or WaveSettings(), None
    if settings.window is not None:
        ratio = np.ones(WEEK_HOURS) if week_ratio is None else np.array(week_ratio, dtype=np.float64)
        clock = Clock(window=settings.window, day=datetime.date.fromisoformat(snapshot.ds), rate_ratio=ratio)
    dirs = snapshot.log_dirs if log_dirs is None else log_dirs
    rates_in = [np.zeros(len(snapshot.partitions)), load.bytes_in_mean_bytes_per_second]
    rates_out = [np.zeros(len(snapshot.partitions)), load.bytes_out_mean_bytes_per_second]
    unknown = np.full(len(brokers), np.nan)
    return MoveProblem(
        partitions=snapshot.partitions,
        brokers=brokers,
        before=snapshot.replicas,
        after=after,
        leader=snapshot.leader,
        in_sync=snapshot.in_sync,
        size_bytes=snapshot.partition_size_bytes(),
        min_insync_replicas=snapshot.topics.min_insync_replicas[snapshot.partitions.topic],
        bytes_in_bytes_per_second=np.stack([*rates_in, load.bytes_in_peak_bytes_per_second]),
        bytes_out_bytes_per_second=np.stack([*rates_out, load.bytes_out_peak_bytes_per_second]),
        throttle=throttle,
        disk_limit_bytes=_at_least(brokers.disk_capacity_bytes * disk_limit_ratio, tolerated_bytes),
        disk_bytes_per_second=unknown if disk_bytes_per_second is None else disk_bytes_per_second,
        log_dirs=dirs,
        log_dir=snapshot.log_dir,
        log_dir_limit_bytes=_at_least(dirs.total_bytes * disk_limit_ratio, tolerated_log_dir_bytes),
        settings=settings,
        log_dir_after=log_dir_after,
        release=snapshot.release,
        leaving=tuple(leaving),
        joining=None if joining is None else tuple(joining),
        clock=clock,
    )


def _at_least(limit: Floats, tolerated: Floats | None) -> Floats:
    """Raise limits to what is tolerated in any case; what is not known stays so."""
    return limit if tolerated is None else np.maximum(limit, tolerated)
