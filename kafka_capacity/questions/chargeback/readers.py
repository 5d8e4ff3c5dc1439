"""Who reads each partition: consumer groups, the client ids of their members, and the racks of these.

A group reads the partitions that its members are assigned; where that names none, as with tasks of Kafka Streams, those
on which it has committed an offset above 0. A group without members counts, by its commits, only where no other reads;
where there is none of these either, nobody known does. Every group that reads a partition is taken to read all of it
once, so that they share what is read of it evenly; so do several members of a share group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_capacity.inventory.column_values import PartitionIndex
from kafka_capacity.kafka.arrays import Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.snapshot import Group, Snapshot

NOBODY = -1  # known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Readers:
    """One entry a partition and who reads it; every partition has one at least, and its shares sum to 1."""

    groups: tuple[str, ...]  # their ids
    clients: tuple[str, ...]  # client ids of members
    racks: tuple[str, ...]  # of members, whether or not brokers have them
    row: Ints  # int64[N], the partition
    group: Int32s  # int32[N], position in `groups`, -1 where nobody known reads it
    client: Int32s  # int32[N], position in `clients`, -1 where it is not known
    rack: Int32s  # int32[N], position in `racks`, -1 where it is not known
    share: Floats  # float64[N], of what is read of the partition


def known_readers(snapshot: Snapshot) -> Readers:
    """Return who reads the partitions of a cluster."""
    groups = tuple(group.group_id for group in snapshot.groups)
    members = [member for group in snapshot.groups for member in group.members]
    clients = _codes(member.client_id for member in members)
    racks = _codes(member.rack or "" for member in members)
    count = len(snapshot.partitions)
    assigned = _found(snapshot, _assigned(snapshot.groups, clients, racks))
    committed = _found(snapshot, _committed(snapshot.groups))
    is_live = np.array([bool(group.members) for group in snapshot.groups], dtype=np.bool_)
    is_untold = np.setdiff1d(np.flatnonzero(is_live), assigned[1])
    assigned = np.concatenate([assigned, committed[:, np.isin(committed[1], is_untold)]], axis=1)
    is_read = np.zeros(count, dtype=np.bool_)
    is_read[assigned[0]] = True
    committed = committed[:, ~is_read[committed[0]]]
    is_read[committed[0]] = True
    nobody = np.flatnonzero(~is_read)
    unknown = np.full(len(nobody), NOBODY)
    row, group, client, rack = np.concatenate(
        [assigned, committed, np.stack([nobody, unknown, unknown, unknown])], axis=1
    )
    # A group counts once, however many of its members read a partition.
    pair = row * (len(groups) + 1) + group + 1
    _, place, members_of = np.unique(pair, return_inverse=True, return_counts=True)
    groups_of = np.zeros(count)
    np.add.at(groups_of, row, 1.0 / members_of[place])
    return Readers(
        groups=groups,
        clients=tuple(clients),
        racks=tuple(racks),
        row=row,
        group=group.astype(np.int32),
        client=client.astype(np.int32),
        rack=rack.astype(np.int32),
        share=1.0 / members_of[place] / groups_of[row],
    )


def _codes(names: Iterator[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(sorted({name for name in names if name}))}


_Read = tuple[str, int, int, int, int]  # topic, partition, and the positions of group, client id and rack


def _assigned(groups: tuple[Group, ...], clients: dict[str, int], racks: dict[str, int]) -> Iterator[_Read]:
    for place, group in enumerate(groups):
        for member in group.members:
            client, rack = clients.get(member.client_id, NOBODY), racks.get(member.rack or "", NOBODY)
            for topic, partition in dict.fromkeys(member.assigned):
                yield topic, partition, place, client, rack


def _committed(groups: tuple[Group, ...]) -> Iterator[_Read]:
    for place, group in enumerate(groups):
        for lag in group.lags:
            if lag.committed_offset > 0:
                yield lag.topic, lag.partition, place, NOBODY, NOBODY


def _found(snapshot: Snapshot, reads: Iterator[_Read]) -> Ints:
    """Return int64[4, N]: the row of the partition, group, client id and rack, of those that the cluster has."""
    import pyarrow as pa

    partitions = snapshot.partitions
    listed = list(reads)
    topics = pa.array([one[0] for one in listed], pa.string())
    numbers = np.array([one[1:] for one in listed], dtype=np.int64).reshape(-1, 4)
    index = PartitionIndex.of(partitions.topics, partitions.topic, partitions.partition)
    row = index.find(pa.chunked_array([topics]), pa.chunked_array([pa.array(numbers[:, 0])]))
    return np.stack([row, *numbers[:, 1:].T])[:, row >= 0]
