"""How many partitions each topic needs at the horizon, and what more of them would do.

A topic needs, by what falls on its fullest partition (Jun Rao's rule, ``max(t / p, t / c)``, for partitions that are
not even):

* as many that what is produced to it at peak is at most ``partition_in_bytes_per_second`` each;
* as many that what one group reads is at most ``partition_out_bytes_per_second`` each: the fan-out of groups is not
  told by topic, and one group reads what is produced.

The fullest partition counts with its skew: more partitions do not help against a hot key, and the advice says so where
the fullest partition carries more than :data:`HOT_RATIO` of the mean one. Partitions are never advised away: Kafka
cannot remove them.

What more partitions do: keys move to other partitions (:func:`even_share_remapped`), which breaks the order of their
records, and brokers get replicas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kafka_capacity.demand.workload import HIGH, Workload
from kafka_capacity.health.hot import HOT_RATIO
from kafka_capacity.kafka.arrays import Floats, Int32s
from kafka_capacity.kafka.producer.key_hashing import even_share_remapped
from kafka_capacity.text import format_rate, plural, whole_percent


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAdvice:
    """What one topic needs."""

    topic: str  # its name
    partitions: int  # how many it has
    needed: int  # how many it needs at the horizon, never fewer than it has
    peak_bytes_per_second: float  # produced to all of it at peak, at the horizon, each partition at its own peak
    fullest_bytes_per_second: float  # to its fullest partition
    allowed_bytes_per_second: float  # to any partition
    is_hot: bool  # whether that carries more than `HOT_RATIO` of the mean
    remapped_ratio: float  # share of the keys that change partition with `needed` partitions
    added_replicas: int  # how many replicas brokers get
    reason: str  # a sentence with the figures

    @property
    def is_wanting(self) -> bool:
        """Whether some partition gets more than is allowed: more partitions are needed, or other keys."""
        return self.fullest_bytes_per_second > self.allowed_bytes_per_second


def advise_partitions(
    workload: Workload, replication_factor: Int32s, limit: float, *, estimate: int = HIGH
) -> tuple[PartitionAdvice, ...]:
    """Describe what each topic needs, in the order of the topics.

    ``replication_factor`` is int[P], and the limit what one partition may get, in bytes per second.
    """
    ratio = workload.rate_ratios()[workload.outlook.class_of, estimate].max(axis=1)
    peak = workload.load.bytes_in_peak_bytes_per_second * ratio
    found = []
    for topic, rows in zip(workload.partitions.topics, workload.partitions.topic_slices(), strict=True):
        rates = peak[rows]
        if len(rates):
            found.append(_one(topic, rates, int(replication_factor[rows].max()), limit))
    return tuple(found)


def _one(topic: str, rates: Floats, factor: int, limit: float) -> PartitionAdvice:
    count, total, fullest = len(rates), float(rates.sum()), float(rates.max())
    is_hot = bool(count > 1 and fullest > HOT_RATIO * total / count)
    # With a hot key the others decide: it would stay as large in as many partitions as one likes.
    deciding = float(np.sort(rates)[: count - 1].max()) if is_hot else fullest
    needed = max(count, math.ceil(count * deciding / limit - 1e-9))
    share = even_share_remapped(count, needed) if needed > count else 0.0
    reason = (
        f"its fullest partition gets {format_rate(fullest)} at peak at the horizon, but {format_rate(limit)} are "
        "allowed"
    )
    if is_hot:
        times = fullest * count / total
        reason += f"; it carries {times:.1f} times the mean, which more partitions do not fix: check its keys"
    if needed > count:
        reason += (
            f"; {needed:,} instead of {plural(count, 'partition')} move {whole_percent(share)} of the keys to other "
            "partitions"
        )
    return PartitionAdvice(
        topic=topic,
        partitions=count,
        needed=needed,
        peak_bytes_per_second=total,
        fullest_bytes_per_second=fullest,
        allowed_bytes_per_second=limit,
        is_hot=is_hot,
        remapped_ratio=share,
        added_replicas=(needed - count) * factor,
        reason=reason,
    )
