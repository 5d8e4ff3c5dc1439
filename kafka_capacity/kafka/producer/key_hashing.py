"""The partition of a record with a key: murmur2 of its bytes, without the sign, modulo the partition count.

Reproduces ``Utils.murmur2`` and ``BuiltInPartitioner.partitionForKey`` of Kafka 4.3.1, which no version has changed.

Algorithm:
    MurmurHash2 of 32 bits with a fixed seed. The key is read as little-endian words of four bytes; each is scrambled
    and mixed in, what is left over (one to three bytes) is mixed in as one short word, and the result is mixed thrice.
    The sign is masked out, not negated. A key of no bytes is a key like any other; only a record without key is not.

    Many keys are hashed side by side in blocks, the longest first: step i mixes in word i of all keys that have one.
    Words are read at any byte by a view on the buffer that moves on by one byte, so nothing is copied but the words.
    Where numba is installed, very many keys are hashed one after another by compiled code instead.

>>> murmur2(b"kafka")
-798503068
>>> partitions_of_keys(Keys.of([b"21", b"foobar", b"kafka"]), 10).tolist()
[0, 6, 0]
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.java.hashing import to_int
from kafka_capacity.kafka.producer.compiled_hashing import MULTIPLIER, SEED, hashing_for

_MASK = 0xFFFFFFFF
_FACTOR = np.uint32(MULTIPLIER)
_REST_MASKS = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF], dtype=np.uint32)  # of a word, by the bytes left over
POSITIVE = 0x7FFFFFFF  # Utils.toPositive keeps these bits

_BLOCK = 1 << 14  # keys hashed side by side: their state stays in the processor's cache
_FEW = 16  # so few long keys left in a block are faster one by one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Keys:
    """N serialized keys, one after another."""

    buffer: NDArray[np.uint8]  # uint8[B], their bytes
    offsets: Ints  # int64[N + 1], where each begins, and where the last one ends

    def __post_init__(self) -> None:
        offsets = self.offsets
        if len(offsets) == 0 or offsets[0] < 0 or offsets[-1] > len(self.buffer) or (np.diff(offsets) < 0).any():
            raise RequestError(
                f"offsets of keys must rise from 0 to at most the {len(self.buffer)} bytes there are, with one more "
                "offset than keys"
            )

    @classmethod
    def of(cls, keys: Iterable[bytes]) -> Keys:
        """Join keys."""
        listed = list(keys)
        offsets = np.zeros(len(listed) + 1, dtype=np.int64)
        np.cumsum([len(key) for key in listed], out=offsets[1:])
        return cls(buffer=np.frombuffer(b"".join(listed), dtype=np.uint8), offsets=offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1


def murmur2(key: bytes) -> int:
    """Hash one key to a Java ``int``."""
    state = SEED ^ len(key) & _MASK
    whole = len(key) & ~3
    for start in range(0, whole, 4):
        word = int.from_bytes(key[start : start + 4], "little") * MULTIPLIER & _MASK
        word = (word ^ word >> 24) * MULTIPLIER & _MASK
        state = state * MULTIPLIER & _MASK ^ word
    if whole < len(key):
        state = (state ^ int.from_bytes(key[whole:], "little")) * MULTIPLIER & _MASK
    state = (state ^ state >> 13) * MULTIPLIER & _MASK
    return to_int(state ^ state >> 15)


def murmur2_of_keys(keys: Keys) -> Int32s:
    """Hash many keys: int32[N], for each what :func:`murmur2` gives."""
    compiled = hashing_for(len(keys))
    if compiled is not None:
        found = np.empty(len(keys), dtype=np.uint32)
        compiled(keys.buffer, keys.offsets, found)
        return found.view(np.int32)
    lengths = np.diff(keys.offsets)
    padded = np.append(keys.buffer, np.zeros(4, dtype=np.uint8))
    hashes = np.empty(len(keys), dtype=np.uint32)
    for first in range(0, len(keys), _BLOCK):
        block = slice(first, first + _BLOCK)
        hashes[block] = _hash_block(padded, keys.offsets[:-1][block], lengths[block])
    return hashes.view(np.int32)


def partitions_of_keys(keys: Keys, partitions: int) -> Int32s:
    """Return the partition of each key, int32[N]; RequestError where there is no partition."""
    return partitions_of_hashes(murmur2_of_keys(keys), partitions)


def partitions_of_hashes(hashes: Int32s, partitions: int) -> Int32s:
    """Return the partition that each hash of a key leads to, int32[N]; RequestError where there is no partition."""
    return (hashes & np.int32(POSITIVE)) % np.int32(checked_count(partitions))


def checked_count(partitions: int) -> int:
    """Return the number of partitions back; RequestError where it is not a positive ``int`` of Java's."""
    if not 1 <= partitions <= POSITIVE:
        raise RequestError(f"a topic has from 1 to {POSITIVE} partitions, not {partitions}")
    return partitions


def _hash_block(padded: NDArray[np.uint8], starts: Ints, lengths: Ints) -> NDArray[np.uint32]:
    """Hash keys side by side: uint32[N]. Three bytes must follow the last key, so that a word can be read there."""
    words = np.ndarray(shape=(len(padded) - 3,), dtype="<u4", buffer=padded.data, strides=(1,))
    longest_first = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[longest_first], lengths[longest_first]
    counts = lengths >> 2
    state = np.uint32(SEED) ^ lengths.astype(np.uint32)
    # How many keys have more than i words, for every i; the few that go on the longest are hashed one by one.
    deep = len(counts) - np.searchsorted(counts[::-1], np.arange(counts[0]), side="right")
    alone = 0
    for index, active in enumerate(deep.tolist()):
        if active <= _FEW:
            alone = active
            break
        word = words[starts[:active] + 4 * index]
        word *= _FACTOR
        word ^= word >> np.uint32(24)
        word *= _FACTOR
        state[:active] *= _FACTOR
        state[:active] ^= word
    rest = lengths & 3
    short = words[starts + 4 * counts] & _REST_MASKS[rest]
    np.multiply(state ^ short, _FACTOR, out=state, where=rest > 0)
    state = (state ^ (state >> np.uint32(13))) * _FACTOR
    state ^= state >> np.uint32(15)
    for index in range(alone):
        key = padded[starts[index] : starts[index] + lengths[index]]
        state[index] = murmur2(key.tobytes()) & _MASK
    hashes = np.empty_like(state)
    hashes[longest_first] = state
    return hashes


def even_share_remapped(before: int, after: int) -> float:
    """Return the share of keys that a new partition count sends elsewhere if hashes are even.

    Kafka keeps the order of a key's records within a partition only, and moves no record when partitions are added. A
    key that is remapped can be read out of order, and what was written before stays where it was.

    Algorithm:
        Hashes are taken as even: of every least common multiple of the two counts in a row, as many hashes as the
        smaller count has partitions leave the same remainder twice, the lowest ones.

    >>> round(even_share_remapped(12, 18), 3)
    0.667

    Raises:
        RequestError: a count is not positive.
    """
    return 1 - min(checked_count(before), checked_count(after)) / math.lcm(before, after)
