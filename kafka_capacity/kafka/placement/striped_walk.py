"""One placement after another over the brokers of a :class:`StripeLayout`, as Kafka's ``RackList`` walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Int32s, Ints
from kafka_capacity.kafka.java.hash_map import put_order
from kafka_capacity.kafka.java.hashing import optional_string_hash, utf16_key


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StripeLayout:
    """The brokers as the striped placer sees them: two lists a rack, the unfenced and the fenced.

    List ``2 * r`` holds the unfenced brokers of rack r, list ``2 * r + 1`` the fenced ones. Brokers without a rack
    make up a rack too. Racks are numbered in the order of their names, which is the order in which they are
    served before the first shuffle.
    """

    brokers: Int32s  # int32[N], all lists joined, each ascending
    starts: Ints  # int64[2 * R], where each list begins in `brokers`
    sizes: Ints  # int64[2 * R], how long it is
    drawn_lists: Ints  # int64[2 * R], the lists in the order in which Kafka draws for them
    unfenced_count: int  # brokers that are not fenced

    @property
    def rack_count(self) -> int:
        """Count the racks."""
        return len(self.sizes) // 2

    @classmethod
    def of(cls, ids: Sequence[int], racks: Sequence[str | None], is_fenced: Sequence[bool]) -> StripeLayout:
        """Arrange brokers given in the order in which the controller lists them (it decides ties of hashes)."""
        seen = list(dict.fromkeys(racks))
        names = sorted(seen, key=lambda name: (name is not None, utf16_key(name or "")))
        number = {name: index for index, name in enumerate(names)}
        lists: list[list[int]] = [[] for _ in range(2 * len(names))]
        for broker_id, rack, fenced in zip(ids, racks, is_fenced, strict=True):
            lists[2 * number[rack] + bool(fenced)].append(broker_id)
        sizes = np.array([len(members) for members in lists], dtype=np.int64)
        # Kafka draws rack by rack in the order of a HashMap, for the fenced list first.
        drawn_racks = [number[seen[index]] for index in put_order([optional_string_hash(name) for name in seen])]
        return cls(
            brokers=np.array([broker for members in lists for broker in sorted(members)], dtype=np.int32),
            starts=np.cumsum(sizes) - sizes,
            sizes=sizes,
            drawn_lists=np.array([index for r in drawn_racks for index in (2 * r + 1, 2 * r)], dtype=np.int64),
            unfenced_count=int(sizes[::2].sum()),
        )


class StripeWalk:
    """The state of Kafka's ``RackList``: exact in every case, one replica at a time.

    A list remembers the epoch of its last use. When an epoch number comes back after a shuffle and the list was not
    used in between, Kafka takes it for the same epoch: it goes on where it was, or counts as used up. That happens
    to racks that few placements reach, and it is why this walk exists beside the one over whole arrays.

    The search for the next broker always ends: lists used by the placement before carry another epoch, so at least
    a replication factor of brokers is free.
    """

    def __init__(self, layout: StripeLayout, list_offsets: Sequence[int], rack_offset: int) -> None:
        self._starts: list[int] = layout.starts.tolist()
        self._sizes: list[int] = layout.sizes.tolist()
        self._offsets = list(list_offsets)
        self._epochs = [0] * len(self._sizes)
        self._taken = [0] * len(self._sizes)
        self._rack_offset = rack_offset

    def place(self, count: int, replication_factor: int, racks: Sequence[int], brokers: Sequence[int]) -> list[int]:
        """Place partitions until the next shuffle, the first of epoch 0: ``count * replication_factor`` broker ids.

        ``racks`` are numbers in the order in which they are served, ``brokers`` the joined lists as shuffled.
        """
        placed: list[int] = []
        for epoch in range(count):
            if self._rack_offset == len(racks):
                self._rack_offset = 0
            self._place_one(epoch, replication_factor, racks, brokers, placed)
            self._rack_offset += 1
        return placed

    def _place_one(
        self, epoch: int, replication_factor: int, racks: Sequence[int], brokers: Sequence[int], placed: list[int]
    ) -> None:
        leading, position = self._rack_offset, -1
        while (position := self._next(2 * racks[leading], epoch)) < 0:
            leading = (leading + 1) % len(racks)
        placed.append(brokers[position])
        is_passed = False
        turn = self._rack_offset
        wanted = replication_factor - 1
        while wanted:
            if turn == leading and not is_passed:
                is_passed = True
            else:
                position = self._next(2 * racks[turn], epoch)
                if position < 0:
                    position = self._next(2 * racks[turn] + 1, epoch)
                if position >= 0:
                    placed.append(brokers[position])
                    wanted -= 1
            turn = turn + 1 if turn + 1 < len(racks) else 0

    def _next(self, index: int, epoch: int) -> int:
        """Return the place of the next broker of a list, -1 when it is used up."""
        size = self._sizes[index]
        if not size:
            return -1
        if self._epochs[index] != epoch:
            self._epochs[index] = epoch
            self._taken[index] = 0
            self._offsets[index] = (self._offsets[index] + 1) % size
        taken = self._taken[index]
        if taken >= size:
            return -1
        self._taken[index] = taken + 1
        return self._starts[index] + (taken + self._offsets[index]) % size
