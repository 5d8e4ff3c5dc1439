"""The assignors by the names users type, Kafka's and users' own.

Kafka has two assignors named ``range`` with one rule for ties of their own each: an assignor is looked up under the
protocol of the group. Functions are named one by one, so that the lookup also works when the package is imported from
a zip file on ``sys.path``; the module of each is imported when its assignor is first asked for.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.groups.assignment import Assignment
from kafka_capacity.kafka.groups.model import Group
from kafka_capacity.kafka.groups.own import load_own, own_names


class GroupProtocol(StrEnum):
    """How the members of a group agree on who reads what."""

    CLASSIC = "classic"  # a member, the leader, assigns (`group.protocol=classic`)
    CONSUMER = "consumer"  # the coordinator assigns (KIP-848, `group.protocol=consumer`)
    SHARE = "share"  # members share partitions (KIP-932)
    STREAMS = "streams"  # the coordinator assigns the tasks of a Kafka Streams application (KIP-1071)

    @property
    def is_assigned_by_coordinator(self) -> bool:
        """Whether the coordinator assigns, member by member as it hears of them, and nobody else stops."""
        return self in {GroupProtocol.CONSUMER, GroupProtocol.STREAMS}


class Assignor(Protocol):
    """Return who reads what. Write a class like this to bring your own."""

    name: str  # as users type it
    # whether members keep what they hold while the group rebalances, so that a partition is taken from one member in
    # one round and given to another in the next. Classic groups only.
    is_cooperative: bool

    def assign(self, group: Group) -> Assignment:
        """Assign the partitions of a group; AssignmentError where Kafka would throw."""
        ...


Assigns = Callable[[Group], Assignment]
"""Assigns the partitions of a group; raises :class:`AssignmentError` where Kafka would throw."""


@dataclass(slots=True, kw_only=True)
class KafkasAssignor:
    """One of Kafka's, a function; the fields are those of :class:`Assignor`."""

    name: str
    assign: Assigns
    is_cooperative: bool


_CLASSIC, _CONSUMER, _, _STREAMS = GroupProtocol
_FUNCTIONS = {
    (_CLASSIC, "cooperative-sticky"): "sticky:assign_cooperatively",
    (_CLASSIC, "range"): "range_:assign_ranges",
    (_CLASSIC, "roundrobin"): "roundrobin:assign_round_robin",
    (_CLASSIC, "sticky"): "sticky:assign_sticky",
    (_CONSUMER, "range"): "range_:assign_server_ranges",
    (_CONSUMER, "uniform"): "uniform:assign_uniformly",
    (_STREAMS, "sticky"): "sticky_tasks:assign_streams",
}


def assignor_names(protocol: GroupProtocol = GroupProtocol.CLASSIC) -> tuple[str, ...]:
    """Name the assignors for groups of a protocol, sorted: Kafka's and users' own."""
    return tuple(sorted({name for kind, name in _FUNCTIONS if kind is protocol} | own_names()))


def assignor(name: str, protocol: GroupProtocol = GroupProtocol.CLASSIC) -> Assignor:
    """Find an assignor by its name. Kafka's come first; a user's own serves groups of every protocol.

    Raises:
        RequestError: there is none of this name, or a user's own cannot be loaded.
    """
    if (protocol, name) in _FUNCTIONS:
        assign = pkgutil.resolve_name(f"{__package__}.{_FUNCTIONS[protocol, name]}")
        return KafkasAssignor(name=name, assign=assign, is_cooperative=name == "cooperative-sticky")
    if name in own_names():
        return load_own(name)
    known = ", ".join(assignor_names(protocol))
    raise RequestError(f"assignor: {name!r} is unknown for {protocol} groups; choose one of {known}")
