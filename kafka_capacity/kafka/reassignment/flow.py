"""How copies share the throttles they pass: when each of them is done.

Goals (ordered)
    1. End when :func:`move_duration` says so: the slowest gate decides.
    2. Say when each copy, and so each partition, is in sync, since only then do its old replicas go away.

A *gate* is what a copy must pass: a broker and a direction, or the fetcher between two brokers. It closes gaps at a
constant rate: its throttle less what is produced to the moving partitions, which goes on whether a copy has caught up
or not. A rate of 0 or below never ends.

Algorithm
    Kafka's fetchers go round their partitions, so the copies at one gate share it evenly, and who is done leaves the
    rest to the others. With n copies at a gate, sorted by size s₁ ≤ s₂ ≤ …, and rate R, copy k is done after
    (s₁ + … + sₖ + (n − k)·sₖ) ÷ R; the last after the sum of all ÷ R. A copy is done when its slowest gate says so.
    Played event by event, max-min fair over all gates at once, it is the same where one gate binds, later by at most a
    factor of two where bottlenecks alternate, and never earlier at the end: tests do that.

Worked example:
    >>> import numpy as np
    >>> gates = np.array([[0, 1], [0, 2]])                   # two copies out of one broker, into two others
    >>> rates = np.array([10.0, 10.0, 10.0])
    >>> copy_seconds(gates, np.array([100.0, 200.0]), rates).tolist()
    [20.0, 30.0]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Indices, Int32s, Ints, runs
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import AssignmentDiff

DEFAULT_THROTTLE_BYTES_PER_SECOND = 50e6  # per broker and direction, where nobody says how much

DECADES_SECONDS = 1e9


def gate_seconds(amount_bytes: Floats, closing: Floats) -> Floats:
    """Return the time each gate needs: infinite for never or for decades, 0 where nothing passes.

    Where all that may pass is produced meanwhile, what is left to close the gap with is rounding.
    """
    ends = closing > amount_bytes / DECADES_SECONDS
    seconds = np.where(ends, amount_bytes / np.where(ends, closing, 1.0), np.inf)
    return np.where(amount_bytes > 0, seconds, 0.0)


def throttle_needed(amount_bytes: Floats, load: Floats, by_others: Floats) -> Floats:
    """Return the throttle above which each gate ends: infinite where none helps, 0 where nothing passes.

    ``load`` is what is produced and passes too, ``by_others`` the rate that all but the throttle lets a gate close at,
    NaN where that is not known.
    """
    is_stuck = np.isinf(gate_seconds(amount_bytes, np.where(np.isnan(by_others), np.inf, by_others)))
    return np.where(is_stuck, np.inf, np.where(amount_bytes > 0, load, 0.0))


def copy_seconds(gates: Indices, size_bytes: Floats, closing: Floats) -> Floats:
    """Return float64[C], when each copy is in sync, the gates that it passes, intp[C, K], each shared evenly.

    ``closing`` is float64[G], the rate of each gate.
    """
    done = np.zeros(len(size_bytes))
    for column in range(gates.shape[1]):
        np.maximum(done, _shared(gates[:, column], size_bytes, closing), out=done)
    return done


def _shared(gate: Indices, size_bytes: Floats, closing: Floats) -> Floats:
    """Return float64[C], when each copy has passed its gate, if nothing else held it back."""
    order = np.lexsort((size_bytes, gate))
    size, passed = size_bytes[order], gate[order]
    starts, lengths = runs(passed)
    still = np.repeat(starts + lengths - 1, lengths) - np.arange(len(size))
    done = np.empty(len(size))
    done[order] = gate_seconds(running(size, starts, lengths) + still * size, closing[passed])
    return done


def running(values: Floats, starts: Indices, lengths: Indices) -> Floats:
    """Sum values up along each of the :func:`runs`."""
    total = np.cumsum(values)
    return np.asarray(total - np.repeat(total[starts] - values[starts], lengths), dtype=np.float64)


def disk_peaks(copies: tuple[Indices, Floats, Floats], removals: tuple[Indices, Floats, Floats], count: int) -> Floats:
    """Follow disks while copies grow and old replicas go: float64[count], the most that each gains over its start.

    ``copies`` and ``removals`` are the disk of each, its size, and when its partition is in sync; copies grow evenly
    until then.
    """
    disk = np.concatenate([copies[0], removals[0]])
    time = np.concatenate([copies[2], removals[2]])
    is_copy = np.arange(len(disk)) < len(copies[0])
    grown = np.where(is_copy, np.concatenate([copies[1], removals[1]]), 0.0)
    gone = np.where(is_copy, 0.0, np.concatenate([copies[1], removals[1]]))
    # What never ends, or takes no time, fills its space at once.
    is_gradual = is_copy & np.isfinite(time) & (time > 0)
    slope = np.where(is_gradual, grown / np.where(is_gradual, time, 1.0), 0.0)
    at = np.where(is_copy & ~is_gradual, 0.0, time)
    order = np.lexsort((~is_copy, at, disk))
    disk, at, grown, gone, slope = disk[order], at[order], grown[order], gone[order], slope[order]
    peaks = np.zeros(count)
    if not len(disk):
        return peaks
    starts, lengths = runs(disk)
    still = np.repeat(np.add.reduceat(slope, starts), lengths) - running(slope, starts, lengths)
    come, went = running(grown, starts, lengths), running(gone, starts, lengths) - gone
    growing = np.where(np.isfinite(at), at, 0.0) * np.maximum(still, 0.0)
    level = np.where(np.isfinite(at), come + growing - went, come - went)
    peaks[disk[starts]] = np.maximum.reduceat(level, starts)
    return np.maximum(peaks, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveDuration:
    """How long one move takes when everything moves at once."""

    seconds: float | None = 0.0  # `None` when it never ends; 0 when nothing is copied
    bottleneck_broker: int | None = None  # the broker that decides, `None` when nothing is copied
    bottleneck_direction: str | None = None  # `in` or `out` of that broker
    # the move ends with any throttle above this; infinite where none helps
    smallest_throttle_bytes_per_second: float = 0.0
    unreachable_partitions: int  # partitions that cannot be copied, since nobody leads them


def move_duration(
    diff: AssignmentDiff,
    *,
    brokers: Brokers,
    leader: Int32s,
    in_sync_followers: Int32s,
    size_bytes: Ints,
    bytes_in_bytes_per_second: Floats,
    throttle_bytes_per_second: float,
    spare_in_bytes_per_second: Floats | None = None,
    spare_out_bytes_per_second: Floats | None = None,
) -> MoveDuration:
    """Time a whole diff under one throttle, above 0, for every broker and direction.

    Kafka holds a reassignment back in two places: the follower throttle on each broker that receives, the leader
    throttle on each broker that is the current leader of a moving partition (KIP-73). With T the throttle in bytes per
    second and w what is produced to a moving partition:

    - a destination closes its gap at T − Σ w over what it receives, since the new records arrive on the same budget;
    - a source closes it at T − Σ w · (in-sync followers + joining followers), since the in-sync followers' fetches of a
      listed partition are counted against the leader's quota although they are not held back. A partition whose list
      only changes its order is listed, and counts, too.

    Neither closes faster than its network allows: what the line takes, less the traffic that is on it already. That is
    ``spare_…``, float64[B], NaN where it is not known; it is not looked at when left out.

    The slowest broker decides. A rate of 0 or below never ends, and the smallest throttle that ends is above the
    largest of those sums; none does where a network has nothing left. Measured on four real brokers at RF 3 and
    w = 2 MB/s, a throttle of 5 MB/s diverged: 2·(2+1) = 6 > 5.

    Worked example: one partition of 100 MB, led by broker 1 with one in-sync follower, a new replica on broker 3,
    produced to at 1 MB/s, throttle 10 MB/s. The source closes at 10 − 1·2 = 8 MB/s, the destination at 9: 100 / 8 =
    12.5 s.

    ``brokers`` are observed and proposed ones, B in all; ``leader``, ``in_sync_followers``, ``size_bytes`` of one
    replica and ``bytes_in_bytes_per_second`` are [P], as things are now, the leader -1 where there is none.
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
        return MoveDuration(unreachable_partitions=unreachable)
    unknown = np.full(len(brokers), np.nan)
    spare = [unknown if given is None else given for given in (spare_in_bytes_per_second, spare_out_bytes_per_second)]
    by_network = np.concatenate(spare) - np.concatenate([in_load, joining_load])
    closing = np.fmin(throttle_bytes_per_second - load, by_network)
    seconds = np.where(is_used, gate_seconds(amount, closing), -1.0)
    # Among brokers that never end, the one that needs the largest throttle is the one to name.
    needed = throttle_needed(amount, load, by_network)
    stuck = np.isinf(seconds)
    worst = int(np.argmax(seconds)) if not stuck.any() else int(np.argmax(np.where(stuck, needed, -1.0)))
    longest = float(seconds.max())
    return MoveDuration(
        seconds=longest if np.isfinite(longest) else None,
        bottleneck_broker=int(brokers.ids[worst % len(brokers)]),
        bottleneck_direction="in" if worst < len(brokers) else "out",
        smallest_throttle_bytes_per_second=float(needed.max()),
        unreachable_partitions=unreachable,
    )
