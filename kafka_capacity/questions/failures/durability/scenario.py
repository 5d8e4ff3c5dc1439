"""A durability scenario: how producers are set and how often brokers fail, and what topics could lose."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from kafka_capacity.kafka.arrays import Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.snapshot import Topics
from kafka_capacity.kafka.controller.annual_losses import AnnualLosses
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks, Explored
from kafka_capacity.kafka.reassignment.flow import DEFAULT_THROTTLE_BYTES_PER_SECOND
from kafka_capacity.questions.failures.scenario import TODAY

DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DurabilityScenario:
    """What could be lost?"""

    placement_id: str = TODAY  # of the placement scenario that this stands on
    acks: Acks = Acks.ALL  # of all producers, since an inventory does not tell
    is_idempotent: bool = True  # whether producers are, as they are by default since clients 3.0; only with `acks=all`
    rules: ElectionRules = ElectionRules.KRAFT  # of elections, which say whether there are eligible leader replicas
    mttf_seconds: float = 3650 * DAY  # of a broker's data: mean time to the loss of its disks
    crash_mttf_seconds: float = 90 * DAY  # mean time to a broker's death that moves its leaders, its data lost or not
    # from the loss of a broker's data until a broker with empty disks stands in for it
    replacement_seconds: float = 3600.0
    # per broker and direction, when it copies what it had
    throttle_bytes_per_second: float = DEFAULT_THROTTLE_BYTES_PER_SECOND
    rack_mttf_seconds: float = inf  # of all data of a rack at once; infinite for never
    # by how much followers are behind leaders; `replica.fetch.wait.max.ms` by default, which is an upper estimate where
    # they keep up
    replica_lag_seconds: float = 0.5
    max_failures: int = 3  # up to how many are explored
    scatter_width: int = 4  # of the placement with few copysets: over how many others a broker's data are spread


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementLosses:
    """What one placement loses."""

    replicas: Int32s  # int32[P, W], broker ids
    losses: AnnualLosses  # of its topics in a year; NaN where a broker never has its data again under the throttle
    repair_seconds: Floats  # float64[B], the replacement and the copy; infinite for never
    highest_over_mean: float  # bytes on the fullest broker over those on the mean one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DurabilityResult:
    """What T topics could lose."""

    scenario: DurabilityScenario  # the request
    topics: tuple[str, ...]  # their names
    partitions: Ints  # int64[T]
    replication_factor: Ints  # int64[T], the smallest of a topic
    configs: Topics  # how they are set; brokers write internal ones with `acks=all`
    setting: Ints  # int64[T], which of `settings` a topic has; -1 where its factor is too large to be explored
    # the distinct ones, in the course of each kind of failure, by its name (`FAILURE_MODES`)
    settings: tuple[dict[str, Explored], ...]
    today: PlacementLosses  # the placement that the scenario stands on
    # the same partitions in few copysets; `None` where they are too many to try, or too few brokers live for their
    # replicas
    few_copysets: PlacementLosses | None
    moved_bytes: int  # what that copies, and so costs
    unknown_size_partitions: int  # of how many partitions the size is not known, so that they lose 0 bytes
    unknown_traffic: str | None  # that of which partitions is not known and counts as 0, where they may have much
    # float64[T], lost a year with leaders that die before followers have everything, where `acks` is not `all`
    tail_bytes: Floats
