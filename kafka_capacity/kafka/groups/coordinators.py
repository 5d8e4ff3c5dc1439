"""Which broker coordinates a group: the leader of its partition of ``__consumer_offsets``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.kafka.java.hashing import string_hashes

_LEAST_HASH = np.iinfo(np.int32).min


def coordinator_partitions(groups: Sequence[str], count: int) -> Ints:
    """Return the partition of ``__consumer_offsets`` of each group (``GroupCoordinator.partitionFor``): int64[G].

    >>> coordinator_partitions(("billing", "polygenelubricants"), 50).tolist()
    [9, 0]
    """
    if not count or not groups:
        return np.zeros(len(groups), dtype=np.int64)
    hashes = string_hashes(groups).astype(np.int64)
    # Kafka's Utils.abs gives 0 for the least number, which has no positive counterpart.
    return np.where(hashes == _LEAST_HASH, 0, np.abs(hashes)) % count
