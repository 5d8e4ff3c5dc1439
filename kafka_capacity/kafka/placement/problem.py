"""What a placer is told: the partitions, where they are, and the brokers they may go to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from kafka_capacity.kafka.arrays import Flags, Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import Partitions
from kafka_capacity.kafka.cluster.brokers import Brokers


class RackRule(StrEnum):
    """How far the replicas of one partition must be spread over racks."""

    STRICT = "strict"  # as many racks as the replication factor and the racks there are allow
    TWO_RACKS = "two-racks"  # at least two racks, where the replication factor and the racks there are allow it
    OFF = "off"  # racks are not looked at


class Balance(StrEnum):
    """What is made even over the brokers."""

    BYTES = "bytes"  # the bytes on disk
    REPLICAS = "replicas"  # the number of replicas


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BrokerLimits:
    """What no broker of the target may pass; float64[B] each, infinite where there is no limit."""

    disk_bytes: Floats  # replica bytes
    network_in_bytes_per_second: Floats  # what is produced to all partitions it holds a replica of
    network_out_bytes_per_second: Floats  # what it sends as a leader, to consumers and to followers
    replica_count: Floats  # replicas
    leader_count: Floats  # partitions whose replica list it heads

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
        """Build from one figure for all or one a broker; ``None`` and NaN mean no limit, what is below 0 is 0."""

        def figures(given: ArrayLike | None) -> Floats:
            values = np.asarray(np.inf if given is None else given, dtype=np.float64)
            return np.broadcast_to(np.where(np.isnan(values), np.inf, np.maximum(values, 0.0)), (brokers,)).copy()

        return cls(
            disk_bytes=figures(disk_bytes),
            network_in_bytes_per_second=figures(network_in_bytes_per_second),
            network_out_bytes_per_second=figures(network_out_bytes_per_second),
            replica_count=figures(replica_count),
            leader_count=figures(leader_count),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LimitedLoad:
    """One thing that brokers carry, against what they may."""

    constraint: str  # its short name, such as `disk`
    field: str  # the field of `BrokerLimits` with the limit
    unit: Floats  # float64[P], what one replica of each partition adds to its broker, or leading it
    limit: Floats  # float64[B], infinite where there is none
    leaders_only: bool = False  # whether only the leaders count, so that it follows the order of replica lists


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogDirRoom:
    """The log directories of brokers, observed and wanted ones, D of them."""

    broker_id: Int32s  # int32[D], whose each is
    limit_bytes: Floats  # float64[D], what each may hold, infinite where there is no limit
    before: Int32s  # int32[P, W], in which each replica of `before` is, -1 where that is not known
    takes_replicas: Flags  # bool[D], whether a new replica may go there: it is not cordoned


def allowed_brokers(partitions: Partitions, target: Brokers, pins: Mapping[str, Iterable[int]]) -> Flags | None:
    """Return bool[T, B] for :attr:`PlacementProblem.allowed_brokers`; ``None`` where nothing is pinned.

    Pins are the broker ids that a topic may be on; one that is not named may be on all.
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
    """One placement to be made. Kafka's own placers look at a part of it only, and say so."""

    partitions: Partitions  # the P partitions, rows sorted by topic name, then partition number
    before: Int32s  # int32[P, W], the replicas now, padded with -1, the preferred leader first
    leader: Int32s  # int32[P], the current leader, -1 where there is none
    size_bytes: Ints  # int64[P], size of one replica
    bytes_in_bytes_per_second: Floats  # float64[P], what is produced to the partition
    # the whole list of brokers wanted: a broker in `before` and not in here is to be drained, one in here and not in
    # `before` is new
    target: Brokers
    replication_factor: Int32s  # int32[P], the factor wanted; may differ from what `before` has
    seed: int  # starts every random draw; the same problem gives the same answer
    rack_rule: RackRule  # how far replicas must be spread over racks
    balance: Balance  # what is made even over the brokers
    tolerance_ratio: float  # how far above the mean a broker may be, 0.1 for one tenth
    # bool[T, B], which brokers of the target each topic may be on; `None` for any
    allowed_brokers: Flags | None = None
    broker_limits: BrokerLimits | None = None  # what no broker may pass; `None` for nothing
    # what brokers may carry where no plan can keep `broker_limits`, such as what they carry today; `None` where nothing
    # is tolerated
    tolerated_limits: BrokerLimits | None = None
    # float64[P], the traffic to hold against `broker_limits`, such as a peak; `None` takes `bytes_in_bytes_per_second`
    limit_in_bytes_per_second: Floats | None = None
    # float64[P], what consumers read of the partition, likewise; `None` for nothing
    limit_out_bytes_per_second: Floats | None = None
    # the directories of brokers, where some have several; `None` to look at whole brokers only
    log_dirs: LogDirRoom | None = None
    in_sync: Flags | None = None  # bool[P, W], which replicas of `before` are in the ISR; `None` for all
    # whether Kafka refuses a new list of replicas that names a cordoned broker at all, as from 4.4 on; else those that
    # are there may stay in it
    are_cordons_strict: bool = False
    # whether lists may be put in another order to level what is taken over after losses, which takes half of the time
    is_takeover_levelled: bool = True

    def refused_in_lists(self) -> Flags:
        """Return bool[B], brokers that no new list of replicas may name, even where they are in the old one.

        ``kafka-reassign-partitions.sh`` takes no file that names a broker which is down
        (``ReassignPartitionsCommand.verifyBrokerIds``); of cordoned ones see :attr:`are_cordons_strict`.
        """
        strict = self.target.is_cordoned & self.are_cordons_strict
        return np.asarray(self.target.is_fenced | strict, dtype=np.bool_)

    def written_bytes_per_second(self) -> Floats:
        """Return float64[P], what each replica of a partition is written, as the limits count it."""
        given = self.limit_in_bytes_per_second
        return np.asarray(self.bytes_in_bytes_per_second if given is None else given, dtype=np.float64)

    def sent_bytes_per_second(self) -> Floats:
        """Return float64[P], what the leader of a partition sends to consumers and followers."""
        followers = np.maximum(self.replication_factor - 1, 0) * self.written_bytes_per_second()
        return np.asarray(followers + self.consumed_bytes_per_second(), dtype=np.float64)

    def consumed_bytes_per_second(self) -> Floats:
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
