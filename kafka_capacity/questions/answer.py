"""What a question answers, in one shape for all of them: a verdict, why, what is wrong, figures, and what to do.

An answer is decided once, from the results of a plan. Page, mail, command line and released files show it as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from kafka_capacity.health.problem import Problem


class Status(StrEnum):
    """Whether it fits. What is not known never fits."""

    FITS = "fits"
    """Every limit was judged and holds."""
    NO_WORSE = "no_worse"
    """Limits are passed, as they are today already, and the change makes none of that worse."""
    DOES_NOT_FIT = "does_not_fit"
    """A limit is passed."""
    NOT_JUDGED = "not_judged"
    """No limit that is known is passed, and one that matters is not known."""


BADGES = {
    Status.FITS: ("good", "✓ Fits"),
    Status.NO_WORSE: ("note", "○ No worse than today"),
    Status.NOT_JUDGED: ("warn", "? Not judged"),
    Status.DOES_NOT_FIT: ("bad", "✕ Does not fit"),
}
"""A verdict in few words, and the kind of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFigure:
    """A figure of the first screen.

    Attributes:
        name: stable, for machines.
        label: for people.
        value: in the unit; ``None`` for never, or where there is none.
        unit: the name of a format of :mod:`kafka_capacity.text`, such as ``bytes`` or ``duration``.
        note: what to know about this value.
        definition: what the figure is, whatever its value.
    """

    name: str
    label: str
    value: Any
    unit: str
    note: str
    definition: str

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do.

    Attributes:
        code: its kind; stable, for machines.
        text: what to do, as a sentence.
        by: the day by which it must be done, ``YYYY-MM-DD``; ``None`` for now.
        cost: what it costs, as a sentence; ``None`` where that is not known.
    """

    code: str
    text: str
    by: str | None = None
    cost: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one question answers.

    Attributes:
        status: the verdict; ``None`` for a question that judges nothing itself.
        headline: the answer in one sentence.
        badge: the verdict in few words, and its ``kind``: ``good``, ``warn`` or ``bad``.
        reasons: why, as sentences with figures.
        problems: what is wrong, or worth knowing before the answer is relied on.
        figures: of the first screen.
        actions: what to do, in order.
        unknown: what is not known and so was not judged, in a few words each.
        details: what the answer was read from, for who shows more of it; no part of the plain data.
    """

    status: Status | None = None
    headline: str = ""
    badge: tuple[str, str] = ("", "")
    reasons: Sequence[str] = ()
    problems: Sequence[Problem] = ()
    figures: Sequence[KeyFigure] = ()
    actions: Sequence[Action] = ()
    unknown: Sequence[str] = ()
    details: Any = field(default=None, repr=False, compare=False)
