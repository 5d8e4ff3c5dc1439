"""A cluster without some of its topics and readers: what would be left to carry."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.workload import Lags, Traffic, Workload
from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Removal:
    """What is taken out of a cluster; nothing, where nothing is said."""

    topics: tuple[int, ...] = ()  # that are gone, positions in `Partitions.topics`
    groups: frozenset[str] = frozenset()  # consumer groups that are gone
    row: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # int64[N], what they read
    read_ratio: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))  # float64[N], what is left of it

    def kept(self, partitions: Partitions) -> NDArray[np.bool_]:
        """Return bool[P], which partitions stay."""
        return ~np.isin(partitions.topic, np.array(self.topics, dtype=np.int32))


def without(snapshot: Snapshot, workload: Workload, removal: Removal) -> tuple[Snapshot, Workload]:
    """Return what is left; the names of topics that are gone are kept, with no partitions."""
    keep = removal.kept(snapshot.partitions)
    ratio = np.ones(len(keep))
    ratio[removal.row] = removal.read_ratio
    partitions = Partitions(
        topics=snapshot.partitions.topics,
        topic=snapshot.partitions.topic[keep],
        partition=snapshot.partitions.partition[keep],
    )
    left = dataclasses.replace(
        snapshot,
        partitions=partitions,
        **{name: getattr(snapshot, name)[keep] for name in ("replicas", "in_sync", "size_bytes", "log_dir", "leader")},
        groups=tuple(group for group in snapshot.groups if group.group_id not in removal.groups),
    )
    outlook = dataclasses.replace(workload.outlook, class_of=workload.outlook.class_of[keep])
    rows = ("size_bytes", "retention_seconds", "retention_bytes", "segment_bytes", "is_compacted")
    return left, dataclasses.replace(
        workload,
        partitions=partitions,
        load=_load_without(workload.load, keep, ratio[keep]),
        traffic=Traffic(
            bytes_in=workload.traffic.bytes_in[keep],
            bytes_out=workload.traffic.bytes_out[keep] * ratio[keep, None].astype(np.float32),
            basis=workload.traffic.basis,
        ),
        **{name: getattr(workload, name)[keep] for name in rows},
        lags=_lags_without(workload.lags, keep, removal.groups),
        outlook=outlook,
    )


def _load_without(load: PartitionLoad, keep: NDArray[np.bool_], ratio: NDArray[np.float64]) -> PartitionLoad:
    return PartitionLoad(
        bytes_in_mean_bytes_per_second=load.bytes_in_mean_bytes_per_second[keep],
        bytes_in_peak_bytes_per_second=load.bytes_in_peak_bytes_per_second[keep],
        bytes_out_mean_bytes_per_second=load.bytes_out_mean_bytes_per_second[keep] * ratio,
        bytes_out_peak_bytes_per_second=load.bytes_out_peak_bytes_per_second[keep] * ratio,
        hours=load.hours,
    )


def _lags_without(lags: Lags, keep: NDArray[np.bool_], groups: frozenset[str]) -> Lags:
    is_gone = np.array([name in groups for name in lags.groups], dtype=np.bool_)
    stays = keep[lags.row]
    if len(is_gone):
        stays &= ~is_gone[lags.group]
    new_row = np.cumsum(keep) - 1
    return Lags(
        groups=lags.groups,
        group=lags.group[stays],
        row=new_row[lags.row[stays]].astype(np.int64),
        seconds=lags.seconds[stays],
    )
