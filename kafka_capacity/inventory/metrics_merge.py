"""Several versions of a table of hours as one: what comes later counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from kafka_capacity.health.problem import Problem
from kafka_capacity.inventory.column_values import Ints, encode, ints
from kafka_capacity.inventory.tables import TABLES, empty_table

REMARKS = frozenset(
    {
        "broker_without_metrics",
        "metrics_from_records",
        "metrics_of_unknown_broker",
        "metrics_outside_of_days",
        "metrics_shared_evenly",
        "metrics_unknown_topics",
        "no_metrics_in_files",
        "prometheus_failed",
        "prometheus_has_nothing",
        "prometheus_warns",
        "topic_counters_incomplete",
    }
)
"""Codes of what is remarked while metrics are read."""


def without_metrics_remarks(remarks: Iterable[Problem]) -> tuple[Problem, ...]:
    """Leave out what an earlier reading of metrics said, which a new one says again where it still holds."""
    return tuple(remark for remark in remarks if remark.code not in REMARKS)


def merged(name: str, tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of all tables, of those for the same key and hour the one of the last table that has one.

    The first columns of the table in an inventory are its key. A table that repeats a key by itself keeps its
    repetitions, which the checks of an inventory then name.
    """
    filled = [table for table in tables if len(table)]
    if not filled:
        return empty_table(name)
    if len(filled) == 1:
        return filled[0]
    together = pa.concat_tables(filled)
    source = np.repeat(np.arange(len(filled)), [len(table) for table in filled])
    keys = [_codes(together.column(column)) for column in TABLES[name].sort_by]
    order = np.lexsort((source, *reversed(keys)))
    is_new = np.zeros(len(order), dtype=np.bool_)
    is_new[:1] = True
    for key in keys:
        is_new[1:] |= np.diff(key[order]) != 0
    newest = np.maximum.reduceat(source[order], np.flatnonzero(is_new))
    is_kept = source[order] == newest[np.cumsum(is_new) - 1]
    return together.take(pa.array(order[is_kept])).combine_chunks()


def _codes(column: pa.ChunkedArray) -> Ints:
    return encode(column)[1] if pa.types.is_string(column.type) else ints(column.cast("int64"))
