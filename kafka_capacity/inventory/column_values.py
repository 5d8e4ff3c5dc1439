"""Columns of Arrow tables as numpy arrays and plain lists."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# pyarrow's type stubs know the type of a column only where it was made in the same function.
Column: TypeAlias = Any
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


def encode(column: Column) -> tuple[list[str], Ints]:
    """Number the texts of a column by their order: the sorted distinct texts, and int64[N] places among them."""
    encoded = (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return [names[i] for i in order], rank[codes] if len(names) else codes


def ints(column: Column, *, null: int = 0) -> Ints:
    """Return a column of whole numbers, with this in place of its nulls."""
    filled = column.fill_null(null) if column.null_count else column
    return np.asarray(filled.to_numpy(), dtype=np.int64)


def flags(column: Column) -> Flags:
    """Return a column of booleans; null is false."""
    filled = column.fill_null(False) if column.null_count else column
    return np.asarray(filled.to_numpy(), dtype=np.bool_)


def known(column: Column) -> Flags:
    """Return which rows are not null."""
    if not column.null_count:
        return np.ones(len(column), dtype=np.bool_)
    return np.asarray(column.is_valid().to_numpy(), dtype=np.bool_)


def floats(column: Column) -> NDArray[np.float64]:
    """Return a column of numbers; null is NaN.

    Whole numbers beyond 2^53 are rounded to the nearest float: capacities of network file systems are that large, and
    Kafka's "for ever" is 2^63 - 1.
    """
    return np.asarray(column.cast("float64", safe=False).to_numpy(), dtype=np.float64)


def values(column: Column) -> list[Any]:
    """Return the values of a column as a list; null is ``None``."""
    found: list[Any] = column.to_pylist()
    return found
