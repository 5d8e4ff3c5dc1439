"""Replicas: which brokers hold which, and whether the numbers make a cluster."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem, fatal, info, some, warning
from kafka_capacity.inventory.column_values import Flags, Ints, ReplicaColumns, values
from kafka_capacity.text import plural


def check_placement(replicas: ReplicaColumns, brokers: pa.Table, topics: pa.Table) -> Iterator[Problem]:
    """Check the replicas against the brokers and the topics, and their own numbering."""
    yield from _check_references(replicas, brokers, topics)
    yield from _check_numbering(replicas)
    yield from _check_duplicates(replicas)
    yield from _check_factors(replicas, brokers)


def named(replicas: ReplicaColumns, partitions: Flags) -> str:
    """Count these partitions and name a few."""
    chosen = np.flatnonzero(partitions)
    return f"{plural(len(chosen), 'partition')} ({some((replicas.name(i) for i in chosen), len(chosen))})"


def _check_references(replicas: ReplicaColumns, brokers: pa.Table, topics: pa.Table) -> Iterator[Problem]:
    broker_ids = np.array(values(brokers.column("broker_id")), dtype=np.int64)
    unknown = ~np.isin(replicas.broker, broker_ids)
    if unknown.any():
        missing = np.unique(replicas.broker[unknown])
        of = named(replicas, replicas.per_partition(unknown) > 0)
        yield fatal(
            "unknown_broker",
            "replicas.broker_id",
            f"{plural(int(unknown.sum()), 'replica')} on brokers that are not listed ({some(missing, len(missing))}), "
            f"of {of}; add them to the list",
        )
    listed = set(values(topics.column("topic")))
    absent = [name for name in replicas.topics if name not in listed]
    if absent:
        yield fatal(
            "unknown_topic",
            "replicas.topic",
            f"replicas of {plural(len(absent), 'topic')} that the table of topics lacks ({some(absent, len(absent))}"
            "); add a row for each",
        )
    if not len(replicas.topic):
        yield fatal("no_replicas", "replicas", "there are no replicas; an inventory needs at least one partition")


def _check_numbering(replicas: ReplicaColumns) -> Iterator[Problem]:
    """Partition numbers must be 0 to n - 1 in each topic, positions 0 to RF - 1 in each partition."""
    starts = replicas.starts
    topic, partition = replicas.topic[starts], replicas.partition[starts]
    first_of_topic = np.searchsorted(topic, topic)
    wrong_number = partition != np.arange(len(starts)) - first_of_topic
    if wrong_number.any():
        names = [replicas.topics[code] for code in np.unique(topic[wrong_number])]
        yield fatal(
            "partition_gap",
            "replicas.partition",
            f"partition numbers of {plural(len(names), 'topic')} do not run from 0 without gaps "
            f"({some(names, len(names))}); export every partition of a topic",
        )
    wrong_position = replicas.position != np.arange(len(replicas.topic)) - starts[replicas.partition_of_row]
    if wrong_position.any():
        yield fatal(
            "replica_positions",
            "replicas.position",
            f"positions do not run from 0 without a gap or a repeat in "
            f"{named(replicas, replicas.per_partition(wrong_position) > 0)}; give each its place in Kafka's list",
        )


def _check_duplicates(replicas: ReplicaColumns) -> Iterator[Problem]:
    key = (replicas.partition_of_row << 32) | (replicas.broker + 2**31)
    key = np.sort(key)
    repeated = np.unique(key[1:][np.diff(key) == 0] >> 32)
    if len(repeated):
        twice = np.zeros(replicas.partition_count, dtype=np.bool_)
        twice[repeated] = True
        yield fatal(
            "duplicate_replica",
            "replicas.broker_id",
            f"a broker holds more than one replica of {named(replicas, twice)}; Kafka allows one each",
        )


def _check_factors(replicas: ReplicaColumns, brokers: pa.Table) -> Iterator[Problem]:
    factors = replicas.replication_factors()
    mixed = _mixed_topics(replicas, factors)
    if mixed:
        yield warning(
            "rf_mismatch",
            "replicas",
            f"partitions of unequal replication factor in {plural(len(mixed), 'topic')} ({some(mixed, len(mixed))}): "
            "a reassignment may be under way; each partition keeps its own",
        )
    broker_count = len(set(values(brokers.column("broker_id"))))
    above = factors > broker_count
    if broker_count and above.any():
        yield fatal(
            "rf_above_brokers",
            "replicas",
            f"more replicas than the {plural(broker_count, 'listed broker')} on {named(replicas, above)}; "
            "list them all",
        )


def _mixed_topics(replicas: ReplicaColumns, factors: Ints) -> list[str]:
    topic = replicas.topic[replicas.starts]
    differs = (np.diff(topic) == 0) & (np.diff(factors) != 0)
    return [replicas.topics[code] for code in np.unique(topic[1:][differs])]


def check_leadership(replicas: ReplicaColumns) -> Iterator[Problem]:
    """Check who leads and who is in sync."""
    leads = replicas.flags("is_leader")
    has_leader_flags = replicas.per_partition(replicas.known("is_leader")) > 0
    if (many := replicas.per_partition(leads) > 1).any():
        yield fatal(
            "many_leaders",
            "replicas.is_leader",
            f"more than one leader on {named(replicas, many)}; flag the one that leads",
        )
    if not has_leader_flags.all():
        yield info(
            "leader_assumed",
            "replicas.is_leader",
            f"the leader of {plural(int((~has_leader_flags).sum()), 'partition')} is unknown; the first replica is "
            "assumed to lead",
        )
    yield from _check_isr(replicas)


def _check_isr(replicas: ReplicaColumns) -> Iterator[Problem]:
    is_known, in_sync = replicas.known("is_in_sync"), replicas.flags("is_in_sync")
    out_of_sync = is_known & ~in_sync
    has_isr = replicas.per_partition(is_known) > 0
    if (leader_out := replicas.per_partition(out_of_sync & replicas.flags("is_leader")) > 0).any():
        yield warning(
            "leader_not_in_isr",
            "replicas.is_in_sync",
            f"the leader is not in the ISR of {named(replicas, leader_out)}: the snapshot was taken during a change; "
            "take it again",
        )
    if not has_isr.all():
        yield info(
            "isr_assumed",
            "replicas.is_in_sync",
            f"the ISR of {plural(int((~has_isr).sum()), 'partition')} is unknown; all replicas are assumed in sync",
        )
