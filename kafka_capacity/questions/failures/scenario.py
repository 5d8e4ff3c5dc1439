"""A failure scenario: which brokers are lost together, and what would happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.limits import Resource
from kafka_capacity.health.cluster_view import RackLoss
from kafka_capacity.kafka.arrays import Floats, Ints
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.reassignment.flow import DEFAULT_THROTTLE_BYTES_PER_SECOND

TODAY = "today"  # stands for the placement there is, where a scenario names the one that it stands on


class SetKind(StrEnum):
    """What is lost together."""

    BROKER = "broker"
    PAIR = "pair"
    RACK = "rack"
    RACK_AND_BROKER = "rack+broker"
    GIVEN = "given"


class CoordinatorState(IntEnum):
    """How the coordinator of a consumer group fares: who leads its partition of ``__consumer_offsets``."""

    UNKNOWN = 0  # the snapshot has no `__consumer_offsets`
    STAYS = 1
    MOVES = 2  # another broker takes over, and reads the partition first
    REFUSES = 3  # fewer replicas are in sync than must be: offsets cannot be committed
    OFFLINE = 4  # nobody leads: no member can join, stay or commit


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureSet:
    """Brokers that are lost together."""

    kind: SetKind  # why these
    name: str  # for people, such as `rack a + broker 7`
    brokers: tuple[int, ...]  # their ids, ascending; none where only controllers are in the racks that are lost
    # those of them that are lost before the others, such as a whole rack before one broker more
    first: tuple[int, ...] = ()
    racks: tuple[str, ...] = ()  # that are lost with all that is in them, controllers as well


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Sets that were not looked at, since there are too many of their kind."""

    kind: SetKind
    possible: int
    chosen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureScenario:
    """What if each of these sets of brokers were lost, by itself?"""

    # which sets to make up
    kinds: tuple[SetKind, ...] = (SetKind.BROKER, SetKind.RACK, SetKind.RACK_AND_BROKER, SetKind.PAIR)
    given: tuple[FailureSet, ...] = ()  # further sets
    placement_id: str = TODAY  # of the placement scenario that this stands on, `TODAY` for none
    rules: ElectionRules = ElectionRules.KRAFT  # by which leaders are elected
    # at most so many pairs, and so many racks with a broker, are looked at. Of more pairs, half are those that share
    # the most partitions, the rest is drawn; of racks with a broker all are drawn.
    max_sets: int = 500
    # per broker and direction, when lost replicas are re-replicated
    throttle_bytes_per_second: float = DEFAULT_THROTTLE_BYTES_PER_SECOND
    seed: int = 0  # of the draws


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FailureResult:
    """What each set of losses does: S sets, B brokers, G groups.

    Every count is of the whole cluster after the loss, what is wrong today included; ``…_today`` says how much that is.
    """

    scenario: FailureScenario  # the request
    sets: tuple[FailureSet, ...]  # what is lost, one a row
    left_out: tuple[LeftOut, ...]  # kinds of which not all sets were looked at
    brokers: Brokers  # the cluster's
    partition_count: int  # how many partitions there are
    offline: Ints  # int64[S], partitions that nobody leads: neither written nor read
    offline_topics: Ints  # int64[S], topics with at least one such partition
    under_min_isr: Ints  # int64[S], led, with fewer in sync than must be: `acks=all` is refused
    newly_under_min_isr: Ints  # int64[S], those of them that are not before; of the others some may be offline now
    at_min_isr: Ints  # int64[S], led, with just as many: one more loss and `acks=all` is refused
    new_leaders: Ints  # int64[S], led by another broker than today
    unclean_leaders: Ints  # int64[S], led by a replica that was not in sync: committed records are lost
    offline_today: int  # of `offline`
    under_min_isr_today: int  # of `under_min_isr`
    assumed_min_isr_topics: int  # topics of which nobody knows `min.insync.replicas`, so that Kafka's default counts
    stopped_bytes_per_second: Floats  # float64[S], what is produced on average to offline partitions
    refused_bytes_per_second: Floats  # float64[S], likewise to partitions under the minimum
    newly_refused_bytes_per_second: Floats  # float64[S], likewise to those that are not before
    stopped_today_bytes_per_second: float  # of `stopped_bytes_per_second`
    leaders: Ints  # int64[S, B], partitions that each broker leads
    peak_in_bytes_per_second: Floats  # float64[S, B], written at the 99th percentile; NaN for the dead
    peak_out_bytes_per_second: Floats  # float64[S, B], sent by each survivor to consumers and followers
    peak_cores: Floats  # float64[S, B], processors that this takes; 0 where their number is not known
    peak_in_today_bytes_per_second: Floats  # float64[B]
    peak_out_today_bytes_per_second: Floats  # float64[B]
    peak_cores_today: Floats  # float64[B]
    capacity: Mapping[Resource, Floats]  # by resource, float64[B], what each broker can do, NaN if unknown
    peak_basis: PeakBasis  # what these percentiles are of
    unknown_traffic: str | None  # that of which partitions is not known and counts as 0, where they may have much
    groups: tuple[str, ...]  # the consumer groups' names
    group_partitions: Ints  # int64[G], how many partitions each reads
    group_offline: Ints  # int64[S, G], how many of these nobody leads
    coordinator: NDArray[np.int8]  # int8[S, G], a `CoordinatorState` each
    rebuild_bytes: Floats  # float64[S], what the lost brokers held of partitions that are still led
    # float64[S], to copy it onto empty disks, at mean rates; infinite for never, as without controllers
    rebuild_seconds: Floats
    # whether a majority of the controllers is left after each set, `None` where that is not known. Without one no
    # leader is elected, and under the minimum is what is led with a lost replica in its ISR: nobody takes it out.
    has_majority: tuple[bool | None, ...]

    def peaks(self) -> dict[Resource, Floats]:
        """Return float64[S, B], what each survivor carries at peak of each of :attr:`capacity`."""
        return self._of_capacity(self.peak_in_bytes_per_second, self.peak_out_bytes_per_second, self.peak_cores)

    def peaks_today(self) -> dict[Resource, Floats]:
        """Return float64[B], what each broker carries at peak before any loss."""
        return self._of_capacity(
            self.peak_in_today_bytes_per_second, self.peak_out_today_bytes_per_second, self.peak_cores_today
        )

    def _of_capacity(self, coming: Floats, going: Floats, cores: Floats) -> dict[Resource, Floats]:
        every = {
            Resource.NETWORK_IN: coming,
            Resource.NETWORK_OUT: going,
            Resource.CPU: cores,
            # What is written to a broker goes to its disks; what it sends comes from its memory.
            Resource.DISK_IO: coming,
        }
        return {resource: every[resource] for resource in self.capacity}

    def used_ratios(self) -> Floats:
        """Return float64[Q, S, B], peaks over what there is of each of :attr:`capacity`; NaN where it is not known."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([peak / self.capacity[resource] for resource, peak in self.peaks().items()])

    def overloaded(self) -> Ints:
        """Count the survivors with a peak above what they can do: int64[S]."""
        over = np.nan_to_num(self.used_ratios(), nan=0.0) > 1.0
        return np.asarray(over.any(axis=0).sum(axis=1), dtype=np.int64)

    def groups_affected(self) -> Ints:
        """Count the groups that lose partitions, commits or their coordinator: int64[S]."""
        is_hurt = (self.group_offline > 0) | (self.coordinator >= CoordinatorState.REFUSES)
        return np.asarray(is_hurt.sum(axis=1), dtype=np.int64)

    def rack_losses(self) -> tuple[RackLoss, ...]:
        """Return what the loss of each rack adds to what is wrong today, as far as racks were lost."""
        stopped = self.stopped_bytes_per_second - self.stopped_today_bytes_per_second
        without = {place for place, has_majority in enumerate(self.has_majority) if has_majority is False}
        return tuple(
            RackLoss(
                rack=one.racks[0],
                offline=0 if place in without else max(0, int(self.offline[place]) - self.offline_today),
                under_min_isr=int(self.newly_under_min_isr[place]),
                bytes_per_second=max(0.0, float(stopped[place] + self.newly_refused_bytes_per_second[place])),
                leaderless=int(self.offline[place]) if place in without else 0,
            )
            for place, one in enumerate(self.sets)
            if one.kind is SetKind.RACK
        )
