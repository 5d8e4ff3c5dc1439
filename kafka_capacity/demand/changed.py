"""A cluster as it would be if somebody changed something of its topics, today: what partitions then hold and carry.

* What is removed is gone, with its traffic. A group that is gone reads nothing, and no other lags for it.
* Records that brokers keep for a shorter time are deleted at once, whole segments only, so that each partition may hold
  one segment more than its retention says. Logs whose reach is not known, and compacted ones, keep what they hold.
* A smaller replication factor takes the last followers of each list away.
* Compression at the producers makes what is written, copied and read smaller from today on. What is stored stays as it
  is until its retention ends; it is taken to be evenly old. A log that has no limit of time, or one of bytes, gets no
  smaller.
* Compaction leaves the newest record of each key. The cleaner waits until as much was written again as it left
  (``min.cleanable.dirty.ratio`` 0.5, Kafka's default), and never cleans the segment that is written to: a partition
  holds up to twice what is left and one segment, and never more than without. What is tiered is not compacted.
* A topic that is made again with fewer partitions, of which today's number is a multiple: the first of n takes what the
  first, the one n places on, and so on took. So it is with keys, which go by their hash modulo that number; records
  without one are spread evenly over either.
* What is produced or read above a quota waits, and goes through as soon as there is room ([quota.py](quota.py)).
* A broker that one in another rack takes the place of holds what it held.
* A tiered topic (KIP-405) is sent to the object store once, by its leaders, beside what consumers read. There it is
  stored once, for as long as its whole retention, which may be cut as well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.disk import date_seconds, partition_sizes, reach_today
from kafka_capacity.demand.profile import PEAK_QUANTILE
from kafka_capacity.demand.quota import throttled
from kafka_capacity.demand.workload import Lags, Workload
from kafka_capacity.kafka.arrays import Flags, Float32s, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.columns import change_columns
from kafka_capacity.kafka.cluster.snapshot import Snapshot

MIN_CLEANABLE_DIRTY_RATIO = 0.5  # Kafka's default (``LogConfig``, 4.3.1): with less that is new, no log is cleaned

_EITHER = ("is_removed", "is_tiered", "gone_groups", "is_volume_shrunk", "is_read_in_rack", "is_produced_in_rack")
"""Fields of a change of which two together are what either of them is; of the other arrays it is the smaller one."""
_LISTS = ("shapes", "racks")
"""Fields of which two together are one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusterChange:
    """What becomes different; every array has an entry a partition, in the order of ``Snapshot.partitions``."""

    is_removed: Flags  # bool[P]
    kept_seconds: Floats  # float64[P], records are kept so long at most; infinite for as today
    local_seconds: Floats  # float64[P], likewise on brokers, of what is tiered
    max_replicas: Int32s  # int32[P]
    written_ratio: Floats  # float64[P], what is written and read over today's
    is_tiered: Flags  # bool[P]
    compacted_ratio: Floats  # float64[P], what compaction leaves over what is there; 1 for none
    read_ratio: Floats  # float64[P], what is read over today's, apart from what is written
    merged_into: Ints  # int64[P], the place of what each becomes part of; its own where it stays
    in_quota: Floats  # float64[P], bytes per second that may be produced to it; infinite for any
    out_quota: Floats  # float64[P], likewise that consumers may read of it
    gone_groups: frozenset[str] = frozenset()  # consumer groups that are gone; `read_ratio` has what they read
    is_volume_shrunk: bool = False  # whether smaller volumes may take the place of today's
    is_read_in_rack: bool = False  # whether consumers read from followers in their rack, if they did not
    is_produced_in_rack: bool = False  # whether producers choose partitions led in their rack (KIP-1123)
    shapes: tuple[str, ...] = ()  # of the catalogue, to try besides those that sizing tries anyway
    racks: tuple[tuple[int, str], ...] = ()  # of brokers that others in another rack take the place of: that rack

    @classmethod
    def nothing(cls, partitions: int) -> ClusterChange:
        """Return the change that changes nothing."""
        return cls(
            is_removed=np.zeros(partitions, dtype=np.bool_),
            kept_seconds=np.full(partitions, np.inf),
            local_seconds=np.full(partitions, np.inf),
            max_replicas=np.full(partitions, np.iinfo(np.int32).max, dtype=np.int32),
            written_ratio=np.ones(partitions),
            is_tiered=np.zeros(partitions, dtype=np.bool_),
            compacted_ratio=np.ones(partitions),
            read_ratio=np.ones(partitions),
            merged_into=np.arange(partitions),
            in_quota=np.full(partitions, np.inf),
            out_quota=np.full(partitions, np.inf),
        )


