"""Which groups read beyond the page cache at each date, and what that reads from disk.

The window of a broker shrinks as more is written on it, so that a group which is as far behind as today falls out of it
one day. Its partitions are then read from the disk of their leaders, as fast as is produced to them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.workload import HIGH, Workload
from kafka_capacity.kafka.storage.page_cache import window_seconds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CacheReads:
    """What page caches do not serve.

    Attributes:
        window_seconds: float64[2, D, B], how far back each page cache reaches at peak, NaN where it is not known.
        read_bytes_per_second: float64[2, D, B], read from disk for groups; 0 where the window is not known.
        fallen_out: for each group that reads from disk within the horizon, at the high estimate, its name and the first
            date of it, by name.
    """

    window_seconds: NDArray[np.float64]
    read_bytes_per_second: NDArray[np.float64]
    fallen_out: tuple[tuple[str, str], ...]


def cache_reads(
    workload: Workload, leader: NDArray[np.int32], cache_bytes: NDArray[np.float64], written: NDArray[np.float64]
) -> CacheReads:
    """Compare windows with lags.

    Args:
        workload: with the lags.
        leader: int32[P], the position of the broker that leads, -1 for none.
        cache_bytes: float64[B], NaN where it is not known.
        written: float64[2, D, B], bytes per second written on each broker at peak.
    """
    window = window_seconds(np.broadcast_to(cache_bytes, written.shape), written)
    read = np.zeros(written.shape)
    lags = workload.lags
    # Who is behind by nothing that could be told is served from memory, whatever the memory.
    is_asked = (lags.seconds > 0) & (leader[lags.row] >= 0)
    row, group, seconds = lags.row[is_asked], lags.group[is_asked], lags.seconds[is_asked]
    broker = leader[row]
    rate = workload.load.bytes_in_peak_bytes_per_second[row]
    of_class = workload.outlook.class_of[row]
    ratios = workload.rate_ratios()
    first = np.full(len(lags.groups), -1, dtype=np.int64)
    for estimate, place in np.ndindex(*written.shape[:2]):
        is_out = seconds > window[estimate, place, broker]  # not known is not out
        weight = rate[is_out] * ratios[of_class[is_out], estimate, place]
        read[estimate, place] = np.bincount(broker[is_out], weights=weight, minlength=written.shape[2])
        if estimate == HIGH:
            new = np.unique(group[is_out])
            first[new] = np.where(first[new] < 0, place, first[new])
    dates = workload.outlook.dates
    out = sorted((lags.groups[g], dates[place]) for g, place in enumerate(first.tolist()) if place >= 0)
    return CacheReads(window_seconds=window, read_bytes_per_second=read, fallen_out=tuple(out))
