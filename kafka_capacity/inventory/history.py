"""The hourly rates of all inventories, kept by day: what accumulates beyond the weeks that one inventory brings.

    history/cluster={c}/day={YYYY-MM-DD}/hours/part-….parquet      one row a partition, 24 hours in a list
    history/cluster={c}/day={YYYY-MM-DD}/manifest.json

Each staged inventory adds the days that it knows of. A day that is there already is merged: hours that come late fill
the gaps, and what a later capture says of an hour replaces what an earlier one said. Staging the same inventory again
changes nothing. Of several that merge the same day at once, each merges with what the one before wrote. A day whose
files are gone or damaged is made anew of the hours that the inventory knows.
"""

from __future__ import annotations

import datetime
import hashlib
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_capacity.demand.totals import HOURS
from kafka_capacity.errors import ConflictError, DamagedObjectError, MissingManifestError
from kafka_capacity.inventory.chosen_hours import RATES, hour_seconds, usable_rates
from kafka_capacity.inventory.column_values import encode, ints, pairs_of_keys, partition_keys
from kafka_capacity.kafka.arrays import Flags, Float32s, Ints
from kafka_capacity.objects.dataset import Manifest, are_parts_there, read_manifest, read_table, write_dataset
from kafka_capacity.objects.keys import day_prefix
from kafka_capacity.objects.object_store import try_again
from kafka_capacity.objects.store import ObjectStore

log = logging.getLogger(__name__)

KIND = "history"
TABLE = "hours"
SCHEMA_VERSION = 1
MERGES_REMEMBERED = 100
DAYS_AT_ONCE = 8  # a day is some round trips to the store, one after the other
MERGE_ATTEMPTS = 60  # each that fails means that another merge of the same day was done, of which there are few

_HOURLY = pa.list_(pa.float32())
HISTORY = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("day", pa.date32(), nullable=False),
        pa.field("bytes_in", _HOURLY, nullable=False),
        pa.field("bytes_out", _HOURLY, nullable=False),
        pa.field("known_hours", pa.int32(), nullable=False),
        pa.field("first_hour", pa.int32()),
        pa.field("last_hour", pa.int32()),
        pa.field("longest_gap_hours", pa.int32(), nullable=False),
    ]
)
"""One row a partition and day, sorted by topic and partition.

``bytes_in`` and ``bytes_out`` are the 24 hourly means in bytes per second, null where one is not known; the other
columns are about ``bytes_in``: how many hours are known, the first and the last of them, and the longest gap between.
"""


def keep_history(store: ObjectStore, cluster: str, metrics: pa.Table, *, captured: str) -> list[str]:
    """Add the hours of an inventory to the history of its cluster; return the days that changed.

    ``captured`` is when the inventory was taken, or its day; the later of two, as texts, wins where they differ.
    """
    days = by_day(metrics)
    with ThreadPoolExecutor(DAYS_AT_ONCE) as pool:
        is_changed = pool.map(lambda day: _keep_day(store, cluster, day, days[day], captured), days)
        return [day for day, changed in zip(days, is_changed, strict=True) if changed]


def _keep_day(store: ObjectStore, cluster: str, day: str, table: pa.Table, captured: str) -> bool:
    return try_again(lambda: _merge_day(store, cluster, day, table, captured), ConflictError, MERGE_ATTEMPTS)


def _merge_day(store: ObjectStore, cluster: str, day: str, table: pa.Table, captured: str) -> bool:
    """Merge a day with what stands; ConflictError where another version was written meanwhile."""
    prefix = day_prefix("history", cluster, day)
    digest = _digest(table)
    merged: list[dict[str, str]] = []
    replaces: str | None = ""
    try:
        manifest = read_history_manifest(store, prefix)
        replaces = manifest.sha256
        is_merged = digest in {one["sha256"] for one in manifest.facts["merged"]}
        if is_merged and are_parts_there(store, manifest):
            return False
        stored = read_table(store, manifest, TABLE)
        merged = list(manifest.facts["merged"])
        is_newer = captured >= max(one["captured"] for one in merged)
        table = merge(stored, table) if is_newer else merge(table, stored)
    except MissingManifestError:
        pass
    except DamagedObjectError as error:
        log.warning("the history of %s is rebuilt from this inventory alone: %s", day, error)
        # Of a damaged manifest there is no version to name.
        replaces = replaces or None
    merged = [*merged, {"sha256": digest, "captured": captured}][-MERGES_REMEMBERED:]
    write_dataset(
        store,
        prefix,
        kind=KIND,
        schema_version=SCHEMA_VERSION,
        tables={TABLE: table},
        documents={},
        facts={"cluster": cluster, "day": day, "merged": merged},
        replaces=replaces,
    )
    return True


