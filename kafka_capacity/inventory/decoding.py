"""Compressed files of others, decoded: never to more bytes than a limit, whatever a small file would grow to.

A few megabytes of Parquet or gzip can stand for hundreds of gigabytes. How much a file holds is worked out before it is
held in memory: of gzip by decompressing piece by piece, of Parquet from its metadata and, of texts that stand in a
dictionary once and are referred to often, from the references.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kafka_capacity.errors import DamagedInputError, RequestError
from kafka_capacity.objects.dataset import arrow_reader
from kafka_capacity.text.amounts import format_bytes
from kafka_capacity.text.quantities import parse_quantity

MAX_FILE_BYTES = 4 << 30  # of one file, decoded: two weeks of hours of 200,000 partitions are below it
LIMIT_VARIABLE = "KAFKA_CAPACITY_MAX_FILE_BYTES"

_GZIP_RATIO = 1032  # deflate makes at most so many bytes of one
_PIECE_BYTES = 1 << 20
_BATCH_ROWS = 1 << 16
_BATCH_BYTES = 1 << 26
_WIDTHS = {"BOOLEAN": 0.125, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
"""Bytes that a value of Parquet's physical types takes in memory; of a string what tells where it ends."""


def file_limit_bytes() -> int:
    """Return how large one file may be when it is decoded: the limit of the environment, or ours.

    Raises:
        RequestError: the environment has no amount.
    """
    asked = os.environ.get(LIMIT_VARIABLE)
    if not asked:
        return MAX_FILE_BYTES
    try:
        limit = parse_quantity("max_file_bytes", asked)
        if limit >= 1:
            return int(limit)
    except (ValueError, OverflowError):
        pass
    raise RequestError(f"{LIMIT_VARIABLE}: {asked!r} is invalid: write an amount of bytes, such as 8GiB")


def decompressed(data: bytes, file: str) -> bytes:
    """Return what a gzip file, which errors name, holds.

    Raises:
        DamagedInputError: it cannot be read, or holds more than :func:`file_limit_bytes`.
    """
    limit = file_limit_bytes()
    try:
        if len(data) * _GZIP_RATIO > limit:
            size = 0
            for piece in _pieces(data):
                size += len(piece)
                _check(size, limit, file)
        return b"".join(_pieces(data))
    except (zlib.error, OSError, EOFError) as error:
        raise DamagedInputError(f"{file}: is not a gzip file that can be read ({error}); write it again") from error


def _pieces(data: bytes) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as opened:
        while piece := opened.read(_PIECE_BYTES):
            yield piece


def read_parquet(data: bytes, file: str) -> pa.Table:
    """Return the table of a Parquet file, which errors name.

    Raises:
        DamagedInputError: it cannot be read, or takes more memory than :func:`file_limit_bytes`.
    """
    limit = file_limit_bytes()
    try:
        with pq.ParquetFile(arrow_reader(data)) as opened:
            _check_size(opened, data, limit, file)
            table = opened.read()
        _ = table.column_names  # which are text, or this raises
        return table
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        msg = f"{file}: is not a Parquet file that can be read ({_brief(error)}); write it again"
        raise DamagedInputError(msg) from error


def _check_size(opened: pq.ParquetFile, data: bytes, limit: int, file: str) -> None:
    """Refuse what its metadata tells to be too large, or what the texts in it make so."""
    metadata = opened.metadata
    numbers = range(metadata.num_row_groups)
    _check(sum(metadata.row_group(number).total_byte_size for number in numbers), limit, file)
    for number in numbers:
        # Metadata of a column that contradicts itself is an error here; asked for directly it ends the process.
        next(opened.iter_batches(batch_size=1, row_groups=[number], use_threads=False), None)
    columns = range(metadata.num_columns)
    chunks = [metadata.row_group(number).column(column) for number in numbers for column in columns]
    fixed = sum(chunk.num_values * _WIDTHS.get(chunk.physical_type, 8) for chunk in chunks)
    _check(fixed, limit, file)
    # A text of a dictionary counts as often as it is referred to, and is at most as long as its chunk.
    longest = fixed
    texts: dict[str, int] = {}
    for chunk in chunks:
        if chunk.physical_type == "BYTE_ARRAY":
            longest += chunk.num_values * chunk.total_uncompressed_size
            rows = _BATCH_ROWS
            if "DELTA_BYTE_ARRAY" in chunk.encodings:
                # It repeats the text before, so that each may be as long, and it is not read into dictionaries.
                rows = min(rows - 1, max(1, _BATCH_BYTES // max(1, chunk.total_uncompressed_size)))
            texts[chunk.path_in_schema] = min(rows, texts.get(chunk.path_in_schema, rows))
    if longest <= limit:
        return
    size = fixed
    for name, rows in texts.items():
        kept = [name] if rows == _BATCH_ROWS else None
        with pq.ParquetFile(arrow_reader(data), read_dictionary=kept) as column:
            for batch in column.iter_batches(batch_size=rows, columns=[name], use_threads=False):
                size += sum(map(_decoded_bytes, batch.columns))
                _check(size, limit, file)


def _decoded_bytes(column: Any) -> int:
    """Return the bytes of the texts of a column whose texts stand in dictionaries."""
    if pa.types.is_dictionary(column.type):
        lengths = pc.fill_null(pc.binary_length(column.dictionary), 0).to_numpy(zero_copy_only=False)
        used = column.indices.drop_null().to_numpy()
        return int(lengths.astype(np.int64)[used].sum())
    if pa.types.is_nested(column.type):
        inner = [column.flatten()] if pa.types.is_list(column.type) else column.flatten()
        return sum(_decoded_bytes(one) for one in inner)
    return int(column.nbytes)


def _check(size: float, limit: int, file: str) -> None:
    if size > limit:
        raise DamagedInputError(
            f"{file}: holds more than {format_bytes(limit)} when decoded; write several smaller files, or raise "
            f"{LIMIT_VARIABLE} if that is intended"
        )


def _brief(error: Exception) -> str:
    """Return the first line of what Arrow says, which may go on with pages of the schema."""
    lines = str(error).splitlines()
    return lines[0][:200] if lines else type(error).__name__