def all_of(changes: Sequence[ClusterChange], partitions: int) -> ClusterChange:
    """Return several changes together; of two for the same partition the one that goes further."""
    found = ClusterChange.nothing(partitions)
    for one in changes:
        joined: dict[str, Any] = {}
        for name in (field.name for field in dataclasses.fields(one)):
            before, more = getattr(found, name), getattr(one, name)
            if name in _LISTS:
                joined[name] = tuple(dict.fromkeys((*before, *more)))
            else:
                joined[name] = before | more if name in _EITHER else np.minimum(before, more)
        found = ClusterChange(**joined)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangedCluster:
    """A cluster after a change."""

    snapshot: Snapshot
    workload: Workload
    sizes: Floats  # float64[P, 2, D], as `partition_sizes` gives them
    remote_bytes: Floats  # float64[2, D], what the object store holds, by estimate and date


def changed_cluster(snapshot: Snapshot, workload: Workload, sizes: Floats, change: ClusterChange) -> ChangedCluster:
    """Apply a change; ``sizes`` is float64[P, 2, D], what partitions hold without it."""
    whole = sizes * _stored_ratio(change.written_ratio, _old_ratio(workload))
    remote = np.zeros(sizes.shape[1:])
    if change.is_tiered.any():
        remote = _cut(workload, sizes, change.written_ratio, change.kept_seconds)[1][change.is_tiered].sum(axis=0)
    if workload.is_tiered.any():
        stored = _in_store(workload)
        held_there = _cut(stored, partition_sizes(stored), change.written_ratio, change.kept_seconds)[1]
        remote = remote + held_there[workload.is_tiered & ~change.is_removed].sum(axis=0)
    cut, sizes = _cut(workload, sizes, change.written_ratio, np.minimum(change.kept_seconds, change.local_seconds))
    held = cut.size_bytes.astype(np.float64)
    # What has gone by its age was not all that compaction deletes: the smaller of the two is held at most.
    left = np.where(workload.is_tiered | change.is_tiered, 1.0, change.compacted_ratio)
    held = np.minimum(held, compacted_today(workload, left))
    sizes = np.minimum(sizes, _compacted(workload, whole, left))
    cut = dataclasses.replace(cut, size_bytes=held.astype(np.int64))
    ratio = np.divide(held, workload.size_bytes, out=np.ones(len(held)), where=workload.size_bytes > 0)
    rows = np.flatnonzero(~change.is_removed)
    changed = ChangedCluster(
        snapshot=_snapshot_of(snapshot, rows, ratio, change),
        workload=_workload_of(cut, rows, change),
        sizes=sizes[rows],
        remote_bytes=remote,
    )
    into = np.searchsorted(rows, change.merged_into[rows])
    return changed if (into == np.arange(len(rows))).all() else _merged(changed, into)


def _in_store(workload: Workload) -> Workload:
    """Return the logs that the object store holds: as long as their topics say, less the time uploads are held back."""
    whole, rate = workload.limits.whole_retention_seconds, workload.load.bytes_in_mean_bytes_per_second
    reach = np.divide(workload.remote_size_bytes, rate, out=whole.copy(), where=np.isfinite(whole) & (rate > 0))
    kept = np.minimum(whole, reach)
    limits = dataclasses.replace(workload.limits, retention_seconds=kept)
    return dataclasses.replace(workload, size_bytes=workload.remote_size_bytes.astype(np.int64), limits=limits)


def _cut(workload: Workload, sizes: Floats, written: Floats, kept_seconds: Floats) -> tuple[Workload, Floats]:
    """Return what is kept so long at most: the partitions today, and float64[P, 2, D], their sizes by date."""
    if np.isfinite(kept_seconds).any():
        kept = np.minimum(workload.limits.retention_seconds, kept_seconds)
        limits = dataclasses.replace(workload.limits, retention_seconds=kept)
        held = kept_today(workload, kept_seconds).astype(np.int64)
        workload = dataclasses.replace(workload, size_bytes=held, limits=limits)
        sizes = partition_sizes(workload)
    return workload, sizes * _stored_ratio(written, _old_ratio(workload))


