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

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad

GIB = 1024.0**3
HEAP_BYTES = 6 * GIB
"""What Kafka's operations guide gives the JVM (``-Xmx6g``); Kafka's start script alone would take 1 GiB."""

SYSTEM_BYTES = 1 * GIB  # left for the operating system, agents, and what the JVM takes outside its heap


def cache_bytes(memory_bytes: Floats, *, heap_bytes: float = HEAP_BYTES, system_bytes: float = SYSTEM_BYTES) -> Floats:
    """Return the page caches of brokers, float64[B]: 0 where heap and system need all memory, NaN where it is unknown.

    Heap of the JVM and what everything else needs are the same on every broker.
    """
    return np.maximum(memory_bytes - heap_bytes - system_bytes, 0.0)


def peak_windows(
    brokers: Brokers,
    replicas: Int32s,
    load: PartitionLoad,
    *,
    heap_bytes: float = HEAP_BYTES,
) -> Floats:
    """Return how many seconds back the page cache of each broker reaches at peak, leaders and followers: float64[B].

    It is infinite where nothing is written, NaN where the memory is not known or there is no history of rates.
    ``replicas`` is int32[P, W], broker ids, padded with -1.
    """
    if load.hours == 0:
        return np.full(len(brokers), np.nan)
    cache = cache_bytes(brokers.memory_bytes, heap_bytes=heap_bytes)
    return window_seconds(cache, brokers.sum_held(replicas, load.bytes_in_peak_bytes_per_second))


def window_seconds(cache_bytes: Floats, written_bytes_per_second: Floats) -> Floats:
    """Divide caches by rates: infinite where nothing is written, NaN where either is not known."""
    is_known = ~np.isnan(cache_bytes) & ~np.isnan(written_bytes_per_second)
    still = np.where(is_known, np.inf, np.nan)
    return np.divide(cache_bytes, written_bytes_per_second, out=still, where=written_bytes_per_second > 0)
