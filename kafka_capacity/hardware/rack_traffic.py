"""What leaves its rack, partition by partition, what that costs a month, and what producers that mind racks would do.

With R racks that have brokers:
    produced: (R - 1) / R of it, producers being spread evenly over the racks;
    replicated: to each follower that is not in the rack of its leader, from the real replica lists;
    consumed: (R - 1) / R of it; with follower fetching what is read from racks without a replica.

A month has 730 hours.

Producers may choose partitions led in their own rack (KIP-1123, `partitioner.rack.aware`): among those, and among all
where there is none. So each of a rack's n partitions gets 1 / n of what the rack produces: partitions are as uneven as
leaders are over racks. Only records without a key choose, so what is saved is an upper bound. Brokers accept no such
record for a compacted topic, which stays as it is.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.workload import Workload
from kafka_capacity.hardware.limits import GIB
from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.columns import change_columns

HOURS_A_MONTH = 730.0
_MONTH_SECONDS = HOURS_A_MONTH * 3600


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeavingRatios:
    """How often each byte leaves its rack; all 0 with fewer than two racks."""

    produced: float  # of what is produced
    replicated: Floats  # float64[P], of what is produced to each partition, once a follower elsewhere
    consumed: Floats  # float64[P], of what consumers read of each


def leaving_ratios(replicas: Int32s, brokers: Brokers, *, is_read_in_rack: bool) -> LeavingRatios:
    """Compute how often bytes leave their rack.

    ``replicas`` is int32[P, W], positions of brokers, the leader first, -1 for padding. Consumers may
    read from the follower in their rack (KIP-392).
    """
    racks = len(brokers.rack_names())
    if racks < 2:
        none = np.zeros(len(replicas))
        return LeavingRatios(produced=0.0, replicated=none, consumed=none)
    rack = np.where(replicas >= 0, brokers.rack_indexes()[replicas.clip(min=0)], -1)
    leaves = ((rack != rack[:, :1]) & (rack >= 0)).sum(axis=1) if rack.shape[1] else np.zeros(len(rack))
    away = (racks - 1) / racks
    consumed = np.full(len(rack), away)
    if is_read_in_rack:
        consumed = 1.0 - np.stack([(rack == one).any(axis=1) for one in range(racks)], axis=1).mean(axis=1)
    return LeavingRatios(produced=away, replicated=leaves.astype(np.float64), consumed=consumed)


def usd_per_month(bytes_per_second: Floats | float, usd_per_gib: float) -> Floats:
    """Return what bytes that are paid for by their number cost a month."""
    rate = np.asarray(bytes_per_second)
    # What is not there costs nothing, whatever its price.
    return np.where(rate > 0, rate * _MONTH_SECONDS / GIB * usd_per_gib, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackAware:
    """What such producers would do."""

    share: Floats  # float64[P], of what is produced to its topic, how much each partition gets
    leaving: Floats  # float64[T], of what is produced to each topic, how much leaves its rack


def leader_racks(replicas: Int32s, brokers: Brokers) -> Ints:
    """Return int64[P], the place of each leader's rack among the racks that have a name, -1 where there is none.

    ``replicas`` is int32[P, W], positions of brokers, the leader first, -1 for padding.
    """
    if not replicas.shape[1]:
        return np.full(len(replicas), -1, dtype=np.int64)
    leader = replicas[:, 0]
    rack = brokers.rack_indexes().astype(np.int64)[leader.clip(min=0)]
    return np.where((leader >= 0) & (rack < len(brokers.rack_names())), rack, -1)


def rack_aware(workload: Workload, leader_rack: Ints, produced: Floats) -> RackAware:
    """Return what they would do where so much of what is produced to each topic is in each rack, float64[T, R]."""
    topic, rate = workload.partitions.topic.astype(np.int64), workload.load.bytes_in_mean_bytes_per_second
    count = np.bincount(topic, minlength=len(produced))
    total = np.bincount(topic, weights=rate, minlength=len(produced))
    led = np.flatnonzero(leader_rack >= 0)
    place = topic[led], leader_rack[led]
    leaders = np.zeros(produced.shape)
    np.add.at(leaders, place, 1.0)
    without = 1.0 - np.where(leaders > 0, produced, 0.0).sum(axis=1)
    share = (without / np.maximum(count, 1))[topic]
    share[led] += produced[place] / leaders[place]
    measured = np.divide(rate, total[topic], out=np.zeros(len(rate)), where=total[topic] > 0)
    staying = np.zeros(len(rate))
    staying[led] = measured[led] * produced[place]
    is_keyed = np.bincount(topic, weights=workload.limits.is_compacted, minlength=len(produced)) > 0
    as_now = 1.0 - np.bincount(topic, weights=staying, minlength=len(produced))
    return RackAware(
        share=np.where(workload.limits.is_compacted, measured, share), leaving=np.where(is_keyed, as_now, without)
    )


def rack_aware_of(workload: Workload, replicas: Int32s, brokers: Brokers) -> RackAware:
    """Return the same with producers spread evenly over the racks of brokers, as sizing takes them to be."""
    racks = len(brokers.rack_names())
    produced = np.full((len(workload.partitions.topics), racks), 1.0 / max(1, racks))
    return rack_aware(workload, leader_racks(replicas, brokers), produced)


def spread_by_rack(workload: Workload, sizes: Floats, share: Floats) -> tuple[Workload, Floats]:
    """Return the partitions with what is produced and read of each topic shared out among them, and their sizes.

    What is stored, float64[P, 2, D], follows, as it is once everything has been produced so; partitions with a limit of
    bytes hold as much as before.
    """
    topic = workload.partitions.topic
    first = np.searchsorted(topic, np.arange(len(workload.partitions.topics)))

    def spread(values: NDArray[Any], is_spread: Flags) -> NDArray[Any]:
        along = (-1, *(1,) * (values.ndim - 1))
        totals = np.add.reduceat(values, first, axis=0, dtype=np.float64)[topic]
        return np.where(is_spread.reshape(along), totals * share.reshape(along), values).astype(values.dtype)

    chooses = ~workload.limits.is_compacted
    changed = dataclasses.replace(
        workload,
        load=change_columns(workload.load, lambda rates: spread(rates, chooses)),
        traffic=change_columns(workload.traffic, lambda rates: spread(rates, chooses)),
    )
    return changed, spread(sizes, chooses & np.isinf(workload.limits.retention_bytes))
