"""A durability scenario: how producers are set and how often brokers fail, and what topics could lose."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.kafka.controller.annual_losses import AnnualLosses
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks, Explored
from kafka_capacity.questions.failures.scenario import TODAY

DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DurabilityScenario:
    """What could be lost?

    Attributes:
        scenario_id: unique in a plan, readable.
        placement_id: of the placement scenario that this stands on.
        acks: of all producers, since an inventory does not tell.
        is_idempotent: whether producers are, as they are by default since clients 3.0; only with ``acks=all``.
        rules: by which leaders are elected, and whether there are eligible leader replicas.
        mttf_seconds: of a broker's data: mean time to the loss of its disks.
        crash_mttf_seconds: mean time to a broker's death that moves its leaders, its data lost or not.
        replacement_seconds: from the loss of a broker's data until a broker with empty disks stands in for it.
        throttle_bytes_per_second: per broker and direction, when it copies what it had.
        rack_mttf_seconds: of all data of a rack at once; infinite for never.
        replica_lag_seconds: by how much followers are behind leaders; ``replica.fetch.wait.max.ms`` by default, which
            is an upper estimate where they keep up.
        max_failures: up to how many are explored.
        scatter_width: of the placement with few copysets: over how many others a broker's data are spread.
        tolerance_ratio: of that placement, how far above its share a broker may be.
    """

    scenario_id: str = "durability"
    placement_id: str = TODAY
    acks: Acks = Acks.ALL
    is_idempotent: bool = True
    rules: ElectionRules = ElectionRules.KRAFT
    mttf_seconds: float = 3650 * DAY
    crash_mttf_seconds: float = 90 * DAY
    replacement_seconds: float = 3600.0
    throttle_bytes_per_second: float = 50e6
    rack_mttf_seconds: float = inf
    replica_lag_seconds: float = 0.5
    max_failures: int = 3
    scatter_width: int = 4
    tolerance_ratio: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementLosses:
    """What one placement loses.

    Attributes:
        replicas: int32[P, W], broker ids.
        losses: of its topics in a year; NaN where a broker never has its data again under the throttle.
        repair_seconds: float64[B], the replacement and the copy; infinite for never.
        highest_over_mean: bytes on the fullest broker over those on the mean one.
    """

    replicas: NDArray[np.int32]
    losses: AnnualLosses
    repair_seconds: NDArray[np.float64]
    highest_over_mean: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DurabilityResult:
    """What T topics could lose.

    Attributes:
        scenario: what was asked.
        topics: their names.
        partitions: int64[T].
        replication_factor: int64[T], the smallest of a topic.
        min_insync_replicas: int64[T], as it is set.
        is_unclean_allowed: bool[T].
        is_internal: bool[T], Kafka's own, which brokers write with ``acks=all``.
        setting: int64[T], which of :attr:`settings` a topic has; -1 where its factor is too large to be explored.
        settings: the distinct ones, in the course of each kind of failure, by its name (:data:`FAILURE_MODES`).
        today: the placement that the scenario stands on.
        few_copysets: the same partitions in few copysets; ``None`` where they are too many to try, or too few
            brokers live for their replicas.
        moved_bytes: what that copies, and so costs.
        tail_bytes: float64[T], lost a year with leaders that die before followers have everything, where ``acks`` is
            not ``all``.
    """

    scenario: DurabilityScenario
    topics: tuple[str, ...]
    partitions: NDArray[np.int64]
    replication_factor: NDArray[np.int64]
    min_insync_replicas: NDArray[np.int64]
    is_unclean_allowed: NDArray[np.bool_]
    is_internal: NDArray[np.bool_]
    setting: NDArray[np.int64]
    settings: tuple[dict[str, Explored], ...]
    today: PlacementLosses
    few_copysets: PlacementLosses | None
    moved_bytes: int
    tail_bytes: NDArray[np.float64]

    def lost_bytes(self) -> NDArray[np.float64]:
        """Return float64[T], expected in a year: logs that are gone with all their replicas, and ends of logs."""
        return np.asarray(self.today.losses.lost_bytes + self.tail_bytes, dtype=np.float64)
