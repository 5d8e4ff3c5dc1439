"""What is on the volumes that log directories are on: each volume once, and what is in use there beside replicas."""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa

from kafka_capacity.inventory.column_values import floats, values
from kafka_capacity.kafka.arrays import Floats, Indices, Ints
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.reassignment.kafka_json import has_several

OTHER_DATA_RATIO = 0.1
"""Of what a log dir has in total, what may be in use beside replicas: file systems reserve some, logs have indexes."""
_TOLD_APART_RATIO = 0.01
"""Of a disk: what is less says nothing of other data, as sizes and free space are not read at the same moment."""
_BETWEEN_READS_RATIO = 1e-3  # of a volume: more is not written while a broker reads how much is free of its log dirs
_WITH_DATA_RATIO = 0.06  # of a volume: what is less may be what a file system takes, up to 5 % of an empty one
_ROUND_BYTES = (10**6, 2**20)
"""What brokers tell to the byte is no multiple of these; what was written by hand is."""


def volume_of(log_dirs: pa.Table) -> Indices:
    """Return intp[D], the position of the first log directory of the same broker that is on the same volume as each.

    Two paths share one where a broker that has both tells the same of them to the byte, with data on it, as disks of
    their own never do, and all others tell nearly the same: what is written between the two readings is no difference.
    So brokers with the same paths are taken to be alike, the new and empty among them.
    """
    columns = [floats(log_dirs.column(name)) for name in ("total_bytes", "usable_bytes")]
    is_rounded = np.logical_or.reduce([columns[1] % unit == 0 for unit in _ROUND_BYTES])
    is_evidence = ((columns[0] - columns[1] > _WITH_DATA_RATIO * columns[0]) & ~is_rounded).tolist()
    is_known = np.isfinite(sum(columns)).tolist()
    total, usable = (column.tolist() for column in columns)
    path, of_broker = values(log_dirs.column("path")), defaultdict(list)
    for place, broker in enumerate(values(log_dirs.column("broker_id"))):
        of_broker[broker].append(place)
    pairs = [pair for places in of_broker.values() for pair in itertools.combinations(places, 2)]
    shared, apart = set(), set()
    for one, other in pairs:
        if is_known[one] and is_known[other]:
            if abs(usable[one] - usable[other]) > _BETWEEN_READS_RATIO * total[one] or total[one] != total[other]:
                apart.add(frozenset((path[one], path[other])))
            elif is_evidence[one] and usable[one] == usable[other]:
                shared.add(frozenset((path[one], path[other])))
    found = np.arange(len(path))
    shared -= apart
    for one, other in pairs if shared else ():  # the first of them first
        if frozenset((path[one], path[other])) in shared:
            found[other] = min(found[other], found[one])
    return found


def log_dir_totals(log_dirs: pa.Table) -> dict[int, float]:
    """Return what the volumes of each broker that has log dirs hold at most together; NaN where one does not tell."""
    totals: dict[int, float] = defaultdict(float)
    counted = log_dirs.filter(pa.array(volume_of(log_dirs) == np.arange(len(log_dirs))))
    for broker, total in zip(values(counted.column("broker_id")), floats(counted.column("total_bytes")), strict=True):
        totals[broker] += float(total)
    return totals


def with_other_data(snapshot: Snapshot, log_dirs: pa.Table) -> Snapshot:
    """Return a snapshot whose brokers and log dirs know what is in use beside replicas, and which dirs share a volume.

    In use is what volumes lack of being free, and no less than what replicas hold. Replicas count as they do
    everywhere, at the size on their leaders, so what followers hold more is among the other data. Directories that
    share a volume beside another one of their broker have a part of it each: what they hold, and as much of the rest.
    Where all of a broker's do, the limit of the broker is that of the volume, and theirs are not known.
    """
    brokers, size = snapshot.brokers, snapshot.partition_size_bytes()
    dirs = replace(snapshot.log_dirs, volume=volume_of(log_dirs))
    rows, columns = np.nonzero(snapshot.replicas >= 0)
    holder, place = snapshot.replicas[rows, columns], snapshot.log_dir[rows, columns]
    own, held = snapshot.size_bytes[rows, columns], size[rows]
    is_told, volume, is_first = place >= 0, dirs.volumes, dirs.is_first_of_volume
    by_dir = functools.partial(np.bincount, place[is_told], minlength=len(volume))
    on_volume = functools.partial(np.bincount, volume, minlength=len(volume))
    held_of_dir = by_dir(held[is_told])
    of_volume = _other_bytes(
        dirs.total_bytes, dirs.usable_bytes, own=on_volume(by_dir(own[is_told])), held=on_volume(held_of_dir)
    )
    of_volume[np.isin(dirs.broker_id, holder[~is_told])] = np.nan  # nobody knows in which of them the others are
    free = brokers.sum_at(dirs.broker_id[is_first], dirs.usable_bytes[is_first])
    free[~np.isin(brokers.ids, dirs.broker_id)] = np.nan
    of_broker = _other_bytes(
        brokers.disk_capacity_bytes, free, own=brokers.sum_at(holder, own), held=brokers.sum_at(holder, held)
    )
    # Of a broker of which not all volumes tell, it is what those have that do.
    told = brokers.sum_at(dirs.broker_id[is_first], np.nan_to_num(of_volume[is_first]))
    of_broker = np.where(np.isfinite(free) | (told == 0), of_broker, told)
    sharing = on_volume()[volume]  # how many directories are on the volume of each, itself among them
    part = held_of_dir + (dirs.total_bytes - on_volume(held_of_dir)[volume]) / sharing
    total = np.where(sharing > 1, np.maximum(part, 0.0), dirs.total_bytes)
    total[(sharing > 1) & ~has_several(dirs, dirs.broker_id)] = np.nan
    dirs = replace(dirs, total_bytes=total, other_bytes=of_volume[volume] / sharing)
    return replace(snapshot, brokers=replace(brokers, other_bytes=of_broker), log_dirs=dirs)


def _other_bytes(capacity: Floats, free: Floats, *, own: Floats | Ints, held: Floats | Ints) -> Floats:
    in_use = capacity - free
    other = np.fmax(own, in_use) - held
    none = np.where(np.isfinite(in_use), 0.0, np.nan)
    return np.where(other >= _TOLD_APART_RATIO * capacity, other, none)
