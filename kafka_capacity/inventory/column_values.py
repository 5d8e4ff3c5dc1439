"""Columns of Arrow tables as numpy arrays and plain lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Flags, Floats, Ints
from kafka_capacity.kafka.cluster.assignment import Partitions

# pyarrow's type stubs know the type of a column only where it was made in the same function.
Column: TypeAlias = Any


def encode(column: Column) -> tuple[list[str], Ints]:
    """Number the texts of a column by their order: the sorted distinct texts, and int64[N] places among them."""
    encoded = (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return [names[i] for i in order], rank[codes] if len(names) else codes


def ints(column: Column, *, null: int = 0) -> Ints:
    """Return a column of whole numbers, with this in place of its nulls."""
    filled = column.fill_null(null) if column.null_count else column
    return np.asarray(filled.to_numpy(), dtype=np.int64)


def flags(column: Column) -> Flags:
    """Return a column of booleans; null is false."""
    filled = column.fill_null(False) if column.null_count else column
    return np.asarray(filled.to_numpy(), dtype=np.bool_)


def known(column: Column) -> Flags:
    """Return which rows are not null."""
    if not column.null_count:
        return np.ones(len(column), dtype=np.bool_)
    return np.asarray(column.is_valid().to_numpy(), dtype=np.bool_)


def floats(column: Column) -> Floats:
    """Return a column of numbers; null is NaN.

    Whole numbers beyond 2^53 are rounded to the nearest float: capacities of network file systems are that large, and
    Kafka's "for ever" is 2^63 - 1.
    """
    return np.asarray(column.cast("float64", safe=False).to_numpy(), dtype=np.float64)


def values(column: Column) -> list[Any]:
    """Return the values of a column as a list; null is ``None``."""
    found: list[Any] = column.to_pylist()
    return found


def column_map(table: pa.Table, key: str, value: str) -> dict[Any, Any]:
    """Return the values of one column by those of another."""
    return dict(zip(values(table.column(key)), values(table.column(value)), strict=True))


_PARTITION_BITS = np.int64(32)
_PARTITION_SHIFT = np.int64(2**31)  # so that a negative number, which is wrong, still sorts before the others


def partition_keys(topic: Any, partition: Any) -> Any:
    """Return one number for each (topic code, partition) that sorts as the pair does."""
    return (topic << _PARTITION_BITS) | (partition + _PARTITION_SHIFT)


def pairs_of_keys(keys: Ints) -> tuple[Ints, Ints]:
    """Return the topic codes and partitions that :func:`partition_keys` made keys of, int64[N] each."""
    return keys >> _PARTITION_BITS, (keys & (2**32 - 1)) - _PARTITION_SHIFT


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplicaColumns:
    """The replicas sorted by topic, partition, position; N rows of P partitions."""

    partitions: Partitions  # those that occur
    topic: Ints  # int64[N], place in their topics
    position: Ints  # int64[N]
    broker: Ints  # int64[N]
    starts: Ints  # int64[P], the first row of each partition
    partition_of_row: Ints  # int64[N], 0 to P - 1
    order: Ints | None  # int64[N], the rows of the table in this order; `None` where the table is sorted already
    table: pa.Table  # the table itself, in its own order

    @classmethod
    def of(cls, table: pa.Table) -> ReplicaColumns:
        """Sort the table of replicas."""
        names, topic = encode(table.column("topic"))
        partition, position = ints(table.column("partition")), ints(table.column("position"))
        broker = ints(table.column("broker_id"))
        key = partition_keys(topic, partition)
        order = None
        steps = np.diff(key)
        if (steps < 0).any() or (np.diff(position)[steps == 0] < 0).any():
            order = np.lexsort((position, key)).astype(np.int64)
            topic, partition, position, broker, key = (a[order] for a in (topic, partition, position, broker, key))
        is_start = np.ones(len(key), dtype=np.bool_)
        is_start[1:] = np.diff(key) != 0
        starts = np.flatnonzero(is_start).astype(np.int64)
        return cls(
            partitions=Partitions(
                topics=tuple(names),
                topic=topic[starts].astype(np.int32),
                partition=partition[starts].astype(np.int32),
            ),
            topic=topic,
            position=position,
            broker=broker,
            starts=starts,
            partition_of_row=np.cumsum(is_start).astype(np.int64) - 1,
            order=order,
            table=table,
        )

    def _in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.order is None else values[self.order]

    def ints(self, column: str, *, null: int = 0) -> Ints:
        """Return another column of whole numbers in the sorted order."""
        return self._in_order(ints(self.table.column(column), null=null))

    def flags(self, column: str) -> Flags:
        """Return another column of booleans in the sorted order; null is false."""
        return self._in_order(flags(self.table.column(column)))

    def known(self, column: str) -> Flags:
        """Return which rows of another column are not null, in the sorted order."""
        return self._in_order(known(self.table.column(column)))

    def per_partition(self, values: Flags) -> Ints:
        """Count the rows of each partition for which this holds."""
        return np.add.reduceat(values.astype(np.int64), self.starts)

    def has_any(self, values: Flags) -> Flags:
        """Return bool[P], whether this holds for any row of a partition."""
        return self.per_partition(values) > 0

    def replication_factors(self) -> Ints:
        """Count the replicas of each partition."""
        return np.diff(np.append(self.starts, len(self.topic)))

    def index(self) -> PartitionIndex:
        """Return what finds these partitions by name."""
        return PartitionIndex.of(self.partitions.topics, self.partitions.topic, self.partitions.partition)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionIndex:
    """Finds partitions by name: the codes of topics, and int64[P] sorted keys."""

    topic_codes: Mapping[str, int]
    keys: Ints

    @classmethod
    def of(cls, topics: Sequence[str], topic: NDArray[np.integer], partition: NDArray[np.integer]) -> PartitionIndex:
        """Index partitions that are sorted by topic code, then number."""
        keys = partition_keys(topic.astype(np.int64), partition.astype(np.int64))
        return cls(topic_codes={name: code for code, name in enumerate(topics)}, keys=keys)

    def find(self, topic: Column, partition: Column) -> Ints:
        """Return the place of each (topic, partition), -1 where there is no such partition."""
        # Rows of one partition stand together in most tables: look up each run once.
        runs = pc.run_end_encode(topic.combine_chunks())
        ends, number = runs.run_ends.to_numpy(), partition.to_numpy()
        is_start = np.ones(len(number), dtype=np.bool_)
        is_start[1:] = number[1:] != number[:-1]
        is_start[ends[:-1]] = True
        starts = np.flatnonzero(is_start)
        known = pc.index_in(runs.values, value_set=pa.array(list(self.topic_codes), runs.values.type))
        code = ints(known, null=-1)[np.searchsorted(ends, starts, side="right")]
        wanted = partition_keys(code, number[starts].astype(np.int64))
        place = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        found = np.where(self.keys[place] == wanted, place, -1) if len(self.keys) else np.full(len(starts), -1)
        return np.repeat(found.astype(np.int64), np.diff(starts, append=len(number)))


def partition_of_rows(partitions: Partitions, table: pa.Table) -> Ints:
    """Return the place of the partition of each row of a table, -1 where there is no such partition."""
    index = PartitionIndex.of(partitions.topics, partitions.topic, partitions.partition)
    return index.find(table.column("topic"), table.column("partition"))


def log_dir_of_replicas(replicas: ReplicaColumns, log_dirs: pa.Table) -> Ints:
    """Return the row of each replica's log dir, -1 where it is not known or not listed."""
    paths, path = encode(log_dirs.column("path"))
    code = pc.index_in(replicas.table.column("log_dir"), value_set=pa.array(paths, pa.string()))
    wanted = replicas._in_order(ints(code, null=-1))
    key = (ints(log_dirs.column("broker_id")) << 32) | path
    of_broker = np.where(wanted >= 0, (replicas.broker << 32) | wanted, -1)
    return ints(pc.index_in(pa.array(of_broker), value_set=pa.array(key)), null=-1)
