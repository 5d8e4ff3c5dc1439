"""The order in which ``java.util.HashMap`` and ``HashSet`` hand out their keys (JDK 17).

Kafka's assignors and tools iterate over hash maps, and what they visit first they serve first. The order is not
random: it follows from the hash codes, the sequence of calls and the size of the table.

Algorithm:
    * A key goes to bucket ``(h ^ h >>> 16) & (n - 1)`` of n buckets; iteration walks the buckets in order.
    * The table is made at the first call that stores something, with 16 buckets or the power of two that the
      capacity asked for. ``put`` appends to its bucket and doubles the table when it then holds more than three
      keys for four buckets. ``computeIfAbsent``, ``compute`` and ``merge`` put a new key at the *front* of its
      bucket, and double at the *start* of a call that finds the table that full, even if the key is there.
    * Doubling keeps the relative order of the keys of a bucket, removing shrinks nothing.
    * A table of fewer than 64 buckets doubles too when ``put`` makes a bucket of nine or a compute one of eight.

Limits:
    From 64 buckets on Java turns such a bucket into a red-black tree: it moves the root to the front and links a
    new key behind its parent in the tree. Keys of equal hash without a natural order (a topic partition) are even
    ordered by their memory address, so Kafka's own order differs from run to run. Here the bucket stays a list. It
    takes nine keys in one bucket at three keys for four buckets: some one in a million buckets, unless the keys were
    made to collide.

>>> from kafka_capacity.kafka.java.hashing import string_hash
>>> topics = JavaHashMap[str, int](string_hash)
>>> for name in ("orders", "payments", "audit"):
...     topics.put(name, len(name))
>>> list(topics)
['audit', 'payments', 'orders']
>>> put_order([string_hash(name) for name in ("orders", "payments", "audit")]).tolist()
[2, 1, 0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Flags, Indices, Int32s, Ints

K = TypeVar("K")
V = TypeVar("V")

DEFAULT_CAPACITY = 16
_TREE_TABLE = 64  # HashMap.MIN_TREEIFY_CAPACITY
_TREE_BUCKET = 8  # HashMap.TREEIFY_THRESHOLD


class JavaHashMap(Generic[K, V]):
    """A map that iterates as ``java.util.HashMap`` does.

    Args:
        hash_of: the ``hashCode`` of a key; see :mod:`kafka_capacity.kafka.java.hashing`.
        capacity: the initial capacity given to Java's constructor, ``None`` for the constructor without one.
    """

    __slots__ = ("_buckets", "_hash_of", "_spread", "_values")

    def __init__(self, hash_of: Callable[[K], int], capacity: int | None = None) -> None:
        self._hash_of = hash_of
        self._buckets: list[list[K]] = _table(table_size(DEFAULT_CAPACITY if capacity is None else capacity))
        self._values: dict[K, V] = {}
        self._spread: dict[K, int] = {}

    def put(self, key: K, value: V) -> None:
        """Store a value; a new key goes to the end of its bucket."""
        if key not in self._values:
            bucket = self._bucket_of(key)
            bucket.append(key)
            if len(bucket) > _TREE_BUCKET:
                self._relieve()
            self._values[key] = value
            self._double_when_full()
        self._values[key] = value

    def compute_if_absent(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, made first if there is none; a new key goes to the front of its bucket.

        ``compute`` and ``merge`` place their keys the same way.
        """
        self._double_when_full()
        if key not in self._values:
            value = make()
            bucket = self._bucket_of(key)
            bucket.insert(0, key)
            if len(bucket) >= _TREE_BUCKET:
                self._relieve()
            self._values[key] = value
        return self._values[key]

    def remove(self, key: K) -> V | None:
        """Take a key out and give its value, ``None`` if it was not there."""
        if key not in self._values:
            return None
        self._bucket_of(key).remove(key)
        del self._spread[key]
        return self._values.pop(key)

    def get(self, key: K) -> V | None:
        """Return the value of a key, ``None`` if there is none."""
        return self._values.get(key)

    def copy(self) -> JavaHashMap[K, V]:
        """Copy as ``new HashMap<>(map)`` does: the keys are put in this order into a table sized for them."""
        other = JavaHashMap[K, V](self._hash_of, copied_map_capacity(len(self)) if len(self) else None)
        for key, value in self.items():
            other.put(key, value)
        return other

    def items(self) -> Iterator[tuple[K, V]]:
        """Walk over keys and values in Java's order."""
        return ((key, self._values[key]) for key in self)

    def values(self) -> Iterator[V]:
        """Walk over the values in Java's order."""
        return (self._values[key] for key in self)

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[K]:
        for bucket in self._buckets:
            yield from bucket

    def __len__(self) -> int:
        return len(self._values)

    def _bucket_of(self, key: K) -> list[K]:
        spread = self._spread.get(key)
        if spread is None:
            code = self._hash_of(key) & 0xFFFFFFFF
            spread = self._spread[key] = code ^ (code >> 16)
        return self._buckets[spread & (len(self._buckets) - 1)]

    def _relieve(self) -> None:
        if len(self._buckets) < _TREE_TABLE:
            self._double()

    def _double_when_full(self) -> None:
        if len(self._values) * 4 > len(self._buckets) * 3:
            self._double()

    def _double(self) -> None:
        before = self._buckets
        mask = 2 * len(before) - 1
        self._buckets = _table(2 * len(before))
        for bucket in before:
            for key in bucket:
                self._buckets[self._spread[key] & mask].append(key)


