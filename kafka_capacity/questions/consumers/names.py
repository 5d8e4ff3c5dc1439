"""Names of events and variants, as every table and sentence has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.text import format_duration, plural

_EVENTS = {
    Event.SCALE: ("Scaling, at once", "while its count changes at once"),
    Event.SCALE_ONE_BY_ONE: ("Scaling, one by one", "while its count changes one by one"),
    Event.ROLLING_RESTART: ("Rolling restart", "in a rolling restart"),
    Event.CRASH: ("Crash", "in a crash"),
    Event.CRASH_RESTART: ("Crash and restart", "in a crash with a restart"),
    Event.SLOW_MEMBER: ("Slow member", "with a slow member"),
    Event.MORE_PARTITIONS: ("More partitions", "when partitions are added"),
}
_CLASSIC = {**dict.fromkeys(("range", "roundrobin", "sticky"), "eager"), "cooperative-sticky": "cooperative"}
_PROTOCOLS = {"consumer": "KIP-848", "streams": "KIP-1071"}


def event_name(event: str) -> str:
    """Return the name of an event, for a table."""
    return _EVENTS[Event(event)][0]


def event_phrase(event: str) -> str:
    """Return when, in a sentence."""
    return _EVENTS[Event(event)][1]


def caught_up_phrase(seconds: float | None) -> str:
    """Return how soon a backlog is gone, in a sentence; ``None`` and infinite are never.

    >>> caught_up_phrase(90.0), caught_up_phrase(None)
    ('caught up in 1 min 30 s', 'never caught up')
    """
    return "never caught up" if seconds is None or math.isinf(seconds) else f"caught up in {format_duration(seconds)}"


def part_name(protocol: str) -> str:
    """Name what the members of a group share among themselves."""
    return "task" if protocol == GroupProtocol.STREAMS else "partition"


def variant_name(row: Mapping[str, Any]) -> str:
    """Name an assignor, with its protocol where that is not the classic one, static membership and standbys.

    >>> variant_name({"protocol": "classic", "assignor": "range", "is_static": True})
    'range, static'
    >>> variant_name({"protocol": "consumer", "assignor": "range", "is_static": False})
    'range (KIP-848)'
    """
    standbys = row.get("standby_replicas")
    return (
        bare_name(row)
        + (", static" if row["is_static"] else "")
        + (f", {plural(standbys, 'standby')}" if standbys else "")
    )


def bare_name(row: Mapping[str, Any]) -> str:
    """Name an assignor, with its protocol where that is not the classic one."""
    protocol = "" if row["protocol"] == "classic" else f" ({_PROTOCOLS.get(row['protocol'], row['protocol'])})"
    return f"{row['assignor']}{protocol}"


def behaviour(row: Mapping[str, Any]) -> str:
    """Name how a group rebalances.

    >>> behaviour({"protocol": "classic", "assignor": "range"})
    'eager'
    """
    protocol = row["protocol"]
    classic = _CLASSIC.get(row["assignor"]) if protocol == "classic" else None
    return classic or _PROTOCOLS.get(protocol, str(protocol))
