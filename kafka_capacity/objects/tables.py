"""Stored tables: a dataclass a row is their schema; how arrays and rows become them, and how those of many are joined.

A column is a field: its name, which carries the unit, its type, and ``None`` where it may be null. The docstring of the
dataclass is what the table means. Nothing without end is stored: a float that is not finite is null.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.hardware.plain import plain_number

PLAN_SCHEMA_VERSION = 2  # of all tables of a plan; readers of version N read N-1 too

Tables = Mapping[str, tuple[pa.Schema, tuple[str, ...]]]  # by name: the schema of each table and what it is sorted by

Int32 = Annotated[int, pa.int32()]  # a whole number that is stored in 32 bits, such as the id of a broker

LARGE_ROWS = 1_000_000  # tables with more rows are joined with little memory beside their own

_TYPES: Mapping[Any, pa.DataType] = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


def _known(hint: Any) -> Any:
    """Return what a type is beside ``None``."""
    is_union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    return next(one for one in typing.get_args(hint) if one is not types.NoneType) if is_union else hint


def _arrow_type(hint: Any) -> pa.DataType:
    hint = _known(hint)
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return typing.get_args(hint)[1]
    if origin is tuple:
        return pa.list_(_arrow_type(typing.get_args(hint)[0]))
    if origin is np.ndarray:
        return pa.from_numpy_dtype(typing.get_args(typing.get_args(hint)[1])[0])
    if issubclass(hint, StrEnum):
        return pa.string()
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return pa.struct([(field.name, field.type) for field in columns_of(hint)])
    return _TYPES[hint]


def columns_of(
    kind: type, *, prefix: str = "", without: Iterable[str] = (), int32: Iterable[str] = (), is_nullable: bool = False
) -> list[pa.Field[Any]]:
    """Return the columns of a dataclass, in its order; an array stands for a column of its type.

    Their names begin with ``prefix``. Fields to leave out are ``without``, those stored in 32 bits, where the dataclass
    does not say so, ``int32``. All may be null where they are figures of what Kafka may refuse: ``is_nullable``.
    """
    left_out, narrow, hints = frozenset(without), frozenset(int32), typing.get_type_hints(kind, include_extras=True)
    found = []
    for field in dataclasses.fields(kind):
        if field.name in left_out:
            continue
        hint = hints[field.name]
        arrow = pa.int32() if field.name in narrow else _arrow_type(hint)
        found.append(pa.field(prefix + field.name, arrow, nullable=is_nullable or _known(hint) is not hint))
    return found


def schema_of(kind: type) -> pa.Schema:
    """Return the schema of a table whose rows are of a dataclass."""
    return pa.schema(columns_of(kind))


def cells_of(row: object, *, prefix: str = "") -> dict[str, Any]:
    """Return the fields of a dataclass as cells, plain data and null for what has no end; nothing for ``None``."""
    if not dataclasses.is_dataclass(row):
        return {}
    return {prefix + field.name: plain_cell(getattr(row, field.name)) for field in dataclasses.fields(row)}


def plain_cell(value: object) -> object:
    """Return a value as a cell: plain data, and null for what has no end."""
    if isinstance(value, float):
        return plain_number(value)
    if isinstance(value, StrEnum):
        return str(value)
    if dataclasses.is_dataclass(value):
        return cells_of(value)
    return [plain_cell(one) for one in value] if isinstance(value, tuple) else value


def table_of_rows(schema: pa.Schema, rows: Iterable[object]) -> pa.Table:
    """Return a table of dataclasses, or of mappings that are plain data already; only what may be null is."""
    required = [field.name for field in schema if not field.nullable]
    plain = []
    for row in rows:
        if isinstance(row, Mapping):
            plain.append(row)
            continue
        cells = cells_of(row)
        plain.append(cells | {name: getattr(row, name) for name in required if cells[name] is None})
    return pa.Table.from_pylist(plain, schema=schema)


def table_of_columns(schema: pa.Schema, count: int, given: Mapping[str, Any], *, of: object = None) -> pa.Table:
    """Return a table of arrays or lists, one a column; a single value stands for the same in all ``count`` rows.

    A column that is not given is the field of that name of ``of``. What is not finite is null if it may be.
    """
    columns = (given[field.name] if field.name in given else getattr(of, field.name) for field in schema)
    return pa.Table.from_arrays(
        [_column(field, values, count) for field, values in zip(schema, columns, strict=True)], schema=schema
    )


def _column(field: pa.Field[Any], values: Any, count: int) -> pa.Array[Any]:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values.cast(field.type)
    if values is None or isinstance(values, (str, int, float)):
        return pa.array([values] * count, field.type)
    if isinstance(values, np.ndarray) and field.nullable and values.dtype.kind == "f":
        return pa.array(values, field.type, mask=~np.isfinite(values))
    return pa.array(values, field.type)


def merge_tables(bundles: Iterable[Mapping[str, pa.Table]], tables: Tables) -> dict[str, pa.Table]:
    """Join the tables of many results, sorted, so that the order they came in does not show."""
    collected = list(bundles)
    merged = {}
    for name, (schema, sort_by) in tables.items():
        parts = [bundle[name].cast(schema) for bundle in collected if name in bundle]
        table = _in_order(parts, sort_by) if sum(map(len, parts)) > LARGE_ROWS else None
        if table is None:
            table = pa.concat_tables(parts) if parts else schema.empty_table()
            table = table.sort_by([(column, "ascending") for column in sort_by]).combine_chunks()
        merged[name] = table
    return merged


def _in_order(parts: Iterable[pa.Table], sort_by: Sequence[str]) -> pa.Table | None:
    """Sort large tables without a copy of all of them: their rows may stay in files that are mapped into memory.

    Returns:
        The parts in order, where no two have the same value in the first column; ``None`` where some have.
    """
    runs: dict[Any, pa.Table] = {}
    for part in parts:
        order = pc.sort_indices(part, sort_keys=[(column, "ascending") for column in sort_by]).to_numpy()
        ordered = part if np.array_equal(order, np.arange(len(part))) else part.take(pa.array(order))
        ends = pc.run_end_encode(ordered.column(sort_by[0]).combine_chunks())
        start = 0
        for value, end in zip(ends.values.to_pylist(), ends.run_ends.to_pylist(), strict=True):
            if value in runs:
                return None
            runs[value] = ordered.slice(start, end - start)
            start = end
    return pa.concat_tables([runs[value] for value in sorted(runs)])
