"""From a snapshot to what its topics could lose, as they are and in few copysets.

How long a broker is without its data follows from the assignment: a broker with empty disks stands in for it after a
while and copies all that it held under the throttle, as :mod:`.failures` works out. That counts
each partition as gone until the last one is copied, an upper estimate. A rack that is lost is copied in the same way.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from math import isinf

import numpy as np

from kafka_capacity.kafka.arrays import Floats, Int32s, Ints
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.diff import bytes_per_broker, diff_assignments
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot, Topics
from kafka_capacity.kafka.controller.annual_losses import SECONDS_PER_YEAR, Hazards, annual_losses
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.durability import Acks, Bounds, Configuration, Explored, FailureKind, explore
from kafka_capacity.kafka.durability.settings import MAX_REPLICAS
from kafka_capacity.kafka.placement.few_copysets import place_in_few_copysets
from kafka_capacity.kafka.placement.problem import Balance, BrokerLimits, PlacementProblem, RackRule
from kafka_capacity.questions.failures.baseline import with_replicas
from kafka_capacity.questions.failures.durability.scenario import DurabilityResult, DurabilityScenario, PlacementLosses
from kafka_capacity.questions.failures.evaluate import evaluate_failures
from kafka_capacity.questions.failures.scenario import FailureScenario, SetKind

MAX_PARTITIONS = 100_000  # of more no other placement is tried: it takes partitions one by one
_TOLERANCE_RATIO = 0.1  # how far above its share a broker may be in that placement


def evaluate_durability(
    snapshot: Snapshot, load: PartitionLoad, scenario: DurabilityScenario, *, unknown_traffic: str | None = None
) -> DurabilityResult:
    """Work out what the topics of a snapshot, today's or one of a placement, could lose.

    ``unknown_traffic`` names what is not known of it, where that may be much.
    """
    topic, count = snapshot.partitions.topic, len(snapshot.partitions.topics)
    factor = _smallest(replication_factors(snapshot.replicas), topic, count)
    setting, explored = explored_settings(scenario, factor, snapshot.topics)
    few = _in_few_copysets(snapshot, load, scenario)
    diff = None if few is None else diff_assignments(snapshot.replicas, few.replicas)
    return DurabilityResult(
        scenario=scenario,
        topics=snapshot.partitions.topics,
        partitions=np.bincount(topic, minlength=count).astype(np.int64),
        replication_factor=factor,
        configs=snapshot.topics,
        setting=setting,
        settings=explored,
        today=_losses(snapshot, load, scenario),
        few_copysets=None if few is None else _losses(few, load, scenario),
        moved_bytes=0 if diff is None else diff.moved_bytes(snapshot.partition_size_bytes()),
        unknown_size_partitions=snapshot.unknown_size_partitions,
        unknown_traffic=unknown_traffic,
        tail_bytes=_tails(snapshot, load, scenario),
    )


def _smallest(factors: Int32s, topic: Int32s, count: int) -> Ints:
    found = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(found, topic, factors.astype(np.int64))
    return np.where(found == np.iinfo(np.int64).max, 0, found)


def _in_few_copysets(snapshot: Snapshot, load: PartitionLoad, scenario: DurabilityScenario) -> Snapshot | None:
    """Return the snapshot as it is once its partitions are in few copysets, all in sync.

    ``None`` where partitions are too many to try, or have more replicas than there are brokers that take new ones.
    """
    factor = replication_factors(snapshot.replicas)
    if len(factor) > MAX_PARTITIONS or factor.max(initial=0) > snapshot.brokers.takes_replicas.sum():
        return None
    problem = PlacementProblem(
        partitions=snapshot.partitions,
        before=snapshot.replicas,
        leader=snapshot.leader,
        size_bytes=snapshot.partition_size_bytes(),
        bytes_in_bytes_per_second=load.bytes_in_mean_bytes_per_second,
        target=snapshot.brokers,
        replication_factor=factor,
        seed=0,
        rack_rule=RackRule.STRICT,
        balance=Balance.BYTES,
        tolerance_ratio=_TOLERANCE_RATIO,
        broker_limits=BrokerLimits.of(len(snapshot.brokers), disk_bytes=snapshot.brokers.replica_room_bytes(1.0)),
    )
    return with_replicas(snapshot, place_in_few_copysets(problem, scatter_width=scenario.scatter_width))


def _losses(snapshot: Snapshot, load: PartitionLoad, scenario: DurabilityScenario) -> PlacementLosses:
    brokers = snapshot.brokers
    place, size = brokers.index_of(snapshot.replicas), snapshot.partition_size_bytes()
    repair, rack_repair = _repair_seconds(snapshot, load, scenario)
    hazards = Hazards.of(
        brokers.rack_indexes(),
        mttf_seconds=scenario.mttf_seconds,
        repair_seconds=np.where(np.isfinite(repair), repair, 1.0),
        rack_mttf_seconds=scenario.rack_mttf_seconds,
        rack_repair_seconds=np.where(np.isfinite(rack_repair), rack_repair, 1.0),
    )
    hazards = dataclasses.replace(
        hazards,
        broker_gone=np.where(np.isfinite(repair), hazards.broker_gone, np.nan),
        rack_gone=np.where(np.isfinite(rack_repair), hazards.rack_gone, np.nan),
    )
    has_replica = (place >= 0).any(axis=1)
    held = bytes_per_broker(brokers, snapshot.replicas, size)
    return PlacementLosses(
        replicas=snapshot.replicas,
        losses=annual_losses(
            place[has_replica],
            snapshot.partitions.topic[has_replica],
            size[has_replica].astype(np.float64),
            hazards,
            topics=len(snapshot.partitions.topics),
        ),
        repair_seconds=repair,
        highest_over_mean=float(held.max(initial=0) / held.mean()) if held.sum() else 1.0,
    )


def _repair_seconds(snapshot: Snapshot, load: PartitionLoad, scenario: DurabilityScenario) -> tuple[Floats, Floats]:
    """Return float64[B] and float64[K]: until a broker's, and a rack's data are re-replicated."""
    brokers, racks = snapshot.brokers, snapshot.brokers.rack_indexes()
    asked = FailureScenario(
        kinds=(SetKind.BROKER, SetKind.RACK),
        rules=scenario.rules,
        throttle_bytes_per_second=scenario.throttle_bytes_per_second,
    )
    found = evaluate_failures(snapshot, load, asked)
    repair = np.full(len(brokers), np.nan)
    rack_repair = np.full(int(racks.max(initial=-1)) + 1, np.nan)
    for one, seconds in zip(found.sets, found.rebuild_seconds.tolist(), strict=True):
        place = brokers.index_of(np.array(one.brokers, dtype=np.int32))
        if one.kind is SetKind.BROKER:
            repair[place] = seconds
        else:
            rack_repair[racks[place[0]]] = seconds
    # Who is fenced is dead already, and a broker without a rack is one by itself: as slow as the slowest.
    repair = np.where(np.isnan(repair), np.nanmax(repair, initial=0.0), repair)
    alone = np.isnan(rack_repair)
    rack_repair[alone] = [repair[racks == rack].max() for rack in np.flatnonzero(alone)]
    if isinf(scenario.rack_mttf_seconds):
        rack_repair[:] = 0.0
    return repair + scenario.replacement_seconds, rack_repair + scenario.replacement_seconds


def _tails(snapshot: Snapshot, load: PartitionLoad, scenario: DurabilityScenario) -> Floats:
    """Return float64[T]: what leaders have acknowledged alone when they die, unless all replicas must have it."""
    deaths = SECONDS_PER_YEAR / scenario.crash_mttf_seconds
    if scenario.acks is Acks.ALL:
        deaths = 0.0
    is_led = (snapshot.leader >= 0) & (replication_factors(snapshot.replicas) > 1)
    is_led &= ~snapshot.topics.is_internal[snapshot.partitions.topic]
    lost = np.where(is_led, load.bytes_in_mean_bytes_per_second * scenario.replica_lag_seconds * deaths, 0.0)
    weights = np.bincount(snapshot.partitions.topic, weights=lost, minlength=len(snapshot.partitions.topics))
    return np.asarray(weights, dtype=np.float64)


_ALWAYS = (FailureKind.CRASH, FailureKind.DISCONNECT)
FAILURE_MODES: dict[str, tuple[FailureKind, ...]] = {
    "crashes": _ALWAYS,
    "power": (*_ALWAYS, FailureKind.POWER_LOSS, FailureKind.ALL_POWER_LOSS),
    "producer": (*_ALWAYS, FailureKind.PRODUCER_RESTART),
}
"""What may fail in each mode. Crashes of brokers and broken connections may in all of them."""


def explored_settings(
    scenario: DurabilityScenario, factor: Ints, settings: Topics
) -> tuple[Ints, tuple[dict[str, Explored], ...]]:
    """Explore the distinct settings of topics: int64[T], which of them each topic has, and the modes of each, by name.

    A topic has -1 where its factor is beyond what can be explored. Brokers write Kafka's own topics, with ``acks=all``
    (``offsets.commit.required.acks``) and not idempotently.
    """
    rows = np.column_stack(
        [
            factor,
            np.clip(settings.min_insync_replicas.astype(np.int64), 1, np.maximum(factor, 1)),
            settings.allows_unclean_election.astype(np.int64),
            settings.is_internal.astype(np.int64),
        ]
    )
    can = (factor >= 1) & (factor <= MAX_REPLICAS)
    distinct, which = np.unique(rows[can], axis=0, return_inverse=True)
    setting = np.full(len(rows), -1, dtype=np.int64)
    setting[can] = which.reshape(-1)
    configurations = tuple(
        Configuration(
            acks=Acks.ALL if is_internal else scenario.acks,
            replication_factor=replicas,
            min_insync_replicas=minimum,
            is_unclean_allowed=bool(is_unclean),
            is_idempotent=scenario.is_idempotent and scenario.acks is Acks.ALL and not is_internal,
            has_eligible_leaders=scenario.rules is ElectionRules.KRAFT_ELR,
        )
        for replicas, minimum, is_unclean, is_internal in distinct.tolist()
    )
    found: list[dict[str, Explored]] = [{} for _ in configurations]
    for name, kinds in FAILURE_MODES.items():
        bounds = Bounds(failures=scenario.max_failures, kinds=kinds)
        for place, one in enumerate(_explored(configurations, bounds)):
            found[place][name] = one
    return setting, tuple(found)


@lru_cache(maxsize=8)
def _explored(configurations: tuple[Configuration, ...], bounds: Bounds) -> tuple[Explored, ...]:
    """Explore once for all placements whose topics are set alike."""
    return tuple(explore(configurations, bounds))
