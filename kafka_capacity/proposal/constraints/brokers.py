"""Limits of brokers: disks, replicas, networks."""

from __future__ import annotations

import dataclasses
import functools
from typing import Literal

import numpy as np

from kafka_capacity.hardware.limits import MIB, Resource, shown_amount
from kafka_capacity.kafka.arrays import Floats, Ints
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement.relaxing import rounded_up
from kafka_capacity.proposal.constraints.kinds import BrokerConstraint, Passed, Proposal, limit_share
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.expansion import later_size_bytes
from kafka_capacity.proposal.scenario import BrokerLoads, PlacementScenario
from kafka_capacity.text import format_limit

_BYTES = functools.partial(shown_amount, Resource.DISK)  # writes an amount of bytes


def _mib_per_second(rate: float, more_digits: int) -> str:
    return f"{rate / MIB:,.{1 + more_digits}f} MiB/s"


def _carried(loads: BrokerLoads, field: str) -> Floats:
    found: Ints | Floats = getattr(loads, field)
    return found.astype(np.float64)


def _higher_disk_limit(proposal: Proposal, worst: Excuse) -> str:
    loads, asked = proposal.loads, proposal.scenario.disk_limit_ratio
    in_use = loads.bytes_after + loads.brokers.known_other_bytes
    ratio = in_use / np.maximum(loads.brokers.disk_capacity_bytes, 1e-9)
    # Whoever holds no replica does not pass the limit, whatever else is on its disk.
    highest = float(np.where(np.isfinite(ratio) & (loads.bytes_after > 0), ratio, 0.0).max(initial=0.0))
    needed = rounded_up(highest)
    if needed > 1.0:
        return f"disks {rounded_up(highest / asked):.2f} times as large"
    return f"a disk limit of {format_limit(needed)} instead of {format_limit(asked)}"


def _of_its_disk(passed: Passed) -> str:
    return limit_share(passed.scenario, "its disk", passed.other)


DISK = BrokerConstraint(
    name="disk",
    label="the disk limit",
    unit="bytes",
    limit=lambda scenario, brokers: brokers.replica_room_bytes(scenario.disk_limit_ratio),
    after=lambda proposal: _carried(proposal.loads, "bytes_after"),
    before=lambda loads: _carried(loads, "bytes_before"),
    sentence=lambda passed: (
        f"would hold {passed.needed} but may be filled to {passed.available} ({_of_its_disk(passed)}): {passed.excess} "
        "too much"
    ),
    figure=_BYTES,
    placer_limit="disk_bytes",
    higher=_higher_disk_limit,
    is_of_disks=True,
    is_of_dirs=True,
)


def _held_later(proposal: Proposal) -> Floats | None:
    """Return what each broker holds once topics with new partitions are even, where that is more than at once."""
    expanded, after = proposal.expanded, proposal.diff.after
    if expanded is None:
        return None
    later = proposal.loads.brokers.sum_held(after, later_size_bytes(expanded))
    return np.where(later > proposal.loads.bytes_after, later, -np.inf)


DISK_LATER = dataclasses.replace(
    DISK,
    name="disk_later",
    label="the disk limit later",
    after=_held_later,
    sentence=lambda passed: (
        f"would hold {passed.needed} once the records of the topics with new partitions have been replaced, but may be "
        f"filled to {passed.available} ({_of_its_disk(passed)})"
    ),
    placer_limit=None,
    higher=None,
)


def _held_on_the_way(proposal: Proposal) -> Floats:
    """Return what disks hold while everything moves at once: the old copy stays until the new one is in sync."""
    loads = proposal.loads
    return np.where(loads.move_in_bytes > 0, loads.bytes_before + loads.move_in_bytes, 0).astype(np.float64)


DISK_ON_THE_WAY = BrokerConstraint(
    name="disk_on_the_way",
    label="the disk during the move",
    unit="bytes",
    limit=lambda scenario, brokers: brokers.replica_room_bytes(1.0),
    after=_held_on_the_way,
    sentence=lambda passed: (
        f"would hold {passed.needed} while it has both old and new copies, but its disk has {passed.available}"
        f"{f' beside {passed.other}' if passed.other else ''}"
    ),
    figure=_BYTES,
    is_of_disks=True,
)


def _network(direction: Literal["in", "out"]) -> BrokerConstraint:
    def limit(scenario: PlacementScenario, brokers: Brokers) -> Floats:
        return brokers.network_in_bytes_per_second if direction == "in" else brokers.network_out_bytes_per_second

    return BrokerConstraint(
        name=f"network_{direction}",
        label=f"the {direction}bound network limit",
        unit="bytes_per_second",
        limit=limit,
        after=lambda proposal: _carried(proposal.loads, f"peak_{direction}_after"),
        before=lambda loads: _carried(loads, f"peak_{direction}_before"),
        sentence=lambda passed: (
            f"would carry {passed.needed} {direction} at peak but its network takes {passed.available}"
        ),
        figure=_mib_per_second,
        placer_limit=f"network_{direction}_bytes_per_second",
    )


NETWORK_IN, NETWORK_OUT = _network("in"), _network("out")


def _count_limit(name: str, noun: str, parameter: str) -> BrokerConstraint:
    """Make a constraint of a count that a request may limit for every broker."""

    def limit(scenario: PlacementScenario, brokers: Brokers) -> Floats:
        most = dict(scenario.broker_maxima).get(name)
        return np.full(len(brokers), np.nan if most is None else float(most))

    return BrokerConstraint(
        name=name,
        label=f"the limit of {noun}s",
        unit=f"{noun}s",
        limit=limit,
        after=lambda proposal: _carried(proposal.loads, f"{noun}s_after"),
        before=lambda loads: _carried(loads, f"{noun}s_before"),
        sentence=lambda passed: f"would hold {passed.needed} {noun}s but may hold {passed.available}",
        figure=lambda count, more_digits: f"{count:,.{more_digits}f}",
        placer_limit=name,
        higher=lambda proposal, worst: f"a limit of {worst.needed:,.0f}",
        parameter=parameter,
        noun=noun,
    )


REPLICA_COUNT = _count_limit("replica_count", "replica", "max_replicas_per_broker")
LEADER_COUNT = _count_limit("leader_count", "leader", "max_leaders_per_broker")
