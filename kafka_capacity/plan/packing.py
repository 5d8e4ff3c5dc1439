"""Arrow tables as bytes, to travel from an executor, which has numpy, scipy and pyarrow, and needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import pyarrow as pa

Tables: TypeAlias = Mapping[str, pa.Table]


def pack_tables(tables: Tables) -> dict[str, bytes]:
    """Put tables into Arrow streams."""
    packed = {}
    for name, table in tables.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        packed[name] = sink.getvalue().to_pybytes()
    return packed


def unpack_table(data: bytes) -> pa.Table:
    """Undo :func:`pack_tables` for one table."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
