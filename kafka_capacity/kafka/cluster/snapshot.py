"""The inventory of a cluster at one moment, as arrays."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Floats, Indices, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KafkaRelease


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogDirs:
    """The log directories of the brokers, one entry a directory."""

    broker_id: Int32s  # int32[D]
    path: tuple[str, ...]  # the directory as the broker names it
    total_bytes: Floats  # float64[D], size of the volume, or of its part of a shared one, NaN where it is not known
    usable_bytes: Floats  # float64[D], what is free on it, NaN where it is not known
    # bool[D], whether it keeps what it holds and takes nothing new (KIP-1066); `None` for none of them
    is_cordoned: Flags | None = None
    is_failed: Flags | None = None  # bool[D], whether it is offline: nothing can go there; `None` for none of them
    # float64[D], what is in use on it beside its replicas, as for brokers; `None` where that is not known
    other_bytes: Floats | None = None
    # intp[D], the position of the first of the same broker that is on the same volume; `None` where each has its own
    volume: Indices | None = None

    @property
    def volumes(self) -> Indices:
        """Return the same as :attr:`volume`, of directories that share none as well."""
        return np.arange(len(self.path)) if self.volume is None else self.volume

    @property
    def is_first_of_volume(self) -> Flags:
        """Return bool[D], which directories are on a volume that none before them is on."""
        return np.asarray(self.volumes == np.arange(len(self.path)), dtype=np.bool_)

    @property
    def takes_replicas(self) -> Flags:
        """Return bool[D], which directories a new replica may go to."""
        takes = np.ones(len(self.path), dtype=np.bool_)
        for closed in (self.is_cordoned, self.is_failed):
            takes = takes if closed is None else takes & ~closed
        return takes

    def replica_room_bytes(self, limit_ratio: float) -> Floats:
        """Return how much replicas may fill of volumes that may be so full: float64[D], NaN where one is not known."""
        return np.maximum(self.total_bytes * limit_ratio - self.known_other_bytes, 0.0)

    @property
    def known_other_bytes(self) -> Floats:
        """Return the same as :attr:`other_bytes`, 0 where it is not known."""
        return np.zeros(len(self.path)) if self.other_bytes is None else np.nan_to_num(self.other_bytes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Topics:
    """What is set for each topic, in the order of ``Partitions.topics``."""

    min_insync_replicas: Int32s  # int32[T]
    is_min_isr_assumed: Flags  # bool[T], whether that is Kafka's default because it is not known
    is_internal: Flags  # bool[T]; internal topics are planned like any other, and flagged
    retention_bytes: Floats  # float64[T], per partition, NaN for no limit or not known
    retention_seconds: Floats  # float64[T], NaN for no limit
    is_compacted: Flags  # bool[T]
    allows_unclean_election: Flags  # bool[T]
    is_unclean_assumed: Flags  # bool[T], whether it is not because nobody knows, and that is Kafka's default


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of a consumer group and what it is assigned."""

    member_id: str
    client_id: str
    instance_id: str | None
    rack: str | None
    subscribed: tuple[str, ...]
    assigned: tuple[tuple[str, int], ...]
    process_id: str | None = None  # the JVM of a member of a streams group, which may have several
    standby: tuple[tuple[str, int], ...] = ()  # the tasks of which it has a standby, (subtopology, partition)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtopology:
    """A part of a streams application that runs as one: a task for each partition of the topics that it reads."""

    name: str
    topics: tuple[str, ...]  # that it reads
    changelogs: tuple[str, ...]  # where the changes of its state are; none where it keeps no state


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLag:
    """How far one group is behind on one partition."""

    topic: str
    partition: int
    committed_offset: int
    lag_records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One consumer group at the moment of the snapshot."""

    group_id: str  # its name
    state: str  # as Kafka calls it, empty where it is not known
    group_type: str  # `classic`, `consumer` (KIP-848), `share`, `streams`; empty where it is not known
    # what kind of members a classic group has: `consumer`, `connect`, … Empty where it is not known, and where nobody
    # was ever a member
    protocol_type: str
    assignor: str | None  # by which its members share partitions, `None` where that is not known
    members: tuple[Member, ...]  # by member id
    lags: tuple[PartitionLag, ...]  # by topic and partition
    subtopologies: tuple[Subtopology, ...] = ()  # of a streams group, by name; empty where they are not known
    num_standby_replicas: int | None = None  # of each stateful task of a streams group, `None` where it is not known

    @property
    def is_stable(self) -> bool:
        """Whether it does not rebalance, as far as that is known."""
        return self.state in ("", "Stable")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Snapshot:
    """The inventory of one cluster at one moment."""

    cluster: str  # the name the user gave it
    ds: str  # the day it stands for, `YYYY-MM-DD` (UTC)
    brokers: Brokers  # the observed brokers
    log_dirs: LogDirs  # their log directories
    partitions: Partitions  # which partitions there are
    topics: Topics  # what is set for each topic
    replicas: Int32s  # int32[P, W], broker ids, the preferred leader first, padded with -1
    in_sync: Flags  # bool[P, W], whether the replica is in the ISR
    size_bytes: Ints  # int64[P, W], on-disk size of each replica, 0 in the padding
    log_dir: Int32s  # int32[P, W], position in `log_dirs`, -1 where it is not known
    leader: Int32s  # int32[P], the broker that leads now, -1 where none does
    groups: tuple[Group, ...] = field(default=())  # the consumer groups
    release: KafkaRelease = KAFKA_4_3  # that the brokers run, where that is known
    unknown_size_partitions: int = 0  # of how many partitions no replica tells its size; they count 0 bytes

    def partition_size_bytes(self) -> Ints:
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
    """The traffic of each partition, in the order of ``Snapshot.partitions``."""

    bytes_in_mean_bytes_per_second: Floats  # float64[P], produced to the leader, mean over the history
    bytes_in_peak_bytes_per_second: Floats  # float64[P], the 99th percentile of the hourly means
    bytes_out_mean_bytes_per_second: Floats  # float64[P], read by consumers, replication not counted
    bytes_out_peak_bytes_per_second: Floats  # float64[P], the 99th percentile of the hourly means
    hours: int  # how many hours of history these rest on; 0 when there was none and all rates are 0

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


OFFSETS_TOPIC = "__consumer_offsets"

# By default they have three replicas, two of which must be in sync (`offsets.topic.*`, `transaction.state.log.*`,
# `share.coordinator.state.topic.*`).
INTERNAL_TOPICS = {
    OFFSETS_TOPIC: "where groups commit their offsets",
    "__transaction_state": "where transactions are kept",
    "__share_group_state": "where share groups are kept",
}

REPARTITION = "-repartition"  # how names of topics end through which Kafka Streams sends records to other tasks
STREAMS_TOPICS = ("-changelog", REPARTITION)  # how those end that it makes, fills and empties itself

COMPACTED_TOPICS = frozenset({OFFSETS_TOPIC, "__transaction_state"})  # of these, those that Kafka makes so
USUAL_FACTOR = 3
USUAL_MIN_ISR = 2


def usual_factor(broker_count: int) -> int:
    """Return how many replicas a partition usually has on so many brokers, none on a broker twice.

    >>> usual_factor(12), usual_factor(2)
    (3, 2)
    """
    return min(USUAL_FACTOR, broker_count)


def made_up_topic_id(name: str) -> str:
    """Return the id that stands for a topic whose id is not known: 22 characters of base64url, the same for a name.

    >>> made_up_topic_id("orders")
    'HBaK2wDSCOQvkzFFKfH6nA'
    """
    return base64.urlsafe_b64encode(hashlib.sha256(name.encode()).digest()[:16]).decode().rstrip("=")
