"""What a history of hourly rates says about everything that carries traffic: in one process, and on executors.

The history has one row a partition and day with 24 hours in a list. It is described in batches of whole partitions:
:func:`describe_batch` describes each partition of a batch and adds the batch up by topic, group and broker, and
:func:`added` adds what several batches came to. Sums are of whole thousandths of a byte per second: neither the order
nor the batches show. Only the standard library, numpy, scipy and pyarrow are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.totals import HOURS
from kafka_capacity.inventory.chosen_hours import thousandths
from kafka_capacity.inventory.column_values import PartitionIndex, encode, ints
from kafka_capacity.inventory.history import hours_of, lists_of
from kafka_capacity.kafka.arrays import Float32s, Floats, Indices, Ints
from kafka_capacity.objects.profile_tables import PROFILE_TABLES, QUANTILES, rate_columns

PARTITIONS = "partitions"
TOTALS = {
    "topics": ("topic", ("in", "out")),
    "brokers": ("broker_id", ("written",)),
    "leaders": ("broker_id", ("led", "read")),
    "groups": ("group_id", ("in",)),
}
"""What is added up: by which key, and in which ways."""

_IN, _OUT = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Carriers:
    """Who carries the traffic of partitions, and up to when it is described."""

    replicas: pa.Table  # topic, partition, broker_id, is_leader: who holds what
    reads: pa.Table  # topic, partition, group_id: who reads what
    end: int  # the hour after the newest of the whole history, counted from 1970-01-01 0:00 UTC


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """A batch, sorted by partition and day."""

    topics: list[str]  # the names
    topic: Ints  # int64[P], of each partition
    partition: Ints  # int64[P], of each partition
    start: Ints  # int64[P + 1], where the rows of each begin
    day: Ints  # int64[N], counted from 1970-01-01
    rates: Float32s  # float32[2, N, 24], in and out, NaN where one is not known
    milli: Ints  # int64[2, N, 24], the same in thousandths, 0 where one is not known
    known_hours: Ints  # int64[N], about `in`; the second and third -1 for none
    first_hour: Ints  # int64[N], about `in`; the second and third -1 for none
    last_hour: Ints  # int64[N], about `in`; the second and third -1 for none
    longest_gap: Ints  # int64[N], about `in`; the second and third -1 for none

    @property
    def of(self) -> Ints:
        """The partition of each row: int64[N]."""
        return np.repeat(np.arange(len(self.topic)), np.diff(self.start))

    def sums(self, values: Ints) -> Ints:
        """Add values of rows up by partition."""
        return np.add.reduceat(values, self.start[:-1], axis=0)


def newest_hour(history: pa.Table) -> int:
    """Return the last hour of which anything is known, counted from 1970-01-01 0:00 UTC; -1 for none."""
    last = _numbers(history, "last_hour")
    known = last >= 0
    return int((_days(history)[known] * HOURS + last[known]).max(initial=-1))


def describe_batch(carriers: Carriers, history: pa.Table) -> dict[str, pa.Table]:
    """Describe whole partitions: their rows of ``profile_partitions``, and the totals of :data:`TOTALS`.

    The history is as :data:`kafka_capacity.inventory.history.HISTORY`, all days of some partitions, in any order.
    """
    rows = _rows(history)
    found = {PARTITIONS: _partitions(rows, carriers.end), "topics": _totals(rows, "topics", rows.topics, rows.topic)}
    index = PartitionIndex.of(tuple(rows.topics), rows.topic, rows.partition)
    for name, table, key in (
        ("brokers", carriers.replicas, "broker_id"),
        ("leaders", carriers.replicas.filter(carriers.replicas.column("is_leader")), "broker_id"),
        ("groups", carriers.reads, "group_id"),
    ):
        place = index.find(table.column("topic"), table.column("partition"))
        there = place >= 0
        names, number = encode(table.column(key))
        found[name] = _totals(rows, name, names, number[there], place[there])
    return found


def added(name: str, totals: Sequence[pa.Table]) -> pa.Table:
    """Add up one of the :data:`TOTALS` of several batches."""
    key, ways = TOTALS[name]
    table = pa.concat_tables(totals)
    names, number = encode(table.column(key))
    group, groups = _numbered(number, _days(table))
    columns: dict[str, Any] = {
        key: _things(key, names).take(pa.array(groups[:, 0])),
        "day": _dates(groups[:, 1]),
        "partitions": pa.array(_grouped(group, _numbers(table, "partitions")[:, None], len(groups))[:, 0]),
    }
    for way in ways:
        for what in ("sum", "known"):
            hours = hours_of(table, f"{way}_{what}", np.int64)
            columns[f"{way}_{what}"] = lists_of(_grouped(group, hours, len(groups)), pa.int64())
    return pa.table(columns)


def _rows(history: pa.Table) -> _Rows:
    topics, topic = encode(history.column("topic"))
    partition, day = _numbers(history, "partition"), _days(history)
    order = np.lexsort((day, partition, topic))
    topic, partition, day = topic[order], partition[order], day[order]
    is_first = np.append(True, (np.diff(topic) != 0) | (np.diff(partition) != 0)) if len(day) else np.empty(0, bool)
    start = np.append(np.flatnonzero(is_first), len(day))
    rates = np.stack([hours_of(history, f"bytes_{way}")[order] for way in ("in", "out")])
    return _Rows(
        topics=topics,
        topic=topic[start[:-1]].astype(np.int64),
        partition=partition[start[:-1]],
        start=start,
        day=day,
        rates=rates,
        milli=thousandths(rates),
        known_hours=_numbers(history, "known_hours")[order],
        first_hour=_numbers(history, "first_hour")[order],
        last_hour=_numbers(history, "last_hour")[order],
        longest_gap=_numbers(history, "longest_gap_hours")[order],
    )


def _partitions(rows: _Rows, end: int) -> pa.Table:
    schema, _ = PROFILE_TABLES["profile_partitions"]
    first, last = _first_and_last(rows)
    known_hours = rows.sums(rows.known_hours)
    expected = np.where(first >= 0, end - first, 0)
    columns: dict[str, Any] = {
        "topic": pa.array(rows.topics, pa.string()).take(pa.array(rows.topic)),
        "partition": pa.array(rows.partition, pa.int32()),
    }
    for way, name in ((_IN, "in"), (_OUT, "out")):
        columns |= dict(zip(rate_columns(name), _rates(rows, way), strict=True))
    columns |= {
        "trend_bytes_per_second_per_day": nullable(_slopes(rows)),
        "peak_hour_utc": _peak_hours(rows),
        "known_hours": pa.array(known_hours),
        "expected_hours": pa.array(expected),
        "coverage_ratio": pa.array(np.divide(known_hours, expected, out=np.zeros(len(first)), where=expected > 0)),
        "longest_gap_hours": pa.array(_longest_gaps(rows)),
        "stale_hours": pa.array(np.where(last >= 0, end - 1 - last, 0)),
    }
    return pa.table(columns).select(schema.names).cast(schema)


def _first_and_last(rows: _Rows) -> tuple[Ints, Ints]:
    """Return the first and the last hour of each partition of which anything is known, -1 for none."""
    known = rows.first_hour >= 0
    far = np.iinfo(np.int64).max
    begin = np.where(known, rows.day * HOURS + rows.first_hour, far)
    ends = np.where(known, rows.day * HOURS + rows.last_hour, -1)
    first = np.minimum.reduceat(begin, rows.start[:-1])
    return np.where(first == far, -1, first), np.maximum.reduceat(ends, rows.start[:-1])


def _longest_gaps(rows: _Rows) -> Ints:
    """Return the longest run of unknown hours between two known ones, over all days of each partition."""
    gap = np.zeros(len(rows.day), dtype=np.int64)
    known = np.flatnonzero(rows.known_hours > 0)
    of = rows.of[known]
    begin = rows.day[known] * HOURS + rows.first_hour[known]
    ends = rows.day[known] * HOURS + rows.last_hour[known]
    between = np.zeros(len(known), dtype=np.int64)
    is_next = of[1:] == of[:-1]
    between[1:][is_next] = (begin[1:] - ends[:-1] - 1)[is_next]
    gap[known] = np.maximum(rows.longest_gap[known], between)
    return np.maximum.reduceat(gap, rows.start[:-1])


def _rates(rows: _Rows, way: int) -> list[pa.Array[Any]]:
    """Return mean, percentiles and maximum of one way; null where nothing is known."""
    flat = rows.rates[way].reshape(-1)
    known = ~np.isnan(flat)
    values = flat[known]
    count = np.add.reduceat(known.reshape(-1, HOURS).sum(axis=1), rows.start[:-1])
    begin = np.cumsum(count) - count
    for start, end in pairwise([*begin.tolist(), len(values)]):
        values[start:end].sort()
    has_any = count > 0
    milli = rows.sums(rows.milli[way].sum(axis=1))
    mean = np.divide(milli / 1000.0, count, out=np.full(len(count), np.nan), where=has_any)

    def at(place: Ints) -> Floats:
        found = np.full(len(count), np.nan)
        found[has_any] = values[(begin + place)[has_any]].astype(np.float64)
        return found

    percentiles = []
    for quantile in QUANTILES.values():
        place = (count - 1) * quantile
        below = np.floor(place).astype(np.int64)
        low, high = at(below), at(np.minimum(below + 1, count - 1))
        percentiles.append(low + (high - low) * (place - below))
    return [nullable(made) for made in (mean, *percentiles, at(count - 1))]


def _slopes(rows: _Rows) -> Floats:
    """Return the least-squares slope of the daily means of each partition, NaN for less than two days.

    Of whole numbers, and of Python's, which do not overflow: only the last two divisions round.
    """
    total = rows.milli[_IN].sum(axis=1)
    is_known = rows.known_hours > 0
    mean = np.floor(np.divide(total, rows.known_hours, out=np.zeros(len(total)), where=is_known)).astype(np.int64)
    day = rows.day - rows.day.min(initial=0)  # a slope is the same wherever days are counted from
    n, d, dd = (rows.sums(np.where(is_known, made, 0)) for made in (np.ones_like(day), day, day * day))
    y = rows.sums(np.where(is_known, mean, 0)).astype(object)
    dy = np.add.reduceat(np.where(is_known, day, 0).astype(object) * mean.astype(object), rows.start[:-1])
    slope = np.full(len(n), np.nan)
    enough = np.flatnonzero(n > 1)
    below = n * dd - d * d
    above = n.astype(object) * dy - d.astype(object) * y
    slope[enough] = [float(above[i]) / float(below[i]) / 1000.0 for i in enough.tolist()]
    return slope


def _peak_hours(rows: _Rows) -> pa.Array[Any]:
    total = rows.sums(rows.milli[_IN])
    count = rows.sums((~np.isnan(rows.rates[_IN])).astype(np.int64))
    mean = np.divide(total, count, out=np.full(total.shape, -1.0), where=count > 0)
    return pa.array(mean.argmax(axis=1), pa.int32(), mask=~(count > 0).any(axis=1))


def _totals(rows: _Rows, name: str, names: list[Any], number: Ints, place: Ints | None = None) -> pa.Table:
    """Add a batch up by thing and day, hour by hour.

    Thing ``number``, int64[M], carries partition ``place``, int64[M]; by default that is each of the batch.
    """
    key, ways = TOTALS[name]
    place = np.arange(len(rows.topic)) if place is None else place
    days = np.diff(rows.start)[place]
    row = np.repeat(rows.start[place] - np.append(0, np.cumsum(days)[:-1]), days) + np.arange(days.sum())
    group, groups = _numbered(np.repeat(number, days), rows.day[row])
    from scipy import sparse  # here: the command line imports this module for its names only

    csr: Any = sparse.csr_array  # whose stubs know no matrix of whole numbers
    gather = csr((np.ones(len(row), dtype=np.int64), (group, row)), shape=(len(groups), len(rows.day)))
    columns: dict[str, Any] = {
        key: _things(key, names).take(pa.array(groups[:, 0])),
        "day": _dates(groups[:, 1]),
        "partitions": pa.array(np.asarray(gather.sum(axis=1), dtype=np.int64)),
    }
    for way in ways:
        source = _OUT if way in {"out", "read"} else _IN
        known = (~np.isnan(rows.rates[source])).astype(np.int64)
        columns[f"{way}_sum"] = lists_of(gather @ rows.milli[source], pa.int64())
        columns[f"{way}_known"] = lists_of(gather @ known, pa.int64())
    return pa.table(columns)


def _things(key: str, names: list[Any]) -> pa.Array[Any]:
    return pa.array(names, pa.int32() if key == "broker_id" else pa.string())


def _numbered(key: Ints, day: Ints) -> tuple[Indices, Ints]:
    """Return int64[N], the group of each row, and int64[G, 2], key and day of each group in order."""
    groups, group = np.unique(np.stack([key, day], axis=1).astype(np.int64), axis=0, return_inverse=True)
    return group.reshape(-1), groups


def _grouped(group: Indices, values: Ints, count: int) -> Ints:
    total = np.zeros((count, values.shape[1]), dtype=np.int64)
    np.add.at(total, group, values)
    return total


def _numbers(table: pa.Table, column: str) -> Ints:
    return ints(table.column(column).fill_null(-1))


def _days(table: pa.Table) -> Ints:
    return ints(table.column("day").cast(pa.int32()))


def _dates(day: Ints) -> pa.Array[Any]:
    return pa.array(day, pa.int32()).cast(pa.date32())


def nullable(values: Floats) -> pa.Array[Any]:
    """Return values with null for NaN."""
    return pa.array(values, pa.float64(), mask=np.isnan(values))
