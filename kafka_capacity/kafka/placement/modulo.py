"""The textbook rule: replica y of partition x on broker (x + y) mod n."""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Int32s
from kafka_capacity.kafka.cluster.assignment import NO_BROKER
from kafka_capacity.kafka.placement.problem import PlacementProblem
from kafka_capacity.kafka.placement.topics import check_factor_fits, check_factor_is_positive, cut_to_factor


def modulo_placement(broker_ids: Int32s, partitions: Int32s, replication_factor: int) -> Int32s:
    """Place partitions, int32[P], by their numbers alone on brokers in any order: int32[P, replication_factor].

    The leader of partition x is on the broker at ``x mod n`` of the sorted ids, replica y on the one at
    ``(x + y) mod n``. Every topic begins on the same broker, and racks are not looked at.

    Raises:
        PlacementError: the factor is not positive, or larger than the number of brokers.

    >>> modulo_placement(np.arange(4, dtype=np.int32), np.arange(5, dtype=np.int32), 2).tolist()
    [[0, 1], [1, 2], [2, 3], [3, 0], [0, 1]]
    """
    check_factor_is_positive(replication_factor)
    check_factor_fits(replication_factor, len(broker_ids))
    position = partitions[:, None] + np.arange(replication_factor, dtype=np.int32)
    return np.asarray(np.sort(broker_ids)[position % len(broker_ids)], dtype=np.int32)


def place_by_modulo(problem: PlacementProblem) -> Int32s:
    """Place every topic afresh by :func:`modulo_placement`; looks at partition numbers and factors only."""
    factors = problem.replication_factor
    if not len(factors):
        return np.full((0, 0), NO_BROKER, dtype=np.int32)
    check_factor_is_positive(int(factors.min()))
    replicas = modulo_placement(problem.target.ids, problem.partitions.partition, int(factors.max()))
    return cut_to_factor(replicas, factors)
