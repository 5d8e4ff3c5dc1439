"""Why an option does not fit: a value with numbers, never an exception; and how far from fitting that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

from kafka_capacity.hardware.plain import to_plain
from kafka_capacity.text.wording import plural

_ROUNDING_RATIO = 1e-9  # the same replicas in another order add up to a sum that differs by less


Unending = Annotated[float, None]
"""A figure that may be infinite, which is null in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excuse:
    """One constraint that an option breaks."""

    reason: str  # a sentence for people, with the numbers in it
    constraint: str  # its short name, such as `disk` or `replication_factor`; the same for every scenario
    where: str  # the broker, rack or topic
    needed: Unending  # how much would be needed, in the unit of the constraint; null where no throttle helps
    available: float  # how much is available
    unit: str  # the unit of both figures, such as `bytes` or `brokers`
    when: str | None = None  # the day from which it is exceeded, `YYYY-MM-DD`; `None` if time plays no part
    broker_id: int | None = None  # the broker that it is about; `None` if it is about something else
    before: float | None = None  # what that broker needs today, if the change is judged against today; else `None`
    # the broker that it replaces, so that `before` is what that one needs; else `None`
    replaced_broker_id: int | None = None
    is_proven: bool | None = None  # whether no placement keeps the limit; `None` where nobody looked at others

    @property
    def is_standing(self) -> bool:
        """Whether it was broken before, and the change makes it no worse."""
        before = self.before
        return before is not None and before > self.available and self.needed <= before * (1 + _ROUNDING_RATIO)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for tables and JSON, ``None`` for a figure without end."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: to_plain(value) for name, value in plain.items() if value is not None}


def first_reason(excuses: Sequence[Mapping[str, Any]]) -> str:
    """Return the first reason of several, in plain data, how many brokers it holds of besides, and how many others.

    >>> full = {"reason": "broker 1 is full", "constraint": "disk", "broker_id": 1}
    >>> first_reason([full, {**full, "broker_id": 2}, {"reason": "racks are too few", "constraint": "racks"}])
    'broker 1 is full (1 other broker exceeds this limit, and 1 other limit is exceeded)'
    """
    first, *others = excuses
    alike = sum(
        first.get("broker_id") is not None is not one.get("broker_id") and one["constraint"] == first["constraint"]
        for one in others
    )
    limits = len(others) - alike
    counts = [f"{plural(alike, 'other broker')} {'exceeds' if alike == 1 else 'exceed'} this limit"] if alike else []
    counts += [f"{plural(limits, 'other limit')} {'is' if limits == 1 else 'are'} exceeded"] if limits else []
    return f"{first['reason']} ({', and '.join(counts)})" if counts else str(first["reason"])


def shortfall_ratio(excuse: Mapping[str, Any]) -> float:
    """Return how many times as much is needed as is available; infinite where nothing is, or one is not known.

    In plain data, as :meth:`Excuse.as_dict` has it, ``None`` or NaN is a figure that is not known.
    """
    needed, available = excuse["needed"], excuse["available"]
    if needed is None or available is None or not available > 0 or math.isnan(needed):
        return math.inf
    return float(needed / available)


def distance(excuses: Iterable[Mapping[str, Any]]) -> tuple[int, float]:
    """Return how far an option is from fitting: how many different constraints it breaks, then its worst shortfall.

    Ten disks that are too small are one constraint, not ten.

    >>> disk = {"constraint": "disk", "needed": 150.0, "available": 100.0}
    >>> distance([disk, {**disk, "needed": 120.0}])
    (1, 1.5)
    >>> distance([])
    (0, 0.0)
    """
    broken = list(excuses)
    return (
        len({excuse["constraint"] for excuse in broken}),
        max((shortfall_ratio(excuse) for excuse in broken), default=0.0),
    )
