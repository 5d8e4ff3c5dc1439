"""Record batches as brokers keep them, and how large they would be with another codec.

Sizes are those of Kafka's own compressors at their default levels (``CompressionType``, ``Lz4BlockOutputStream``,
``SnappyOutputStream`` of snappy-java, 4.3.1): lz4 in blocks of 64 KiB that know nothing of each other, snappy in blocks
of 32 KiB, each with its length before it.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from kafka.record.util import decode_varint

from kafka_capacity.errors import SourceError

_HEADER = struct.Struct(">qiibIhiqqqhii")
_LENGTH_STARTS = 12  # what a batch's length does not count: its first offset, and the length itself
_MAGIC = 2
_CODEC_MASK, _CONTROL_MASK = 0x07, 0x20
_CODECS = ("uncompressed", "gzip", "snappy", "lz4", "zstd")  # by their number in a batch's attributes
CODECS = _CODECS[1:]
"""What producers may compress with, by the names of ``compression.type``."""
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16
_SNAPPY_BLOCK_BYTES = 32 << 10
_LZ4_BLOCK_BYTES = 64 << 10
_LZ4_FRAME_BYTES = 11  # magic, two bytes of flags and their checksum before the blocks, an empty block after them
_GZIP_LEVEL, _ZSTD_LEVEL = 6, 3
_LARGEST_BYTES = 256 << 20  # of a batch without compression


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch of a log: its first offset, its codec, how many records it has, and these as they are stored."""

    base_offset: int
    codec: str
    record_count: int
    stored: bytes

    @property
    def size_bytes(self) -> int:
        """Bytes in the log."""
        return _HEADER.size + len(self.stored)

    def plain(self) -> bytes:
        """Return the records without compression.

        Raises:
            SourceError: they do not decompress.
        """
        try:
            return _DECOMPRESS[self.codec](self.stored)
        except (OSError, pa.ArrowInvalid, ValueError, struct.error, EOFError) as error:
            raise SourceError(f"the batch at offset {self.base_offset} is not {self.codec}: {error}") from None


def batches_in(fetched: bytes) -> Iterator[Batch]:
    """Go through the whole batches of what a broker answers to a fetch; those that transactions end with are left out.

    Raises:
        SourceError: a batch is of the formats before Kafka 0.11, or longer or shorter than it says.
    """
    at = 0
    while at + _HEADER.size <= len(fetched):
        fields = _HEADER.unpack_from(fetched, at)
        base_offset, length, magic, attributes, count = fields[0], fields[1], fields[3], fields[5], fields[-1]
        end = at + _LENGTH_STARTS + length
        if magic != _MAGIC or end < at + _HEADER.size:
            raise SourceError(f"the batch at offset {base_offset} is of message format {magic}; only 2 can be read")
        if end > len(fetched):  # cut off by the limit of the fetch
            return
        codec = attributes & _CODEC_MASK
        if codec >= len(_CODECS):
            raise SourceError(f"the batch at offset {base_offset} has the unknown codec {codec}")
        if not attributes & _CONTROL_MASK and count > 0:
            yield Batch(base_offset, _CODECS[codec], count, fetched[at + _HEADER.size : end])
        at = end


def records_in(plain: bytes) -> Iterator[tuple[bytes | None, int]]:
    """Go through the records of a batch: the key of each, ``None`` for none, and its bytes (``DefaultRecord``).

    Raises:
        SourceError: a record is cut off.
    """
    at = 0
    while at < len(plain):
        try:
            length, start = decode_varint(plain, at)
            _, place = decode_varint(plain, start + 1)  # behind its attributes: the timestamp
            _, place = decode_varint(plain, place)  # the offset
            key_length, place = decode_varint(plain, place)
        except (IndexError, ValueError):
            raise SourceError(f"a record at byte {at} of its batch is cut off") from None
        end = start + length
        if end > len(plain) or end <= at or place + max(key_length, 0) > end:
            raise SourceError(f"a record at byte {at} of its batch is longer than the batch")
        yield (None if key_length < 0 else plain[place : place + key_length]), end - at
        at = end


def size_with(codec: str, plain: bytes) -> int:
    """Return how large a batch of these records is in a log, compressed with a codec of :data:`CODECS`."""
    return _HEADER.size + _COMPRESSED_SIZE[codec](plain)


def _blocks(plain: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(plain), size):
        yield plain[start : start + size]


def _snappy_size(plain: bytes) -> int:
    codec = pa.Codec("snappy")
    return _XERIAL_HEADER_BYTES + sum(4 + len(codec.compress(one)) for one in _blocks(plain, _SNAPPY_BLOCK_BYTES))


def _lz4_size(plain: bytes) -> int:
    codec = pa.Codec("lz4_raw")
    # A block that would grow is stored as it is.
    return _LZ4_FRAME_BYTES + sum(
        4 + min(len(one), len(codec.compress(one))) for one in _blocks(plain, _LZ4_BLOCK_BYTES)
    )


_COMPRESSED_SIZE: dict[str, Callable[[bytes], int]] = {
    "gzip": lambda plain: len(gzip.compress(plain, compresslevel=_GZIP_LEVEL)),
    "snappy": _snappy_size,
    "lz4": _lz4_size,
    "zstd": lambda plain: len(pa.Codec("zstd", compression_level=_ZSTD_LEVEL).compress(plain)),
}


def _streamed(codec: str) -> Callable[[bytes], bytes]:
    def decompress(stored: bytes) -> bytes:
        with pa.CompressedInputStream(pa.BufferReader(stored), codec) as stream:
            plain = bytes(stream.read(_LARGEST_BYTES + 1))
        if len(plain) > _LARGEST_BYTES:
            raise ValueError(f"more than {_LARGEST_BYTES:,} bytes")
        return plain

    return decompress


def _unsnapped(stored: bytes) -> bytes:
    codec = pa.Codec("snappy")
    if not stored.startswith(_XERIAL_MAGIC):
        return _unsnapped_block(codec, stored)
    found, at = [], _XERIAL_HEADER_BYTES
    while at < len(stored):
        (size,) = struct.unpack_from(">i", stored, at)
        found.append(_unsnapped_block(codec, stored[at + 4 : at + 4 + size]))
        at += 4 + size
    return b"".join(found)


def _unsnapped_block(codec: pa.Codec, block: bytes) -> bytes:
    size = shift = 0
    for byte in block:  # how long it is without compression, seven bits a byte
        size |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    if size > _LARGEST_BYTES:
        raise ValueError(f"a block of {size:,} bytes")
    return bytes(codec.decompress(block, decompressed_size=size))


_DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "uncompressed": lambda stored: stored,
    "gzip": _streamed("gzip"),
    "snappy": _unsnapped,
    "lz4": _streamed("lz4"),
    "zstd": _streamed("zstd"),
}
