"""What a placer is told: the partitions, where they are, and the brokers they may go to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.cluster.assignment import Partitions
from kafka_capacity.cluster.brokers import Brokers


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
