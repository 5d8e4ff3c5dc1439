"""How topics are used: which are idle, and which are written and never read.

A topic is idle when in all the hours that are known nothing was written to it or read from it, no consumer group is
subscribed to it and has committed an offset on it, and at least :data:`LEAST_HOURS` are known of each of its
partitions, both ways. It is write-only when the same holds of reading, but not of writing. A topic of which less is
known, and that nobody is seen to use, is not judged, nor is any where no topic is written at all. Kafka's own topics
count for neither.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.calendar_days import WEEK_HOURS
from kafka_capacity.demand.totals import HOURS
from kafka_capacity.inventory.chosen_hours import RATES, usable_rates
from kafka_capacity.inventory.column_values import Column, PartitionIndex, encode, floats, ints
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.kafka.arrays import Flags, Ints
from kafka_capacity.kafka.cluster.snapshot import INTERNAL_TOPICS, Group, Snapshot

LEAST_HOURS = WEEK_HOURS  # hours that must be known: much is written or read on one day of the week only

_WAYS = ("in", "out")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicUse:
    """How topics are used, in the order of ``Partitions.topics``; see the module for what the words mean."""

    known_hours: Ints  # int64[T], in how many hours both ways are known, of the partition of which the fewest are
    is_idle: Flags  # bool[T]
    is_write_only: Flags  # bool[T]
    is_not_judged: Flags  # bool[T], no use is seen, and too little is known to call it idle
    is_own: Flags  # bool[T], Kafka's own


def topic_use(
    raw: RawInventory,
    snapshot: Snapshot,
    profile_partitions: pa.Table | None = None,
    profile_days: pa.Table | None = None,
) -> TopicUse:
    """Return what the inventory's hours, its daily history and the load profile know, all of it together.

    The last two are the tables of these names of the load profile, ``None`` where there is no profile.
    """
    partitions = snapshot.partitions
    names, topic = partitions.topics, partitions.topic.astype(np.int64)
    index = PartitionIndex.of(names, topic, partitions.partition.astype(np.int64))
    hours, carries = _of_metrics(raw, index)
    if profile_partitions is not None and profile_days is not None:
        days = _days_read(profile_days, names)[topic]
        more_hours, more = _of_profile(profile_partitions, index, days)
        hours, carries = np.maximum(hours, more_hours), carries | more
    is_written, is_read = (
        (np.bincount(topic[flags], minlength=len(names)) > 0) | np.isin(names, days_of)
        for flags, days_of in zip(carries, _on_some_day(raw.table("history")), strict=True)
    )
    fewest = np.full(len(names), np.iinfo(np.int64).max)
    np.minimum.at(fewest, topic, hours)
    grouped = {name for group in snapshot.groups for name in read_topics(group)}
    is_own = snapshot.topics.is_internal | np.isin(names, sorted(INTERNAL_TOPICS))
    is_unread = ~is_read & ~np.isin(names, sorted(grouped)) & ~is_own
    # Where nothing at all is written, that is likelier to be the metrics.
    is_known = (fewest >= LEAST_HOURS) & is_written.any()
    return TopicUse(
        known_hours=fewest,
        is_idle=is_unread & ~is_written & is_known,
        is_write_only=is_unread & is_written & is_known,
        is_not_judged=is_unread & ~is_written & ~is_known,
        is_own=is_own,
    )


def _of_metrics(raw: RawInventory, index: PartitionIndex) -> tuple[Ints, Flags]:
    """Return int64[P], hours of which both ways are known, and bool[2, P], what was written and what was read.

    Of chosen hours it is known only whether there was any; then it counts both ways.
    """
    if raw.hours is not None:
        return raw.hours.known_hours, np.stack([raw.hours.has_traffic] * len(_WAYS))
    table = raw.table("metrics")
    place = index.find(table.column("topic"), table.column("partition"))
    rates = [usable_rates(table, column) for column in RATES]
    is_known = [~np.isnan(rate) & (place >= 0) for rate in rates]
    carries = np.zeros((len(_WAYS), len(index.keys)), dtype=np.bool_)
    for flags, rate, known in zip(carries, rates, is_known, strict=True):
        flags[place[known & (rate > 0)]] = True
    return np.bincount(place[is_known[0] & is_known[1]], minlength=len(index.keys)), carries


def _of_profile(table: pa.Table, index: PartitionIndex, days_read: Ints) -> tuple[Ints, Flags]:
    """Return the same of a profile, which counts the hours of what is written alone, and knows the highest rates."""
    place = index.find(table.column("topic"), table.column("partition"))
    table, place = table.filter(pa.array(place >= 0)), place[place >= 0]
    highest = [floats(table.column(f"bytes_{way}_max_bytes_per_second")) for way in _WAYS]
    hours = np.zeros(len(index.keys), dtype=np.int64)
    carries = np.zeros((len(_WAYS), len(index.keys)), dtype=np.bool_)
    for flags, rate in zip(carries, highest, strict=True):
        flags[place[rate > 0]] = True
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


def _on_some_day(history: pa.Table) -> list[list[str]]:
    """Return the topics that were written to on a day of the history by day, and those that were read."""
    found = []
    for way in _WAYS:
        rate = floats(history.column(f"bytes_{way}_bytes_per_second"))
        topics: Column = history.column("topic").filter(pa.array(np.isfinite(rate) & (rate > 0)))
        found.append(encode(topics)[0])
    return found


def named_topics(group: Group) -> set[str]:
    """Return the topics that a group subscribes to, reads or has committed on."""
    return subscribed_topics(group) | {lag.topic for lag in group.lags if lag.committed_offset >= 0}


def read_topics(group: Group) -> set[str]:
    """Return the topics that a group is subscribed to and has got on with: one that waits has committed 0 at most."""
    return subscribed_topics(group) & {lag.topic for lag in group.lags if lag.committed_offset > 0}


def subscribed_topics(group: Group) -> set[str]:
    """Return the topics that members subscribe to or are assigned."""
    return {topic for member in group.members for topic in (*member.subscribed, *(name for name, _ in member.assigned))}
