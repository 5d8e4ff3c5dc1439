"""What is to come in a simulated quorum, and what came of it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from enum import StrEnum
from math import inf
from typing import NamedTuple

from kafka_capacity.kafka.controller.quorum.messages import Request, Response


class Outage(StrEnum):
    """How a node is gone."""

    KILLED = "killed"
    """The process is gone, its host answers that nobody listens."""

    VANISHED = "vanished"
    """The host or its network is gone: nobody answers."""


class Election(NamedTuple):
    """A replica that became leader.

    Attributes:
        at_seconds: when.
        leader: node id.
        epoch: that it leads.
    """

    at_seconds: float
    leader: int
    epoch: int


Event = tuple[float, int, int, Request | Response | None]
"""When, in which order among events at once, at which node, and the message that arrives; ``None`` where the node wakes
by itself. A bare tuple, since each message is one."""


class Schedule:
    """The events to come, and when each node is to wake.

    ``wakes`` holds the earliest time at which something may be due for a node.

    Args:
        nodes: node ids.
    """

    __slots__ = ("_events", "_planned", "wakes")

    def __init__(self, nodes: Iterable[int]) -> None:
        self.wakes = dict.fromkeys(nodes, inf)
        self._events: list[Event] = []
        self._planned = 0

    def plan(self, at_seconds: float, node_id: int, message: Request | Response | None) -> None:
        """Add an event."""
        heapq.heappush(self._events, (at_seconds, self._planned, node_id, message))
        self._planned += 1

    def wake_at(self, node_id: int, at_seconds: float) -> None:
        """Wake a node no later than then."""
        # Where it is later, the event that is planned already finds nothing to do and sets it.
        if at_seconds < self.wakes[node_id]:
            self.wakes[node_id] = at_seconds
            self.plan(at_seconds, node_id, None)

    def put_off(self, event: Event, until_seconds: float) -> None:
        """Have an event happen later, in its order among those that wait as well; a wake only if it still counts."""
        at_seconds, order, node_id, message = event
        if message is None:
            if self.wakes[node_id] > at_seconds:
                return
            self.wakes[node_id] = until_seconds
        heapq.heappush(self._events, (until_seconds, order, node_id, message))

    def next(self, until_seconds: float) -> Event | None:
        """Take the next event, if it happens until then."""
        if self._events and self._events[0][0] <= until_seconds:
            return heapq.heappop(self._events)
        return None
