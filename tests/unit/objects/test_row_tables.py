"""A dataclass is the schema of a stored table, and what is not finite is null where it may be."""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from kafka_capacity.objects.tables import Int32, columns_of, schema_of, table_of_columns, table_of_rows


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    broker: Int32
    colour: Colour
    brokers: tuple[Int32, ...]
    seconds: float | None
    peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    seconds: NDArray[np.float64]
    broker: NDArray[np.int32]


def test_a_field_is_a_column():
    assert schema_of(Row) == pa.schema(
        [
            pa.field("name", pa.string(), nullable=False),
            pa.field("broker", pa.int32(), nullable=False),
            pa.field("colour", pa.string(), nullable=False),
            pa.field("brokers", pa.list_(pa.int32()), nullable=False),
            pa.field("seconds", pa.float64()),
            pa.field("peak", pa.float64(), nullable=False),
        ]
    )
    assert [str(one.type) for one in columns_of(Arrays, int32=("seconds",))] == ["int32", "int32"]
    assert [one.name for one in columns_of(Row, prefix="its_", without=("name",))][:2] == ["its_broker", "its_colour"]


def test_only_what_may_be_null_is():
    row = Row(name="a", broker=1, colour=Colour.RED, brokers=(1, 2), seconds=math.inf, peak=math.inf)
    assert table_of_rows(schema_of(Row), [row]).to_pylist() == [
        {"name": "a", "broker": 1, "colour": "red", "brokers": [1, 2], "seconds": None, "peak": math.inf}
    ]


def test_columns_are_arrays_lists_or_one_value_for_all_rows():
    schema = pa.schema([schema_of(Row).field(name) for name in ("name", "seconds", "broker")])
    arrays = Arrays(seconds=np.array([1.0, np.nan]), broker=np.array([3, 4], dtype=np.int32))
    assert table_of_columns(schema, 2, {"name": "a"}, of=arrays).to_pylist() == [
        {"name": "a", "seconds": 1.0, "broker": 3},
        {"name": "a", "seconds": None, "broker": 4},
    ]


def test_a_column_that_nobody_gives_is_an_error():
    with pytest.raises(AttributeError):
        table_of_columns(schema_of(Row), 1, {"name": "a"})
