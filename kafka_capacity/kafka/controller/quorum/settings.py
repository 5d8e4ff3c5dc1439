"""What a controller quorum stands in: its timeouts by Kafka's names, the network and the disks.

>>> timeouts_of({"quorum.fetch.timeout.ms": "3000"}).fetch_timeout_seconds
3.0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from random import Random

from kafka_capacity.errors import RequestError

_FIELDS = {
    "fetch.timeout.ms": "fetch_timeout_seconds",
    "election.timeout.ms": "election_timeout_seconds",
    "election.backoff.max.ms": "election_backoff_max_seconds",
    "request.timeout.ms": "request_timeout_seconds",
    "retry.backoff.ms": "retry_backoff_seconds",
}
_IDLE = "idle_interval_seconds"
TIMEOUT_NAMES = {
    **{prefix + suffix: name for prefix in ("controller.quorum.", "quorum.") for suffix, name in _FIELDS.items()},
    "metadata.max.idle.interval.ms": _IDLE,
}
"""What :func:`timeouts_of` reads, the older prefix last: the field of each property of a controller."""

_LARGEST_MS = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumTimeouts:
    """How long each side waits for what; defaults are Kafka's (``QuorumConfig``, ``MetadataLogConfig``, 4.3.1)."""

    # a follower that has fetched nothing for so long asks whether it may stand for election; a leader resigns when a
    # majority has not fetched for 1.5 times as long
    fetch_timeout_seconds: float = 2.0
    election_timeout_seconds: float = 1.0  # how long a replica waits in an election at least; at most twice as long
    # how long a voter that is not the first choice of a resigning leader waits at most
    election_backoff_max_seconds: float = 1.0
    request_timeout_seconds: float = 2.0  # after which a request without an answer counts as lost
    retry_backoff_seconds: float = 0.02  # the pause before a node is asked again after a failed request
    idle_interval_seconds: float = 0.5  # how often an active controller without work writes a record; 0 for never


def timeouts_of(properties: Mapping[str, object]) -> QuorumTimeouts:
    """Read the timeouts from the properties of a controller, in milliseconds; other properties are passed over.

    Raises:
        RequestError: a value is no whole number of milliseconds that can be simulated, or old and new name differ.
    """
    seconds: dict[str, float] = {}
    for name, of in TIMEOUT_NAMES.items():
        if name not in properties:
            continue
        given, least = properties[name], 0 if of == _IDLE else 1
        text = str(given).strip()
        if not text.isdecimal() or not least <= int(text) <= _LARGEST_MS:
            raise RequestError(f"{name} must be a whole number of milliseconds, at least {least}, not {given!r}")
        if seconds.setdefault(of, int(text) / 1000) != int(text) / 1000:
            raise RequestError(f"{name} and controller.{name} contradict each other; keep controller.{name}")
    return QuorumTimeouts(**seconds)


@dataclass(frozen=True, slots=True)
class Spread:
    """How long something takes: drawn evenly from between two bounds, or from what was measured where there is some."""

    least_seconds: float
    max_seconds: float
    measured_seconds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.least_seconds <= self.max_seconds < inf:
            raise RequestError(f"a time must be from 0 on and finite, not {self.least_seconds} to {self.max_seconds}")

    @classmethod
    def measured(cls, seconds: tuple[float, ...]) -> Spread:
        """Return what draws from these times, at least one."""
        return cls(min(seconds), max(seconds), seconds)

    def draw(self, random: Random) -> float:
        """Draw one, in seconds."""
        if self.measured_seconds:
            return random.choice(self.measured_seconds)
        # What random.uniform does, without the call: one is drawn for every message.
        return self.least_seconds + (self.max_seconds - self.least_seconds) * random.random()


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What all replicas of a quorum have alike.

    How much flushes differ decides how far apart the timers of two followers run, and so how often votes are split. A
    busy disk flushes quickly most times and slowly at others, which two bounds do not tell: give what was measured.
    """

    observers: int = 0  # how many replicas fetch without a vote, such as brokers
    timeouts: QuorumTimeouts = field(default_factory=QuorumTimeouts)  # how long each waits for what
    delay: Spread = Spread(0.0002, 0.001)  # of a message one way, with the time to handle it; above 0
    loss_ratio: float = 0.0  # share of messages that never arrive
    # of the log, or of the file that holds epoch and vote; a replica tells only then what it has written
    flush: Spread = Spread(0.001, 0.01)
    # what code that has hardly run since the controllers started adds until one leads, and then until it can act: as
    # measured where leaders of 3 and 5 voters were shut down or killed. It does not decide who wins.
    first_election: Spread = Spread(0.01, 0.2)
    first_work: Spread = Spread(0.02, 0.12)

    def __post_init__(self) -> None:
        if not self.delay.least_seconds > 0 or not 0 <= self.loss_ratio <= 1 or self.observers < 0:
            raise RequestError(
                f"a message must take some time, and its loss have a chance from 0 to 1, not {self.delay} and "
                f"{self.loss_ratio}; nor can there be {self.observers} observers"
            )
