"""A snapshot and a scenario in a few words."""

from dataclasses import replace

import numpy as np

from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import Balance, RackRule
from kafka_capacity.proposal.scenario import PlacementScenario
from tests.builders import cluster, topic

GIB = 2**30


def observed(*, brokers=6, racks=3, partitions=12, rf=3, bytes_in=1000.0, size_bytes=GIB, **options):
    """Return snapshot and traffic of a cluster with one topic."""
    raw = cluster(
        brokers=brokers,
        racks=racks,
        topics=[
            topic(
                "orders", partitions=partitions, rf=rf, bytes_in=bytes_in, bytes_out=2 * bytes_in, size_bytes=size_bytes
            )
        ],
        **options,
    )
    snapshot = build_snapshot(raw)
    return snapshot, partition_load(raw, snapshot)


def scenario(brokers=6, *, racks=3, disk=4e12, network=1.25e9, **changes):
    """Ask for so many brokers, ids from 1."""
    target = Brokers.of(
        range(1, brokers + 1),
        [chr(ord("a") + i % racks) if racks else None for i in range(brokers)],
        disk_capacity_bytes=[disk] * brokers,
        network_in_bytes_per_second=[network] * brokers,
        network_out_bytes_per_second=[network] * brokers,
    )
    asked = PlacementScenario(
        scenario_id="asked",
        target=target,
        placer="fewest-bytes",
        replication_factor=None,
        throttle_bytes_per_second=50e6,
        rack_rule=RackRule.STRICT,
        balance=Balance.BYTES,
        tolerance_ratio=0.02,
        disk_limit_ratio=0.85,
        seed=0,
    )
    return replace(asked, **changes)


def without_leaders(snapshot):
    """Return the snapshot of a cluster that nobody leads."""
    return replace(snapshot, leader=np.full(len(snapshot.partitions), -1, dtype=np.int32))
