"""What record locks do to a share group (KIP-932; ``SharePartition`` of the broker, 4.3.1).

Members of a share group acquire records of partitions that they share; a record is locked until it is acknowledged, or
until its lock ends, and then it is delivered again, up to a limit. A partition gives out no further record while it has
``group.share.partition.max.record.locks`` between the first that is not done with and the last that was given out,
those that are done with among them. A member takes up to ``max.poll.records`` at once, processes them one after another
and acknowledges them all with its next poll. So with K locks, B records a poll and s seconds a record

    a partition passes at most K / (B s) records a second, through ceil(K / B) members at once,
    r records a second take ceil(r s) members,
    of a poll the records after the first floor(L / s) outlive their locks, of L seconds, and are processed again.

>>> locks = ShareSettings(max_poll_records=100)
>>> useful_members(6, locks), members_needed(350.0, 0.1), locks.max_partition_rate(0.1)
(120, 35, 200.0)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareSettings:
    """What a share group goes by; defaults are Kafka's (``ShareGroupConfig``, 4.3.1)."""

    lock_seconds: float = 30.0  # `group.share.record.lock.duration.ms`
    max_record_locks: int = 2000  # of a partition, `group.share.partition.max.record.locks`
    delivery_limit: int = 5  # `group.share.delivery.count.limit`: then a record is given up
    max_poll_records: int = 500  # of a member

    @property
    def batch_records(self) -> int:
        """How many records a member takes at once at most."""
        return min(self.max_poll_records, self.max_record_locks)

    def batch_seconds(self, record_seconds: float) -> float:
        """Return how long a member takes over all that it can take at once, which it holds that long."""
        return self.batch_records * record_seconds

    def max_partition_rate(self, record_seconds: float) -> float:
        """Return how many records a second a partition passes at most, however many members there are."""
        return self.max_record_locks / self.batch_seconds(record_seconds)

    def records_in_time(self, record_seconds: float) -> int:
        """Return how many records a member can take at once so that none outlives its lock; 0 where each does."""
        return math.floor(self.lock_seconds / record_seconds * (1 + _ROUNDING))

    def processed_again(self, record_seconds: float) -> int:
        """Return how many records of a full poll outlive their locks, and are processed by somebody else as well."""
        return max(0, self.batch_records - self.records_in_time(record_seconds))

    def stuck_seconds(self, rate: float) -> float:
        """Return how long a partition stands still behind a record whose lock always ends, at this rate of records.

        The lock ends as often as the record is delivered; meanwhile the partition goes on until its locks are used up.
        """
        until_full = self.max_record_locks / rate if rate else math.inf
        return max(0.0, self.delivery_limit * self.lock_seconds - until_full)


def useful_members(partitions: int, settings: ShareSettings) -> int:
    """Return how many members can have records at once, while all of them take as many as they can."""
    return partitions * math.ceil(settings.max_record_locks / settings.batch_records)


def members_needed(rate: float, record_seconds: float) -> int:
    """Return how many members process so many records a second, one after another each; at least one."""
    return max(1, math.ceil(rate * record_seconds * (1 - _ROUNDING)))
