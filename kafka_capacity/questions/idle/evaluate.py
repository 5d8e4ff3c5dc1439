"""Which topics are idle, and what they hold.

A topic is idle when in all the hours that are known nothing was written to it or read from it, no consumer group is
subscribed to it and has committed an offset on it, and at least :data:`LEAST_HOURS` are known of each of its
partitions, both ways. One of which less is known, and that nobody is seen to use, is not judged. Kafka's own topics
count for neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.totals import HOURS, WEEK
from kafka_capacity.inventory.column_values import (
    Column,
    Flags,
    Ints,
    PartitionIndex,
    ReplicaColumns,
    encode,
    floats,
    ints,
)
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.kafka.cluster.snapshot import INTERNAL_TOPICS, Group
from kafka_capacity.questions.idle.tables import IDLE_TABLES
from kafka_capacity.questions.question import Basis

LEAST_HOURS = WEEK  # hours that must be known: much is written or read on one day of the week only


def evaluate_idle(basis: Basis) -> dict[str, pa.Table]:
    """Return the tables about idle topics."""
    snapshot, traffic = basis.snapshot, topic_traffic(basis)
    names = snapshot.partitions.topics
    read = {topic for group in snapshot.groups for topic in read_topics(group)}
    is_unused = ~traffic.has_any & ~np.isin(names, sorted(read))
    is_own = snapshot.topics.is_internal | np.isin(names, sorted(INTERNAL_TOPICS))
    is_known = traffic.known_hours >= LEAST_HOURS
    is_idle = is_unused & is_known & ~is_own
    replicas = ReplicaColumns.of(basis.raw.table("replicas"))
    scope = {
        "topics": [int((~is_own).sum())],
        "not_judged_topics": [int((is_unused & ~is_known & ~is_own).sum())],
    }
    return {
        "idle_topics": _topics(basis, replicas, is_idle, traffic.known_hours.tolist()),
        "idle_brokers": _brokers(replicas, is_idle),
        "idle_scope": pa.table(scope, schema=IDLE_TABLES["idle_scope"][0]),
    }


def _topics(basis: Basis, replicas: ReplicaColumns, is_idle: Flags, known_hours: list[int]) -> pa.Table:
    snapshot = basis.snapshot
    names, count = snapshot.partitions.topics, len(snapshot.partitions.topics)
    partitions = np.bincount(snapshot.partitions.topic, minlength=count)
    held = np.bincount(replicas.topic, minlength=count)
    unsized = np.bincount(replicas.topic[~replicas.known("size_bytes")], minlength=count)
    sizes = np.zeros(count, dtype=np.int64)
    np.add.at(sizes, replicas.topic, replicas.ints("size_bytes"))
    groups = Counter(topic for group in snapshot.groups for topic in named_topics(group))
    rows = [
        {
            "topic": names[place],
            "partitions": int(partitions[place]),
            "replicas": int(held[place]),
            "size_bytes": int(sizes[place]),
            "unknown_size_replicas": int(unsized[place]),
            "broker_ids": np.unique(replicas.broker[replicas.topic == place]).tolist(),
            "is_compacted": bool(snapshot.topics.is_compacted[place]),
            "groups": groups[names[place]],
            "known_hours": known_hours[place],
        }
        for place in np.flatnonzero(is_idle).tolist()
    ]
    return pa.Table.from_pylist(rows, schema=IDLE_TABLES["idle_topics"][0])


def _brokers(replicas: ReplicaColumns, is_idle: Flags) -> pa.Table:
    ids, place = np.unique(replicas.broker, return_inverse=True)
    is_freed = is_idle[replicas.topic]
    size = replicas.ints("size_bytes")
    freed, held = np.zeros(len(ids), dtype=np.int64), np.zeros(len(ids), dtype=np.int64)
    np.add.at(freed, place[is_freed], size[is_freed])
    np.add.at(held, place, size)
    count = np.bincount(place[is_freed], minlength=len(ids))
    rows = {"broker_id": ids, "replicas": count, "size_bytes": freed, "held_bytes": held}
    return pa.table(rows).filter(pa.array(count > 0)).cast(IDLE_TABLES["idle_brokers"][0])


_WAYS = ("in", "out")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicTraffic:
    """The traffic of topics, in the order of ``Partitions.topics``."""

    has_any: Flags  # bool[T], whether a rate above 0 is known of a partition, in or out, or of the topic on any day
    known_hours: Ints  # int64[T], in how many hours both ways are known, of the partition of which the fewest are


def topic_traffic(basis: Basis) -> TopicTraffic:
    """Return what the inventory's hours, its daily history and the load profile know, all of it together."""
    partitions = basis.snapshot.partitions
    names, topic = partitions.topics, partitions.topic.astype(np.int64)
    index = PartitionIndex.of(names, topic, partitions.partition.astype(np.int64))
    hours, carries = _of_metrics(basis.raw, index)
    if basis.profile_partitions is not None and basis.profile_days is not None:
        days = _days_read(basis.profile_days, names)[topic]
        more_hours, more = _of_profile(basis.profile_partitions, index, days)
        hours, carries = np.maximum(hours, more_hours), carries | more
    has_any = np.bincount(topic[carries], minlength=len(names)) > 0
    fewest = np.full(len(names), np.iinfo(np.int64).max)
    np.minimum.at(fewest, topic, hours)
    return TopicTraffic(
        has_any=has_any | np.isin(names, _on_some_day(basis.raw.table("history"))),
        known_hours=fewest,
    )


