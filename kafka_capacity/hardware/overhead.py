"""Stored bytes per produced byte: what a log takes on disk over what was produced to it within its retention.

Around 1 where brokers store what producers send; less where they compress it again, more for what waits to be deleted
with its segment. Sizing carries it on as it is today (:mod:`kafka_capacity.demand.disk`), so that a change of
it is a change of what disks need.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.disk import FULL_RATIO
from kafka_capacity.demand.workload import LogLimits, PeakBasis, Traffic
from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.cluster.assignment import Partitions

MAX_TOPICS = 500  # so many topics are told of, those that produce most first


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicOverhead:
    """One topic whose logs only hold what their retention lets them: stored bytes per byte produced within that."""

    topic: str
    ratio: float
    produced_bytes: float
    retention_seconds: float

    @property
    def is_full(self) -> bool:
        """Whether the logs reach back as far as their retention, rather than still to fill."""
        return self.ratio >= FULL_RATIO


def topic_overheads(
    partitions: Partitions, traffic: Traffic, size_bytes: Ints, limits: LogLimits
) -> tuple[TopicOverhead, ...]:
    """Measure the topics whose logs are limited by time alone and by no more than the hours that are known.

    Arrays have an entry a partition, and sizes are those of one replica.
    Returned are topics with traffic, the ones that produce most first, at most :data:`MAX_TOPICS`.
    """
    if traffic.basis is not PeakBasis.SAME_HOURS:
        return ()
    hours = traffic.bytes_in
    kept_hours = np.round(limits.age_seconds() / 3600)
    is_limited = np.isinf(limits.retention_bytes) & (kept_hours >= 1) & (kept_hours <= hours.shape[1])
    produced = np.zeros(len(size_bytes))
    for kept in np.unique(kept_hours[is_limited]).astype(int).tolist():
        rows = is_limited & (kept_hours == kept)
        produced[rows] = hours[rows, -kept:].sum(axis=1, dtype=np.float64) * 3600.0
    found = []
    for topic, rows in zip(partitions.topics, partitions.topic_slices(), strict=True):
        total = float(produced[rows].sum())
        if is_limited[rows].all() and total > 0:
            found.append(
                TopicOverhead(
                    topic=topic,
                    ratio=float(size_bytes[rows].sum()) / total,
                    produced_bytes=total,
                    retention_seconds=float(limits.retention_seconds[rows][0]),
                )
            )
    found.sort(key=lambda one: (-one.produced_bytes, one.topic))
    return tuple(found[:MAX_TOPICS])
