"""The kinds of problems of a cluster itself, as opposed to those of what an inventory says of it."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """What is wrong."""

    OFFLINE = "offline-now"
    UNDER_MIN_ISR = "under-min-isr-now"
    UNDER_REPLICATED = "under-replicated-now"
    FENCED = "fenced-brokers"
    DISK_OVER_LIMIT = "disk-over-limit"
    NETWORK_IN_OVER_LIMIT = "network-in-over-limit"
    NETWORK_OUT_OVER_LIMIT = "network-out-over-limit"
    CPU_OVER_LIMIT = "cpu-over-limit"
    DISK_IO_OVER_LIMIT = "disk-io-over-limit"
    GROUPS_HOURS_BEHIND = "groups-hours-behind"
    GROUPS_BEHIND = "groups-behind"
    SINGLE_REPLICA = "single-replica"
    MIN_ISR_ABOVE_RF = "min-isr-above-rf"
    MIN_ISR_EQUALS_RF = "min-isr-equals-rf"
    MIN_ISR_ONE = "min-isr-one"
    UNCLEAN_ELECTION = "unclean-election"
    INTERNAL_TOPIC_REPLICAS = "internal-topic-replicas"
    INTERNAL_TOPIC_MIN_ISR = "internal-topic-min-isr"
    ONE_RACK = "one-rack"
    RACKS_INCOMPLETE = "racks-incomplete"
    RF_ABOVE_RACKS = "rf-above-racks"
    UNEVEN_RACKS = "uneven-racks"
    ONE_RACK_PARTITIONS = "one-rack-partitions"
    NARROW_PARTITIONS = "narrow-partitions"
    RACK_LOSS = "rack-loss"
    FEW_CONTROLLERS = "few-controllers"
    EVEN_CONTROLLERS = "even-controllers"
    CONTROLLERS_SHARE_RACK = "controllers-share-rack"
    CONTROLLERS_WITHOUT_RACK = "controllers-without-rack"


RETIRED_CODES = frozenset(
    {
        "isr_empty",
        "leader_missing",
        "min_isr_above_rf",
        "min_isr_equals_rf",
        "min_isr_one",
        "partition_offline",
        "rack_missing",
        "rf_above_racks",
        "single_replica",
        "size_above_capacity",
        "under_replicated",
        "uneven_racks",
    }
)
"""Under which inventories that were staged by the version before tell some of the same."""

CLUSTER_CODES = frozenset({*map(str, Code), *RETIRED_CODES})
"""Whatever is found of these is found again by every check of the cluster."""
