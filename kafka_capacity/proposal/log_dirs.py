"""The log directories that a target has: those of today, and on new brokers those that such a broker would have.

A broker that replaces another has that one's directories; any other new broker has those of the broker whose disks are
the median ones. Where a broker's disk is said to be larger or smaller than its directories together, they all are so in
proportion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import LogDirs, Snapshot
from kafka_capacity.kafka.placement.problem import LogDirRoom
from kafka_capacity.kafka.reassignment.kafka_json import has_several, named_log_dirs

if TYPE_CHECKING:
    from kafka_capacity.proposal.scenario import PlacementResult


def fullest_dir_ratio(snapshot: Snapshot) -> float:
    """Return the largest share of what some broker holds that is in one of its directories; 1 where it is not known."""
    dirs, is_held = snapshot.log_dirs, snapshot.replicas >= 0
    if not len(dirs.path) or (snapshot.log_dir[is_held] < 0).any():
        return 1.0
    place = dirs.volumes[snapshot.log_dir[is_held]]
    held = np.bincount(place, weights=snapshot.size_bytes[is_held], minlength=len(dirs.path))
    _, owner = np.unique(dirs.broker_id, return_inverse=True)
    of_broker = np.bincount(owner, weights=held)[owner]
    return float(np.divide(held, of_broker, out=np.zeros_like(held), where=of_broker > 0).max()) or 1.0


def log_dir_facts(dirs: LogDirs) -> dict[str, int]:
    """Count the brokers with several directories, and those of them where the size of one is not known."""
    several = np.unique(dirs.broker_id[has_several(dirs, dirs.broker_id)])
    unsized = np.unique(dirs.broker_id[~np.isfinite(dirs.total_bytes)])
    return {
        "brokers_with_several_log_dirs": len(several),
        "brokers_with_unsized_log_dirs": int(np.isin(several, unsized).sum()),
    }


def target_log_dirs(snapshot: Snapshot, target: Brokers, replaced: Mapping[int, int]) -> LogDirs:
    """Return the directories of the observed brokers, at their old positions, then those of new ones."""
    observed, own = snapshot.brokers, snapshot.log_dirs
    old_id = {new: old for old, new in replaced.items()}
    usual = _median_broker(own)
    owner, path, total = own.broker_id.tolist(), list(own.path), own.total_bytes.copy()
    volume = own.volumes
    for at, broker in enumerate(target.ids.tolist()):
        wanted = float(target.disk_capacity_bytes[at])
        if broker in observed.ids:
            places = np.flatnonzero(own.broker_id == broker)
            seen = float(observed.disk_capacity_bytes[np.searchsorted(observed.ids, broker)])
            if np.isfinite(wanted) and wanted != seen:
                total[places] *= _growth(total[places], wanted)
            continue
        like = old_id.get(broker, usual)
        places = np.flatnonzero(own.broker_id == like) if like is not None else np.empty(0, dtype=np.intp)
        volume = np.concatenate([volume, volume[places] + len(owner) - places[:1]])
        owner += [broker] * len(places)
        path += [own.path[place] for place in places.tolist()]
        total = np.concatenate([total, own.total_bytes[places] * _growth(own.total_bytes[places], wanted)])
    added = np.full(len(owner) - len(own.path), np.nan)
    other = np.full(len(own.path), np.nan) if own.other_bytes is None else own.other_bytes
    return LogDirs(
        broker_id=np.array(owner, dtype=np.int32),
        path=tuple(path),
        total_bytes=total,
        usable_bytes=np.concatenate([own.usable_bytes, added]),
        is_cordoned=np.concatenate([~own.takes_replicas, np.zeros(len(added), dtype=np.bool_)]),
        other_bytes=np.concatenate([other, added]),
        volume=volume,
    )


def _growth(total: Floats, wanted: float) -> float:
    whole = float(total.sum())
    return wanted / whole if np.isfinite(wanted) and np.isfinite(whole) and whole > 0 else 1.0


def _median_broker(dirs: LogDirs) -> int | None:
    """Name the broker whose directories together are the median, the lower of two; ``None`` for no known sizes."""
    sums = {int(b): float(dirs.total_bytes[dirs.broker_id == b].sum()) for b in np.unique(dirs.broker_id)}
    known = sorted((total, broker) for broker, total in sums.items() if np.isfinite(total))
    return known[(len(known) - 1) // 2][1] if known else None


def log_dir_room(snapshot: Snapshot, dirs: LogDirs, target: Brokers, disk_limit_ratio: float) -> LogDirRoom | None:
    """Describe what each directory may hold; ``None`` where no broker of the target has several that are known.

    A broker with one directory is judged by its disk alone.
    """
    is_one_of_several = has_several(dirs, dirs.broker_id)
    if not (is_one_of_several & np.isin(dirs.broker_id, target.ids)).any():
        return None
    room = dirs.replica_room_bytes(disk_limit_ratio)
    limit = np.where(is_one_of_several & np.isfinite(room), room, np.inf)
    return LogDirRoom(
        broker_id=dirs.broker_id, limit_bytes=limit, before=snapshot.log_dir, takes_replicas=dirs.takes_replicas
    )


def held_today(snapshot: Snapshot, dirs: LogDirs, replaced: Mapping[int, int]) -> Floats:
    """Return what each directory holds today, those of new brokers what those hold that they replace: float64[D].

    Directories are as :func:`target_log_dirs` lists them; ``replaced`` are new ids by old ones.
    """
    rows, columns = np.nonzero((snapshot.replicas >= 0) & (snapshot.log_dir >= 0))
    size = snapshot.partition_size_bytes()[rows]
    held = np.bincount(snapshot.log_dir[rows, columns], weights=size, minlength=len(dirs.path)).astype(np.float64)
    for old, new in replaced.items():
        held[dirs.broker_id == new] = held[dirs.broker_id == old]
    return held


def joining_dirs(result: PlacementResult, snapshot: Snapshot) -> tuple[Int32s, Int32s, tuple[str, ...]]:
    """Name the directories of replicas that join brokers with several: before, after, and the paths they stand for.

    They are int32 like ``diff.before`` (where replicas that leave come back to) and ``diff.after``, -1 where the broker
    may choose.
    """
    diff, dirs = result.diff, result.log_dirs
    assert diff is not None and dirs is not None  # noqa: S101, PT018 - for the type checker
    if result.log_dir_after is None:
        return np.full_like(diff.before, -1), np.full_like(diff.after, -1), dirs.path
    before = named_log_dirs(diff.before, result.start(snapshot).log_dir, diff.after, dirs)
    return before, named_log_dirs(diff.after, result.log_dir_after, diff.before, dirs), dirs.path
