"""Tables of a plan, whichever question they answer: how they are sorted, and how those of many results are joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

PLAN_SCHEMA_VERSION = 2
"""Of all tables of a plan; readers of version N read N-1 too."""

Tables = Mapping[str, tuple[pa.Schema, tuple[str, ...]]]
"""By name: the schema of each table and what it is sorted by."""


def merge_tables(bundles: Iterable[Mapping[str, pa.Table]], tables: Tables) -> dict[str, pa.Table]:
    """Join the tables of many results, sorted, so that the order they came in does not show."""
    collected = list(bundles)
    merged = {}
    for name, (schema, sort_by) in tables.items():
        parts = [bundle[name].cast(schema) for bundle in collected if name in bundle]
        table = pa.concat_tables(parts) if parts else schema.empty_table()
        merged[name] = table.sort_by([(column, "ascending") for column in sort_by]).combine_chunks()
    return merged
