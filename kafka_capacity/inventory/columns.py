"""Bring Arrow tables that others wrote to the inventory's schema, column by column, or say why it cannot be.

What is taken: a narrower or wider integer, a whole number in a float column (that is how pandas writes integers with
nulls), any encoding of text, any resolution of time, a date for its midnight. What is refused: text for a number, a
number for text, a value that would lose something, a column that the format does not have.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.errors import DamagedInputError
from kafka_capacity.inventory.tables import TABLES, moment_of


def conform(table: pa.Table, name: str, file: str) -> tuple[pa.Table | None, list[str]]:
    """Return a table with exactly the schema of ``TABLES[name]``, or every mistake in it, with the name of the file."""
    schema = TABLES[name].schema
    mistakes = _column_mistakes(table, schema, file)
    if mistakes:
        return None, mistakes
    columns: list[pa.ChunkedArray[Any]] = []
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.chunked_array([pa.nulls(len(table), field.type)]))
            continue
        try:
            columns.append(_conform_column(table.column(field.name), field, file))
        except DamagedInputError as error:
            mistakes.append(str(error))
    return (None, mistakes) if mistakes else (pa.table(columns, schema=schema), [])


def _column_mistakes(table: pa.Table, schema: pa.Schema, file: str) -> list[str]:
    known, names = ", ".join(schema.names), table.column_names
    separator = next((one for one in (";", "\t", "|") if len(names) == 1 and one in names[0]), None)
    if separator is not None:
        return [f"{file}: its columns are separated by {separator!r}; separate them by commas"]
    mistakes = [
        f"{file}: there is no column {column!r}; remove it or correct its name, the columns are {known}"
        for column in names
        if column not in schema.names
    ]
    twice = sorted({column for column in names if names.count(column) > 1})
    mistakes += [f"{file}: column {column!r} appears twice; keep one" for column in twice if column in schema.names]
    missing = [field for field in schema if not field.nullable and field.name not in names]
    return mistakes + [f"{file}: column {field.name!r} is missing; add it as {field.type}" for field in missing]


def _conform_column(column: pa.ChunkedArray[Any], field: pa.Field[Any], file: str) -> pa.ChunkedArray[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not _may_become(column.type, field.type):
        raise DamagedInputError(_wrong_kind(column, field, file))
    if column.null_count and not field.nullable:
        row = int(pc.index(pc.is_null(column), True).as_py())
        raise DamagedInputError(f"{file}, row {row + 1}, {field.name}: null; give it a value, every row needs one")
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid:
        row = _first_that_fails(column, field.type)
        value = _shown(column[row])
        raise DamagedInputError(
            f"{file}, row {row + 1}, {field.name}: {value} does not fit {field.type}; fix the value"
        ) from None


def _wrong_kind(column: pa.ChunkedArray[Any], field: pa.Field[Any], file: str) -> str:
    """Name the first text that is none where a column of texts should have numbers, or times."""
    if pa.types.is_string(column.type) and (pa.types.is_floating(field.type) or pa.types.is_integer(field.type)):
        try:
            column.cast(field.type)
        except pa.ArrowInvalid:
            row = _first_that_fails(column, field.type)
            return f"{file}, row {row + 1}, {field.name}: {_shown(column[row])} is no number; write it as {field.type}"
    if pa.types.is_string(column.type) and pa.types.is_temporal(field.type):
        for row, text in enumerate(column.to_pylist()):
            if text is not None and moment_of(text) is None:
                remedy = "write it as 2026-11-20, or as 2026-11-20T13:00:00Z"
                return f"{file}, row {row + 1}, {field.name}: {text!r} is no day or time; {remedy}"
    return f"{file}: column {field.name!r} is {column.type}; write it as {field.type}"


def _shown(value: Any) -> str:
    try:
        return repr(value.as_py())
    except (ValueError, OverflowError):  # such as a moment that no calendar of Python has
        return str(value.cast(pa.int64(), safe=False))


def _first_that_fails(column: pa.ChunkedArray[Any], kind: pa.DataType) -> int:
    """Find the first row that cannot be cast, by halving."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            column.slice(low, middle - low).cast(kind)
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low


def _may_become(found: Any, wanted: Any) -> bool:
    """Return whether values of one type can mean values of the other."""
    kinds = pa.types
    if kinds.is_null(found):
        return True
    if kinds.is_integer(wanted) or kinds.is_floating(wanted):
        return bool(kinds.is_integer(found) or kinds.is_floating(found))
    if kinds.is_string(wanted):
        return bool(kinds.is_string(found) or kinds.is_large_string(found) or kinds.is_string_view(found))
    if kinds.is_timestamp(wanted):
        # A date is the midnight that it begins with.
        return bool(kinds.is_timestamp(found) or kinds.is_date(found))
    if kinds.is_list(wanted):
        is_list = kinds.is_list(found) or kinds.is_large_list(found)
        return bool(is_list) and _may_become(found.value_type, wanted.value_type)
    if kinds.is_struct(wanted):
        given = {one.name: one.type for one in found} if kinds.is_struct(found) else {}
        return given.keys() == {one.name for one in wanted} and all(
            _may_become(given[one.name], one.type) for one in wanted
        )
    return bool(found.equals(wanted))
