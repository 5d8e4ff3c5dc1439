"""What every broker carries before and after a change."""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import (
    AssignmentDiff,
    bytes_per_broker,
    preferred_leaders_per_broker,
    replicas_per_broker,
)
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.proposal.expansion import Expanded
from kafka_capacity.proposal.scenario import BrokerLoads


def network_out(brokers: Brokers, matrix: Int32s, leader: Int32s, bytes_in: Floats, bytes_out: Floats) -> Floats:
    """Return float64[B], bytes/s each leader sends: to consumers, and once to each follower."""
    followers = np.maximum(replication_factors(matrix) - 1, 0)
    return brokers.sum_at(leader, bytes_out + bytes_in * followers)


def broker_loads(
    snapshot: Snapshot,
    load: PartitionLoad,
    target: Brokers,
    diff: AssignmentDiff,
    size_bytes: Ints,
    expanded: Expanded | None = None,
) -> BrokerLoads:
    """Set every broker's figures before and after side by side.

    ``size_bytes`` is int64[P], of one replica of the partitions of ``diff``; ``expanded`` the cluster when the move
    begins, where partitions are added before.
    """
    start = snapshot if expanded is None else expanded.snapshot
    # Where a broker is in both lists, the target says what it is like.
    brokers = target.joined(snapshot.brokers.take(target.index_of(snapshot.brokers.ids) < 0))
    peak_in, peak_out = load.bytes_in_peak_bytes_per_second, load.bytes_out_peak_bytes_per_second
    later = load if expanded is None else expanded.load
    peak_in_later, peak_out_later = later.bytes_in_peak_bytes_per_second, later.bytes_out_peak_bytes_per_second
    leader_after = diff.after[:, 0] if diff.after.shape[1] else start.leader
    return BrokerLoads(
        brokers=brokers,
        is_new=snapshot.brokers.index_of(brokers.ids) < 0,
        is_removed=target.index_of(brokers.ids) < 0,
        replicas_before=replicas_per_broker(brokers, snapshot.replicas),
        replicas_after=replicas_per_broker(brokers, diff.after),
        leaders_before=preferred_leaders_per_broker(brokers, snapshot.replicas),
        leaders_after=preferred_leaders_per_broker(brokers, diff.after),
        bytes_before=bytes_per_broker(brokers, diff.before, size_bytes),
        bytes_after=bytes_per_broker(brokers, diff.after, size_bytes),
        move_in_bytes=diff.in_bytes(brokers, size_bytes),
        move_out_bytes=diff.out_bytes(brokers, start.leader, size_bytes),
        peak_in_before=brokers.sum_held(snapshot.replicas, peak_in),
        peak_in_after=brokers.sum_held(diff.after, peak_in_later),
        peak_out_before=network_out(brokers, snapshot.replicas, snapshot.leader, peak_in, peak_out),
        peak_out_after=network_out(brokers, diff.after, leader_after, peak_in_later, peak_out_later),
    )
