"""Replicas: which brokers hold which, and whether the numbers make a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem, fatal, info, problem_of, some, warning
from kafka_capacity.inventory.column_values import Flags, ReplicaColumns, values
from kafka_capacity.text import plural


def check_placement(replicas: ReplicaColumns, brokers: pa.Table, topics: pa.Table) -> Iterator[Problem]:
    """Check the replicas against the brokers and the topics, and their own numbering."""
    yield from _check_references(replicas, brokers, topics)
    yield from _check_numbering(replicas)
    yield from _check_duplicates(replicas)
    yield from _check_factors(replicas, brokers)


def problem_of_partitions(
    replicas: ReplicaColumns,
    partitions: Flags,
    make: Callable[[str, str, str], Problem],
    code: str,
    where: str,
    message: str,
) -> Iterator[Problem]:
    """Make a problem of some partitions, bool[P], where it is of any; ``{}`` in the message names a few of them."""
    if partitions.any():
        yield make(code, where, message.format(_named(replicas, partitions)))


def _named(replicas: ReplicaColumns, partitions: Flags) -> str:
    chosen = np.flatnonzero(partitions)
    return f"{plural(len(chosen), 'partition')} ({some((replicas.name(i) for i in chosen), len(chosen))})"


def _check_references(replicas: ReplicaColumns, brokers: pa.Table, topics: pa.Table) -> Iterator[Problem]:
    broker_ids = np.array(values(brokers.column("broker_id")), dtype=np.int64)
    unknown = ~np.isin(replicas.broker, broker_ids)
    if unknown.any():
        message = (
            f"{plural(int(unknown.sum()), 'replica')} on brokers that are not listed "
            f"({some(np.unique(replicas.broker[unknown]))}), of {_named(replicas, replicas.has_any(unknown))}; "
            "add them to the list"
        )
        yield fatal("unknown_broker", "replicas.broker_id", message)
    listed = set(values(topics.column("topic")))
    absent = [name for name in replicas.topics if name not in listed]
    message = "replicas of {count} that the table of topics lacks ({names}); add a row for each"
    yield from problem_of(absent, "topic", fatal, "unknown_topic", "replicas.topic", message)
    if not len(replicas.topic):
        yield fatal("no_replicas", "replicas", "there are no replicas; an inventory needs at least one partition")


def _check_numbering(replicas: ReplicaColumns) -> Iterator[Problem]:
    """Partition numbers must be 0 to n - 1 in each topic, positions 0 to RF - 1 in each partition."""
    starts = replicas.starts
    topic, partition = replicas.topic[starts], replicas.partition[starts]
    wrong_number = partition != np.arange(len(starts)) - np.searchsorted(topic, topic)
    names = [replicas.topics[code] for code in np.unique(topic[wrong_number])]
    message = "partition numbers of {count} do not run from 0 without gaps ({names}); export every partition of a topic"
    yield from problem_of(names, "topic", fatal, "partition_gap", "replicas.partition", message)
    wrong = replicas.has_any(replicas.position != np.arange(len(replicas.topic)) - starts[replicas.partition_of_row])
    message = "positions do not run from 0 without a gap or a repeat in {}; give each its place in Kafka's list"
    yield from problem_of_partitions(replicas, wrong, fatal, "replica_positions", "replicas.position", message)


def _check_duplicates(replicas: ReplicaColumns) -> Iterator[Problem]:
    key = np.sort((replicas.partition_of_row << 32) | (replicas.broker + 2**31))
    twice = np.zeros(replicas.partition_count, dtype=np.bool_)
    twice[key[1:][np.diff(key) == 0] >> 32] = True
    message = "a broker holds more than one replica of {}; Kafka allows one each"
    yield from problem_of_partitions(replicas, twice, fatal, "duplicate_replica", "replicas.broker_id", message)


def _check_factors(replicas: ReplicaColumns, brokers: pa.Table) -> Iterator[Problem]:
    factors, topic = replicas.replication_factors(), replicas.topic[replicas.starts]
    differs = (np.diff(topic) == 0) & (np.diff(factors) != 0)
    mixed = [replicas.topics[code] for code in np.unique(topic[1:][differs])]
    message = (
        "partitions of unequal replication factor in {count} ({names}): a reassignment may be under way; each "
        "partition keeps its own"
    )
    yield from problem_of(mixed, "topic", warning, "rf_mismatch", "replicas", message)
    broker_count = len(set(values(brokers.column("broker_id"))))
    if broker_count:
        message = f"more replicas than the {plural(broker_count, 'listed broker')} on {{}}; list them all"
        above = factors > broker_count
        yield from problem_of_partitions(replicas, above, fatal, "rf_above_brokers", "replicas", message)


def check_leadership(replicas: ReplicaColumns) -> Iterator[Problem]:
    """Check who leads and who is in sync."""
    many = replicas.per_partition(replicas.flags("is_leader")) > 1
    message = "more than one leader on {}; flag the one that leads"
    yield from problem_of_partitions(replicas, many, fatal, "many_leaders", "replicas.is_leader", message)
    if unknown := int((~replicas.has_any(replicas.known("is_leader"))).sum()):
        message = f"the leader of {plural(unknown, 'partition')} is unknown; the first replica is assumed to lead"
        yield info("leader_assumed", "replicas.is_leader", message)
    is_known = replicas.known("is_in_sync")
    leader_out = replicas.has_any(is_known & ~replicas.flags("is_in_sync") & replicas.flags("is_leader"))
    message = "the leader is not in the ISR of {}: the snapshot was taken during a change; take it again"
    yield from problem_of_partitions(replicas, leader_out, warning, "leader_not_in_isr", "replicas.is_in_sync", message)
    if unknown := int((~replicas.has_any(is_known)).sum()):
        message = f"the ISR of {plural(unknown, 'partition')} is unknown; all replicas are assumed in sync"
        yield info("isr_assumed", "replicas.is_in_sync", message)
