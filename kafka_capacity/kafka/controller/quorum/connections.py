"""To whom a replica may send: one request at a time to each node, a pause after a failure (``RequestManager``, 4.3.1).

Times are seconds since the start of a simulation. Where Kafka gives how long to wait, these give until when.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts


class Connections:
    """The requests of one replica that are under way, and the nodes that it leaves in peace for a while.

    A node is busy until its time in ``_ready_at``: with the request that ``expected`` has the number of, else with a
    pause.
    """

    __slots__ = ("_ready_at", "_timeouts", "expected")

    def __init__(self, timeouts: QuorumTimeouts) -> None:
        self._timeouts = timeouts
        self._ready_at: dict[int, float] = {}
        self.expected: dict[int, int] = {}

    def reset(self) -> None:
        """Forget everything, as a replica does whenever its state changes; answers still under way count no more."""
        self.expected.clear()
        self._ready_at.clear()

    def on_sent(self, node: int, correlation: int, now: float) -> None:
        """Wait for an answer."""
        self.expected[node] = correlation
        self._ready_at[node] = now + self._timeouts.request_timeout_seconds

    def on_answer(self, node: int, *, is_success: bool, now: float) -> None:
        """The node is free again, after a pause where the request failed."""
        del self.expected[node]
        if is_success:
            del self._ready_at[node]
        else:
            self._ready_at[node] = now + self._timeouts.retry_backoff_seconds

    def busy_until(self, node: int, now: float) -> float | None:
        """Return when a request to this node times out or its pause ends; ``None`` where it can be asked now."""
        ready_at = self._ready_at.get(node)
        if ready_at is None or now < ready_at:
            return ready_at
        self.expected.pop(node, None)
        del self._ready_at[node]
        return None

    def is_silent(self, node: int, now: float) -> bool:
        """Whether the request to this node was given up just now, or the node is left in peace after a failure."""
        is_awaited, was_busy = node in self.expected, node in self._ready_at
        return was_busy and (self.busy_until(node, now) is None) == is_awaited

    def in_flight_until(self, now: float) -> float | None:
        """Return when the request under way times out; ``None`` where none is."""
        for node in list(self.expected):
            until = self.busy_until(node, now)
            if until is not None:
                return until
        return None

    def choose(self, nodes: Sequence[int], now: float, random: Random) -> int | None:
        """Choose a node to ask for the leader: any that is free, from a random one on."""
        start = random.randrange(len(nodes))
        for node in (*nodes[start:], *nodes[:start]):
            if self.busy_until(node, now) is None:
                return node
        return None
