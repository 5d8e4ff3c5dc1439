"""Losses that no hardware makes good: a rack that holds everything, and partitions with too few replicas.

A factor that an option brings, of one or of min.insync.replicas, is its own fault, and an excuse. Topics that have one
replica today are somebody's choice: no count or kind of broker fixes them, and refusing every option for their sake
would leave everything else unanswered. So they are named beside the answer, with the remedy, wherever the answer keeps
their factor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_capacity.hardware.limits import FailureTolerance
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.snapshot import usual_factor
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.capacity.loads import PlacedLoads
from kafka_capacity.questions.capacity.options import SizingInputs
from kafka_capacity.text import format_bytes, plural
from kafka_capacity.text.wording import few_names

_NAMED = 3


def _named(topics: Sequence[str]) -> str:
    return f"{'topic' if len(topics) == 1 else 'topics'} {few_names(topics, _NAMED)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleReplicas:
    """Partitions with a single replica, one at least."""

    partitions: int
    topics: tuple[str, ...]  # sorted, those of planned events among them
    wanted_factor: int  # how many replicas they should have, as the cluster's health says
    stored_bytes: int | None  # of all of them today, ``None`` where that is not known of each

    @property
    def where(self) -> str:
        """Name the topics, a few of many."""
        return _named(self.topics)

    @property
    def reason(self) -> str:
        """Describe what is at stake, and how to fix it."""
        have, them, their = ("has", "it", "its") if self.partitions == 1 else ("have", "them", "their")
        copies = self.wanted_factor - 1
        room = "" if self.stored_bytes is None else f" ({format_bytes(copies * self.stored_bytes)} today)"
        return (
            f"{plural(self.partitions, 'partition')} {have} a single replica ({self.where}): with any number of "
            f"brokers, losing the one that holds it stops {them}; raise {their} replication factor to "
            f"{self.wanted_factor}, which takes at least {self.wanted_factor} brokers and room for "
            f"{'1 more copy' if copies == 1 else f'{copies} more copies'}{room}"
        )


def single_replicas(inputs: SizingInputs) -> SingleReplicas | None:
    """Return the partitions that have a single replica today, and those that planned events add with one.

    Where no failure must fit, nobody asked.
    """
    return None if inputs.request.limits.tolerance is FailureTolerance.NONE else _with_factor(inputs, operator.eq)


def loss_excuses(inputs: SizingInputs, loads: PlacedLoads, replication_factor: int | None) -> Iterator[Excuse]:
    """Yield what a placement cannot lose, whatever the hardware, and which planned topics Kafka refuses to create."""
    tolerance = inputs.request.limits.tolerance
    if tolerance is not FailureTolerance.NONE and replication_factor == 1:
        found = _with_factor(inputs, operator.gt)
        if found is not None:
            yield Excuse(
                reason=f"{plural(found.partitions, 'partition')} would be left with a single replica ({found.where}), "
                "which is lost with its broker; keep 2 or more",
                constraint="replication_factor",
                where=found.where,
                needed=2.0,
                available=1.0,
                unit="replicas",
            )
    if tolerance is not FailureTolerance.NONE and replication_factor is not None:
        yield from _in_sync_excuses(inputs, replication_factor)
    if tolerance is FailureTolerance.ONE_RACK:
        yield from _rack_excuses(inputs, loads)
    broker_count = len(loads.brokers)
    for topic in inputs.workload.outlook.added:
        factor = replication_factor or topic.replication_factor
        if factor > broker_count:
            yield Excuse(
                reason=(
                    f"topic {topic.name}, planned from {topic.from_date} on, takes {factor} brokers for its "
                    f"{factor} replicas, and there {'is 1' if broker_count == 1 else f'are {broker_count}'}; "
                    f"keep {factor} or more"
                ),
                constraint="replication_factor",
                where=f"topic {topic.name}",
                needed=float(factor),
                available=float(broker_count),
                unit="brokers",
                when=topic.from_date,
            )


def _in_sync_excuses(inputs: SizingInputs, replication_factor: int) -> Iterator[Excuse]:
    """Yield which partitions an option leaves with no more replicas than must be in sync, and did not have so few."""
    topics, partitions = inputs.snapshot.topics, inputs.snapshot.partitions
    least = topics.min_insync_replicas[partitions.topic]
    is_at = (least > 1) & (least == replication_factor) & (replication_factors(inputs.snapshot.replicas) > least)
    if not is_at.any():
        return
    where = _named([partitions.topics[place] for place in np.unique(partitions.topic[is_at]).tolist()])
    yield Excuse(
        reason=f"{plural(int(is_at.sum()), 'partition')} would have as many replicas as min.insync.replicas ({where}): "
        "any broker lost, any rolling restart, makes writes with acks=all fail; keep "
        f"{replication_factor + 1} or more, or lower min.insync.replicas",
        constraint="replication_factor",
        where=where,
        needed=float(replication_factor + 1),
        available=float(replication_factor),
        unit="replicas",
    )


def _with_factor(inputs: SizingInputs, is_it: Callable[[Any, int], Any]) -> SingleReplicas | None:
    """Return the partitions, added ones as well, whose replication factor is 1, or compares to it otherwise."""
    partitions, added = inputs.snapshot.partitions, inputs.workload.outlook.added
    is_of_them = is_it(replication_factors(inputs.snapshot.replicas), 1)
    new = [topic for topic in added if is_it(topic.replication_factor, 1)]
    count = int(is_of_them.sum()) + sum(topic.partitions for topic in new)
    if not count:
        return None
    names = {partitions.topics[place] for place in np.unique(partitions.topic[is_of_them]).tolist()}
    sizes = inputs.workload.size_bytes[is_of_them]
    return SingleReplicas(
        partitions=count,
        topics=tuple(sorted(names | {topic.name for topic in new})),
        wanted_factor=max(2, usual_factor(len(inputs.snapshot.brokers))),
        # Sizes that are not known count as 0.
        stored_bytes=int(sizes.sum()) if not new and (sizes > 0).all() else None,
    )


def _rack_excuses(inputs: SizingInputs, loads: PlacedLoads) -> Iterator[Excuse]:
    """Yield why a rack cannot be lost: with it all replicas go, or more than may be out of sync.

    Partitions that have as few replicas as must be in sync lose writes with any broker: they are no matter of racks.
    """
    racks = len(loads.brokers.rack_names())
    if racks < 2:
        one = "there is only one rack" if racks else "no broker has a known rack"
        yield Excuse(
            reason=f"no rack can be lost: {one}; spread the brokers over racks, or only tolerate one broker's loss",
            constraint="racks",
            where="the whole cluster",
            needed=2.0,
            available=float(racks),
            unit="racks",
        )
        return
    rack = np.where(loads.replicas >= 0, loads.brokers.rack_indexes()[loads.replicas.clip(min=0)], -1)
    copies = (rack >= 0).sum(axis=1)
    apart = ((rack != rack[:, :1]) & (rack >= 0)).any(axis=1)
    together = int(((copies > 1) & ~apart).sum())
    if together:
        which = "partition with several replicas has" if together == 1 else "partitions with several replicas have"
        yield Excuse(
            reason=f"{together:,} {which} all of them in one rack and would be lost with it; rebalance them",
            constraint="racks",
            where="partitions in one rack",
            needed=float(together),
            available=0.0,
            unit="partitions",
        )
    topics, partitions = inputs.snapshot.topics, inputs.snapshot.partitions
    least = topics.min_insync_replicas[partitions.topic]
    in_one = np.max([(rack == one).sum(axis=1) for one in range(racks)], axis=0)
    is_under = apart & (copies > least) & (copies - in_one < least)
    if is_under.any():
        where = _named([partitions.topics[place] for place in np.unique(partitions.topic[is_under]).tolist()])
        yield Excuse(
            reason=f"{plural(int(is_under.sum()), 'partition')} would fall under min.insync.replicas with a rack lost "
            f"({where}), where writes with acks=all fail; spread them over more racks, or lower min.insync.replicas",
            constraint="racks",
            where=where,
            needed=float(is_under.sum()),
            available=0.0,
            unit="partitions",
        )