def _merged(cluster: ChangedCluster, into: Ints) -> ChangedCluster:
    """Add up what becomes one partition; it is where the first of them is, and of no other size than they together."""
    snapshot, workload = cluster.snapshot, cluster.workload
    rows = np.unique(into)
    order = np.argsort(into, kind="stable")
    first = np.searchsorted(into[order], rows)

    def added(values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.add.reduceat(values[order], first, axis=0), dtype=values.dtype)

    lags = workload.lags
    pairs, place = np.unique(np.stack([lags.group, into[lags.row]]), axis=1, return_inverse=True)
    behind = np.zeros(pairs.shape[1])
    np.maximum.at(behind, place.reshape(-1), lags.seconds)
    partitions = _partitions_of(workload.partitions, rows)
    return ChangedCluster(
        snapshot=dataclasses.replace(
            snapshot,
            partitions=partitions,
            replicas=snapshot.replicas[rows],
            in_sync=snapshot.in_sync[rows],
            size_bytes=added(snapshot.size_bytes),
            log_dir=snapshot.log_dir[rows],
            leader=snapshot.leader[rows],
        ),
        workload=dataclasses.replace(
            workload,
            partitions=partitions,
            load=change_columns(workload.load, added),
            traffic=change_columns(workload.traffic, added),
            size_bytes=added(workload.size_bytes),
            limits=change_columns(workload.limits, lambda column: column[rows]),
            is_tiered=workload.is_tiered[rows],
            remote_size_bytes=added(workload.remote_size_bytes),
            lags=Lags(
                groups=lags.groups, group=pairs[0].astype(np.int32), row=np.searchsorted(rows, pairs[1]), seconds=behind
            ),
            outlook=dataclasses.replace(workload.outlook, class_of=workload.outlook.class_of[rows]),
        ),
        sizes=added(cluster.sizes),
        remote_bytes=cluster.remote_bytes,
    )


def kept_today(workload: Workload, kept_seconds: Floats) -> Floats:
    """Return float64[P], what one replica holds once records are kept so long at most."""
    size = workload.size_bytes.astype(np.float64)
    reach = reach_today(workload)
    is_cut = np.isfinite(reach) & (kept_seconds < reach) & ~workload.limits.is_compacted
    share = np.divide(kept_seconds, reach, out=np.ones(len(size)), where=is_cut & (reach > 0))
    return np.where(is_cut, np.minimum(size, size * share + workload.limits.segment_bytes), size)


def compacted_today(workload: Workload, ratio: Floats) -> Floats:
    """Return float64[P], what one replica holds at most where compaction leaves so much of it."""
    size = workload.size_bytes.astype(np.float64)
    return np.minimum(size, _compacted(workload, size, ratio))


def _compacted(workload: Workload, size: Floats, ratio: Floats) -> Floats:
    """Return what logs of a size, by partition along the first axis, hold at most; infinite where not compacted."""
    along = (-1, *(1,) * (size.ndim - 1))
    held = size * (ratio / (1.0 - MIN_CLEANABLE_DIRTY_RATIO)).reshape(along)
    held = held + workload.limits.segment_bytes.reshape(along)
    return np.where((ratio < 1.0).reshape(along), held, np.inf)


def _old_ratio(workload: Workload) -> Floats:
    """Return float64[P, D], how much of what is stored at each date was written before today."""
    limit = np.where(np.isfinite(workload.limits.retention_bytes), np.inf, workload.limits.age_seconds())
    age = date_seconds(workload.outlook.dates)
    return np.asarray(1.0 - np.minimum(age / np.maximum(limit, 1.0)[:, None], 1.0), dtype=np.float64)


def _stored_ratio(written_ratio: Floats, old: Floats) -> Floats:
    """Return float64[P, 1, D], what is stored over what it would be without compression."""
    ratio = written_ratio[:, None]
    return np.asarray((ratio + (1.0 - ratio) * old)[:, None, :], dtype=np.float64)


