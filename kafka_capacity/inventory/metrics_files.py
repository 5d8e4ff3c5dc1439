"""Histories of metrics as files: Parquet or CSV, one or many, in a folder or below an S3 prefix.

A file has the columns of the table ``metrics``, or, where its name or that of a folder above it begins with
``broker_metrics``, of that table. Files are read in the order of their names, and of an hour that several have the last
counts: so that a file of late or fixed hours is simply added.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.errors import DamagedInputError
from kafka_capacity.health.problem import Problem, info, warning
from kafka_capacity.inventory.checks.metrics import repeated_rows
from kafka_capacity.inventory.column_values import encode, ints
from kafka_capacity.inventory.files import read_table
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.tables import TABLES, empty_table
from kafka_capacity.kafka.arrays import Ints
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.text import plural
from kafka_capacity.text.wording import first_lines

PROMETHEUS_FAILED = "prometheus_failed"  # the server of metrics could not be read, or not to the end
REMARKS = frozenset(
    {
        "broker_without_metrics",
        "metrics_from_records",
        "metrics_of_unknown_broker",
        "metrics_outside_of_days",
        "metrics_shared_evenly",
        "metrics_unknown_topics",
        "no_metrics_in_files",
        PROMETHEUS_FAILED,
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


BROKER_METRICS = "broker_metrics"
_ENDINGS = (".parquet", ".csv", ".csv.gz")
_MAX_MISTAKES = 20
_DAY = 86_400


def split_address(uri: str) -> tuple[str, str]:
    """Return the folder of an address and the name of the file in it, which is empty where the address is a folder."""
    if not uri.endswith(_ENDINGS):
        return uri, ""
    folder, slash, name = uri.rpartition("/")
    return (folder or slash) if slash else ".", name


def with_metrics_files(raw: RawInventory, store: ObjectStore, *, name: str = "", end: int, days: int) -> RawInventory:
    """Return an inventory with the rates of files; hours that it has already are replaced by those of the files.

    The file ``name`` counts, or all below the store where it is empty; and of these the ``days`` before ``end`` (of an
    hour, since 1970): a folder may have those of years.

    Raises:
        DamagedInputError: a file is wrong; the message has a line for each mistake, with the file, the row, the column
            and the remedy.
        StorageError: the one file is not there.
    """
    keys = [name] if name else [key for key in store.list_objects("") if key.endswith(_ENDINGS)]
    found: defaultdict[str, list[pa.Table]] = defaultdict(list)
    mistakes: list[str] = []
    left_out = 0
    for key in keys:
        parts = key.split("/")
        kind = BROKER_METRICS if any(part.startswith(BROKER_METRICS) for part in parts) else "metrics"
        table, wrong = read_table(store.read_bytes(key), kind, store.uri(key))
        mistakes += wrong
        if table is not None:
            mistakes += _hour_mistakes(table, kind, store.uri(key))
            counting = _within(table, end - days * _DAY, end)
            left_out += len(table) - len(counting)
            found[kind].append(counting)
    if mistakes:
        raise DamagedInputError(first_lines(mistakes, _MAX_MISTAKES))
    tables = {kind: merged(kind, [raw.table(kind), merged(kind, files)]) for kind, files in found.items()}
    remarks = (*without_metrics_remarks(raw.remarks), *_remarks(store.uri(name), len(keys), found, left_out, days))
    return dataclasses.replace(raw, tables={**raw.tables, **tables}, remarks=remarks)


def _hour_mistakes(table: pa.Table, kind: str, file: str) -> list[str]:
    """Name the first row whose hour begins within an hour, and the first whose hour a row before it has."""
    thing, *parts, seconds = [_codes(table.column(column)) for column in TABLES[kind].sort_by]
    for part in parts:
        thing = thing * (int(np.ptp(part)) + 1) + part - part.min() if len(part) else thing
    mistakes = []
    for rows, wrong in (
        (np.flatnonzero(seconds % 3600), "is not the start of an hour; write a row for each whole hour"),
        (np.flatnonzero(repeated_rows(thing, seconds)), "is there already in this file; keep one row for each hour"),
    ):
        if len(rows):
            hour = table.column("hour")[int(rows[0])].as_py()
            more = f" (and {plural(len(rows) - 1, 'more row')})" if len(rows) > 1 else ""
            mistakes.append(f"{file}, row {rows[0] + 1}, hour: {hour:%Y-%m-%dT%H:%M:%SZ} {wrong}{more}")
    return mistakes


def _within(table: pa.Table, start: int, end: int) -> pa.Table:
    seconds = table.column("hour").cast(pa.int64())
    return table.filter(pc.and_(pc.greater_equal(seconds, start), pc.less(seconds, end)))


def _remarks(place: str, files: int, found: dict[str, Any], left_out: int, days: int) -> list[Problem]:
    if not sum(len(table) for tables in found.values() for table in tables):
        message = (
            f"{place} has {plural(files, 'file')} of metrics but no hour of the last {days} days; fix the address, or "
            "check whether the export still runs"
        )
        return [warning("no_metrics_in_files", "metrics", message)]
    if left_out:
        message = (
            f"{plural(left_out, 'row')} of the files at {place} from before the last {days} days, or from after the "
            "day; they are left out"
        )
        return [info("metrics_outside_of_days", "metrics", message)]
    return []
