"""How far back the page cache of each broker reaches.

What producers and leaders send a broker goes to its page cache first. The oldest pages make room for new ones, so that
the cache holds what was written during the last ``cache bytes ÷ bytes written per second``: the window. A reader that
is less far behind is served from memory, one that is further behind reads from disk.

Assumptions:
    * The cache is what the heap and the system leave of the memory.
    * All of it holds log segments, and the pages that were written first go first. A reader that is behind and is
      served from memory keeps some old pages in longer, so the window is a little shorter than told while it reads.
    * Followers write as leaders do: each replica costs its partition's produced bytes.
    * At peak, every partition is at its own peak: the shortest window.

>>> import numpy as np
>>> window_seconds(np.array([56e9, 56e9, np.nan]), np.array([20e6, 0.0, 20e6])).tolist()
[2800.0, inf, nan]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad

GIB = 1024.0**3
HEAP_BYTES = 6 * GIB
"""What Kafka's operations guide gives the JVM (``-Xmx6g``); Kafka's start script alone would take 1 GiB."""

SYSTEM_BYTES = 1 * GIB  # left for the operating system, agents, and what the JVM takes outside its heap


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageCaches:
    """The page caches of brokers, in the order of the brokers they were computed for."""

    # float64[B], 0 where heap and system need all memory, NaN where the memory is not known
    cache_bytes: NDArray[np.float64]
    # float64[B], leaders and followers, NaN without a history of rates
    written_mean_bytes_per_second: NDArray[np.float64]
    written_peak_bytes_per_second: NDArray[np.float64]  # float64[B], the same with each partition at its peak
    # float64[B], infinite where nothing is written, NaN where it cannot be told
    window_mean_seconds: NDArray[np.float64]
    window_peak_seconds: NDArray[np.float64]  # float64[B], the same at peak


def page_caches(
    brokers: Brokers,
    replicas: NDArray[np.int32],
    load: PartitionLoad,
    *,
    heap_bytes: float = HEAP_BYTES,
    system_bytes: float = SYSTEM_BYTES,
) -> PageCaches:
    """Return the page cache of each broker and how far back it reaches.

    ``replicas`` is int32[P, W], broker ids, padded with -1. Heap of the JVM and what everything else needs are the same
    on every broker.
    """
    cache = np.maximum(brokers.memory_bytes - heap_bytes - system_bytes, 0.0)
    mean = _written(brokers, replicas, load.bytes_in_mean_bytes_per_second, load.hours)
    peak = _written(brokers, replicas, load.bytes_in_peak_bytes_per_second, load.hours)
    return PageCaches(
        cache_bytes=cache,
        written_mean_bytes_per_second=mean,
        written_peak_bytes_per_second=peak,
        window_mean_seconds=window_seconds(cache, mean),
        window_peak_seconds=window_seconds(cache, peak),
    )


def window_seconds(
    cache_bytes: NDArray[np.float64], written_bytes_per_second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide caches by rates: infinite where nothing is written, NaN where either is not known."""
    is_known = ~np.isnan(cache_bytes) & ~np.isnan(written_bytes_per_second)
    still = np.where(is_known, np.inf, np.nan)
    return np.divide(cache_bytes, written_bytes_per_second, out=still, where=written_bytes_per_second > 0)


def _written(
    brokers: Brokers, replicas: NDArray[np.int32], rate: NDArray[np.float64], hours: int
) -> NDArray[np.float64]:
    if hours == 0:
        return np.full(len(brokers), np.nan)
    rows, columns = np.nonzero(replicas >= 0)
    return brokers.sum_at(replicas[rows, columns], rate[rows])
