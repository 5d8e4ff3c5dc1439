"""``hashCode`` of the keys that Kafka puts into hash maps, and the order of Java strings.

Java strings are UTF-16: a character beyond the basic plane counts as its two surrogates, both when it is hashed
and when it is compared.

>>> string_hash("orders"), string_hash("😀")
(-1008770331, 1772899)
>>> sorted(["\ue000", "😀"], key=utf16_key) == ["😀", "\ue000"]
True
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

import numpy as np

from kafka_capacity.kafka.arrays import Int32s

_INT_MASK = (1 << 32) - 1
_LONG_MASK = (1 << 64) - 1
_FEW = 16  # up to so many strings one by one are faster than arrays


def to_int(value: int) -> int:
    """Wrap any integer to a Java ``int``: 32 bits, signed."""
    return ((value + (1 << 31)) & _INT_MASK) - (1 << 31)


def to_long(value: int) -> int:
    """Wrap any integer to a Java ``long``: 64 bits, signed."""
    return ((value + (1 << 63)) & _LONG_MASK) - (1 << 63)


def utf16_key(text: str) -> bytes:
    """Return a sort key under which strings sort as ``String.compareTo`` sorts them."""
    return text.encode("utf-16-be", "surrogatepass")


def utf16_keys(texts: Sequence[str]) -> Sequence[str] | Sequence[bytes]:
    """Return the sort keys of many strings; those of ASCII alone are their own."""
    return texts if "".join(texts).isascii() else [utf16_key(text) for text in texts]


def string_hash(text: str) -> int:
    """Hash as ``String.hashCode``: ``31 * hash + unit`` over the UTF-16 units."""
    units = text.encode("ascii") if text.isascii() else np.frombuffer(utf16_key(text), dtype=">u2").tolist()
    result = 0
    for unit in units:
        result = (31 * result + unit) & _INT_MASK
    return to_int(result)


def integer_hash(value: int) -> int:
    """Hash as ``Integer.hashCode``: the value itself."""
    return to_int(value)


def long_hash(value: int) -> int:
    """Hash as ``Long.hashCode``: the two halves, exclusive-or."""
    return to_int(value ^ (value >> 32))


def optional_string_hash(text: str | None) -> int:
    """Hash as ``Optional<String>.hashCode``: that of the string, 0 for an empty one."""
    return 0 if text is None else string_hash(text)


def uuid_halves(text: str) -> tuple[int, int]:
    """Read a ``Uuid`` of Kafka's from its 22 base64url characters: its signed upper and lower 64 bits.

    As a sort key they are ``Uuid.compareTo``.

    Raises:
        ValueError: the text is not 16 bytes of base64url.
    """
    try:
        raw = base64.urlsafe_b64decode(text + "==")
    except binascii.Error as error:
        raise ValueError(f"{text!r} is not a Kafka id: {error}") from error
    if len(raw) != 16:
        raise ValueError(f"{text!r} is not a Kafka id: it has {len(raw)} bytes, not 16")
    return int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(raw[8:], "big", signed=True)


def is_uuid(text: str) -> bool:
    """Return whether a text is a ``Uuid`` of Kafka's, as :func:`uuid_halves` reads them."""
    try:
        uuid_halves(text)
    except ValueError:
        return False
    return True


def uuid_hash(text: str) -> int:
    """Hash as Kafka's ``Uuid.hashCode``: the four quarters, exclusive-or."""
    most, least = uuid_halves(text)
    return long_hash(most ^ least)


def uuid_hashes(texts: Sequence[str]) -> Int32s:
    """Hash many ids at once as :func:`uuid_hash` does: int32[N].

    >>> uuid_hashes(["AAAAAAAAAAAAAAAAAAAAAQ"]).tolist() == [uuid_hash("AAAAAAAAAAAAAAAAAAAAAQ")]
    True

    Raises:
        ValueError: a text is not 16 bytes of base64url.
    """
    if not all(len(text) == 22 and text.isascii() for text in texts):
        return np.array([uuid_hash(text) for text in texts], dtype=np.int32)
    try:
        # Two more characters make 18 bytes of each id, so that all can be decoded in one go.
        raw = base64.b64decode("".join(f"{text}AA" for text in texts), altchars=b"-_", validate=True)
    except binascii.Error:
        return np.array([uuid_hash(text) for text in texts], dtype=np.int32)
    padded = np.frombuffer(raw, dtype=np.uint8).reshape(len(texts), 18)
    quarters = np.ascontiguousarray(padded[:, :16]).view(">u4")
    hashes: Int32s = np.bitwise_xor.reduce(quarters, axis=1).astype(np.uint32).view(np.int32)
    return hashes


def topic_partition_hash(key: tuple[str, int]) -> int:
    """Hash as ``TopicPartition.hashCode``: ``31 * (31 + partition) + hash of the topic``."""
    topic, partition = key
    return to_int(31 * (31 + partition) + string_hash(topic))


def topic_partition_hashes(topic_hashes: Int32s, partitions: Int32s) -> Int32s:
    """Hash many topic partitions at once: int32[P] of the topics' string hashes and partition numbers, int32[P]."""
    wide = 31 * (31 + partitions.astype(np.int64)) + topic_hashes
    return wide.astype(np.int32)


def topic_id_partition_hash(key: tuple[str, int]) -> int:
    """Hash as the group coordinator's ``TopicIdPartition.hashCode``: ``31 * hash of the topic id + partition``."""
    topic_id, partition = key
    return to_int(31 * uuid_hash(topic_id) + partition)


def string_hashes(texts: Sequence[str]) -> Int32s:
    """Hash many strings at once as ``String.hashCode`` does: int32[N].

    >>> string_hashes(["orders", "😀", ""]).tolist()
    [-1008770331, 1772899, 0]
    """
    if len(texts) < _FEW or not "".join(texts).isascii():
        return np.array([string_hash(text) for text in texts], dtype=np.int32)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    units = np.zeros((len(texts), int(lengths.max())), dtype=np.uint8)
    units[np.arange(units.shape[1]) < lengths[:, None]] = np.frombuffer("".join(texts).encode("ascii"), dtype=np.uint8)
    codes = np.zeros(len(texts), dtype=np.uint32)
    for column in range(units.shape[1]):
        longer = lengths > column
        codes[longer] = codes[longer] * np.uint32(31) + units[longer, column]
    return codes.astype(np.int32)
