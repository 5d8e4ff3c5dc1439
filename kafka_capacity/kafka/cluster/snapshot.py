"""The inventory of a cluster at one moment, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogDirs:
    """The log directories of the brokers, one entry a directory.

    Attributes:
        broker_id: int32[D].
        path: the directory as the broker names it.
        total_bytes: float64[D], size of the volume, NaN where it is not known.
        usable_bytes: float64[D], what is free on it, NaN where it is not known.
    """

    broker_id: NDArray[np.int32]
    path: tuple[str, ...]
    total_bytes: NDArray[np.float64]
    usable_bytes: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Topics:
    """What is set for each topic, in the order of ``Partitions.topics``.

    Attributes:
        min_insync_replicas: int32[T].
        is_internal: bool[T]; internal topics are planned like any other, and flagged.
        retention_bytes: float64[T], per partition, NaN for no limit or not known.
        retention_seconds: float64[T], NaN for no limit or not known.
        is_compacted: bool[T].
        allows_unclean_election: bool[T].
    """

    min_insync_replicas: NDArray[np.int32]
    is_internal: NDArray[np.bool_]
    retention_bytes: NDArray[np.float64]
    retention_seconds: NDArray[np.float64]
    is_compacted: NDArray[np.bool_]
    allows_unclean_election: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of a consumer group and what it is assigned."""

    member_id: str
    client_id: str
    host: str
    instance_id: str | None
    rack: str | None
    subscribed: tuple[str, ...]
    assigned: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLag:
    """How far one group is behind on one partition."""

    topic: str
    partition: int
    committed_offset: int
    lag_records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One consumer group at the moment of the snapshot.

    Attributes:
        group_id: its name.
        state: as Kafka calls it, empty where it is not known.
        group_type: ``classic``, ``consumer`` (KIP-848), ``share``, ``streams``; empty where it is not known.
        protocol_type: what kind of members a classic group has: ``consumer``, ``connect``, … Empty where it is not
            known, and where nobody was ever a member.
        assignor: by which its members share partitions, ``None`` where that is not known.
        members: by member id.
        lags: by topic and partition.
    """

    group_id: str
    state: str
    group_type: str
    protocol_type: str
    assignor: str | None
    members: tuple[Member, ...]
    lags: tuple[PartitionLag, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Snapshot:
    """The inventory of one cluster at one moment.

    Attributes:
        cluster: the name the user gave it.
        ds: the day it stands for, ``YYYY-MM-DD`` (UTC).
        brokers: the observed brokers.
        log_dirs: their log directories.
        partitions: which partitions there are.
        topics: what is set for each topic.
        replicas: int32[P, W], broker ids, the preferred leader first, padded with -1.
        in_sync: bool[P, W], whether the replica is in the ISR.
        size_bytes: int64[P, W], on-disk size of each replica, 0 in the padding.
        log_dir: int32[P, W], position in :attr:`log_dirs`, -1 where it is not known.
        leader: int32[P], the broker that leads now, -1 where none does.
        groups: the consumer groups.
        unknown_size_partitions: of how many partitions no replica tells its size; they count 0 bytes.
    """

    cluster: str
    ds: str
    brokers: Brokers
    log_dirs: LogDirs
    partitions: Partitions
    topics: Topics
    replicas: NDArray[np.int32]
    in_sync: NDArray[np.bool_]
    size_bytes: NDArray[np.int64]
    log_dir: NDArray[np.int32]
    leader: NDArray[np.int32]
    groups: tuple[Group, ...] = field(default=())
    unknown_size_partitions: int = 0

    def partition_size_bytes(self) -> NDArray[np.int64]:
        """Return int64[P], what a new replica must copy: the size on the leader.

        A partition without a leader, or whose leader does not tell its size, counts its largest replica.
        """
        if not self.size_bytes.shape[1]:
            return np.zeros(len(self.partitions), dtype=np.int64)
        is_leader = (self.replicas == self.leader[:, None]) & (self.replicas >= 0)
        on_leader = np.where(is_leader, self.size_bytes, 0).sum(axis=1)
        return np.asarray(np.where(on_leader > 0, on_leader, self.size_bytes.max(axis=1)), dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionLoad:
    """The traffic of each partition, in the order of ``Snapshot.partitions``.

    Attributes:
        bytes_in_mean_bytes_per_second: float64[P], produced to the leader, mean over the history.
        bytes_in_peak_bytes_per_second: float64[P], the 99th percentile of the hourly means.
        bytes_out_mean_bytes_per_second: float64[P], read by consumers, replication not counted.
        bytes_out_peak_bytes_per_second: float64[P], the 99th percentile of the hourly means.
        hours: how many hours of history these rest on; 0 when there was none and all rates are 0.
    """

    bytes_in_mean_bytes_per_second: NDArray[np.float64]
    bytes_in_peak_bytes_per_second: NDArray[np.float64]
    bytes_out_mean_bytes_per_second: NDArray[np.float64]
    bytes_out_peak_bytes_per_second: NDArray[np.float64]
    hours: int

    @classmethod
    def unknown(cls, partition_count: int) -> PartitionLoad:
        """Stand in for a cluster without any rate history."""
        zeros = np.zeros(partition_count)
        return cls(
            bytes_in_mean_bytes_per_second=zeros,
            bytes_in_peak_bytes_per_second=zeros,
            bytes_out_mean_bytes_per_second=zeros,
            bytes_out_peak_bytes_per_second=zeros,
            hours=0,
        )
