"""To whom a replica may send: one request at a time to each node, a pause after a failure (``RequestManager``, 4.3.1).

Times are seconds since the start of a simulation. Where Kafka gives how long to wait, these give until when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from kafka_capacity.controller.quorum.settings import QuorumTimeouts

_NONE_EXPECTED = -1


@dataclass(slots=True)
class _Connection:
    correlation: int
    ready_at: float
    is_backing_off: bool = False


class Connections:
    """The requests of one replica that are under way, and the nodes that it leaves in peace for a while."""

    __slots__ = ("_bootstrap", "_open", "_random", "_timeouts")

    def __init__(self, bootstrap: Sequence[int], timeouts: QuorumTimeouts, random: Random) -> None:
        self._bootstrap = tuple(bootstrap)
        self._timeouts = timeouts
        self._random = random
        self._open: dict[int, _Connection] = {}

    def reset(self) -> None:
        """Forget everything, as a replica does whenever its state changes; answers still under way count no more."""
        self._open.clear()

    def is_expected(self, node: int, correlation: int) -> bool:
        """Whether this answer is still waited for."""
        connection = self._open.get(node)
        return connection is not None and connection.correlation == correlation

    def awaits(self, node: int) -> int | None:
        """Give the number of the request to this node that has no answer yet."""
        connection = self._open.get(node)
        return None if connection is None or connection.is_backing_off else connection.correlation

    def on_sent(self, node: int, correlation: int, now: float) -> None:
        """Wait for an answer."""
        self._open[node] = _Connection(correlation, now + self._timeouts.request_timeout_seconds)

    def on_answer(self, node: int, *, is_success: bool, now: float) -> None:
        """The node is free again, after a pause where the request failed."""
        if is_success:
            del self._open[node]
        else:
            self._open[node] = _Connection(_NONE_EXPECTED, now + self._timeouts.retry_backoff_seconds, True)

    def busy_until(self, node: int, now: float) -> float | None:
        """Give when a request to this node times out or its pause ends; ``None`` where it can be asked now."""
        connection = self._open.get(node)
        if connection is None:
            return None
        if now >= connection.ready_at:
            del self._open[node]
            return None
        return connection.ready_at

    def is_backing_off(self, node: int, now: float) -> bool:
        """Whether the node is left in peace after a failure."""
        connection = self._open.get(node)
        return connection is not None and connection.is_backing_off and now < connection.ready_at

    def has_timed_out(self, node: int, now: float) -> bool:
        """Whether the request to this node was given up just now; the node is free then."""
        connection = self._open.get(node)
        if connection is None or connection.is_backing_off or now < connection.ready_at:
            return False
        del self._open[node]
        return True

    def in_flight_until(self, now: float) -> float | None:
        """Give when the request under way times out; ``None`` where none is."""
        for node in list(self._open):
            until = self.busy_until(node, now)
            if until is not None and not self._open[node].is_backing_off:
                return until
        return None

    def ready_bootstrap(self, now: float) -> int | None:
        """Choose a voter to ask for the leader: any that is free, from a random one on."""
        start = self._random.randrange(len(self._bootstrap))
        for step in range(len(self._bootstrap)):
            node = self._bootstrap[(start + step) % len(self._bootstrap)]
            if self.busy_until(node, now) is None:
                return node
        return None

    def earliest_bootstrap(self, now: float) -> float:
        """Give when the first voter is free."""
        untils = [self.busy_until(node, now) for node in self._bootstrap]
        return min(now if until is None else until for until in untils)
