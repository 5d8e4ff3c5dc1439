"""What a placer is told: the partitions, where they are, and the brokers they may go to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers


class RackRule(StrEnum):
    """How far the replicas of one partition must be spread over racks."""

    STRICT = "strict"
    """As many racks as the replication factor and the racks there are allow."""
    TWO_RACKS = "two-racks"
    """At least two racks, where the replication factor and the racks there are allow it."""
    OFF = "off"
    """Racks are not looked at."""


class Balance(StrEnum):
    """What is made even over the brokers."""

    BYTES = "bytes"
    """The bytes on disk."""
    REPLICAS = "replicas"
    """The number of replicas."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrokerLimits:
    """What no broker of the target may pass; float64[B] each, infinite where there is no limit.

    Attributes:
        disk_bytes: replica bytes.
        network_in_bytes_per_second: what is produced to all partitions it holds a replica of.
        network_out_bytes_per_second: what it sends as a leader, to consumers and to followers.
        replica_count: replicas.
        leader_count: partitions whose replica list it heads.
    """

    disk_bytes: NDArray[np.float64]
    network_in_bytes_per_second: NDArray[np.float64]
    network_out_bytes_per_second: NDArray[np.float64]
    replica_count: NDArray[np.float64]
    leader_count: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        brokers: int,
        *,
        disk_bytes: ArrayLike | None = None,
        network_in_bytes_per_second: ArrayLike | None = None,
        network_out_bytes_per_second: ArrayLike | None = None,
        replica_count: ArrayLike | None = None,
        leader_count: ArrayLike | None = None,
    ) -> BrokerLimits:
        """Build from one figure for all or one a broker; ``None`` and NaN mean no limit."""

        def figures(given: ArrayLike | None) -> NDArray[np.float64]:
            values = np.asarray(np.inf if given is None else given, dtype=np.float64)
            return np.broadcast_to(np.where(np.isnan(values), np.inf, values), (brokers,)).copy()

        return cls(
            disk_bytes=figures(disk_bytes),
            network_in_bytes_per_second=figures(network_in_bytes_per_second),
            network_out_bytes_per_second=figures(network_out_bytes_per_second),
            replica_count=figures(replica_count),
            leader_count=figures(leader_count),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LimitedLoad:
    """One thing that brokers carry, against what they may.

    Attributes:
        constraint: its short name, such as ``disk``.
        field: the field of :class:`BrokerLimits` with the limit.
        unit: float64[P], what one replica of each partition adds to its broker, or leading it.
        limit: float64[B], infinite where there is none.
        leaders_only: whether only the leaders count, so that it follows the order of replica lists.
    """

    constraint: str
    field: str
    unit: NDArray[np.float64]
    limit: NDArray[np.float64]
    leaders_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogDirRoom:
    """The log directories of brokers, observed and wanted ones, D of them.

    Attributes:
        broker_id: int32[D], whose each is.
        limit_bytes: float64[D], what each may hold, infinite where there is no limit.
        before: int32[P, W], in which each replica of :attr:`PlacementProblem.before` is, -1 where that is not known.
    """

    broker_id: NDArray[np.int32]
    limit_bytes: NDArray[np.float64]
    before: NDArray[np.int32]


def allowed_brokers(
    partitions: Partitions, target: Brokers, pins: Mapping[str, Iterable[int]]
) -> NDArray[np.bool_] | None:
    """Return bool[T, B] for :attr:`PlacementProblem.allowed_brokers`; ``None`` where nothing is pinned.

    Args:
        partitions: whose topics.
        target: the brokers.
        pins: the broker ids that a topic may be on; a topic that is not named may be on all.
    """
    if not pins:
        return None
    allowed = np.ones((len(partitions.topics), len(target)), dtype=np.bool_)
    for row, topic in enumerate(partitions.topics):
        if topic in pins:
            allowed[row] = np.isin(target.ids, sorted(pins[topic]))
    return allowed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementProblem:
    """One placement to be made. Kafka's own placers look at a part of it only, and say so.

    Attributes:
        partitions: the P partitions, rows sorted by topic name, then partition number.
        before: int32[P, W], the replicas now, padded with -1, the preferred leader first.
        leader: int32[P], the current leader, -1 where there is none.
        size_bytes: int64[P], size of one replica.
        bytes_in_bytes_per_second: float64[P], what is produced to the partition.
        target: the whole list of brokers wanted: a broker in :attr:`before` and not in here is to be
            drained, one in here and not in :attr:`before` is new.
        replication_factor: int32[P], the factor wanted; may differ from what :attr:`before` has.
        seed: starts every random draw; the same problem gives the same answer.
        rack_rule: how far replicas must be spread over racks.
        balance: what is made even over the brokers.
        tolerance_ratio: how far above the mean a broker may be, 0.1 for one tenth.
        allowed_brokers: bool[T, B], which brokers of the target each topic may be on; ``None`` for any.
        broker_limits: what no broker may pass; ``None`` for nothing.
        tolerated_limits: what brokers may carry where no plan can keep :attr:`broker_limits`, such as what they carry
            today; ``None`` where nothing is tolerated.
        limit_in_bytes_per_second: float64[P], the traffic to hold against :attr:`broker_limits`, such as a peak;
            ``None`` takes :attr:`bytes_in_bytes_per_second`.
        limit_out_bytes_per_second: float64[P], what consumers read of the partition, likewise; ``None`` for nothing.
        log_dirs: the directories of brokers, where some have several; ``None`` to look at whole brokers only.
        in_sync: bool[P, W], which replicas of :attr:`before` are in the ISR; ``None`` for all.
    """

    partitions: Partitions
    before: NDArray[np.int32]
    leader: NDArray[np.int32]
    size_bytes: NDArray[np.int64]
    bytes_in_bytes_per_second: NDArray[np.float64]
    target: Brokers
    replication_factor: NDArray[np.int32]
    seed: int
    rack_rule: RackRule
    balance: Balance
    tolerance_ratio: float
    allowed_brokers: NDArray[np.bool_] | None = None
    broker_limits: BrokerLimits | None = None
    tolerated_limits: BrokerLimits | None = None
    limit_in_bytes_per_second: NDArray[np.float64] | None = None
    limit_out_bytes_per_second: NDArray[np.float64] | None = None
    log_dirs: LogDirRoom | None = None
    in_sync: NDArray[np.bool_] | None = None

    def written_bytes_per_second(self) -> NDArray[np.float64]:
        """Return float64[P], what each replica of a partition is written, as the limits count it."""
        given = self.limit_in_bytes_per_second
        return np.asarray(self.bytes_in_bytes_per_second if given is None else given, dtype=np.float64)

    def sent_bytes_per_second(self) -> NDArray[np.float64]:
        """Return float64[P], what the leader of a partition sends to consumers and followers."""
        followers = np.maximum(self.replication_factor - 1, 0) * self.written_bytes_per_second()
        return np.asarray(followers + self.consumed_bytes_per_second(), dtype=np.float64)

    def consumed_bytes_per_second(self) -> NDArray[np.float64]:
        """Return float64[P], what consumers read of a partition, as the limits count it."""
        read = self.limit_out_bytes_per_second
        return np.zeros(len(self.replication_factor)) if read is None else np.asarray(read, dtype=np.float64)

    def limited_loads(self) -> tuple[LimitedLoad, ...]:
        """List what is limited on any broker."""
        limits = self.broker_limits
        if limits is None:
            return ()
        size, one = self.size_bytes.astype(np.float64), np.ones(len(self.size_bytes))
        written, sent = self.written_bytes_per_second(), self.sent_bytes_per_second()
        every = (
            ("disk", "disk_bytes", size, False),
            ("replica_count", "replica_count", one, False),
            ("network_in", "network_in_bytes_per_second", written, False),
            ("network_out", "network_out_bytes_per_second", sent, True),
            ("leader_count", "leader_count", one, True),
        )
        loads = (
            LimitedLoad(constraint=name, field=field, unit=unit, limit=getattr(limits, field), leaders_only=is_led)
            for name, field, unit, is_led in every
        )
        return tuple(load for load in loads if np.isfinite(load.limit).any())
