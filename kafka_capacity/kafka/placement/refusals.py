"""The placements that Kafka refuses, by the exception it throws."""

from __future__ import annotations

from kafka_capacity.errors import PlacementError

INVALID_REPLICATION_FACTOR = "org.apache.kafka.common.errors.InvalidReplicationFactorException"
INVALID_PARTITIONS = "org.apache.kafka.common.errors.InvalidPartitionsException"


def check_factor_is_positive(replication_factor: int) -> None:
    """Refuse a replication factor below 1.

    Raises:
        PlacementError: as Kafka's ``InvalidReplicationFactorException``.
    """
    if replication_factor <= 0:
        raise PlacementError(
            f"replication factor {replication_factor} is not positive; a partition needs at least 1 replica",
            kafka_type=INVALID_REPLICATION_FACTOR,
        )


def check_factor_fits(replication_factor: int, broker_count: int) -> None:
    """Refuse more replicas than there are brokers to hold them.

    Raises:
        PlacementError: as Kafka's ``InvalidReplicationFactorException``.
    """
    if replication_factor > broker_count:
        raise PlacementError(
            f"replication factor {replication_factor} needs as many brokers, but there are {broker_count}; "
            "lower the factor or add brokers",
            kafka_type=INVALID_REPLICATION_FACTOR,
        )


def check_partition_count(partition_count: int) -> None:
    """Refuse a topic without partitions.

    Raises:
        PlacementError: as Kafka's ``InvalidPartitionsException``.
    """
    if partition_count <= 0:
        raise PlacementError(
            f"partition count {partition_count} is not positive; a topic needs at least 1 partition",
            kafka_type=INVALID_PARTITIONS,
        )
