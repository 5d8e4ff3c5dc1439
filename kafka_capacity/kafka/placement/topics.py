"""What Kafka's placers see of a problem: topics, one after another, each with a partition count and a factor."""

from __future__ import annotations

import numpy as np

from kafka_capacity.errors import PlacementError
from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import NO_BROKER
from kafka_capacity.kafka.placement.problem import PlacementProblem


def topic_counts(problem: PlacementProblem) -> Ints:
    """Count the partitions of each topic: int64[T]."""
    topics = problem.partitions
    return np.bincount(topics.topic, minlength=len(topics.topics)).astype(np.int64)


def topic_factors(problem: PlacementProblem) -> Ints:
    """Return the largest factor wanted in each topic, int64[T]: Kafka places a topic with one factor only."""
    counts = topic_counts(problem)
    factors = np.zeros(len(counts), dtype=np.int64)
    # Rows are sorted by topic; a topic without any would make reduceat look at the next one's.
    begins = (np.cumsum(counts) - counts)[counts > 0]
    factors[counts > 0] = np.maximum.reduceat(problem.replication_factor, begins) if len(begins) else 0
    return factors


def cut_to_factor(replicas: Int32s, factors: Int32s) -> Int32s:
    """Keep the first ``factors[p]`` replicas of each row and pad the rest; the same array if nothing had to go."""
    if int(factors.min(initial=replicas.shape[1])) == replicas.shape[1]:
        return replicas
    surplus = np.arange(replicas.shape[1]) >= factors[:, None]
    if not (surplus & (replicas >= 0)).any():
        return replicas
    return np.where(surplus, NO_BROKER, replicas).astype(np.int32)


INVALID_REPLICATION_FACTOR = "org.apache.kafka.common.errors.InvalidReplicationFactorException"
INVALID_PARTITIONS = "org.apache.kafka.common.errors.InvalidPartitionsException"


def check_factor_is_positive(replication_factor: int) -> None:
    """Raise PlacementError for a replication factor below 1."""
    if replication_factor <= 0:
        raise PlacementError(
            f"replication factor {replication_factor} is not positive; a partition needs at least 1 replica",
            kafka_type=INVALID_REPLICATION_FACTOR,
        )


def check_factor_fits(replication_factor: int, broker_count: int) -> None:
    """Raise PlacementError for more replicas than there are brokers to hold them."""
    if replication_factor > broker_count:
        raise PlacementError(
            f"replication factor {replication_factor} needs at least as many brokers, but there are {broker_count}; "
            "lower the factor or add brokers",
            kafka_type=INVALID_REPLICATION_FACTOR,
        )


def check_partition_count(partition_count: int) -> None:
    """Raise PlacementError for a topic without partitions."""
    if partition_count <= 0:
        raise PlacementError(
            f"partition count {partition_count} is not positive; a topic needs at least 1 partition",
            kafka_type=INVALID_PARTITIONS,
        )
