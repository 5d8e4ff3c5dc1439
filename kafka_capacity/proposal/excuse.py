"""Why an option does not fit: a value with numbers, never an exception."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Excuse:
    """One constraint that an option breaks.

    Attributes:
        reason: a sentence for people, with the numbers in it.
        constraint: its short name, such as ``disk`` or ``replication_factor``; the same for every scenario.
        where: the broker, rack or topic.
        needed: how much it would take, in the unit of the constraint.
        available: how much there is.
        unit: what the two figures count, such as ``bytes`` or ``brokers``.
        when: the day from which on it is broken, ``YYYY-MM-DD``; ``None`` where time plays no part.
    """

    reason: str
    constraint: str
    where: str
    needed: float
    available: float
    unit: str
    when: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give plain data for tables and JSON."""
        when = {} if self.when is None else {"when": self.when}
        return {
            "reason": self.reason,
            "constraint": self.constraint,
            "where": self.where,
            "needed": self.needed,
            "available": self.available,
            "unit": self.unit,
            **when,
        }
