"""Leaders and in-sync replicas.

A flag that is null is not known; a partition of which no flag is known gets the assumption that its finding names.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.checks.placement import named
from kafka_capacity.inventory.findings import counted, fatal, info, warning
from kafka_capacity.inventory.replica_columns import ReplicaColumns


def check_leadership(replicas: ReplicaColumns) -> Iterator[Problem]:
    """Check who leads and who is in sync."""
    leads = replicas.flags("is_leader")
    leaders = replicas.per_partition(leads)
    has_leader_flags = replicas.per_partition(replicas.known("is_leader")) > 0
    if (many := leaders > 1).any():
        yield fatal(
            "many_leaders",
            "replicas.is_leader",
            f"more than one leader on {named(replicas, many)}; flag the one that leads",
        )
    if (none := has_leader_flags & (leaders == 0)).any():
        yield warning(
            "leader_missing",
            "replicas.is_leader",
            f"no leader on {named(replicas, none)}: they are offline now; their size is taken from the largest replica",
        )
    if not has_leader_flags.all():
        yield info(
            "leader_assumed",
            "replicas.is_leader",
            f"the leader of {counted(int((~has_leader_flags).sum()), 'partition')} is not known; the first replica is "
            "assumed to lead",
        )
    yield from _check_isr(replicas)


def _check_isr(replicas: ReplicaColumns) -> Iterator[Problem]:
    is_known, in_sync = replicas.known("is_in_sync"), replicas.flags("is_in_sync")
    out_of_sync = is_known & ~in_sync
    behind = replicas.per_partition(out_of_sync)
    has_isr = replicas.per_partition(is_known) > 0
    empty = has_isr & (behind == replicas.replication_factors())
    if empty.any():
        yield warning(
            "isr_empty",
            "replicas.is_in_sync",
            f"no replica in sync on {named(replicas, empty)}: no leader can be elected there without losing records",
        )
    if (leader_out := replicas.per_partition(out_of_sync & replicas.flags("is_leader")) > 0).any():
        yield warning(
            "leader_not_in_isr",
            "replicas.is_in_sync",
            f"the leader is not in the ISR of {named(replicas, leader_out)}: the snapshot was taken during a change; "
            "take it again",
        )
    if (some_behind := (behind > 0) & ~empty).any():
        yield warning(
            "under_replicated",
            "replicas.is_in_sync",
            f"replicas out of sync on {named(replicas, some_behind)}: a reassignment now adds load to brokers that are "
            "behind already",
        )
    if not has_isr.all():
        yield info(
            "isr_assumed",
            "replicas.is_in_sync",
            f"the ISR of {counted(int((~has_isr).sum()), 'partition')} is not known; all replicas are assumed in sync",
        )
