"""What was produced to each topic day by day, from all that is known of it."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.demand.history import TopicHistory, sum_with_gaps
from kafka_capacity.inventory.chosen_hours import usable_rates
from kafka_capacity.inventory.column_values import encode, floats, ints
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.kafka.arrays import Floats, Ints

LEAST_HOURS = 20
"""A day of metrics counts where so many of its hours are known: the first and the last are often cut short."""
MAX_DAYS = 3_660  # older days are left out; ten years say nothing more about the next one

_DAY_SECONDS = 86_400
_EPOCH = datetime.date(1970, 1, 1).toordinal()
MAX_TOPIC_RATE = 1e13  # bytes per second of one topic: no cluster is known to take in 80 Tbit/s
_RATE = "bytes_in_bytes_per_second"


def topic_history(raw: RawInventory, profile_days: pa.Table | None = None) -> TopicHistory:
    """Return the daily means of all topics, up to the day of the inventory.

    Values that cannot be a rate (negative, too much) count as not known. Where several tables know a day of a topic,
    the hourly metrics of the inventory count before a profile (its table of that name, with hours that earlier
    inventories brought), and both before the table of history.
    """
    last = datetime.date.fromisoformat(raw.ds).toordinal()
    tables = [_from_history(raw.table("history"))]
    if profile_days is not None:
        tables.append(_from_profile(profile_days))
    tables.append(_from_metrics(raw.table("metrics")))
    tables = [(names, topic, day, rate) for names, topic, day, rate in tables if len(day)]
    days = [day[(day <= last) & (day > last - MAX_DAYS)] for _, _, day, _ in tables]
    if not any(len(day) for day in days):
        return TopicHistory.empty(raw.ds)
    first = min(int(day.min()) for day in days if len(day))
    topics = sorted({name for names, *_ in tables for name in names})
    place = {name: row for row, name in enumerate(topics)}
    rates = np.full((len(topics), last - first + 1), np.nan)
    for names, topic, day, rate in tables:
        is_used = (day >= first) & (day <= last)
        row = np.array([place[name] for name in names], dtype=np.int64)[topic[is_used]]
        rates[row, day[is_used] - first] = rate[is_used]
    return TopicHistory(
        first_day=datetime.date.fromordinal(first).isoformat(), topics=tuple(topics), rate_bytes_per_second=rates
    )


_Daily = tuple[list[str], Ints, Ints, Floats]
"""Names of topics; for each row the place among them, the day's ordinal, and the rate."""


def _from_history(table: pa.Table) -> _Daily:
    names, topic = encode(table.column("topic"))
    rate = floats(table.column(_RATE))
    day = _ordinal(ints(table.column("day").cast("int64")))
    is_usable = (rate >= 0) & (rate <= MAX_TOPIC_RATE)
    return names, topic[is_usable], day[is_usable], rate[is_usable]


def _from_profile(table: pa.Table) -> _Daily:
    # The empty name is the whole cluster.
    is_topic = pc.and_(
        pc.not_equal(table.column("topic"), ""), pc.greater_equal(table.column("known_hours"), LEAST_HOURS)
    )
    table = table.filter(is_topic)
    names, topic = encode(table.column("topic"))
    rate = floats(table.column("bytes_in_mean_bytes_per_second"))
    day = ints(table.column("day").cast("int32")) + _EPOCH
    is_usable = np.isfinite(rate)
    return names, topic[is_usable], day[is_usable], rate[is_usable]


def _from_metrics(table: pa.Table) -> _Daily:
    table = table.filter(pa.array(~np.isnan(usable_rates(table, _RATE))))
    day = pa.array(ints(table.column("hour").cast("int64")) // _DAY_SECONDS)
    daily = (
        pa.table(
            {"topic": table.column("topic"), "partition": table.column("partition"), "day": day, "rate": table[_RATE]}
        )
        .group_by(["topic", "partition", "day"])
        .aggregate([("rate", "mean"), ("rate", "count")])
        .sort_by([("topic", "ascending"), ("partition", "ascending"), ("day", "ascending")])
    )
    daily = daily.filter(pc.greater_equal(daily.column("rate_count"), LEAST_HOURS))
    names, topic = encode(daily.column("topic"))
    if not names:
        return [], np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    return (names, *_topic_sums(topic, daily))


def _topic_sums(topic: Ints, daily: pa.Table) -> tuple[Ints, Ints, Floats]:
    """Add up the partitions of each topic; rows are sorted by topic."""
    partition, day = ints(daily.column("partition")), ints(daily.column("day"))
    rate = np.asarray(daily.column("rate_mean").to_numpy(), dtype=np.float64)
    first, count = int(day.min()), int(np.ptp(day)) + 1
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(topic)) + 1, [len(topic)]])
    found: list[tuple[Ints, Ints, Floats]] = []
    for start, end in itertools.pairwise(bounds.tolist()):
        rows, row = np.unique(partition[start:end], return_inverse=True)
        matrix = np.full((len(rows), count), np.nan)
        matrix[row, day[start:end] - first] = rate[start:end]
        total = sum_with_gaps(matrix, np.zeros(len(rows), dtype=np.bool_))
        known = np.flatnonzero(np.isfinite(total))
        found.append((np.full(len(known), topic[start]), known, total[known]))
    topics, days, totals = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return topics, _ordinal((days + first) * _DAY_SECONDS), totals


def _ordinal(seconds: Ints) -> Ints:
    """Return the ordinals of days, as Python counts them, of moments since 1970."""
    return np.asarray(seconds // _DAY_SECONDS + _EPOCH, dtype=np.int64)
