"""Racks: whether they are known, even and used, and what the loss of one would do to this very placement."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.health.cluster_view import ClusterView, RackLoss, counted, some_names
from kafka_capacity.health.codes import Code
from kafka_capacity.health.problem import Problem, Severity
from kafka_capacity.health.topology import rack_problems
from kafka_capacity.kafka.placement import RackRule
from kafka_capacity.text.wording import shown_rate


def check_racks(view: ClusterView) -> Iterator[Problem]:
    """Look at the racks of the brokers, and at the racks that each partition is in."""
    brokers = view.snapshot.brokers
    names = brokers.rack_names()
    lacking = sum(rack is None for rack in brokers.racks)
    if len(brokers) > 1 and len(names) < 2 and lacking in (0, len(brokers)):
        what = "have no rack" if not names else f"are all in rack {names[0]}"
        yield Problem(
            severity=Severity.WARNING,
            code=Code.ONE_RACK,
            where="all brokers",
            message=f"the {len(brokers):,} brokers {what}: Kafka may put all replicas of a partition side by side",
            remedy="set broker.rack to what fails together: a zone, a room, a power supply",
            partitions=len(view.factor),
            bytes_per_second=view.rate(np.ones(len(view.factor), dtype=np.bool_)),
        )
        return
    yield from rack_problems(brokers, view.factor, what="the brokers", rack_rule=RackRule.OFF)
    if len(names) > 1:
        yield from _spread(view)
        yield from _losses(view)


def racks_per_partition(view: ClusterView) -> NDArray[np.int64]:
    """Count the racks that each partition has replicas in: int64[P]; a broker without a rack counts as one."""
    brokers = view.snapshot.brokers
    rack = np.append(brokers.rack_indexes(), -1)[view.states.replicas]
    ordered = np.sort(rack, axis=1)
    is_new = ordered >= 0
    is_new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return np.asarray(is_new.sum(axis=1), dtype=np.int64)


def _spread(view: ClusterView) -> Iterator[Problem]:
    used = racks_per_partition(view)
    available = int(view.snapshot.brokers.rack_indexes().max()) + 1
    possible = np.minimum(view.factor, available)
    together = (used == 1) & (view.factor > 1)
    if together.any():
        yield view.problem(
            Severity.SERIOUS,
            Code.ONE_RACK_PARTITIONS,
            together,
            f"have all their replicas in one rack though there are {available}: the loss of that rack stops them",
            "move one replica of each to another rack, with a placer and rack rule that spread them",
        )
    narrow = (used < possible) & ~together
    if narrow.any():
        yield view.problem(
            Severity.WARNING,
            Code.NARROW_PARTITIONS,
            narrow,
            "are in fewer racks than they could be: the loss of one takes more than one replica of them",
            "move replicas to other racks, with the rack rule strict",
        )


def _losses(view: ClusterView) -> Iterator[Problem]:
    """Describe what the loss of a rack would stop, where it is more than its share of replicas."""
    affected = [one for one in view.rack_losses if one.offline or one.under_min_isr]
    if not affected:
        return
    worst = max(affected, key=lambda one: (one.offline, one.under_min_isr, one.rack))
    yield Problem(
        severity=Severity.WARNING,
        code=Code.RACK_LOSS,
        where=f"rack{'' if len(affected) == 1 else 's'} {some_names(one.rack for one in affected)}",
        message=(
            f"the loss of rack {worst.rack} {' and '.join(_stops(worst))}"
            f"{f', {shown_rate(worst.bytes_per_second)} in all' if worst.bytes_per_second else ''}"
        ),
        remedy="spread replicas over more racks, or keep min.insync.replicas below what the loss of one leaves",
        partitions=worst.offline + worst.under_min_isr,
        bytes_per_second=worst.bytes_per_second,
    )


def _stops(loss: RackLoss) -> Iterator[str]:
    if loss.offline:
        yield f"takes {counted(loss.offline, 'partition')} offline"
    if loss.under_min_isr:
        yield f"leaves {counted(loss.under_min_isr, 'partition')} under min ISR, where acks=all is refused"
