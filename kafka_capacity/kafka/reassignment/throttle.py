"""The throttle of each broker and direction: fixed, or the largest that leaves headroom at the broker's peak.

Worked example: a broker whose network takes 100 MB/s, with 50 MB/s on it at peak and a fifth to stay free, gets
100 · 0.8 − 50 = 30 MB/s. Where its disks take 60 MB/s and write 30 at peak, 60 · 0.8 − 30 = 18.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.reassignment.problem import HIGH, MoveProblem
from kafka_capacity.kafka.reassignment.traffic import Carried


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrokerThrottles:
    """The throttles of every broker."""

    in_bytes_per_second: NDArray[np.float64]  # float64[B], `follower.replication.throttled.rate`, what it receives
    out_bytes_per_second: NDArray[np.float64]  # float64[B], `leader.replication.throttled.rate`, what it sends


def broker_throttles(problem: MoveProblem, before: Carried, after: Carried) -> BrokerThrottles:
    """Work out the throttles: an automatic one takes the worse of before and after the move as the peak."""
    throttle, brokers = problem.throttle, problem.brokers
    fixed = np.full(len(brokers), float(throttle.bytes_per_second))
    if not throttle.is_automatic:
        return BrokerThrottles(in_bytes_per_second=fixed, out_bytes_per_second=fixed.copy())
    writes = np.maximum(before.written_bytes_per_second[HIGH], after.written_bytes_per_second[HIGH])
    sends = np.maximum(before.sent_bytes_per_second[HIGH], after.sent_bytes_per_second[HIGH])
    usable = 1.0 - throttle.headroom_ratio
    disk = problem.disk_bytes_per_second * usable - writes
    received = np.fmin(brokers.network_in_bytes_per_second * usable - writes, disk)
    given = np.fmin(brokers.network_out_bytes_per_second * usable - sends, disk)
    return BrokerThrottles(
        in_bytes_per_second=np.maximum(np.where(np.isnan(received), fixed, received), 0.0),
        out_bytes_per_second=np.maximum(np.where(np.isnan(given), fixed, given), 0.0),
    )
