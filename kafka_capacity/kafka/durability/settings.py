"""What is explored: how a topic and its producer are set, what may fail, and what may come of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from kafka_capacity.errors import RequestError

MAX_REPLICAS = 4
MAX_RECORDS = 3
MAX_FAILURES = 3
MAX_APPENDS = 8  # how many copies of records a log has room for, all attempts counted


class Acks(StrEnum):
    """When a producer is told that its record is written, as it sets ``acks``."""

    NONE = "0"  # never: it takes for written what it has sent
    LEADER = "1"  # once the leader has appended it
    ALL = "all"  # once all replicas in sync have it, and they are as many as must be


class Truncation(StrEnum):
    """What a follower cuts off its log before it fetches."""

    HIGH_WATERMARK = "high-watermark"  # what is behind its own high watermark: Kafka before 0.11
    LEADER_EPOCH = "leader-epoch"  # what the leader's log does not have: Kafka since 0.11 (KIP-101, KIP-279)


class FailureKind(StrEnum):
    """What may fail; each time it does counts as one failure."""

    CRASH = "crash"  # a broker's process dies; what the operating system holds of its logs is kept
    CLEAN_STOP = "clean-stop"
    """A broker is shut down as it should be, or is cut off for a while: it lacks nothing when it is back."""
    POWER_LOSS = "power-loss"  # a broker dies with the end of its logs, as much as was not flushed
    ALL_POWER_LOSS = "all-power-loss"  # all brokers lose power at once; nobody has time to leave the ISR
    QUICK_RESTART = "quick-restart"  # a follower is back before anybody takes notice, and stays in the ISR
    DISCONNECT = "disconnect"  # the connection of the producer breaks: what it waits for is not answered
    PRODUCER_RESTART = "producer-restart"
    """The producer starts over, with another producer id, and sends again everything unacknowledged."""


class Outcome(IntEnum):
    """What can come of it, judged when everything has settled; several may hold at once."""

    EXACTLY_ONCE = 0  # all records are there once and in order, and no error was told
    LOST_ACKNOWLEDGED = 1  # the producer was told that a record is written, and the leader's log does not have it
    LOST_SILENTLY = 2  # a record was sent with `acks=0` and is not there: nobody is told
    DUPLICATED = 3  # a record is there more than once
    DUPLICATED_ACROSS_PARTITIONS = 4  # a record is there, and in another partition as well
    REORDERED = 5  # the first copy of a record stands behind that of a later one
    READ_THEN_GONE = 6  # consumers could read a record that is not there any more
    DIVERGED = 7  # replicas that have caught up differ
    REFUSED = 8  # the producer was told of an error, and the record is not there
    WRITTEN_THOUGH_REFUSED = 9  # the producer was told of an error, and the record is there
    UNAVAILABLE = 10  # nobody leads the partition until a broker is back

    @property
    def words(self) -> str:
        """Name it for people."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """How a topic and its producer are set."""

    acks: Acks = Acks.ALL  # of the producer
    replication_factor: int = 3  # of the topic
    min_insync_replicas: int = 1  # of the topic; where it is above the factor, the factor counts (Kafka since 3.7)
    is_unclean_allowed: bool = False  # `unclean.leader.election.enable`
    is_idempotent: bool = False  # `enable.idempotence`, which needs `acks=all`
    truncation: Truncation = Truncation.LEADER_EPOCH  # of followers
    has_eligible_leaders: bool = False  # whether the controller keeps eligible leader replicas (KIP-966)
    is_flushed: bool = False  # whether each append is flushed before it is answered (`log.flush.interval.messages=1`)

    def __post_init__(self) -> None:
        """Refuse what Kafka refuses, and what is too large to be explored."""
        if not 1 <= self.replication_factor <= MAX_REPLICAS:
            raise RequestError(
                f"replication_factor: {self.replication_factor} cannot be explored; give 1 to {MAX_REPLICAS}"
            )
        if self.min_insync_replicas < 1:
            raise RequestError(f"min_insync_replicas: {self.min_insync_replicas} is invalid; give at least 1")
        if self.is_idempotent and self.acks is not Acks.ALL:
            raise RequestError(f"is_idempotent: idempotence needs acks=all, not acks={self.acks}")

    @property
    def effective_min_isr(self) -> int:
        """How many replicas must be in sync."""
        return min(self.min_insync_replicas, self.replication_factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How far is explored: everything within these, nothing beyond."""

    records: int = 1  # that the producer has to send, one a request
    failures: int = 2  # at most so many
    retries: int = 1  # how often a record is sent again, within one life of the producer
    in_flight: int = 1  # requests that wait at once
    kinds: tuple[FailureKind, ...] = tuple(FailureKind)  # what may fail
    power_losses: int = MAX_FAILURES  # of these failures, at most so many cost what was not flushed
    # whether a record that is sent again after a restart of the producer goes to another partition, since their number
    # has changed or it has no key
    moves_on_resend: bool = False

    def __post_init__(self) -> None:
        """Refuse what does not fit the coding of states."""
        for name, least, most in (
            ("records", 1, MAX_RECORDS),
            ("failures", 0, MAX_FAILURES),
            ("power_losses", 0, MAX_FAILURES),
            ("retries", 0, 3),
            ("in_flight", 1, MAX_RECORDS),
        ):
            if not least <= getattr(self, name) <= most:
                raise RequestError(f"{name}: {getattr(self, name)} cannot be explored; give {least} to {most}")
        lives = 2 if FailureKind.PRODUCER_RESTART in self.kinds else 1
        if self.records * (self.retries + 1) * lives > MAX_APPENDS:
            raise RequestError(
                f"records, retries: {self.records} records sent {self.retries + 1} times in {lives} lives of a "
                f"producer can be {self.records * (self.retries + 1) * lives} copies; at most {MAX_APPENDS} are "
                "explored, so give less of one"
            )
