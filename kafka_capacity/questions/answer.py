"""What a question answers, in one shape for all of them: a verdict, why, what is wrong, figures, and what to do.

An answer is decided once, from the results of a plan. Page, mail, command line and released files show it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from kafka_capacity.health.cluster_view import UNKNOWN_RATE_RATIO
from kafka_capacity.health.problem import Problem
from kafka_capacity.report.tables import plain_badge
from kafka_capacity.text import plural
from kafka_capacity.text.names import slug
from kafka_capacity.text.wording import capitalised, uncapitalised


class Status(StrEnum):
    """Whether it fits. What is not known never fits."""

    FITS = "fits"  # every limit was judged and holds
    NO_WORSE = "no_worse"  # limits are passed, as they are today already, and the change makes none of that worse
    DOES_NOT_FIT = "does_not_fit"  # a limit is passed
    NOT_JUDGED = "not_judged"  # no limit that is known is passed, and one that matters is not known


BADGES = {status: plain_badge(status) for status in Status}
"""A verdict in few words, and the kind of it."""


_UNKNOWN_RATES = (
    ("the traffic", "unknown_rate_partitions", "unknown_rate_stored_ratio"),
    ("consumer traffic", "unknown_read_partitions", "unknown_read_produced_ratio"),
)
"""What may be unknown: its name, and the facts of how many partitions that is and of what share they have."""


NO_RATES = "no rates are known, or every rate is 0"
"""Why nothing that hangs on traffic is judged."""


def unknown_traffic(facts: Mapping[str, Any]) -> str | None:
    """Name partitions whose traffic is unknown and that hold much; ``None`` for none, and of plans that do not tell."""
    for what, many, share in _UNKNOWN_RATES:
        if float(facts.get(share) or 0.0) > UNKNOWN_RATE_RATIO:
            return f"{what} of {int(facts[many]):,} of {plural(int(facts['partition_count']), 'partition')}"
    return None


def traffic_warning(unknown: str) -> str:
    """Say what follows for figures where :func:`unknown_traffic` names some, without a period."""
    return f"{capitalised(unknown)} is unknown and counts as zero: all loads and times are underestimated"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFigure:
    """A figure of the first screen."""

    name: str  # stable, for machines
    label: str  # for people
    value: Any  # in the unit; `None` for never, or where there is none
    unit: str  # the name of a format of `text`, such as `bytes` or `duration`
    note: str  # what to know about this value
    definition: str  # what the figure is, whatever its value


class StepVerb(StrEnum):
    """What a step that ends with so many brokers does to get there."""

    HAVE = "have"
    MOVE = "move to"
    REBALANCE = "rebalance"

    def about(self, count: int) -> str:
        """Return the words that name the action."""
        return f"{self} {plural(count, 'broker')}"


APPROVED = frozenset({"move", "brokers", "volumes"})
"""Codes of the actions that the decision box is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do."""

    code: str  # its kind; stable, for machines
    about: str  # the same in a few words that do not change between reports, such as `have 15 brokers`
    text: str  # what to do, as a sentence
    by: str | None = None  # the day by which it must be done, `YYYY-MM-DD`; `None` for now
    cost: str | None = None  # what it costs, as a sentence; `None` where that is not known
    broker_count: int | None = None  # the number of brokers once it is done; `None` if it does not change that
    is_due: bool = True  # whether without it something is over a limit now or soon, or sizing does not know

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, with an ``id`` that stays from report to report."""
        return {"id": slug(self.about), **asdict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one question answers."""

    status: Status | None = None  # the verdict; `None` for a question that judges nothing itself
    headline: str = ""  # the answer in one sentence
    badge: tuple[str, str] = ("", "")  # the verdict in few words, and its `kind`: `good`, `warn` or `bad`
    reasons: Sequence[str] = ()  # why, as sentences with figures
    problems: Sequence[Problem] = ()  # what is wrong, or worth knowing before the answer is relied on
    figures: Sequence[KeyFigure] = ()  # of the first screen
    actions: Sequence[Action] = ()  # what to do, in order
    unknown: Sequence[str] = ()  # what is not known and so was not judged, in a few words each
    # what the answer was read from, for who shows more of it; no part of the plain data
    details: Any = field(default=None, repr=False, compare=False)


def as_far_as_known(answer: Answer, facts: Mapping[str, Any]) -> Answer:
    """Return an answer that rests on traffic, with what is unknown of that where :func:`unknown_traffic` names some."""
    unknown = unknown_traffic(facts)
    if unknown is None:
        return answer
    headline = f"As far as known, {uncapitalised(answer.headline)}"
    return replace(answer, headline=headline, reasons=(*answer.reasons, f"{traffic_warning(unknown)}."))
