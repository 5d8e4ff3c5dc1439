"""What every broker carries before and after a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

import numpy as np

from kafka_capacity.demand.workload import PeakBasis, Traffic
from kafka_capacity.hardware.flows import percentile
from kafka_capacity.kafka.arrays import Float32s, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.diff import (
    AssignmentDiff,
    bytes_per_broker,
    preferred_leaders_per_broker,
    replicas_per_broker,
)
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.proposal.expansion import Expanded, shared_traffic
from kafka_capacity.proposal.scenario import BrokerLoads


def network_out(brokers: Brokers, matrix: Int32s, leader: Int32s, bytes_in: Floats, bytes_out: Floats) -> Floats:
    """Return float64[B], bytes/s each leader sends: to consumers, and once to each follower."""
    followers = np.maximum(replication_factors(matrix) - 1, 0)
    return brokers.sum_at(leader, bytes_out + bytes_in * followers)


def is_of_same_hours(traffic: Traffic | None) -> TypeGuard[Traffic]:
    """Return whether hours are known, so that it can be told what peaks together."""
    return traffic is not None and traffic.basis is PeakBasis.SAME_HOURS


def network_peaks(
    brokers: Brokers, matrix: Int32s, leader: Int32s, load: PartitionLoad, traffic: Traffic | None
) -> tuple[Floats, Floats]:
    """Return float64[B] twice, what brokers are written and send at peak: the 99th percentile of their hourly totals.

    Without hours it is each partition's own peak at once, an upper estimate.
    """
    if not is_of_same_hours(traffic):
        peak_in, peak_out = load.bytes_in_peak_bytes_per_second, load.bytes_out_peak_bytes_per_second
        return brokers.sum_held(matrix, peak_in), network_out(brokers, matrix, leader, peak_in, peak_out)
    place, led_by = brokers.index_of(matrix), brokers.index_of(leader)
    held, led = np.nonzero(place >= 0), np.flatnonzero(led_by >= 0)
    followers = np.maximum(replication_factors(matrix) - 1, 0).astype(np.float32)[:, None]
    written = _hours_of(place[held], held[0], len(brokers), lambda row: traffic.bytes_in[row])
    sent = _hours_of(
        led_by[led], led, len(brokers), lambda row: traffic.bytes_out[row] + traffic.bytes_in[row] * followers[row]
    )
    return percentile(written), percentile(sent)


def _hours_of(at: Int32s, row: Ints, brokers: int, hours: Callable[[Ints], Float32s]) -> Float32s:
    """Return float32[B, H], the sums of the ``hours`` of partitions, ``row``, by the broker that each is on, ``at``.

    Rows are added in their order, so that the same inputs give the same bits.
    """
    order = np.argsort(at, kind="stable")
    ends = np.searchsorted(at[order], np.arange(1, brokers))
    sums = [hours(part).sum(axis=0, dtype=np.float64) for part in np.split(row[order], ends)]
    return np.stack(sums).astype(np.float32)


def broker_loads(
    snapshot: Snapshot,
    load: PartitionLoad,
    target: Brokers,
    diff: AssignmentDiff,
    size_bytes: Ints,
    expanded: Expanded | None = None,
    *,
    traffic: Traffic | None = None,
) -> BrokerLoads:
    """Set every broker's figures before and after side by side.

    ``size_bytes`` is int64[P], of one replica of the partitions of ``diff``; ``expanded`` the cluster when the move
    begins, where partitions are added before; ``traffic`` the hours of the partitions of ``snapshot``.
    """
    start = snapshot if expanded is None else expanded.snapshot
    # Where a broker is in both lists, the target says what it is like.
    brokers = target.joined(snapshot.brokers.take(target.index_of(snapshot.brokers.ids) < 0))
    later = load if expanded is None else expanded.load
    traffic_later = traffic if expanded is None or traffic is None else shared_traffic(traffic, expanded)
    leader_after = diff.after[:, 0] if diff.after.shape[1] else start.leader
    in_before, out_before = network_peaks(brokers, snapshot.replicas, snapshot.leader, load, traffic)
    in_after, out_after = network_peaks(brokers, diff.after, leader_after, later, traffic_later)
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
        peak_in_before=in_before,
        peak_in_after=in_after,
        peak_out_before=out_before,
        peak_out_after=out_after,
    )
