"""Rules for partitions: racks, pins, leaders, in-sync replicas, known sizes."""

from __future__ import annotations

import numpy as np

from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.placement.shares import narrow_partitions
from kafka_capacity.proposal.constraints.kinds import PartitionConstraint, Proposal
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.pins import partitions_off_pins
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.text import whole_percent

MAX_UNKNOWN_SIZES_RATIO = 0.1  # above this share of partitions without a size no option is judged to fit


def _narrow(scenario: PlacementScenario, count: int) -> str:
    remedy = "choose a rack-aware placer, or another rule"
    if scenario.pins:
        remedy = f"pin topics to brokers of more racks, {remedy}"
    return (
        f"{count:,} partition{'' if count == 1 else 's'} would be on fewer racks than the rack rule "
        f"{scenario.rack_rule} asks for; {remedy}"
    )


RACKS = PartitionConstraint(
    name="rack_rule",
    where="the whole cluster",
    count=lambda proposal: narrow_partitions(proposal.problem, proposal.diff.after),
    sentence=_narrow,
)

PINS = PartitionConstraint(
    name="pin",
    where="the pinned topics",
    count=lambda proposal: partitions_off_pins(proposal.problem, proposal.diff.after),
    sentence=lambda scenario, count: (
        f"{count:,} partition{' of a pinned topic' if count == 1 else 's of pinned topics'} would be on brokers that "
        "they are not allowed on; choose a placer that respects pins, such as fewest-bytes"
    ),
)


def _to_cordoned(proposal: Proposal) -> int:
    """Count the partitions that would get a replica on a cordoned broker: Kafka 4.3 takes that, who cordoned it not."""
    target, diff = proposal.scenario.target, proposal.diff
    return int((diff.added & np.isin(diff.after, target.ids[target.is_cordoned])).any(axis=1).sum())


CORDONED = PartitionConstraint(
    name="cordoned",
    where="cordoned brokers",
    count=_to_cordoned,
    sentence=lambda scenario, count: (
        f"{count:,} partition{'' if count == 1 else 's'} would get a replica on a cordoned broker; uncordon it, or "
        "choose a placer that respects cordons, such as fewest-bytes"
    ),
)

LEADERS = PartitionConstraint(
    name="leader",
    where="offline partitions",
    count=lambda proposal: proposal.metrics.unreachable_partitions,
    sentence=lambda scenario, count: (
        f"{count:,} partition{'' if count == 1 else 's'} to be copied {'has' if count == 1 else 'have'} no leader to "
        "copy from; bring a replica back first"
    ),
)


def _without_in_sync(proposal: Proposal) -> int:
    """Count the partitions that would give up every replica in sync, get none again, and keep one that is behind.

    One that comes again is copied from the leader, and the old ones stay until it is in sync.
    """
    start, diff = proposal.start, proposal.diff
    is_kept = (start.replicas >= 0) & ~diff.removed
    loses = (is_kept & ~start.in_sync).any(axis=1) & ~(is_kept & start.in_sync).any(axis=1)
    loses &= ~diff.added.any(axis=1)
    return int((loses & (diff.removed & start.in_sync).any(axis=1)).sum())


IN_SYNC = PartitionConstraint(
    name="in_sync",
    where="partitions with replicas out of sync",
    count=_without_in_sync,
    sentence=lambda scenario, count: (
        f"{count:,} partition{' would lose its' if count == 1 else 's would lose their'} only in-sync replicas and "
        "keep others that are out of sync; let those catch up first"
    ),
)


def size_excuses(snapshot: Snapshot) -> list[Excuse]:
    """Refuse to judge where the sizes of more than :data:`MAX_UNKNOWN_SIZES_RATIO` of the partitions are not known."""
    unknown_ratio = snapshot.unknown_size_partitions / max(1, len(snapshot.partitions))
    if unknown_ratio <= MAX_UNKNOWN_SIZES_RATIO:
        return []
    return [
        Excuse(
            constraint="sizes",
            where="the inventory",
            needed=1.0 - MAX_UNKNOWN_SIZES_RATIO,
            available=1.0 - unknown_ratio,
            unit="ratio",
            reason=(
                f"the sizes of {whole_percent(unknown_ratio)} of the partitions are unknown, so neither bytes nor "
                "disks nor times can be judged; stage an inventory with log dirs"
            ),
        )
    ]
