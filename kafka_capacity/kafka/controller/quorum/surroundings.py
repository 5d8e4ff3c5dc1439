"""What a simulated quorum stands in: the network between its replicas, and their disks."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from random import Random

from kafka_capacity.errors import RequestError


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The way between two processes.

    Attributes:
        least_delay_seconds: of a message one way, with the time to handle it.
        most_delay_seconds: each delay is drawn evenly from between the two.
        loss_ratio: share of messages that never arrive.
        measured_delays_seconds: where there are some, delays are drawn from these instead.
    """

    least_delay_seconds: float = 0.0002
    most_delay_seconds: float = 0.001
    loss_ratio: float = 0.0
    measured_delays_seconds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.least_delay_seconds <= self.most_delay_seconds < inf:
            raise RequestError(
                f"least_delay_seconds must be above 0 and not above most_delay_seconds, not "
                f"{self.least_delay_seconds} and {self.most_delay_seconds}"
            )
        if not 0 <= self.loss_ratio <= 1:
            raise RequestError(f"loss_ratio must be from 0 to 1, not {self.loss_ratio}")
        for delay in self.measured_delays_seconds:
            if not 0 < delay < inf:
                raise RequestError(f"measured_delays_seconds must be above 0 and finite, not {delay}")

    def delay_seconds(self, random: Random) -> float:
        """Draw how long a message takes."""
        if self.measured_delays_seconds:
            return random.choice(self.measured_delays_seconds)
        # What random.uniform does, without the call: one is drawn for every message.
        return self.least_delay_seconds + (self.most_delay_seconds - self.least_delay_seconds) * random.random()


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """The disk of each replica: what it has written it tells only after a flush.

    How much flushes differ decides how far apart the timers of two followers run, and so how often votes are split. A
    busy disk flushes quickly most times and slowly at others, which two bounds do not tell: give what was measured.

    Attributes:
        least_flush_seconds: of a flush of the log, or of the file that holds epoch and vote.
        most_flush_seconds: each flush is drawn evenly from between the two.
        measured_flushes_seconds: where there are some, flushes are drawn from these instead.
    """

    least_flush_seconds: float = 0.001
    most_flush_seconds: float = 0.01
    measured_flushes_seconds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.least_flush_seconds <= self.most_flush_seconds < inf:
            raise RequestError(
                f"least_flush_seconds must not be negative and not above most_flush_seconds, not "
                f"{self.least_flush_seconds} and {self.most_flush_seconds}"
            )
        for flush in self.measured_flushes_seconds:
            if not 0 <= flush < inf:
                raise RequestError(f"measured_flushes_seconds must not be negative and must be finite, not {flush}")

    def flush_seconds(self, random: Random) -> float:
        """Draw how long a flush takes."""
        if self.measured_flushes_seconds:
            return random.choice(self.measured_flushes_seconds)
        return random.uniform(self.least_flush_seconds, self.most_flush_seconds)