class JavaHashSet(JavaHashMap[K, None]):
    """A set that iterates as ``java.util.HashSet`` does, which is a map of its items.

    Java's constructor is given either ``items``, in this order (the table is sized for them), or a ``capacity``.
    """

    __slots__ = ()

    def __init__(
        self, hash_of: Callable[[K], int], items: Sequence[K] | None = None, capacity: int | None = None
    ) -> None:
        super().__init__(hash_of, capacity if items is None else copied_set_capacity(len(items)))
        for item in items or ():
            self.add(item)

    def add(self, item: K) -> None:
        """Add an item, if it is new."""
        self.put(item, None)

    def discard(self, item: K) -> None:
        """Take an item out, if it is there."""
        self.remove(item)


def _table(size: int) -> list[list[K]]:
    return [[] for _ in range(size)]


def table_size(capacity: int) -> int:
    """Return the number of buckets for an initial capacity: the next power of two, at least 1."""
    return 1 << max(0, capacity - 1).bit_length()


def copied_map_capacity(size: int) -> int:
    """Return the capacity that ``new HashMap<>(map)`` chooses for ``size`` keys, in ``float`` arithmetic as Java."""
    return int(np.float32(size) / np.float32(0.75) + np.float32(1.0))


def copied_set_capacity(size: int) -> int:
    """Return the capacity that ``new HashSet<>(collection)`` chooses for ``size`` items."""
    return max(int(np.float32(size) / np.float32(0.75)) + 1, DEFAULT_CAPACITY)


def table_sizes(capacities: Ints) -> Ints:
    """Do :func:`table_size` for many capacities: int64[N]."""
    return np.left_shift(np.int64(1), np.frexp(np.maximum(capacities - 1, 0))[1].astype(np.int64))


def copied_set_capacities(sizes: Ints) -> Ints:
    """Do :func:`copied_set_capacity` for many sizes: int64[N]."""
    return np.maximum((sizes.astype(np.float32) / np.float32(0.75)).astype(np.int64) + 1, DEFAULT_CAPACITY)


def put_tables(sizes: Ints) -> Ints:
    """Return the numbers of buckets of maps unless :func:`crowded_tables`: int64[N]."""
    return np.maximum(table_sizes((sizes * 4 + 2) // 3), DEFAULT_CAPACITY)


def crowded_tables(table: Ints, bucket: Ints, buckets: Ints) -> Flags:
    """Return which of many small tables have a bucket so long that Java doubles them early.

    ``table`` and ``bucket`` are int64[K], where each key is; ``buckets`` is int64[N], how many each table has.
    """
    crowded = np.zeros(len(buckets), dtype=np.bool_)
    small = buckets[table] < _TREE_TABLE
    long = np.bincount(table[small] * _TREE_TABLE + bucket[small]) > _TREE_BUCKET
    crowded[np.flatnonzero(long) // _TREE_TABLE] = True
    return crowded


def put_order(hashes: Sequence[int] | Int32s, capacity: int = DEFAULT_CAPACITY) -> Indices:
    """Order different keys as a ``HashMap`` does into which they were put one after another.

    ``hashes`` is int32[N], the ``hashCode`` of each key, in the order of the calls; ``capacity`` the initial one of the
    map. Returned is intp[N], positions in ``hashes`` in the order of iteration.
    """
    spread = spread_hashes(hashes)
    mask = _final_table(spread, table_size(capacity), computed=False) - 1
    return stable_order(spread & np.uint32(mask), mask + 1)


def computed_order(
    hashes: Sequence[int] | Int32s, capacity: int = DEFAULT_CAPACITY, *, is_called_again: bool = False
) -> Indices:
    """Order different keys as a ``HashMap`` does into which ``computeIfAbsent`` put them; else as :func:`put_order`.

    ``is_called_again`` says whether a call for a known key came after the last new one: it may double the table.
    """
    spread = spread_hashes(hashes)
    buckets = _final_table(spread, table_size(capacity), computed=True)
    if is_called_again and len(spread) * 4 > buckets * 3:
        buckets *= 2
    newest_first = stable_order((spread & np.uint32(buckets - 1))[::-1], buckets)
    return len(spread) - 1 - newest_first


def spread_hashes(hashes: Sequence[int] | NDArray[np.integer]) -> NDArray[np.uint32]:
    """Mix the high bits of hash codes into the low ones, as a ``HashMap`` does before it picks a bucket."""
    codes = np.asarray(hashes, dtype=np.int64).astype(np.uint32)
    return codes ^ (codes >> np.uint32(16))


def stable_order(values: NDArray[np.integer], below: int) -> Indices:
    """Order rows by one key, int[N] from 0 to less than ``below``; equal ones stay as they come."""
    # Sixteen bits are sorted by radix, many times faster.
    return np.argsort(values.astype(np.uint16) if below <= 1 << 16 else values, kind="stable")


def _final_table(spread: NDArray[np.uint32], buckets: int, *, computed: bool) -> int:
    """Return how many buckets there are after the last call."""
    stored = len(spread) - 1 if computed else len(spread)
    fitting = buckets
    while stored * 4 > fitting * 3:
        fitting *= 2
    if fitting >= _TREE_TABLE:
        return fitting
    # A small table may also have doubled because of one long bucket.
    limit = _TREE_BUCKET - 1 if computed else _TREE_BUCKET
    seen: list[int] = []
    for value in spread.tolist():
        if computed and len(seen) * 4 > buckets * 3:
            buckets *= 2
        if buckets < _TREE_TABLE and sum(not (other ^ value) & (buckets - 1) for other in seen) >= limit:
            buckets *= 2
        seen.append(value)
        if not computed and len(seen) * 4 > buckets * 3:
            buckets *= 2
    return buckets
