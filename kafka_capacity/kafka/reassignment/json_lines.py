r"""JSON of many partitions, a line each, put together from arrays.

Algorithm:
    A line is a chain of pieces, each one of few different ones: a topic, a number, a broker, a directory. The different
    ones are written once, padded with zero bytes to equal width; each column of pieces is then looked up for all lines
    at once, side by side, and the zero bytes are dropped. JSON has none of its own: it writes them ``\u0000``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Flags, Indices, Int32s
from kafka_capacity.kafka.cluster.assignment import Partitions

_CHUNK_ROWS = 1 << 13  # keeps the padded lines in the cache
_END = b",\n"


_Column = tuple[NDArray[np.uint8], Indices]
"""The different pieces, uint8[n, width], and which of them each line has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineNames:
    """The topics and numbers of some partitions, one a line."""

    topics: list[bytes]  # as JSON, the different ones
    topic: Indices  # intp[n], positions in it
    numbers: list[bytes]  # the different partition numbers
    number: Indices  # intp[n], positions in it

    @classmethod
    def of(cls, partitions: Partitions, rows: Indices) -> LineNames:
        """Name the partitions of ``rows``, intp[n]."""
        topics, topic = _distinct(partitions.topic[rows])
        numbers, number = _distinct(partitions.partition[rows])
        quoted = [encode_basestring_ascii(partitions.topics[index]).encode() for index in topics.tolist()]
        return cls(topics=quoted, topic=topic, numbers=_digits(numbers), number=number)

    def of_lines(self, chosen: Flags) -> LineNames:
        """Keep some lines, bool[n]."""
        return LineNames(topics=self.topics, topic=self.topic[chosen], numbers=self.numbers, number=self.number[chosen])

    def columns(self, after: bytes) -> list[_Column]:
        """Return the columns of ``{"topic":…,"partition":…`` and what comes after."""
        return [
            (_padded([b'{"topic":' + name + b',"partition":' for name in self.topics]), self.topic),
            (_padded([digits + after for digits in self.numbers]), self.number),
        ]


def partition_lines(names: LineNames) -> bytes:
    """Write ``{"topic":…,"partition":…}`` of some partitions, joined by a comma and a line end."""
    return _joined(len(names.topic), names.columns(b"}")) if len(names.topic) else b""


def replica_lines(names: LineNames, matrix: Int32s, log_dirs: Int32s, paths: Sequence[str]) -> bytes:
    """Write some partitions with their replicas and log directories, joined by a comma and a line end.

    ``matrix`` is int32[n, W], replicas padded with -1; ``log_dirs`` int32[n, W], positions in ``paths``, -1 where the
    broker may choose.
    """
    if not len(matrix):
        return b""
    is_held = matrix >= 0
    ids, place = _distinct(np.maximum(matrix, 0))
    quoted = [encode_basestring_ascii(path).encode() for path in paths]
    columns = [
        *names.columns(b',"replicas":['),
        *_each_replica(_digits(ids), place, is_held),
        _same(b'],"log_dirs":[', len(matrix)),
        *_each_replica([*quoted, b'"any"'], np.where(log_dirs < 0, len(quoted), log_dirs), is_held),
        _same(b"]}", len(matrix)),
    ]
    return _joined(len(matrix), columns)


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


def _distinct(values: Int32s) -> tuple[Int32s, Indices]:
    """Return the different values in order, and the position of each value among them."""
    largest = int(values.max(initial=0))
    if largest > 4 * values.size + 1024 or int(values.min(initial=0)) < 0:
        different, place = np.unique(values, return_inverse=True)
        return different, place.reshape(values.shape)
    is_there = np.zeros(largest + 1, dtype=np.bool_)
    is_there[values] = True
    return np.flatnonzero(is_there).astype(np.int32), (np.cumsum(is_there) - 1)[values]


def _each_replica(pieces: list[bytes], chosen: Indices, is_held: Flags) -> Iterator[_Column]:
    """Return a column for each place of the replica lists: a comma before all but the first held, none for padding."""
    table = _padded([*pieces, *(b"," + piece for piece in pieces), b""])
    follows = np.cumsum(is_held, axis=1) > 1
    index = np.where(is_held, chosen + follows * len(pieces), 2 * len(pieces))
    yield from ((table, index[:, place]) for place in range(index.shape[1]))


def _same(piece: bytes, count: int) -> _Column:
    return _padded([piece]), np.zeros(count, dtype=np.intp)


def _digits(numbers: Int32s) -> list[bytes]:
    return [b"%d" % number for number in numbers.tolist()]


def _padded(pieces: list[bytes]) -> NDArray[np.uint8]:
    return np.array(pieces, dtype=np.bytes_).view(np.uint8).reshape(len(pieces), -1)
