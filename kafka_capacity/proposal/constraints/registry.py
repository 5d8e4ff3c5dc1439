"""All constraints on placements, in the order in which they are judged and told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement.problem import BrokerLimits
from kafka_capacity.proposal.constraints.brokers import (
    DISK,
    DISK_LATER,
    DISK_ON_THE_WAY,
    LEADER_COUNT,
    NETWORK_IN,
    NETWORK_OUT,
    REPLICA_COUNT,
)
from kafka_capacity.proposal.constraints.kinds import BrokerConstraint, Constraint, Proposal
from kafka_capacity.proposal.constraints.moves import LOG_DIR, PLACEMENT, WINDOW, log_dirs, throttle
from kafka_capacity.proposal.constraints.partitions import CORDONED, IN_SYNC, LEADERS, PINS, RACKS
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.proposal.scenario import BrokerLoads, PlacementScenario
from kafka_capacity.text.wording import listed, plural

CONSTRAINTS: tuple[Constraint, ...] = (
    RACKS,
    PINS,
    CORDONED,
    DISK,
    log_dirs,
    DISK_LATER,
    DISK_ON_THE_WAY,
    REPLICA_COUNT,
    LEADER_COUNT,
    NETWORK_IN,
    NETWORK_OUT,
    throttle,
    LEADERS,
    IN_SYNC,
)
BROKER_CONSTRAINTS = tuple(one for one in CONSTRAINTS if isinstance(one, BrokerConstraint))
BROKER_MAXIMA = {one.parameter: one for one in BROKER_CONSTRAINTS if one.parameter is not None}
"""By the parameter of a request: the counts that it may limit for every broker."""
ASKED = frozenset({PINS.name, *(one.name for one in BROKER_MAXIMA.values())})
"""Constraints that only a request brings."""
OF_BROKERS = frozenset({PLACEMENT, LOG_DIR, *(one.name for one in BROKER_CONSTRAINTS)}) - {DISK_ON_THE_WAY.name}
"""Constraints that more brokers may help with."""
_LABELS = {
    LOG_DIR: "the log dir limit",
    WINDOW: "the time window",
    **{one.name: one.label for one in BROKER_CONSTRAINTS},
}
_BROKERS_NAMED = 12


def judged(proposal: Proposal) -> tuple[tuple[Excuse, ...], tuple[Excuse, ...]]:
    """List what a placement breaks: the reasons against it, and what stands from before; the same order every time."""
    found = [excuse for constraint in CONSTRAINTS for excuse in constraint(proposal)]
    return tuple(one for one in found if not one.is_standing), tuple(one for one in found if one.is_standing)


def broker_limits(scenario: PlacementScenario) -> BrokerLimits:
    """Return what no broker of a scenario may pass, for placers."""
    return _limits(scenario.target, lambda constraint: constraint.limit(scenario, scenario.target))


def tolerated_limits(scenario: PlacementScenario, loads: BrokerLoads) -> BrokerLimits:
    """Return up to what each broker of a scenario makes nothing worse; loads are those of today, on all brokers."""
    at = loads.brokers.index_of(scenario.target.ids)
    return _limits(scenario.target, lambda constraint: constraint.tolerated(scenario, loads)[at])


def _limits(target: Brokers, limit: Callable[[BrokerConstraint], Floats]) -> BrokerLimits:
    known = {one.placer_limit: limit(one) for one in BROKER_CONSTRAINTS if one.placer_limit is not None}
    return BrokerLimits.of(len(target), **known)


def asked_maxima(request: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """Return the counts that a request limits for every broker, as pairs of a constraint and the limit."""
    given = ((one.name, request.get(parameter)) for parameter, one in BROKER_MAXIMA.items())
    return tuple((name, most) for name, most in given if most is not None)


def maxima_by_parameter(scenario: PlacementScenario) -> dict[str, int | None]:
    """Return the same limits of a scenario by their parameters, ``None`` for those that are not asked for."""
    maxima = dict(scenario.broker_maxima)
    return {parameter: maxima.get(one.name) for parameter, one in BROKER_MAXIMA.items()}


def maxima_sentence(request: Mapping[str, Any]) -> str:
    """Name the counts that a request limits for every broker, empty for none.

    >>> maxima_sentence({"max_replicas_per_broker": 4000})
    'at most 4,000 replicas on a broker'
    """
    nouns = {one.name: one.noun for one in BROKER_MAXIMA.values()}
    return ", ".join(f"at most {plural(most, nouns[name])} on a broker" for name, most in asked_maxima(request))


def constraint_label(name: str) -> str:
    """Name what a constraint limits, such as "the disk limit"."""
    return _LABELS.get(name, name.replace("_", " "))


def standing_sentence(standing: Iterable[Mapping[str, Any]]) -> str:
    """Describe what was broken before a change and is no worse after it; empty where nothing was.

    A broker that is replaced is named by its old id.

    >>> standing_sentence([{"constraint": "disk", "broker_id": 8}, {"constraint": "disk", "broker_id": 3}])
    'no worse than today: brokers 3 and 8 were over the disk limit before'
    """
    brokers: dict[str, set[int]] = {}
    for row in standing:
        brokers.setdefault(str(row["constraint"]), set()).add(int(row.get("replaced_broker_id", row["broker_id"])))
    parts = [f"{_named(sorted(ids))} over {constraint_label(name)} before" for name, ids in brokers.items()]
    return f"no worse than today: {'; '.join(parts)}" if parts else ""


def _named(ids: list[int]) -> str:
    shown = [str(broker) for broker in ids[:_BROKERS_NAMED]]
    more = len(ids) - len(shown)
    names = listed([*shown, f"{more} more"] if more else shown)
    return f"broker {names} was" if len(ids) == 1 else f"brokers {names} were"
