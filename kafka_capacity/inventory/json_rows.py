"""Tables of an inventory as JSON: a list of rows, each an object of columns.

A column that a row leaves out is null. Times are ISO 8601 in UTC. Numbers are numbers: ``"3"`` is not 3.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from kafka_capacity.errors import InventoryError
from kafka_capacity.inventory.tables import TABLES, moment_of
from kafka_capacity.text.validation_errors import is_unicode

MAX_MISTAKES = 20  # of one file; who has more wants to see the first ones

_INT_RANGE = {pa.int32(): (-(2**31), 2**31 - 1), pa.int64(): (-(2**63), 2**63 - 1)}


def table_from_json(data: bytes, name: str, file: str) -> tuple[pa.Table | None, list[str]]:
    """Read a list of rows into a table of the inventory, or give the mistakes in it, each with the name of the file."""
    try:
        rows = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        remedy = "fix it or write Parquet"
        if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
            remedy = "write one list of all rows, [{…}, …], not one document a line"
        return None, [f"{file}: is not JSON ({error}); {remedy}"]
    if not isinstance(rows, list):
        return None, [f"{file}: holds {_kind(rows)}; write a list of rows, [{{…}}, …]"]
    schema = TABLES[name].schema
    mistakes = list(islice(_row_mistakes(rows, schema, file), MAX_MISTAKES))
    if mistakes:
        return None, mistakes
    arrays = []
    for field in schema:
        values = [row.get(field.name) for row in rows]
        mistakes += islice(_value_mistakes(values, field, file), MAX_MISTAKES)
        if not mistakes:
            arrays.append(_to_array(values, field.type))
    return (None, mistakes[:MAX_MISTAKES]) if mistakes else (pa.table(arrays, schema=schema), [])


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _row_mistakes(rows: list[Any], schema: pa.Schema, file: str) -> Iterator[str]:
    known = set(schema.names)
    for place, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            yield f"{file}, row {place}: is {_kind(row)}; write an object of columns"
        elif not row.keys() <= known:
            unknown = ", ".join(repr(key) for key in row if key not in known)
            yield (
                f"{file}, row {place}: there is no column {unknown}; remove it or correct its name, the columns are "
                f"{', '.join(schema.names)}"
            )


def _value_mistakes(values: list[Any], field: pa.Field[Any], file: str) -> Iterator[str]:
    for place, value in enumerate(values, start=1):
        if value is None:
            if not field.nullable:
                yield f"{file}, row {place}, {field.name}: null; give it a value, every row needs one"
        elif not _fits(value, field.type):
            yield f"{file}, row {place}, {field.name}: {value!r} is not {_described(field.type)}"


def _fits(value: Any, kind: pa.DataType) -> bool:
    if pa.types.is_string(kind):
        return type(value) is str and is_unicode(value)
    if pa.types.is_boolean(kind):
        return type(value) is bool
    if pa.types.is_integer(kind):
        low, high = _INT_RANGE[kind]
        return type(value) is int and low <= value <= high
    if pa.types.is_floating(kind):
        return type(value) in {int, float} and _is_finite(value)
    if pa.types.is_timestamp(kind):
        return _moment(value) is not None
    return _fits_nested(value, kind)


def _fits_nested(value: Any, kind: Any) -> bool:
    if pa.types.is_list(kind):
        return type(value) is list and all(_fits(item, kind.value_type) for item in value)
    fields = {kind.field(i).name: kind.field(i).type for i in range(kind.num_fields)}
    return type(value) is dict and value.keys() == fields.keys() and all(_fits(value[n], fields[n]) for n in fields)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _moment(value: Any) -> datetime.datetime | None:
    moment = moment_of(value) if type(value) is str else None
    is_whole_utc = moment is not None and moment.utcoffset() == datetime.timedelta(0) and moment.microsecond == 0
    return moment if is_whole_utc else None


def _described(kind: Any) -> str:
    if pa.types.is_integer(kind):
        low, high = _INT_RANGE[kind]
        return f"a whole number from {low} to {high}"
    if pa.types.is_floating(kind):
        return "a number"
    if pa.types.is_boolean(kind):
        return "true or false"
    if pa.types.is_string(kind):
        return "a string"
    if pa.types.is_timestamp(kind):
        return "a whole second in UTC, such as 2026-11-20T03:00:00Z"
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        fields = [kind.value_type.field(i) for i in range(kind.value_type.num_fields)]
        return "a list of {" + ", ".join(f'"{one.name}": {_in_short(one.type)}' for one in fields) + "}"
    return "a list of strings"


def _in_short(kind: Any) -> str:
    if pa.types.is_list(kind):
        return "list of strings"
    return "number" if pa.types.is_integer(kind) else "text"


def _to_array(values: list[Any], kind: pa.DataType) -> pa.Array[Any]:
    if pa.types.is_timestamp(kind):
        values = [None if value is None else _moment(value) for value in values]
    elif pa.types.is_floating(kind):
        values = [None if value is None else float(value) for value in values]
    return pa.array(values, kind)


def table_to_json(table: pa.Table, name: str) -> bytes:
    """Write a table as a list of rows, one a line, without the columns that are null.

    A NaN is written as null: both mean "not known".

    Raises:
        InventoryError: a value is infinite, which JSON cannot say.
    """
    lines = []
    for place, row in enumerate(table.to_pylist(), start=1):
        kept = {key: _plain(value) for key, value in row.items() if not _is_unknown(value)}
        try:
            lines.append(json.dumps(kept, ensure_ascii=False, allow_nan=False))
        except ValueError as error:
            column = next(key for key, value in kept.items() if isinstance(value, float) and math.isinf(value))
            msg = f"table {name!r}, row {place}, {column}: {kept[column]} cannot be written as JSON; write Parquet"
            raise InventoryError(msg) from error
    body = ",\n".join(lines)
    return (f"[\n{body}\n]\n" if lines else "[]\n").encode()


def _is_unknown(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _plain(value: Any) -> Any:
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(value, datetime.datetime) else value
