"""How copies share the throttles they pass: when each of them is done.

Goals (ordered)
    1. End when :mod:`~kafka_capacity.kafka.reassignment.duration` says so: the slowest gate decides.
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

import numpy as np
from numpy.typing import NDArray


def closing_rates(
    throttle: NDArray[np.float64],
    load: NDArray[np.float64],
    spare: NDArray[np.float64],
    joining_load: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the rate at which gates close gaps, in bytes per second, 0 or below for never.

    Args:
        throttle: what may pass each gate.
        load: what is produced to the moving partitions and counts against it.
        spare: what the network can take beside its traffic, NaN where that is not known.
        joining_load: the part of ``load`` that is not in that traffic yet.
    """
    return np.fmin(throttle - load, spare - joining_load)


def gate_seconds(amount_bytes: NDArray[np.float64], closing: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the time each gate needs: infinite for never, 0 where nothing passes."""
    ends = closing > 0
    seconds = np.where(ends, amount_bytes / np.where(ends, closing, 1.0), np.inf)
    return np.where(amount_bytes > 0, seconds, 0.0)


def copy_seconds(
    gates: NDArray[np.intp], size_bytes: NDArray[np.float64], closing: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return float64[C], when each copy is in sync, the gates that it passes, intp[C, K], each shared evenly.

    ``closing`` is float64[G], the rate of each gate.
    """
    done = np.zeros(len(size_bytes))
    for column in range(gates.shape[1]):
        np.maximum(done, _shared(gates[:, column], size_bytes, closing), out=done)
    return done


def _shared(
    gate: NDArray[np.intp], size_bytes: NDArray[np.float64], closing: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return float64[C], when each copy has passed its gate, if nothing else held it back."""
    order = np.lexsort((size_bytes, gate))
    size, passed = size_bytes[order], gate[order]
    first, last = _segments(passed)
    total = np.cumsum(size)
    before = total[first] - size[first]
    still = last - np.arange(len(size))
    amount = total - before + still * size
    done = np.empty(len(size))
    done[order] = gate_seconds(amount, closing[passed])
    return done


def _segments(sorted_keys: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give, for each entry, where the run of its key begins and where it ends."""
    starts = run_starts(sorted_keys)
    lengths = np.diff(np.append(starts, len(sorted_keys)))
    return np.repeat(starts, lengths), np.repeat(starts + lengths - 1, lengths)


def run_starts(sorted_keys: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return where each run of equal keys begins."""
    if not len(sorted_keys):
        return np.zeros(0, dtype=np.intp)
    return np.concatenate([[0], np.flatnonzero(sorted_keys[1:] != sorted_keys[:-1]) + 1]).astype(np.intp)


def disk_peaks(
    copies: tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]],
    removals: tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]],
    count: int,
) -> NDArray[np.float64]:
    """Follow disks while copies grow and old replicas go: float64[count], the most that each gains over its start.

    Args:
        copies: the disk of each, its size, and when it is in sync; it grows evenly until then.
        removals: the disk of each, its size, and when its partition is in sync.
        count: how many disks.
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
    starts = run_starts(disk)
    lengths = np.diff(np.append(starts, len(disk)))

    def so_far(values: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.cumsum(values)
        return total - np.repeat(total[starts] - values[starts], lengths)

    still = np.repeat(np.add.reduceat(slope, starts), lengths) - so_far(slope)
    growing = np.where(np.isfinite(at), at, 0.0) * np.maximum(still, 0.0)
    level = so_far(grown) + growing - (so_far(gone) - gone)
    level = np.where(np.isfinite(at), level, so_far(grown) - (so_far(gone) - gone))
    peaks[disk[starts]] = np.maximum.reduceat(level, starts)
    return np.maximum(peaks, 0.0)
