"""The timeouts of a controller quorum, by Kafka's names (``QuorumConfig`` and ``MetadataLogConfig``, 4.3.1).

>>> timeouts, warnings = timeouts_of({"quorum.fetch.timeout.ms": "3000", "controller.quorum.retry.backoff.max.ms": "9"})
>>> timeouts.fetch_timeout_seconds, timeouts.election_timeout_seconds
(3.0, 1.0)
>>> warnings
('controller.quorum.retry.backoff.max.ms has no effect: Kafka waits retry.backoff.ms after every failure',)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_capacity.errors import RequestError

_PREFIX = "controller.quorum."
_OLD_PREFIX = "quorum."
_UNUSED = "retry.backoff.max.ms"
_FIELDS = {
    "fetch.timeout.ms": "fetch_timeout_seconds",
    "election.timeout.ms": "election_timeout_seconds",
    "election.backoff.max.ms": "election_backoff_max_seconds",
    "request.timeout.ms": "request_timeout_seconds",
    "retry.backoff.ms": "retry_backoff_seconds",
}
_IDLE_PROPERTY = "metadata.max.idle.interval.ms"
_LARGEST_MS = 2**31 - 1
TIMEOUT_NAMES = frozenset({*(prefix + name for prefix in (_PREFIX, _OLD_PREFIX) for name in _FIELDS), _IDLE_PROPERTY})
"""What :func:`timeouts_of` reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumTimeouts:
    """How long each side waits for what; the defaults are Kafka's.

    Attributes:
        fetch_timeout_seconds: a follower that has fetched nothing for so long asks whether it may stand for election;
            a leader resigns when a majority has not fetched for 1.5 times as long.
        election_timeout_seconds: how long a replica waits in an election at least; at most twice as long.
        election_backoff_max_seconds: how long a voter that is not the first choice of a resigning leader waits at most.
        request_timeout_seconds: after which a request without an answer counts as lost.
        retry_backoff_seconds: the pause before a node is asked again after a failed request.
        idle_interval_seconds: how often an active controller without work writes a record; 0 for never.
    """

    fetch_timeout_seconds: float = 2.0
    election_timeout_seconds: float = 1.0
    election_backoff_max_seconds: float = 1.0
    request_timeout_seconds: float = 2.0
    retry_backoff_seconds: float = 0.02
    idle_interval_seconds: float = 0.5

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            least = 0.0 if name == "idle_interval_seconds" else 0.001
            if not least <= value <= _LARGEST_MS / 1000:
                raise RequestError(f"{name} must be from {least} to {_LARGEST_MS / 1000}, not {value}")


def timeouts_of(properties: Mapping[str, object]) -> tuple[QuorumTimeouts, tuple[str, ...]]:
    """Read the timeouts from the properties of a controller; properties of other things are passed over.

    Args:
        properties: by Kafka's names, ``controller.quorum.…``, also with the older prefix ``quorum.…``; in milliseconds.

    Returns:
        The timeouts, and warnings of what has no effect.

    Raises:
        RequestError: a value is no whole number of milliseconds that can be simulated, or old and new name differ.
    """
    seconds: dict[str, float] = {}
    for suffix, field in _FIELDS.items():
        named = _milliseconds(properties, suffix)
        if named is not None:
            seconds[field] = named / 1000
    if _IDLE_PROPERTY in properties:
        seconds["idle_interval_seconds"] = _whole(_IDLE_PROPERTY, properties[_IDLE_PROPERTY], least=0) / 1000
    warnings = tuple(
        f"{prefix}{_UNUSED} has no effect: Kafka waits retry.backoff.ms after every failure"
        for prefix in (_PREFIX, _OLD_PREFIX)
        if prefix + _UNUSED in properties
    )
    return QuorumTimeouts(**seconds), warnings


def _milliseconds(properties: Mapping[str, object], suffix: str) -> int | None:
    given = {
        name: _whole(name, properties[name], least=1)
        for name in (_PREFIX + suffix, _OLD_PREFIX + suffix)
        if name in properties
    }
    if len(set(given.values())) > 1:
        both = " and ".join(f"{name}={value}" for name, value in given.items())
        raise RequestError(f"{both} contradict each other; keep {_PREFIX}{suffix}")
    return next(iter(given.values()), None)


def _whole(name: str, value: object, *, least: int) -> int:
    text = str(value).strip()
    if not text.isdecimal() or not least <= int(text) <= _LARGEST_MS:
        raise RequestError(f"{name} must be a whole number of milliseconds, at least {least}, not {value!r}")
    return int(text)
