"""What is on the volumes that log directories are on: each volume once, and what is in use there beside replicas."""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa

from kafka_capacity.inventory.column_values import floats, values
from kafka_capacity.kafka.arrays import Floats, Indices, Ints
from kafka_capacity.kafka.cluster.snapshot import Snapshot

OTHER_DATA_RATIO = 0.1
"""Of what a log dir has in total, what may be in use beside replicas: file systems reserve some, logs have indexes."""
_TOLD_APART_RATIO = 0.01
"""Of a disk: what is less says nothing of other data, as sizes and free space are not read at the same moment."""
_ROUND_BYTES = (10**6, 2**20)
"""What brokers tell to the byte is no multiple of these; what was written by hand is."""


def volume_of(log_dirs: pa.Table) -> Indices:
    """Return int64[D], the position of the first log directory on the same volume as each.

    Two of a broker are where both tell the same to the byte although there is data: disks of their own never do.
    """
    columns = (floats(log_dirs.column(name)) for name in ("broker_id", "total_bytes", "usable_bytes"))
    told = np.stack([*columns], axis=1)
    _, first, group = np.unique(told, axis=0, return_index=True, return_inverse=True)
    _, total, usable = told.T
    is_rounded = np.logical_or.reduce([usable % unit == 0 for unit in _ROUND_BYTES])
    has_data = total - usable > OTHER_DATA_RATIO * total
    return np.where(has_data & ~is_rounded, first[group.ravel()], np.arange(len(told)))


def volume_bytes(log_dirs: pa.Table, name: str) -> dict[int, float]:
    """Return the sum of a column over the volumes of each broker that has log dirs; NaN where one does not tell."""
    sums: dict[int, float] = defaultdict(float)
    counted = log_dirs.filter(pa.array(volume_of(log_dirs) == np.arange(len(log_dirs))))
    for broker, amount in zip(values(counted.column("broker_id")), floats(counted.column(name)), strict=True):
        sums[broker] += float(amount)
    return sums


def with_other_data(snapshot: Snapshot, log_dirs: pa.Table) -> Snapshot:
    """Return a snapshot whose brokers and log dirs know what is in use beside replicas.

    In use is what volumes lack of being free, and no less than what replicas hold. Replicas count as they do
    everywhere, at the size on their leaders, so what followers hold more is among the other data.
    """
    brokers, dirs, size = snapshot.brokers, snapshot.log_dirs, snapshot.partition_size_bytes()
    usable = volume_bytes(log_dirs, "usable_bytes")
    free = np.array([usable.get(broker, np.nan) for broker in brokers.ids.tolist()])
    rows, columns = np.nonzero(snapshot.replicas >= 0)
    holder, place = snapshot.replicas[rows, columns], snapshot.log_dir[rows, columns]
    own, held = snapshot.size_bytes[rows, columns], size[rows]
    of_brokers = _other_bytes(
        brokers.disk_capacity_bytes, free, own=brokers.sum_at(holder, own), held=brokers.sum_at(holder, held)
    )
    is_told = place >= 0
    by_dir = functools.partial(np.bincount, place[is_told], minlength=len(dirs.path))
    of_dirs = _other_bytes(dirs.total_bytes, dirs.usable_bytes, own=by_dir(own[is_told]), held=by_dir(held[is_told]))
    of_dirs[np.isin(dirs.broker_id, holder[~is_told])] = np.nan  # nobody knows in which of them the others are
    return replace(
        snapshot, brokers=replace(brokers, other_bytes=of_brokers), log_dirs=replace(dirs, other_bytes=of_dirs)
    )


def _other_bytes(capacity: Floats, free: Floats, *, own: Floats | Ints, held: Floats | Ints) -> Floats:
    in_use = capacity - free
    other = np.fmax(own, in_use) - held
    none = np.where(np.isfinite(in_use), 0.0, np.nan)
    return np.where(other >= _TOLD_APART_RATIO * capacity, other, none)