def _snapshot_of(snapshot: Snapshot, rows: Ints, size_ratio: Floats, change: ClusterChange) -> Snapshot:
    places = np.unique(snapshot.partitions.topic[rows])
    width = np.arange(snapshot.replicas.shape[1])
    stays = (snapshot.replicas[rows] >= 0) & (width < change.max_replicas[rows, None])
    replicas = np.where(stays, snapshot.replicas[rows], -1).astype(np.int32)
    leader = snapshot.leader[rows]
    is_led = (replicas == leader[:, None]).any(axis=1) | (leader < 0) | (not len(width))
    return dataclasses.replace(
        snapshot,
        brokers=snapshot.brokers.with_racks(dict(change.racks)),
        partitions=_partitions_of(snapshot.partitions, rows),
        topics=change_columns(snapshot.topics, lambda column: column[places]),
        replicas=replicas,
        in_sync=snapshot.in_sync[rows] & stays,
        size_bytes=np.where(stays, snapshot.size_bytes[rows] * size_ratio[rows, None], 0).astype(np.int64),
        log_dir=np.where(stays, snapshot.log_dir[rows], -1).astype(np.int32),
        leader=leader if is_led.all() else np.where(is_led, leader, replicas[:, 0]).astype(np.int32),
        groups=tuple(group for group in snapshot.groups if group.group_id not in change.gone_groups),
    )


def _partitions_of(partitions: Partitions, rows: Ints) -> Partitions:
    places, topic = np.unique(partitions.topic[rows], return_inverse=True)
    return Partitions(
        topics=tuple(partitions.topics[place] for place in places.tolist()),
        topic=topic.astype(np.int32),
        partition=partitions.partition[rows],
    )


def _workload_of(workload: Workload, rows: Ints, change: ClusterChange) -> Workload:
    written = change.written_ratio[rows]
    read = written * change.read_ratio[rows]
    load, traffic, lags = workload.load, workload.traffic, workload.lags
    place = np.full(len(workload.partitions), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    is_gone = np.array([name in change.gone_groups for name in lags.groups], dtype=np.bool_)
    is_there = (place[lags.row] >= 0) & ~is_gone[lags.group]
    coming, in_peak = _under_quota(_part(traffic.bytes_in, rows, written), change.in_quota[rows])
    going, out_peak = _under_quota(_part(workload.read_hours(), rows, read), change.out_quota[rows])
    is_sent = (workload.is_tiered | change.is_tiered)[rows]
    if is_sent.any():
        going = going + coming * is_sent[:, None].astype(np.float32)
    rates = {
        one.name: getattr(load, one.name)[rows] * (read if one.name.startswith("bytes_out") else written)
        for one in dataclasses.fields(load)
        if one.name != "hours"
    }
    for name, most in (("bytes_in", in_peak), ("bytes_out", out_peak)):
        peak = f"{name}_peak_bytes_per_second"
        rates[peak] = np.minimum(rates[peak], most)
    return dataclasses.replace(
        workload,
        partitions=_partitions_of(workload.partitions, rows),
        load=dataclasses.replace(load, **rates),
        traffic=dataclasses.replace(traffic, bytes_in=coming, bytes_out=going),
        size_bytes=workload.size_bytes[rows],
        limits=change_columns(workload.limits, lambda column: column[rows]),
        is_tiered=workload.is_tiered[rows],
        remote_size_bytes=workload.remote_size_bytes[rows],
        lags=dataclasses.replace(lags.part(is_there), row=place[lags.row][is_there]),
        outlook=dataclasses.replace(workload.outlook, class_of=workload.outlook.class_of[rows]),
    )


def _part(rates: Float32s, rows: Ints, ratio: Floats) -> Float32s:
    """Return the hours of some partitions; the same array where nothing changes, which is large."""
    if len(rows) < len(rates):
        rates = rates[rows]
    return rates if (ratio == 1.0).all() else np.asarray(rates * ratio[:, None].astype(np.float32), dtype=np.float32)


def _under_quota(rates: Float32s, quota: Floats) -> tuple[Float32s, Floats]:
    """Return the hours of partitions under quotas, and float64[P], their peaks then; infinite where there is none."""
    peak = np.full(len(rates), np.inf)
    rows = np.flatnonzero(np.isfinite(quota))
    if len(rows):
        passed = throttled(rates[rows], quota[rows]).passed
        rates = rates.copy()
        rates[rows] = passed
        peak[rows] = np.quantile(passed, PEAK_QUANTILE, axis=1)
    return rates, peak