def read_history_manifest(store: ObjectStore, prefix: str) -> Manifest:
    """Read what the history of one day holds.

    Raises:
        MissingManifestError: there is none.
        StorageError: it is of a version that this program does not read.
    """
    return read_manifest(store, prefix, kind=KIND, schema_version=SCHEMA_VERSION)


def by_day(metrics: pa.Table) -> dict[str, pa.Table]:
    """Cut a table of hourly rates into the days of its history, oldest first.

    Values that cannot be a rate (negative, too much) count as not known; of two rows for the same hour the last counts.
    """
    if not len(metrics):
        return {}
    topics, topic = encode(metrics.column("topic"))
    partition = ints(metrics.column("partition"))
    hour = hour_seconds(metrics) // 3600
    rates = [usable_rates(metrics, column) for column in RATES]
    day = hour // HOURS
    found = {}
    for number in np.unique(day).tolist():
        rows = np.flatnonzero(day == number)
        keys, row = np.unique(partition_keys(topic[rows], partition[rows]), return_inverse=True)
        matrices = []
        for rate in rates:
            matrix = np.full((len(keys), HOURS), np.nan, dtype=np.float32)
            matrix[row, hour[rows] - number * HOURS] = rate[rows]
            matrices.append(matrix)
        name = (datetime.date(1970, 1, 1) + datetime.timedelta(days=number)).isoformat()
        found[name] = _table(topics, keys, number, *matrices)
    return found


def merge(older: pa.Table, newer: pa.Table) -> pa.Table:
    """Put two versions of the same day together: the newer one counts, the older one fills its gaps."""
    both = pa.concat_tables([older, newer])
    topics, topic = encode(both.column("topic"))
    keys, row = np.unique(partition_keys(topic, ints(both.column("partition"))), return_inverse=True)
    matrices = []
    for name in ("bytes_in", "bytes_out"):
        given = hours_of(both, name)
        matrix = np.full((len(keys), HOURS), np.nan, dtype=np.float32)
        matrix[row[: len(older)]] = given[: len(older)]
        later = row[len(older) :]
        matrix[later] = np.where(np.isnan(given[len(older) :]), matrix[later], given[len(older) :])
        matrices.append(matrix)
    number = both.column("day").cast(pa.int32())[0].as_py()
    return _table(topics, keys, number, *matrices)


def hours_of(table: pa.Table, column: str, kind: Any = np.float32) -> NDArray[Any]:
    """Return [N, 24] of a kind, a column of hours with NaN where one is not known."""
    flat = table.column(column).combine_chunks().flatten()
    return np.asarray(flat.to_numpy(zero_copy_only=False), dtype=kind).reshape(len(table), HOURS)


def _table(topics: list[str], keys: Ints, number: int, bytes_in: Float32s, bytes_out: Float32s) -> pa.Table:
    code, partition = pairs_of_keys(keys)
    topic = pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), pa.array(topics, pa.string()))
    is_known = ~np.isnan(bytes_in)
    count = is_known.sum(axis=1)
    first, last = is_known.argmax(axis=1), HOURS - 1 - is_known[:, ::-1].argmax(axis=1)
    has_any = count > 0
    return pa.Table.from_arrays(
        [
            topic.cast(pa.string()),
            pa.array(partition, pa.int32()),
            pa.array(np.full(len(keys), number), pa.int32()).cast(pa.date32()),
            lists_of(bytes_in, pa.float32()),
            lists_of(bytes_out, pa.float32()),
            pa.array(count, pa.int32()),
            pa.array(first, pa.int32(), mask=~has_any),
            pa.array(last, pa.int32(), mask=~has_any),
            pa.array(_longest_gap(is_known), pa.int32()),
        ],
        schema=HISTORY,
    )


def _longest_gap(is_known: Flags) -> Ints:
    """Count the longest run of unknown hours between two known ones."""
    longest = np.zeros(len(is_known), dtype=np.int64)
    run = np.full(len(is_known), -1, dtype=np.int64)  # -1: nothing is known yet
    for hour in range(is_known.shape[1]):
        known = is_known[:, hour]
        longest = np.where(known, np.maximum(longest, run), longest)
        run = np.where(known, 0, np.where(run >= 0, run + 1, run))
    return longest


def lists_of(matrix: NDArray[Any], kind: pa.DataType) -> pa.Array[Any]:
    """Return a column of hours of [N, 24], null where it is NaN."""
    flat = matrix.reshape(-1)
    offsets = np.arange(0, flat.size + 1, HOURS, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat, kind, mask=np.isnan(flat)))


def _digest(table: pa.Table) -> str:
    told = hashlib.sha256()
    for column in table.columns:
        for buffer in column.combine_chunks().buffers():
            told.update(b"|" if buffer is None else bytes(buffer))
    return told.hexdigest()
