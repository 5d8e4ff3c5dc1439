"""When waves run by the clock: within a window of each day, at the traffic of each hour.

Goals (ordered)
    1. No wave copies outside the window. A reassignment that runs cannot be paused: its throttle can be lowered, which
       leaves partitions with replicas that fall behind, or it can be cancelled. So a wave begins only where it can end
       before the window closes.
    2. The move is over soon: each wave begins as soon as the one before lets it, in the first window that has room.

A wave for which no window of a week has room begins when one opens, and ends when it ends: the plan says so
(:class:`~kafka_capacity.kafka.reassignment.schedule.Overrun`).

All is in UTC. The traffic of an hour is that of the mean, for each partition by the same ratio, which is the cluster's
in that hour of the week; without any history it is the mean in every hour.

Worked example, a window from 22:00 to 6:00 and three waves of four hours:
    >>> import datetime
    >>> import numpy as np
    >>> clock = Clock(window=Window.of("22:00-06:00"), day=datetime.date(2026, 11, 16), rate_ratio=np.ones(WEEK_HOURS))
    >>> starts, seconds = clock.place(np.zeros(3), lambda wave, at: 4 * HOUR)
    >>> (starts / HOUR).tolist()  # after the opening on the first day
    [0.0, 4.0, 24.0]
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from kafka_capacity.kafka.arrays import Floats

HOUR = 3600.0
DAY = 24 * HOUR
DAYS = 7
WEEK_HOURS = 24 * DAYS
WEEK = DAYS * DAY
_WRITTEN = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)\s*-\s*([01]?\d|2[0-4]):([0-5]\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The part of each day in which waves may copy, in seconds of the day, UTC; it may run over midnight."""

    opens: float  # 0 up to a day
    closes: float  # above `opens`; above a day where that is on the next one

    @classmethod
    def of(cls, text: str) -> Window | None:
        """Read ``22:00-06:00``; ``None`` for a whole day, which limits nothing.

        Raises:
            ValueError: it is no window.
        """
        found = _WRITTEN.fullmatch(text.strip())
        opens, closes = (
            (int(found[hour]) * HOUR + int(found[hour + 1]) * 60.0 for hour in (1, 3)) if found else (DAY + 1, 0)
        )
        if max(opens, closes) > DAY:
            raise ValueError("write when it opens and closes, in UTC, such as 22:00-06:00")
        opens, closes = opens % DAY, closes % DAY
        return None if opens == closes else cls(opens=opens, closes=closes if closes > opens else closes + DAY)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.closes - self.opens

    @property
    def text(self) -> str:
        """As it is typed."""
        return "-".join(f"{int(at % DAY // HOUR):02d}:{int(at % HOUR // 60):02d}" for at in (self.opens, self.closes))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clock:
    """A window, and the traffic that there is in it."""

    window: Window
    day: datetime.date  # the first one, on which the first window opens
    rate_ratio: Floats  # float64[168], the traffic of each hour of a week from Monday 0:00 over the mean

    @property
    def begins(self) -> float:
        """When the first window opens, in seconds since Monday 0:00."""
        return self.day.weekday() * DAY + self.window.opens

    @property
    def busiest_ratio(self) -> float:
        """The ratio of the busiest hour that any window has a part of."""
        hours = np.arange(int(self.window.opens // HOUR), int(np.ceil(self.window.closes / HOUR)))
        return float(self.rate_ratio[(hours[:, None] + 24 * np.arange(DAYS)) % WEEK_HOURS].max())

    def moment(self, seconds: float | None) -> str | None:
        """Return a time after the first window opens as ISO 8601, to the second; ``None`` for never."""
        if seconds is None:
            return None
        midnight = datetime.datetime.combine(self.day, datetime.time(), datetime.UTC)
        return (midnight + datetime.timedelta(seconds=round(self.window.opens + seconds))).isoformat()

    def closes(self, seconds: float | None) -> float | None:
        """Return when the window closes that is open at some time after the first one opens."""
        return None if seconds is None else self._opening(self.begins + seconds) + self.window.seconds - self.begins

    def place(self, pauses: Floats, took: Callable[[int, float], float]) -> tuple[Floats, Floats]:
        """Return when each wave begins, in seconds after the first window opens, and how long it takes.

        ``pauses`` is float64[N], how long to wait after each wave; ``took`` says how long a wave takes, infinite for
        never, that begins at some time, in seconds since Monday 0:00. What comes after one that never ends begins at
        no time, infinite, but would take as long.
        """
        starts, seconds = np.full(len(pauses), np.inf), np.full(len(pauses), np.inf)
        now = self.begins
        for wave, pause in enumerate(pauses.tolist()):
            # What would come after one that never ends takes as long as if it came first.
            at, seconds[wave] = self._fitting(now if np.isfinite(now) else self.begins, partial(took, wave))
            starts[wave] = at if np.isfinite(now) else np.inf
            now = starts[wave] + seconds[wave] + pause
        return starts - self.begins, seconds

    def _fitting(self, now: float, took: Callable[[float], float]) -> tuple[float, float]:
        """Return the first time at which a wave can begin and end within a window; else when the next one opens."""
        opening = self._opening(now)
        candidates = [max(now, opening), *(opening + DAY * day for day in range(1, DAYS + 1))]
        tried = []
        for at in candidates:
            seconds = took(at)
            tried.append((at, seconds))
            if at + seconds <= self._opening(at) + self.window.seconds + _ROUNDING_SECONDS:
                return at, seconds
        return tried[0] if candidates[0] == opening else tried[1]

    def _opening(self, at: float) -> float:
        """Return when the window opened that is open at some time, or else when the next one opens."""
        first = np.floor((at - self.window.opens) / DAY) * DAY + self.window.opens
        return float(first if at < first + self.window.seconds else first + DAY)


_ROUNDING_SECONDS = 1e-6


def gates_seconds(amount_bytes: Floats, closing: Floats, begin: float) -> Floats:
    """Return float64[G], how long it takes until each of some gates is through, infinite for never.

    ``amount_bytes`` is float64[G], what is to pass each gate from ``begin`` on, in seconds since Monday 0:00;
    ``closing`` float64[G, 168], the rate at which each closes its gap in each hour of a week, below 0 where the gap
    grows.
    """
    first, into = divmod(begin % WEEK, HOUR)
    hours = (int(first) + np.arange(WEEK_HOURS + 1)) % WEEK_HOURS
    length = np.full(WEEK_HOURS + 1, HOUR)
    length[0], length[-1] = HOUR - into, into
    rate = closing[:, hours]
    passed = np.cumsum(rate * length, axis=1)
    week, most = passed[:, -1], passed.max(axis=1)
    never = (most < amount_bytes) & (week <= 0)
    # Whole weeks first, as many as it takes until a week more has the rest.
    weeks = np.where(most < amount_bytes, np.ceil((amount_bytes - most) / np.where(week > 0, week, 1.0)), 0.0)
    rest = np.where(never, -np.inf, amount_bytes - weeks * week)
    hour = (passed >= (rest - _ROUNDING * amount_bytes)[:, None]).argmax(axis=1)
    gate = np.arange(len(rest))
    before = passed[gate, hour] - rate[gate, hour] * length[hour]
    ends = (np.cumsum(length) - length)[hour] + (rest - before) / np.maximum(rate[gate, hour], 1e-300)
    return np.where(never, np.inf, weeks * WEEK + ends)


_ROUNDING = 1e-12
