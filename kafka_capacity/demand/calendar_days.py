"""Days of an outlook: months ahead and the turns of events. All days are ``YYYY-MM-DD``."""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Iterable

DAYS_PER_YEAR = 365.25
HOUR_SECONDS = 3600.0
DAY_SECONDS = 86_400.0

WEEK_DAYS = 7
WEEK_HOURS = 24 * WEEK_DAYS  # less history than this has not seen every hour of the week


def months_later(day: str, months: int) -> str:
    """Return the same day so many months later, or the last of a month that is too short for it."""
    start = datetime.date.fromisoformat(day)
    years, month = divmod(start.month - 1 + months, 12)
    year = start.year + years
    last = calendar.monthrange(year, month + 1)[1]
    return datetime.date(year, month + 1, min(start.day, last)).isoformat()


def midnight(day: str) -> datetime.datetime:
    """Return when a day begins in UTC."""
    return datetime.datetime.combine(datetime.date.fromisoformat(day), datetime.time(), datetime.UTC)


def days_between(first: str, later: str) -> int:
    """Return how many days later the second day is."""
    return (datetime.date.fromisoformat(later) - datetime.date.fromisoformat(first)).days


def days_later(day: str, days: int) -> str:
    """Return the day so many days later."""
    return (datetime.date.fromisoformat(day) + datetime.timedelta(days=days)).isoformat()


def outlook_dates(day: str, horizon_months: int, turns: Iterable[str]) -> tuple[str, ...]:
    """Return the day itself, each month to the horizon, and the turns between, ascending."""
    months = [months_later(day, index) for index in range(horizon_months + 1)]
    return tuple(sorted({*months, *(turn for turn in turns if day < turn <= months[-1])}))
