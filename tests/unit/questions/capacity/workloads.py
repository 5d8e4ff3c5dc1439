"""Small workloads and outlooks in a few words."""

import numpy as np

from kafka_capacity.demand.outlook import Basis, ClassBasis, DemandOutlook
from kafka_capacity.demand.workload import Lags, LogLimits, PeakBasis, Traffic, Workload
from kafka_capacity.kafka.cluster.assignment import Partitions, replica_matrix
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad

MIB = 2.0**20
GIB = 2.0**30
DAY = 86_400.0


def outlook(
    partitions, *, dates=("2026-11-20", "2026-12-20"), middle=None, high=None, class_of=None, retention=None, added=()
):
    """An outlook; without ratios nothing grows. Ratios are one row a class."""
    middle = np.ones((1, len(dates))) if middle is None else np.atleast_2d(np.array(middle, dtype=float))
    high = middle if high is None else np.atleast_2d(np.array(high, dtype=float))
    nan = float("nan")
    classes = tuple(
        ClassBasis(
            name=f"class {i}", basis=Basis.GROWTH_RATE, model="", history_days=0, reason="made up", error_ratio=nan,
            seasonal_naive_error_ratio=nan, coverage_ratio=nan, interval_ratio=nan,
        )
        for i in range(len(middle))
    )  # fmt: skip
    return DemandOutlook(
        dates=tuple(dates),
        classes=classes,
        class_of=np.array([0] * partitions if class_of is None else class_of, dtype=np.int32),
        rate_ratio=middle,
        rate_ratio_high=high,
        high_quantile=0.9,
        retention_ratio=np.ones_like(middle) if retention is None else np.atleast_2d(np.array(retention, dtype=float)),
        mean_ratio=np.ones(len(middle)),
        added=tuple(added),
    )


def workload(
    bytes_in, bytes_out=None, *, hours_in=None, hours_out=None, size=GIB, retention=7 * DAY, retention_bytes=np.inf,
    segment=GIB, is_compacted=False, is_tiered=False, lags=None, names=None, retention_changes=None,
    whole_retention=None, **outlooks,
):  # fmt: skip
    """Partitions of one topic with these rates; hours, where given, are one row a partition."""
    rate_in = np.array(bytes_in, dtype=float)
    count = len(rate_in)
    rate_out = rate_in * 2 if bytes_out is None else np.array(bytes_out, dtype=float)
    load = PartitionLoad(
        bytes_in_mean_bytes_per_second=rate_in,
        bytes_in_peak_bytes_per_second=rate_in,
        bytes_out_mean_bytes_per_second=rate_out,
        bytes_out_peak_bytes_per_second=rate_out,
        hours=24,
    )
    traffic = Traffic.of_peaks(load)
    if hours_in is not None:
        hours_in = np.array(hours_in, dtype=np.float32)
        hours_out = 2 * hours_in if hours_out is None else np.array(hours_out, dtype=np.float32)
        traffic = Traffic(bytes_in=hours_in, bytes_out=hours_out, basis=PeakBasis.SAME_HOURS, is_unbroken=True)
    topics = tuple(sorted(set(names or ["t"])))
    names = names or ["t"] * count
    number = {name: 0 for name in topics}
    partition = []
    for name in names:
        partition.append(number[name])
        number[name] += 1

    def each(value):
        return np.broadcast_to(np.asarray(value, dtype=float), count).copy()

    return Workload(
        partitions=Partitions(
            topics=topics,
            topic=np.array([topics.index(name) for name in names], dtype=np.int32),
            partition=np.array(partition, dtype=np.int32),
        ),
        load=load,
        traffic=traffic,
        size_bytes=each(size).astype(np.int64),
        limits=LogLimits(
            retention_seconds=each(retention),
            whole_retention_seconds=each(retention if whole_retention is None else whole_retention),
            retention_bytes=each(retention_bytes),
            segment_bytes=each(segment),
            is_compacted=each(is_compacted).astype(bool),
        ),
        is_tiered=each(is_tiered).astype(bool),
        remote_size_bytes=np.zeros(count),
        lags=lags or Lags.none(),
        outlook=outlook(count, retention=retention_changes, **outlooks),
    )


def brokers(count, racks=None, **figures):
    """Brokers from id 1 with one figure for all."""
    return Brokers.of(range(1, count + 1), racks, **{name: [float(value)] * count for name, value in figures.items()})


def replicas(*rows):
    """Replica lists as a matrix."""
    return replica_matrix(rows)