def _of_metrics(raw: RawInventory, index: PartitionIndex) -> tuple[Ints, Flags]:
    """Return int64[P], hours of which both ways are known, and bool[P], whether one had traffic."""
    if raw.hours is not None:
        return raw.hours.known_hours, raw.hours.has_traffic
    table = raw.table("metrics")
    place = index.find(table.column("topic"), table.column("partition"))
    rates = [np.asarray(table.column(f"bytes_{way}_bytes_per_second").to_numpy(), dtype=np.float32) for way in _WAYS]
    is_known = [np.isfinite(rate) & (rate >= 0) & (place >= 0) for rate in rates]
    carries = np.zeros(len(index.keys), dtype=np.bool_)
    for rate, known in zip(rates, is_known, strict=True):
        carries[place[known & (rate > 0)]] = True
    return np.bincount(place[is_known[0] & is_known[1]], minlength=len(index.keys)), carries


def _of_profile(table: pa.Table, index: PartitionIndex, days_read: Ints) -> tuple[Ints, Flags]:
    """Return the same of a profile, which counts the hours of what is written alone, and knows the highest rates."""
    place = index.find(table.column("topic"), table.column("partition"))
    table, place = table.filter(pa.array(place >= 0)), place[place >= 0]
    highest = [floats(table.column(f"bytes_{way}_max_bytes_per_second")) for way in _WAYS]
    hours = np.zeros(len(index.keys), dtype=np.int64)
    carries = np.zeros(len(index.keys), dtype=np.bool_)
    for rate in highest:
        carries[place[rate > 0]] = True
    is_known = np.isfinite(highest[0]) & np.isfinite(highest[1])
    known_hours = np.minimum(ints(table.column("known_hours")), HOURS * days_read[place])
    hours[place[is_known]] = known_hours[is_known]
    return hours, carries


def _days_read(profile_days: pa.Table, names: Collection[str]) -> Ints:
    """Return int64[T], of how many days a profile knows what is read."""
    known = profile_days.filter(profile_days.column("bytes_out_mean_bytes_per_second").is_valid())
    found, code = encode(known.column("topic"))
    days = dict(zip(found, np.bincount(code, minlength=len(found)).tolist(), strict=True))
    return np.array([days.get(name, 0) for name in names], dtype=np.int64)


def _on_some_day(history: pa.Table) -> list[str]:
    """Return the topics that had traffic on a day of the history by day."""
    has_any = np.zeros(len(history), dtype=np.bool_)
    for way in _WAYS:
        rate = floats(history.column(f"bytes_{way}_bytes_per_second"))
        has_any |= np.isfinite(rate) & (rate > 0)
    topics: Column = history.column("topic").filter(pa.array(has_any))
    return encode(topics)[0]


def named_topics(group: Group) -> set[str]:
    """Return the topics that a group subscribes to, reads or has committed on."""
    return subscribed_topics(group) | {lag.topic for lag in group.lags if lag.committed_offset >= 0}


def read_topics(group: Group) -> set[str]:
    """Return the topics that a group is subscribed to and has got on with: one that waits has committed 0 at most."""
    return subscribed_topics(group) & {lag.topic for lag in group.lags if lag.committed_offset > 0}


def subscribed_topics(group: Group) -> set[str]:
    """Return the topics that members subscribe to or are assigned."""
    return {topic for member in group.members for topic in (*member.subscribed, *(name for name, _ in member.assigned))}
