"""Names of events and variants, and other words that several tables and sentences have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.text import endless, format_duration, format_wait, plural
from kafka_capacity.text.names import clipped
from kafka_capacity.text.wording import capitalised

NAME_LENGTH = 60  # a longer name is cut in a sentence; tables and headings have it whole

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


def short(name: str) -> str:
    """Cut a long name for a sentence."""
    return clipped(name, NAME_LENGTH)


def sentence(reason: str) -> str:
    """Turn a reason into a sentence."""
    return f"{capitalised(reason)}."


def members(row: Mapping[str, Any]) -> str:
    """Return how many members a scenario has."""
    return plural(row["member_count"], "member")


def catch_up(outcome: Mapping[str, Any]) -> float | str | None:
    """Return how long catching up takes at peak; ``None`` where it would take more than anybody has been seen to do."""
    seconds: float | None = outcome["catch_up_seconds"]
    return None if seconds is None and outcome["keeps_up"] is None else endless(seconds)


def unread(deploy: Mapping[str, Any]) -> str:
    """Return how much is left unread, all partitions and pauses together, those of a member that is away among them."""
    seconds = deploy["paused_partition_seconds"]
    total = "unbounded partition-seconds" if seconds is None else f"{seconds:,.0f} partition-seconds"
    return f" ({total} unread, max pause {format_wait(endless(deploy['pause_max_seconds']))})"
