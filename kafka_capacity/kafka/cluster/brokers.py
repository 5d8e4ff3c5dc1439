"""The brokers of a cluster, observed or proposed, as parallel arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.columns import change_columns, join_columns

DISK_AND_NETWORK = ("disk_capacity_bytes", "network_in_bytes_per_second", "network_out_bytes_per_second")
FIGURES = (*DISK_AND_NETWORK, "cpu_cores", "memory_bytes")  # the columns that say what each broker can do


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Brokers:
    """The brokers of a cluster, ascending by id; one entry a broker in every field."""

    ids: Int32s  # int32[B], strictly ascending `node.id`
    racks: tuple[str | None, ...]  # `broker.rack` of each broker, `None` where it has none
    is_fenced: Flags  # bool[B]; a fenced broker is registered but takes no leadership
    # bool[B]; a broker all of whose log directories are cordoned (KIP-1066) keeps its replicas and gets no new ones
    is_cordoned: Flags
    is_voter: Flags  # bool[B]; a broker that votes for the controller too (`process.roles`)
    disk_capacity_bytes: Floats  # float64[B], NaN where it is not known
    network_in_bytes_per_second: Floats  # float64[B], NaN where it is not known
    network_out_bytes_per_second: Floats  # float64[B], NaN where it is not known
    cpu_cores: Floats  # float64[B], NaN where it is not known
    memory_bytes: Floats  # float64[B], of the whole machine, NaN where it is not known
    # float64[B], what is in use on its disks beside its replicas, at the sizes that these have on their leaders; NaN
    # where that is not known
    other_bytes: Floats

    @classmethod
    def of(
        cls,
        ids: Sequence[int],
        racks: Sequence[str | None] | None = None,
        *,
        is_fenced: Sequence[bool] | None = None,
        is_cordoned: Sequence[bool] | None = None,
        is_voter: Sequence[bool] | None = None,
        disk_capacity_bytes: Sequence[float | None] | None = None,
        network_in_bytes_per_second: Sequence[float | None] | None = None,
        network_out_bytes_per_second: Sequence[float | None] | None = None,
        cpu_cores: Sequence[float | None] | None = None,
        memory_bytes: Sequence[float | None] | None = None,
    ) -> Brokers:
        """Build from plain sequences in any order; ``None`` means not known."""
        order = sorted(range(len(ids)), key=lambda i: ids[i])
        given_racks = list(racks) if racks is not None else [None] * len(ids)

        def flags(values: Sequence[bool] | None) -> Flags:
            return np.array([bool(values[i]) if values is not None else False for i in order], dtype=np.bool_)

        def figures(values: Sequence[float | None] | None) -> Floats:
            if values is None:
                return np.full(len(ids), np.nan)
            return np.array([np.nan if values[i] is None else values[i] for i in order], dtype=np.float64)

        return cls(
            ids=np.array([ids[i] for i in order], dtype=np.int32),
            racks=tuple(given_racks[i] or None for i in order),
            is_fenced=flags(is_fenced),
            is_cordoned=flags(is_cordoned),
            is_voter=flags(is_voter),
            disk_capacity_bytes=figures(disk_capacity_bytes),
            network_in_bytes_per_second=figures(network_in_bytes_per_second),
            network_out_bytes_per_second=figures(network_out_bytes_per_second),
            cpu_cores=figures(cpu_cores),
            memory_bytes=figures(memory_bytes),
            other_bytes=figures(None),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, places: NDArray[np.integer] | Flags) -> Brokers:
        """Return some of the brokers, by their positions."""
        racks = np.array(self.racks, dtype=np.object_)[places]
        return change_columns(self, lambda column: column[places], racks=tuple(racks.tolist()))

    def joined(self, others: Brokers) -> Brokers:
        """Put others, with other ids, among these."""
        both = join_columns([self, others], racks=(*self.racks, *others.racks))
        return both.take(np.argsort(both.ids))

    @property
    def takes_replicas(self) -> Flags:
        """Return bool[B], which brokers a new replica may go to."""
        return ~(self.is_fenced | self.is_cordoned)

    def index_of(self, broker_ids: Int32s) -> Int32s:
        """Return the position of each broker id in :attr:`ids`, -1 where it is not a broker of this list."""
        if not len(self.ids):
            return np.full(broker_ids.shape, -1, dtype=np.int32)
        largest = int(self.ids[-1])
        if int(self.ids[0]) >= 0 and largest < broker_ids.size:
            # Many cells and small ids, as ids are: a table is several times faster than a search. Its last entry is for
            # all ids beyond; without a sign, the -1 of padding is beyond too.
            place = np.full(largest + 2, -1, dtype=np.int32)
            place[self.ids] = np.arange(len(self.ids), dtype=np.int32)
            return place[np.minimum(broker_ids.astype(np.uint32), np.uint32(largest + 1))]
        position = np.searchsorted(self.ids, broker_ids)
        position[position == len(self.ids)] = 0
        return np.where(self.ids[position] == broker_ids, position, -1).astype(np.int32)

    def sum_at(self, broker_id: Int32s, amount: Floats | Ints) -> Floats:
        """Sum amounts by the broker they belong to: float64[B]; those of brokers not in this list are left out.

        Sums of whole numbers, such as bytes, are exact up to 2**53.
        """
        index = self.index_of(broker_id)
        known = index >= 0
        return np.bincount(index[known], weights=amount[known], minlength=len(self)).astype(np.float64)

    def sum_held(self, replicas: Int32s, amount: Floats | Ints) -> Floats:
        """Sum amounts of partitions, float64[P], by the brokers that hold them: float64[B].

        ``replicas`` is int32[P, W], broker ids, padded with -1; those of brokers not in this list are left out.
        """
        rows, columns = np.nonzero(replicas >= 0)
        return self.sum_at(replicas[rows, columns], amount[rows])

    def replica_room_bytes(self, limit_ratio: float) -> Floats:
        """Return how much replicas may fill of disks that may be so full: float64[B], NaN where a disk is not known.

        It is below 0 where other data alone passes the limit.
        """
        return self.disk_capacity_bytes * limit_ratio - self.known_other_bytes

    @property
    def known_other_bytes(self) -> Floats:
        """Return the same as :attr:`other_bytes`, 0 where it is not known."""
        return np.nan_to_num(self.other_bytes)

    def with_other_data_of(self, observed: Brokers) -> Brokers:
        """Return the same brokers, with what observed ones have on their disks beside replicas: new ones the median."""
        known = observed.other_bytes[np.isfinite(observed.other_bytes)]
        usual = np.median(known) if known.size else np.nan
        return replace(self, other_bytes=np.append(observed.other_bytes, usual)[observed.index_of(self.ids)])

    def rack_names(self) -> tuple[str, ...]:
        """Name the racks that brokers have, sorted, without the missing one."""
        return tuple(sorted({rack for rack in self.racks if rack is not None}))

    def with_racks(self, racks: Mapping[int, str]) -> Brokers:
        """Return the same brokers, those named by their ids in other racks."""
        at = zip(self.ids.tolist(), self.racks, strict=True)
        return replace(self, racks=tuple(racks.get(broker, rack) for broker, rack in at))

    def rack_indexes(self) -> Int32s:
        """Return int32[B], the position of each broker's rack in :meth:`rack_names`.

        A broker without a rack counts as a rack of its own, numbered after the named ones.
        """
        names = {name: index for index, name in enumerate(self.rack_names())}
        lone = count(len(names))
        return np.array([next(lone) if rack is None else names[rack] for rack in self.racks], dtype=np.int32)

    def brokers_by_rack(self) -> dict[str | None, tuple[int, ...]]:
        """Group broker ids by rack, racks sorted, brokers without one last under ``None``."""
        grouped: dict[str | None, list[int]] = {}
        for broker_id, rack in zip(self.ids.tolist(), self.racks, strict=True):
            grouped.setdefault(rack, []).append(broker_id)
        return {rack: tuple(grouped[rack]) for rack in sorted(grouped, key=lambda r: (r is None, r or ""))}
