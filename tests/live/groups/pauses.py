"""For how long nobody read a partition, by what the members of a group said."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafka_capacity.kafka.groups import TopicPartition
from tests.live.groups.member_process import MemberEvent


@dataclass(frozen=True, slots=True)
class Tenure:
    """One member's time with one partition; ``end`` is ``None`` while it lasts. Seconds since the epoch."""

    seat: str
    start: float
    end: float | None


def tenures(members: Iterable[tuple[str, Sequence[MemberEvent]]]) -> dict[TopicPartition, list[Tenure]]:
    """Return who held each partition from when to when, in order of time."""
    found: dict[TopicPartition, list[Tenure]] = {}
    for seat, events in members:
        since: dict[TopicPartition, float] = {}
        for event in events:
            if event.name == "partitions_assigned":
                since |= dict.fromkeys(event.partitions, event.at)
            elif event.name in ("partitions_revoked", "ended"):
                for partition in event.partitions if event.name == "partitions_revoked" else tuple(since):
                    found.setdefault(partition, []).append(Tenure(seat, since.pop(partition), event.at))
        for partition, start in since.items():
            found.setdefault(partition, []).append(Tenure(seat, start, None))
    return {partition: sorted(listed, key=lambda each: each.start) for partition, listed in sorted(found.items())}


def ownerless_seconds(listed: Sequence[Tenure], since: float) -> float:
    """Sum the time from then on in which nobody held a partition, until its last owner of all got it.

    >>> ownerless_seconds([Tenure("a", 0, 5), Tenure("b", 7, 9), Tenure("a", 9, None)], since=4)
    2.0
    """
    total = 0.0
    for before, after in itertools.pairwise(listed):
        if before.end is not None and after.start >= since:
            total += max(0, after.start - max(before.end, since))
    return total


def unread_seconds(read_at: Sequence[float], since: float, until: float, interval_seconds: float) -> float:
    """Return the longest time without a record, beyond the time between two records.

    Args:
        read_at: when records of the partition were read, sorted.
        since: silences that end before then do not count.
        until: nor do those that begin after this.
        interval_seconds: the time between two records.
    """
    gaps = [
        after - before - interval_seconds
        for before, after in itertools.pairwise(read_at)
        if after >= since and before <= until
    ]
    return max([0.0, *gaps])
