r"""JSON of many partitions, a line each, put together from arrays.

Algorithm:
    A line is a chain of pieces, each one of few different ones: a topic, a number, a broker, a directory. The different
    ones are written once, padded with zero bytes to equal width; each column of pieces is then looked up for all lines
    at once, side by side, and the zero bytes are dropped. JSON has none of its own: it writes them ``\u0000``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.cluster.assignment import Partitions

_CHUNK_ROWS = 1 << 13  # keeps the padded lines in the cache
_END = b",\n"


def partition_lines(partitions: Partitions, rows: NDArray[np.intp]) -> bytes:
    """Write ``{"topic":…,"partition":…}`` of some partitions, joined by a comma and a line end."""
    return _joined(len(rows), [*_named(partitions, rows, b"}")]) if len(rows) else b""


def replica_lines(
    partitions: Partitions,
    rows: NDArray[np.intp],
    matrix: NDArray[np.int32],
    log_dirs: NDArray[np.int32],
    paths: Sequence[str],
) -> bytes:
    """Write some partitions with their replicas and log directories, joined by a comma and a line end.

    Args:
        partitions: those that ``rows`` counts in.
        rows: intp[n].
        matrix: int32[n, W], replicas padded with -1.
        log_dirs: int32[n, W], positions in ``paths``, -1 where the broker may choose.
        paths: of directories.
    """
    if not len(rows):
        return b""
    is_held = matrix >= 0
    ids, place = np.unique(np.maximum(matrix, 0), return_inverse=True)
    names = [json.dumps(path).encode() for path in paths]
    brokers = _each_replica(_digits(ids), place.reshape(matrix.shape), is_held)
    directories = _each_replica([*names, b'"any"'], np.where(log_dirs < 0, len(names), log_dirs), is_held)
    columns = [
        *_named(partitions, rows, b',"replicas":['),
        *brokers,
        _same(b'],"log_dirs":[', len(rows)),
        *directories,
        _same(b"]}", len(rows)),
    ]
    return _joined(len(rows), columns)


_Column = tuple[NDArray[np.uint8], NDArray[np.intp]]
"""The different pieces, uint8[n, width], and which of them each line has."""


def _joined(count: int, columns: list[_Column]) -> bytes:
    columns = [*columns, _same(_END, count)]
    width = sum(pieces.shape[1] for pieces, _ in columns)
    chunks = []
    for begin in range(0, count, _CHUNK_ROWS):
        block = np.empty((min(_CHUNK_ROWS, count - begin), width), dtype=np.uint8)
        at = 0
        for pieces, chosen in columns:
            block[:, at : at + pieces.shape[1]] = pieces[chosen[begin : begin + _CHUNK_ROWS]]
            at += pieces.shape[1]
        chunks.append(block[block != 0].tobytes())
    return b"".join(chunks)[: -len(_END)]


def _named(partitions: Partitions, rows: NDArray[np.intp], after: bytes) -> Iterator[_Column]:
    topics, topic = np.unique(partitions.topic[rows], return_inverse=True)
    numbers, number = np.unique(partitions.partition[rows], return_inverse=True)
    quoted = (json.dumps(partitions.topics[index]).encode() for index in topics.tolist())
    yield _padded([b'{"topic":' + name + b',"partition":' for name in quoted]), topic
    yield _padded([digits + after for digits in _digits(numbers)]), number


def _each_replica(pieces: list[bytes], chosen: NDArray[np.intp], is_held: NDArray[np.bool_]) -> Iterator[_Column]:
    """Give a column for each place of the replica lists: a comma before all but the first held, nothing for padding."""
    table = _padded([*pieces, *(b"," + piece for piece in pieces), b""])
    follows = np.cumsum(is_held, axis=1) > 1
    index = np.where(is_held, chosen + follows * len(pieces), 2 * len(pieces))
    yield from ((table, index[:, place]) for place in range(index.shape[1]))


def _same(piece: bytes, count: int) -> _Column:
    return _padded([piece]), np.zeros(count, dtype=np.intp)


def _digits(numbers: NDArray[np.int32]) -> list[bytes]:
    return [b"%d" % number for number in numbers.tolist()]


def _padded(pieces: list[bytes]) -> NDArray[np.uint8]:
    return np.array(pieces, dtype=np.bytes_).view(np.uint8).reshape(len(pieces), -1)
