"""Native snapshot files: a folder with ``cluster.json`` and one file a table.

A table is ``<table>.parquet``, ``<table>.json`` or, without its columns of lists, ``<table>.csv``. ``cluster.json`` is
written last and taken away first, so that a folder that has one is whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.csv as pc

from kafka_capacity.errors import DamagedInputError, InventoryError
from kafka_capacity.inventory.columns import conform
from kafka_capacity.inventory.decoding import decompressed, read_parquet
from kafka_capacity.inventory.json_rows import table_from_json, table_to_json
from kafka_capacity.inventory.raw import (
    CLUSTER_DOCUMENT,
    RawInventory,
    cluster_document,
    parse_cluster_document,
    raw_from_document,
)
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.objects.dataset import arrow_reader, canonical_json, content_type_of, parquet_bytes
from kafka_capacity.objects.store import ObjectStore, open_store

SnapshotFormat = Literal["parquet", "json"]

FORMATS: tuple[SnapshotFormat, ...] = ("parquet", "json")
READ_FORMATS = (*FORMATS, "csv")


def read_snapshot_files(source: Path | str | ObjectStore) -> RawInventory:
    """Read a native snapshot from a folder: a path, an ``s3://`` address, or an opened store.

    Raises:
        InventoryError: it is no snapshot.
        DamagedInputError: a file is missing, given twice, or wrong; the message has one line for each mistake, with the
            file, the row, the column, the value and the remedy.
    """
    store = _opened(source)
    names = [key for key in store.list_objects("") if "/" not in key]
    if CLUSTER_DOCUMENT not in names:
        msg = f"{store.uri(CLUSTER_DOCUMENT)} is missing; a snapshot is a folder with {CLUSTER_DOCUMENT} and its tables"
        raise InventoryError(msg)
    document = parse_cluster_document(store.read_bytes(CLUSTER_DOCUMENT), store.uri(CLUSTER_DOCUMENT))
    files, mistakes = _table_files(store, names)
    tables: dict[str, pa.Table] = {}
    for name, file in files.items():
        table, wrong = read_table(store.read_bytes(file), name, store.uri(file))
        mistakes += wrong
        if table is not None:
            tables[name] = table
    if mistakes:
        raise DamagedInputError("\n".join(mistakes))
    return raw_from_document(document, tables)


def formats_of(place: Path | str | ObjectStore) -> dict[str, SnapshotFormat]:
    """Return the format of each table of the snapshot that is there, to write it again as it is.

    Raises:
        InventoryError: a table is CSV, which is not written.
    """
    store = _opened(place)
    found: dict[str, SnapshotFormat] = {}
    for name, file in _table_files(store, list(store.list_objects("")))[0].items():
        if file.endswith(".csv"):
            msg = f"{store.uri(file)}: would be replaced, and CSV cannot be written; give --format, or --out to keep it"
            raise InventoryError(msg)
        found[name] = "json" if file.endswith(".json") else "parquet"
    return found


def write_snapshot_files(
    raw: RawInventory,
    target: Path | str | ObjectStore,
    *,
    file_format: SnapshotFormat | Mapping[str, SnapshotFormat] = "parquet",
) -> None:
    """Write a native snapshot, in place of one that is there; optional tables without rows get no file.

    Of formats by table, others have that of the brokers.
    """
    store, contents = _opened(target), {}
    formats = {"brokers": file_format} if isinstance(file_format, str) else file_format
    for name, spec in TABLES.items():
        table = raw.table(name)
        if spec.is_required or len(table):
            written = formats.get(name, formats.get("brokers", "parquet"))
            contents[f"{name}.{written}"] = parquet_bytes(table) if written == "parquet" else table_to_json(table, name)
    store.delete(CLUSTER_DOCUMENT)
    for name in TABLES:
        for ending in READ_FORMATS:
            if f"{name}.{ending}" not in contents:
                store.delete(f"{name}.{ending}")
    for file, data in contents.items():
        store.write_bytes(file, data, content_type=content_type_of(file))
    document = canonical_json(cluster_document(raw))
    store.write_bytes(CLUSTER_DOCUMENT, document, content_type=content_type_of(CLUSTER_DOCUMENT))


def _opened(place: Path | str | ObjectStore) -> ObjectStore:
    return open_store(str(place)) if isinstance(place, Path | str) else place


def _table_files(store: ObjectStore, names: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return which file holds which table, and what is wrong with the choice of files."""
    files: dict[str, str] = {}
    mistakes = []
    for file in names:
        name, _, ending = file.rpartition(".")
        if file == CLUSTER_DOCUMENT or ending not in READ_FORMATS:
            continue
        if name not in TABLES:
            mistakes.append(f"{store.uri(file)}: is not a table of a snapshot; the tables are {', '.join(TABLES)}")
        elif name in files:
            mistakes.append(f"{store.uri(file)}: the table is given by {files[name]} too; remove one of the two")
        else:
            files[name] = file
    for name, spec in TABLES.items():
        if spec.is_required and name not in files:
            mistakes.append(
                f"{store.uri(name)}.parquet, .json or .csv is missing; every snapshot has the table {name!r}"
            )
    return files, mistakes


def read_table(data: bytes, name: str, file: str) -> tuple[pa.Table | None, list[str]]:
    """Read a table of the inventory from a file, in the format of its ending, or give the mistakes in it."""
    if file.endswith(".json"):
        return table_from_json(data, name, file)
    try:
        if file.endswith(".parquet"):
            return conform(read_parquet(data, file), name, file)
        return _table_from_csv(decompressed(data, file) if file.endswith(".gz") else data, name, file)
    except DamagedInputError as error:
        return None, [str(error)]


def _table_from_csv(data: bytes, name: str, file: str) -> tuple[pa.Table | None, list[str]]:
    """Read lines of comma-separated values, the first with the names of columns, or give the mistakes in them.

    They are UTF-8, and an empty value is not known.
    """
    schema = TABLES[name].schema
    texts = {field.name: field.type for field in schema if pa.types.is_string(field.type)}
    options = pc.ConvertOptions(column_types=texts, null_values=[""], strings_can_be_null=True)
    try:
        table = pc.read_csv(arrow_reader(data), convert_options=options)
        _ = table.column_names  # which are text, or this raises
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        return None, [f"{file}: is not CSV that can be read ({error}); fix it or write Parquet"]
    for field in schema:
        if pa.types.is_nested(field.type) and field.name in table.column_names:
            return None, [f"{file}: {field.name} holds lists, which CSV cannot represent; write JSON or Parquet"]
    return conform(table, name, file)
