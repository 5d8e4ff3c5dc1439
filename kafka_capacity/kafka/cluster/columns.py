"""Dataclasses whose fields are parallel arrays, one entry a partition or a broker: what is done to all arrays alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


def change_columns(table: T, change: Callable[[NDArray[Any]], NDArray[Any]], **others: Any) -> T:
    """Return a table with every array changed alike; ``others`` are the fields that become something else.

    Fields that are no arrays, such as a count of hours, stay as they are.
    """
    columns = {one.name: getattr(table, one.name) for one in fields(table) if one.name not in others}
    changed = {name: change(column) for name, column in columns.items() if isinstance(column, np.ndarray)}
    return replace(table, **changed, **others)


def join_columns(tables: Sequence[T], **others: Any) -> T:
    """Return the first of some tables with the entries of the later ones behind its own; ``others`` as above."""
    columns = {one.name: [getattr(table, one.name) for table in tables] for one in fields(tables[0])}
    joined = {name: np.concatenate(parts) for name, parts in columns.items() if name not in others}
    return replace(tables[0], **joined, **others)
