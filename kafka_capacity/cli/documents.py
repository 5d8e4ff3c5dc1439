"""JSON documents and other files that commands write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kafka_capacity import MODEL_VERSION, __version__
from kafka_capacity.objects.dataset import canonical_json, content_type_of
from kafka_capacity.objects.store import ObjectStore, open_store
from kafka_capacity.text.csv_lines import csv_bytes


def document_head(schema_version: int, *, cluster: str, ds: str) -> dict[str, Any]:
    """Return what every document begins with: whose it is, and what it was made by."""
    return {
        "schema_version": schema_version,
        "code_version": __version__,
        "model_version": MODEL_VERSION,
        "cluster": cluster,
        "ds": ds,
    }


def csv_table(table: pa.Table) -> bytes:
    """Return a table as CSV, lists in it as JSON."""
    return csv_bytes([table.column_names, *([*row.values()] for row in table.to_pylist())])


def write_document(out: str, document: Mapping[str, Any], *, name: str) -> None:
    """Write one document into a folder or below an ``s3://`` address: the same bytes for the same data."""
    write_files(open_store(out), {name: canonical_json(dict(document))})


def write_files(store: ObjectStore, files: Mapping[str, bytes]) -> None:
    """Write files in their order, each whole."""
    for name, data in files.items():
        store.write_bytes(name, data, content_type=content_type_of(name))
