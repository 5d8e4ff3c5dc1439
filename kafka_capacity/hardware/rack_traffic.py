"""What leaves its rack, partition by partition, and what that costs a month.

With R racks that have brokers:
    produced: (R - 1) / R of it, producers being spread evenly over the racks;
    replicated: to each follower that is not in the rack of its leader, from the real replica lists;
    consumed: (R - 1) / R of it; with follower fetching what is read from racks without a replica.

A month has 730 hours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.hardware.limits import GIB
from kafka_capacity.kafka.arrays import Floats, Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers

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
