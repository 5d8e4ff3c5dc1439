"""How long a reassignment takes under a throttle, before it starts; "never" where that is the truth.

Kafka holds a reassignment back in two places: the follower throttle on each broker that receives, the leader throttle
on each broker that is the current leader of a moving partition (KIP-73). With T the throttle in bytes per second and w
what is produced to a moving partition:

- a destination closes its gap at T − Σ w over what it receives, since the new records arrive on the same budget;
- a source closes it at T − Σ w · (in-sync followers + joining followers), since the in-sync followers' fetches of a
  listed partition are counted against the leader's quota although they are not held back. A partition whose list only
  changes its order is listed, and counts, too.

Neither closes faster than its network allows: what the line takes, less the traffic that is on it already.

The slowest broker decides. A rate of 0 or below never ends, and the smallest throttle that ends is above the largest
of those sums. Measured on four real brokers at RF 3 and w = 2 MB/s, a throttle of 5 MB/s diverged: 2·(2+1) = 6 > 5.

Worked example: one partition of 100 MB, led by broker 1 with one in-sync follower, a new replica on broker 3, produced
to at 1 MB/s, throttle 10 MB/s. The source closes at 10 − 1·2 = 8 MB/s, the destination at 9: 100 / 8 = 12.5 s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import AssignmentDiff
from kafka_capacity.kafka.reassignment.flow import closing_rates, gate_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveDuration:
    """How long one move takes when everything moves at once."""

    seconds: float | None  # `None` when it never ends; 0 when nothing is copied
    bottleneck_broker: int | None  # the broker that decides, `None` when nothing is copied
    bottleneck_direction: str | None  # `in` or `out` of that broker
    smallest_throttle_bytes_per_second: float  # the move ends with any throttle above this
    unreachable_partitions: int  # partitions that cannot be copied, since nobody leads them


def move_duration(
    diff: AssignmentDiff,
    *,
    brokers: Brokers,
    leader: NDArray[np.int32],
    in_sync_followers: NDArray[np.int32],
    size_bytes: NDArray[np.int64],
    bytes_in_bytes_per_second: NDArray[np.float64],
    throttle_bytes_per_second: float,
    spare_in_bytes_per_second: NDArray[np.float64] | None = None,
    spare_out_bytes_per_second: NDArray[np.float64] | None = None,
) -> MoveDuration:
    """Time a whole diff under one throttle for every broker and direction.

    Args:
        diff: what changes.
        brokers: every broker that sends or receives, observed and proposed.
        leader: int32[P], the current leader, -1 where there is none.
        in_sync_followers: int32[P], how many followers are in the ISR now.
        size_bytes: int64[P], size of one replica.
        bytes_in_bytes_per_second: float64[P], what is produced to each partition.
        throttle_bytes_per_second: the throttle, above 0.
        spare_in_bytes_per_second: float64[B], what each broker's network can take beside its traffic; NaN where it is
            not known; not looked at when left out.
        spare_out_bytes_per_second: the same for what it sends.
    """
    joining = diff.added.sum(axis=1)
    in_bytes = diff.in_bytes(brokers, size_bytes).astype(np.float64)
    out_bytes = diff.out_bytes(brokers, leader, size_bytes).astype(np.float64)
    rows, columns = np.nonzero(diff.added)
    in_load = brokers.sum_at(diff.after[rows, columns], bytes_in_bytes_per_second[rows])
    # Kafka lists every partition whose replica list changes, those that only change its order among them.
    moving = np.nonzero((joining > 0) | diff.is_changed)[0]
    fetchers = joining[moving] + in_sync_followers[moving]
    out_load = brokers.sum_at(leader[moving], bytes_in_bytes_per_second[moving] * fetchers)
    unreachable = int(((leader < 0) & (joining > 0)).sum())
    joining_load = brokers.sum_at(leader, bytes_in_bytes_per_second * joining)

    amount = np.concatenate([in_bytes, out_bytes])
    load = np.concatenate([in_load, out_load])
    is_used = amount > 0
    if not is_used.any():
        return MoveDuration(
            seconds=0.0,
            bottleneck_broker=None,
            bottleneck_direction=None,
            smallest_throttle_bytes_per_second=0.0,
            unreachable_partitions=unreachable,
        )
    unknown = np.full(len(brokers), np.nan)
    spare = [unknown if given is None else given for given in (spare_in_bytes_per_second, spare_out_bytes_per_second)]
    throttles = np.full(len(load), throttle_bytes_per_second)
    closing = closing_rates(throttles, load, np.concatenate(spare), np.concatenate([in_load, joining_load]))
    seconds = np.where(is_used, gate_seconds(amount, closing), -1.0)
    # Among brokers that never end, the one that needs the largest throttle is the one to name.
    stuck = is_used & (closing <= 0)
    worst = int(np.argmax(seconds)) if not stuck.any() else int(np.argmax(np.where(stuck, load, -1.0)))
    longest = float(seconds.max())
    return MoveDuration(
        seconds=longest if np.isfinite(longest) else None,
        bottleneck_broker=int(brokers.ids[worst % len(brokers)]),
        bottleneck_direction="in" if worst < len(brokers) else "out",
        smallest_throttle_bytes_per_second=float(load[is_used].max()),
        unreachable_partitions=unreachable,
    )
