"""Planned events: what is known to come and no history can tell.

A launch multiplies the traffic of some topics, a new topic brings its own, a change of retention makes the logs of some
topics longer or shorter. An event that is past is in the measured traffic already, and one beyond the horizon is not
asked for: both are left out and told.

A launch that is running is in the measured traffic as well, since its first day: peaks are as high as they get, and
what remains is its end, after which traffic is a factor lower. The measured mean, though, is of some days, of which the
launch has had a part only; the mean of a day is what it will be on every further day
(:meth:`Launch.mean_ratio`). A launch whose first day is that of the inventory has not been measured yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kafka_capacity.demand.calendar_days import DAY_SECONDS, days_between
from kafka_capacity.demand.outlook import AddedTopic


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Traffic of some topics is multiplied."""

    topics: str  # which, a pattern of names such as `orders.*`; `*` and `?` stand for any letters and one
    from_date: str  # the first day of it, `YYYY-MM-DD`
    factor: float  # the traffic is so many times what it would be without the event
    to_date: str | None = None  # the last day of it; `None` where it stays

    def factor_at(self, date: str) -> float:
        """Return by how much traffic is multiplied on a day."""
        is_on = self.from_date <= date and (self.to_date is None or date <= self.to_date)
        return self.factor if is_on else 1.0

    def is_measured(self, ds: str) -> bool:
        """Return whether it had begun before a day, on which traffic was measured up to the day before."""
        return self.from_date < ds and (self.to_date is None or ds < self.to_date)

    def mean_ratio(self, ds: str, days: int) -> float:
        """Return the mean of one of its days over that of so many days before a day, all else being equal.

        >>> launch = Launch(topics="orders", from_date="2026-11-13", factor=3.0)
        >>> launch.mean_ratio("2026-11-20", 28)  # seven days at 3 and 21 at 1 are 1.5 on average
        2.0
        """
        if not self.is_measured(ds) or days < 1:
            return 1.0
        share = min(days, days_between(self.from_date, ds)) / days
        return self.factor / (1.0 + (self.factor - 1.0) * share)

    def label(self) -> str:
        """Describe it in a few words."""
        until = "" if self.to_date is None else f" to {self.to_date}"
        return f"launch ×{self.factor:g} from {self.from_date}{until}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionChange:
    """Records of some topics are kept for another time."""

    topics: str  # which, a pattern as in `Launch`
    from_date: str  # the day of the change, `YYYY-MM-DD`
    retention_seconds: float  # how long records are kept from then on

    def label(self) -> str:
        """Describe it in a few words."""
        days = self.retention_seconds / DAY_SECONDS
        return f"retention {days:g} {'day' if days == 1 else 'days'} from {self.from_date}"


def retention_at(date: str, before_seconds: float, changes: Sequence[RetentionChange]) -> float:
    """Return the time that a log spans on a day, after changes by date of a retention of so many seconds.

    A shorter retention deletes at once. A longer one deletes nothing until the log is as long as it may be, so the log
    grows by a day each day.
    """
    spanned = allowed = before_seconds
    since = date
    for change in changes:
        if change.from_date > date:
            break
        spanned = min(allowed, spanned + max(0, days_between(since, change.from_date)) * DAY_SECONDS)
        allowed, since = change.retention_seconds, change.from_date
    return min(allowed, spanned + days_between(since, date) * DAY_SECONDS)


PlannedEvent: TypeAlias = Launch | RetentionChange | AddedTopic
