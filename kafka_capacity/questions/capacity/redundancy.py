"""Losses that no hardware makes good: a rack that holds everything, and partitions with a single replica.

A factor of one that an option brings is its own fault, and an excuse. Topics that have one replica today are somebody's
choice: no count or kind of broker fixes them, and refusing every option for their sake would leave everything else
unanswered. So they are named beside the answer, with the remedy, wherever the answer keeps their factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.demand.workload import Workload
from kafka_capacity.hardware.limits import FailureTolerance
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.capacity.loads import PlacedLoads
from kafka_capacity.text.wording import few_names

_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleReplicas:
    """Partitions with a single replica.

    Attributes:
        partitions: how many, at least one.
        topics: theirs, sorted; those that planned events add are among them.
    """

    partitions: int
    topics: tuple[str, ...]

    @property
    def where(self) -> str:
        """Name the topics, a few of many."""
        return f"{'topic' if len(self.topics) == 1 else 'topics'} {few_names(self.topics, _NAMED)}"

    @property
    def reason(self) -> str:
        """Describe what is at stake, and how to fix it."""
        is_one = self.partitions == 1
        subject, it = ("partition has", "its") if is_one else ("partitions have", "their")
        return (
            f"{self.partitions:,} {subject} a single replica ({self.where}): whatever brokers there are, the loss of "
            f"the one that holds it stops {'it' if is_one else 'them'}; raise {it} replication factor to 2 or more"
        )


def single_replicas(snapshot: Snapshot, workload: Workload, tolerance: FailureTolerance) -> SingleReplicas | None:
    """Return the partitions that have a single replica today, and those that planned events add with one.

    Args:
        snapshot: the cluster as it is.
        workload: with the topics that the outlook adds.
        tolerance: which failures must fit; where none need to, nobody asked.
    """
    if tolerance is FailureTolerance.NONE:
        return None
    added = [(topic.name, topic.partitions) for topic in workload.outlook.added if topic.replication_factor == 1]
    return _found(snapshot, replication_factors(snapshot.replicas) == 1, added)


def loss_excuses(
    snapshot: Snapshot,
    workload: Workload,
    loads: PlacedLoads,
    replication_factor: int | None,
    tolerance: FailureTolerance,
) -> tuple[Excuse, ...]:
    """Describe what a placement cannot lose, whatever the hardware.

    Args:
        snapshot: the cluster as it is.
        workload: its partitions, in the same order.
        loads: of the placement.
        replication_factor: that the option gives all topics; ``None`` keeps each topic's own.
        tolerance: which failures must fit.
    """
    excuses: tuple[Excuse, ...] = ()
    if tolerance is not FailureTolerance.NONE and replication_factor == 1:
        excuses = _single_replica_excuses(snapshot, workload)
    return (*excuses, *_rack_excuses(loads)) if tolerance is FailureTolerance.ONE_RACK else excuses


def _single_replica_excuses(snapshot: Snapshot, workload: Workload) -> tuple[Excuse, ...]:
    added = [(topic.name, topic.partitions) for topic in workload.outlook.added if topic.replication_factor > 1]
    found = _found(snapshot, replication_factors(snapshot.replicas) > 1, added)
    if found is None:
        return ()
    return (
        Excuse(
            reason=(
                f"{found.partitions:,} {'partition' if found.partitions == 1 else 'partitions'} would be left with a "
                f"single replica ({found.where}), gone with the broker that holds it; keep 2 or more"
            ),
            constraint="replication_factor",
            where=found.where,
            needed=2.0,
            available=1.0,
            unit="replicas",
        ),
    )


def factor_excuses(workload: Workload, broker_count: int, replication_factor: int | None) -> tuple[Excuse, ...]:
    """Return which topics that events add have more replicas than there are brokers: Kafka refuses to create them.

    Args:
        workload: with the outlook that adds them.
        broker_count: of the option.
        replication_factor: that the option gives all topics; ``None`` keeps each topic's own.
    """
    wanted = [(replication_factor or topic.replication_factor, topic) for topic in workload.outlook.added]
    return tuple(
        Excuse(
            reason=(
                f"topic {topic.name}, planned from {topic.from_date} on, takes {factor} brokers for its "
                f"{factor} replicas, and there {'is 1' if broker_count == 1 else f'are {broker_count}'}; keep {factor} "
                "or more"
            ),
            constraint="replication_factor",
            where=f"topic {topic.name}",
            needed=float(factor),
            available=float(broker_count),
            unit="brokers",
            when=topic.from_date,
        )
        for factor, topic in wanted
        if factor > broker_count
    )


def _found(snapshot: Snapshot, is_of_them: NDArray[np.bool_], added: list[tuple[str, int]]) -> SingleReplicas | None:
    partitions = snapshot.partitions
    count = int(is_of_them.sum()) + sum(size for _, size in added)
    if not count:
        return None
    names = {partitions.topics[place] for place in np.unique(partitions.topic[is_of_them]).tolist()}
    return SingleReplicas(partitions=count, topics=tuple(sorted(names | {name for name, _ in added})))


def _rack_excuses(loads: PlacedLoads) -> tuple[Excuse, ...]:
    """Return where a rack cannot be lost."""
    racks = len(loads.brokers.rack_names())
    if racks < 2:
        one = "there is one rack" if racks else "no broker tells its rack"
        return (
            Excuse(
                reason=f"no rack can be lost: {one}; spread the brokers over racks, or ask for one broker's loss only",
                constraint="racks",
                where="the whole cluster",
                needed=2.0,
                available=float(racks),
                unit="racks",
            ),
        )
    rack = np.where(loads.replicas >= 0, loads.brokers.rack_indexes()[loads.replicas.clip(min=0)], -1)
    copies = (rack >= 0).sum(axis=1)
    apart = ((rack != rack[:, :1]) & (rack >= 0)).any(axis=1)
    together = int(((copies > 1) & ~apart).sum())
    if not together:
        return ()
    which = "partition with several replicas has" if together == 1 else "partitions with several replicas have"
    return (
        Excuse(
            reason=f"{together:,} {which} all of them in one rack and would be gone with it; rebalance them",
            constraint="racks",
            where="partitions in one rack",
            needed=float(together),
            available=0.0,
            unit="partitions",
        ),
    )
