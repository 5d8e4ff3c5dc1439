"""To whom a replica may send: one request at a time to each node, a pause after a failure (``RequestManager``, 4.3.1).

Times are seconds since the start of a simulation. Where Kafka gives how long to wait, these give until when.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts


class Connections:
    """The requests of one replica that are under way, and the nodes that it leaves in peace for a while.

    A node is busy until its time in ``_ready_at``: with a request where ``_expected`` holds its number, else with a
    pause.
    """

    __slots__ = ("_bootstrap", "_expected", "_random", "_ready_at", "_timeouts")

    def __init__(self, bootstrap: Sequence[int], timeouts: QuorumTimeouts, random: Random) -> None:
        self._bootstrap = tuple(bootstrap)
        self._timeouts = timeouts
        self._random = random
        self._expected: dict[int, int] = {}
        self._ready_at: dict[int, float] = {}

    def reset(self) -> None:
        """Forget everything, as a replica does whenever its state changes; answers still under way count no more."""
        self._expected.clear()
        self._ready_at.clear()

    def is_expected(self, node: int, correlation: int) -> bool:
        """Whether this answer is still waited for."""
        return self._expected.get(node) == correlation

    def awaits(self, node: int) -> int | None:
        """Return the number of the request to this node that has no answer yet."""
        return self._expected.get(node)

    def awaits_any(self) -> bool:
        """Whether any request has no answer yet."""
        return bool(self._expected)

    def on_sent(self, node: int, correlation: int, now: float) -> None:
        """Wait for an answer."""
        self._expected[node] = correlation
        self._ready_at[node] = now + self._timeouts.request_timeout_seconds

    def on_answer(self, node: int, *, is_success: bool, now: float) -> None:
        """The node is free again, after a pause where the request failed."""
        del self._expected[node]
        if is_success:
            del self._ready_at[node]
        else:
            self._ready_at[node] = now + self._timeouts.retry_backoff_seconds

    def busy_until(self, node: int, now: float) -> float | None:
        """Return when a request to this node times out or its pause ends; ``None`` where it can be asked now."""
        ready_at = self._ready_at.get(node)
        if ready_at is None or now < ready_at:
            return ready_at
        self._forget(node)
        return None

    def is_backing_off(self, node: int, now: float) -> bool:
        """Whether the node is left in peace after a failure."""
        return node in self._ready_at and node not in self._expected and now < self._ready_at[node]

    def has_timed_out(self, node: int, now: float) -> bool:
        """Whether the request to this node was given up just now; the node is free then."""
        if node not in self._expected or now < self._ready_at[node]:
            return False
        self._forget(node)
        return True

    def in_flight_until(self, now: float) -> float | None:
        """Return when the request under way times out; ``None`` where none is."""
        if not self._expected:
            return None
        for node in list(self._expected):
            until = self.busy_until(node, now)
            if until is not None:
                return until
        return None

    def ready_bootstrap(self, now: float) -> int | None:
        """Choose a voter to ask for the leader: any that is free, from a random one on."""
        start = self._random.randrange(len(self._bootstrap))
        for node in (*self._bootstrap[start:], *self._bootstrap[:start]):
            if self.busy_until(node, now) is None:
                return node
        return None

    def earliest_bootstrap(self, now: float) -> float:
        """Return when the first voter is free."""
        untils = [self.busy_until(node, now) for node in self._bootstrap]
        return min(now if until is None else until for until in untils)

    def _forget(self, node: int) -> None:
        self._expected.pop(node, None)
        del self._ready_at[node]
