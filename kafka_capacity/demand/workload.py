"""What the partitions of a cluster ask of brokers, today and at each date of an outlook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from kafka_capacity.demand.outlook import DemandOutlook
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad

MIDDLE, HIGH = 0, 1  # positions of the two estimates in every array that has both

ESTIMATES = ("middle", "high")


class PeakBasis(StrEnum):
    """What "at peak" rests on."""

    SAME_HOURS = "same-hours"  # 99th percentile of a broker's hourly totals: what peaks at other hours is not added up
    SUM_OF_PEAKS = "sum-of-peaks"  # every partition at its own 99th percentile: an upper estimate, for want of hours
    UNKNOWN = "unknown"  # there is no history of rates: nothing that hangs on traffic can be judged


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traffic:
    """Today's traffic hour by hour."""

    bytes_in: Float32s  # float32[P, H], produced to each partition, bytes per second
    bytes_out: Float32s  # float32[P, H], read of it by consumers, and sent to the object store
    basis: PeakBasis  # what the H columns are: hours, or one column of peaks
    is_unbroken: bool = False  # whether they are consecutive hours, none left out

    def with_uploads(self, is_tiered: Flags) -> Traffic:
        """Return the same where leaders of such partitions, bool[P], send all that is produced to the object store."""
        if not is_tiered.any():
            return self
        return replace(self, bytes_out=self.bytes_out + self.bytes_in * is_tiered[:, None].astype(np.float32))

    @classmethod
    def of_peaks(cls, load: PartitionLoad) -> Traffic:
        """Take each partition's own peak, where there are no hours to tell which of them come together."""
        return cls(
            bytes_in=load.bytes_in_peak_bytes_per_second[:, None].astype(np.float32),
            bytes_out=load.bytes_out_peak_bytes_per_second[:, None].astype(np.float32),
            basis=PeakBasis.SUM_OF_PEAKS if load.hours else PeakBasis.UNKNOWN,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lags:
    """How far groups are behind, one entry a group and partition that it reads."""

    groups: tuple[str, ...]
    group: Int32s  # int32[N], position in `groups`
    row: Ints  # int64[N], the partition
    seconds: Floats  # float64[N], how long ago what it reads now was produced
    unknown: frozenset[str] = frozenset()  # groups that may be further behind, since that is not known everywhere
    # how many records were deleted before a group read them, by its name, of groups with any
    lost_records: Mapping[str, float] = field(default_factory=dict)

    def part(self, is_kept: Flags) -> Lags:
        """Return some of the entries, bool[N]."""
        return replace(self, group=self.group[is_kept], row=self.row[is_kept], seconds=self.seconds[is_kept])

    @classmethod
    def none(cls) -> Lags:
        """Stand in where no group is known."""
        return cls(
            groups=(),
            group=np.empty(0, dtype=np.int32),
            row=np.empty(0, dtype=np.int64),
            seconds=np.empty(0, dtype=np.float64),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogLimits:
    """What ends the log of each partition, in the order of ``Snapshot.partitions``."""

    retention_seconds: Floats  # float64[P], how long brokers keep records, infinite for no limit
    # float64[P], that of the topic, which a planned change is of; of a tiered one brokers may keep less
    whole_retention_seconds: Floats
    retention_bytes: Floats  # float64[P], infinite for no limit
    segment_bytes: Floats  # float64[P]
    is_compacted: Flags  # bool[P]

    def age_seconds(self) -> Floats:
        """Return float64[P], how old records get on brokers; those of a compacted log may stay for ever."""
        return np.where(self.is_compacted, np.inf, self.retention_seconds)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workload:
    """All that sizing knows of the partitions, in the order of ``Snapshot.partitions``."""

    partitions: Partitions  # which there are
    load: PartitionLoad  # today's mean and peak of each
    traffic: Traffic  # today's hours
    size_bytes: Ints  # int64[P], of one replica
    limits: LogLimits  # of the logs
    is_tiered: Flags  # bool[P], whether all that is produced is sent to the object store (KIP-405)
    remote_size_bytes: Floats  # float64[P], what the object store holds of each as far as is known, 0 where not tiered
    lags: Lags  # of the groups
    outlook: DemandOutlook  # what becomes of all that

    def read_hours(self) -> Float32s:
        """Return float32[P, H], what consumers read in the hours of the traffic."""
        if not self.is_tiered.any():
            return self.traffic.bytes_out
        sent = self.traffic.bytes_in * self.is_tiered[:, None]
        return np.asarray(np.maximum(self.traffic.bytes_out - sent, 0.0), dtype=np.float32)

    def lags_by_source(self) -> tuple[Lags, Lags]:
        """Return the lags of who reads from brokers, and of who reads what only the object store has any more."""
        row, seconds = self.lags.row, self.lags.seconds
        is_remote = self.is_tiered[row] & (seconds > self.limits.retention_seconds[row])
        return self.lags.part(~is_remote), self.lags.part(is_remote)

    def remote_reads(self) -> Floats:
        """Return float64[P], what groups read from the object store on average: each what is produced meanwhile."""
        row, rate = self.lags_by_source()[1].row, self.load.bytes_in_mean_bytes_per_second
        return np.bincount(row, weights=rate[row], minlength=len(rate)).astype(np.float64)

    def rate_ratios(self) -> Floats:
        """Return float64[C, 2, D], traffic over today's by class, estimate and date."""
        return np.stack([self.outlook.rate_ratio, self.outlook.rate_ratio_high], axis=1)
