"""What could be done instead of buying: kinds of actions, and what each kind asks of whoever does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kafka_capacity.demand.changed import ClusterChange
from kafka_capacity.text import plural


class ActionKind(StrEnum):
    """What is done."""

    RETENTION = "retention"  # records are kept for a shorter time
    IDLE = "idle"  # topics that nobody uses are removed
    WRITE_ONLY = "write-only"  # topics that nobody reads are removed, and their producers stopped
    REPLICATION_FACTOR = "replication-factor"  # two replicas of what is not critical
    COMPRESSION = "compression"  # producers compress
    COMPACTION = "compaction"  # only the newest record of each key is kept
    TIERED_STORAGE = "tiered-storage"  # old segments go to an object store (KIP-405)
    PARTITIONS = "partitions"  # topics that have far too many are made again with fewer
    QUOTAS = "quotas"  # the few that make the peak are throttled
    FOLLOWER_FETCHING = "follower-fetching"  # consumers read from the replica in their rack (KIP-392)
    RACK_AWARE_PRODUCERS = "rack-aware-producers"  # they choose partitions led in their rack (KIP-1123)
    RACKS = "racks"  # as many brokers in every rack
    VOLUMES = "volumes"  # smaller volumes take the place of today's
    SHAPE = "shape"  # fewer larger brokers, or more smaller ones


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFacts:
    """What is true of every action of a kind.

    Effort is in points, ours: 1 is a setting that one person changes in an hour, and each kind is so many times that.
    """

    effort: int
    needs_restart: str = ""  # what is restarted, empty for nothing
    is_reversible: bool = True  # whether undoing it brings back what was there
    risk: str  # what can go wrong, a clause


FACTS = {
    ActionKind.RETENTION: KindFacts(
        effort=1,
        is_reversible=False,
        risk="older records are deleted at once; their readers are known only for the hours of history",
    ),
    ActionKind.IDLE: KindFacts(effort=1, is_reversible=False, risk="a topic may hold state that is rarely read"),
    ActionKind.WRITE_ONLY: KindFacts(
        effort=3,
        needs_restart="producers",
        is_reversible=False,
        risk="somebody may intend to read it later; producers must stop first",
    ),
    ActionKind.REPLICATION_FACTOR: KindFacts(
        effort=3, risk="min.insync.replicas must be 1, and two simultaneous losses lose records"
    ),
    ActionKind.COMPRESSION: KindFacts(
        effort=5,
        needs_restart="producers",
        risk="the ratio is as given, and producers and consumers spend CPU on it; measure it on a sample",
    ),
    ActionKind.COMPACTION: KindFacts(
        effort=3,
        is_reversible=False,
        risk=(
            "older records of a key are deleted, records without a key are refused from then on, and the log cleaner "
            "reads and writes the logs again; the ratio is as given"
        ),
    ),
    ActionKind.TIERED_STORAGE: KindFacts(
        effort=8,
        needs_restart="brokers",
        is_reversible=False,
        risk="reads of older records come from the object store, and are slower",
    ),
    ActionKind.PARTITIONS: KindFacts(
        effort=8,
        needs_restart="producers and consumers",
        risk=(
            "the topics are deleted and recreated: consumers must have read them to the end first, and keys change "
            "partition"
        ),
    ),
    ActionKind.QUOTAS: KindFacts(
        effort=1,
        risk="clients that cannot wait are throttled like those that can, unless each has a client id of its own",
    ),
    ActionKind.FOLLOWER_FETCHING: KindFacts(
        effort=5,
        needs_restart="brokers and consumers",
        risk=(
            "records reach followers a little later; consumers without `client.rack`, or in a rack without a replica, "
            "read from leaders as before"
        ),
    ),
    ActionKind.RACK_AWARE_PRODUCERS: KindFacts(
        effort=5,
        needs_restart="producers",
        risk=(
            "a rack's partitions share what the rack produces; records with a key go where they went before, so that "
            "the saving is an upper bound; clients must be of Kafka 4.4 with `partitioner.rack.aware` and `client.rack`"
        ),
    ),
    ActionKind.RACKS: KindFacts(
        effort=8, risk="everything on the brokers that are replaced is copied, and more than that"
    ),
    ActionKind.VOLUMES: KindFacts(effort=8, needs_restart="brokers", risk="everything is copied to new volumes"),
    ActionKind.SHAPE: KindFacts(effort=8, needs_restart="brokers", risk="every broker is replaced or restarted"),
}
"""By kind."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Action:
    """One thing that could be done."""

    kind: ActionKind
    about: str  # in a few words that are its name within its kind, such as `clicks.*`
    text: str  # what to do, a clause that begins with a verb and has the subject in it
    subject: str  # what it is about, such as `clicks.*` or `12 topics`; empty where no topic is named
    topics: tuple[str, ...]  # that it is about, sorted
    change: ClusterChange
    freed_bytes: float  # about what all replicas would hold less today; by this, actions are judged in turn
    affected: str = ""  # who is affected, and for how long, a clause; empty where its kind says all there is

    @property
    def action_id(self) -> str:
        """Its name; the same from plan to plan."""
        return f"{self.kind}:{self.about}"

    @property
    def facts(self) -> KindFacts:
        """What is true of its kind."""
        return FACTS[self.kind]

    @property
    def risk(self) -> str:
        """What can go wrong, a clause."""
        return "; ".join(filter(None, (self.affected, self.facts.risk)))


def topics_words(names: Sequence[str], every: Sequence[str]) -> str:
    """Name topics: one by its name, all that begin alike by that, others by their number.

    >>> every = ("clicks.de", "clicks.fr", "logs.a", "logs.b", "orders")
    >>> [topics_words(names, every) for names in (["orders"], ["clicks.de", "clicks.fr"], ["logs.a", "orders"])]
    ['orders', 'clicks.*', '2 topics']
    """
    if len(names) == 1:
        return names[0]
    first, last = min(names), max(names)
    start = next((first[:place] for place, letter in enumerate(first) if last[place : place + 1] != letter), first)
    alike = [name for name in every if name.startswith(start)]
    return f"{start}*" if start and sorted(names) == sorted(alike) else plural(len(names), "topic")


def time_words(seconds: float) -> str:
    """Write a retention: whole days or hours.

    >>> [time_words(days * 86_400) for days in (1, 3, 0.5)]
    ['1 day', '3 days', '12 hours']
    """
    days = seconds / 86_400
    return plural(round(days), "day") if days == round(days) else plural(round(seconds / 3600), "hour")
