"""What ``decision.json`` holds, which stands beside every plan and report; and what every document is made of.

The schema of documents is made of these classes and those of :mod:`.json_documents`, field by field with what stands
behind each (:mod:`.json_schema`). What is taken over from the model as it is has the model's own class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import dataclass_transform

from kafka_capacity.health.problem import Figure, Severity
from kafka_capacity.questions.answer import Action, KeyFigure, Status


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Document:
    """What every class here is: a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class FoundProblem(Document):
    """One thing that is wrong, or worth knowing; figures that are 0 or not known are left out."""

    severity: Severity  # how bad it is
    code: str  # its kind; stable, for machines
    where: str  # what it is about
    message: str  # what is wrong, with the figures in it
    about: str = ""  # what it is about, in a few words that do not change between reports, if that is more than `where`
    remedy: str = ""  # what to do about it
    figure: Figure | None = None  # what is needed and what there is
    partitions: int = 0  # how many partitions are at stake
    bytes_per_second: float = 0.0  # their mean produce rate
    topics: tuple[str, ...] = ()  # the topics that it is about, at most 2,000


class DecidedProblem(FoundProblem):
    """A problem of a plan."""

    id: str  # the same from report to report
    question: str  # whose it is: `change`, `capacity`, `consumers`, `failures`, … or `cluster`
    text: str  # the message and its remedy as sentences
    then: str  # what the change does to it; empty if nothing


@dataclass(frozen=True, kw_only=True)
class DecidedAction(Action):
    """One thing to do."""

    id: str  # the same from report to report


class Badge(Document):
    """A verdict in few words."""

    kind: str  # `good`, `note`, `warn` or `bad`
    text: str  # the words


class BoxLine(Document):
    """A line of the decision box."""

    name: str  # stable, for machines
    label: str  # for people
    text: str  # what it says


class Box(Document):
    """The decision box of the first screen."""

    approve: str  # what to approve, as a sentence
    lines: tuple[BoxLine, ...]  # why, what happens otherwise, what it costs, how sure it is, what the move is


class DecidedStep(Document):
    """How many brokers are needed from a day on."""

    broker_count: int  # how many
    from_day: str  # the first day, YYYY-MM-DD
    until: str | None  # the last day on which they are enough; null if that is beyond the horizon
    option_id: str  # of sizing
    resource: str | None  # what runs out before it; null for today's


class Recommendation(Document):
    """What to move to, and how many brokers are needed by when."""

    scenario_id: str | None  # of the move; null if none fits
    broker_count_now: int | None  # how many are needed now; null if none fits, or nobody knows
    moves_to: int | None  # how many the move goes to
    until: str | None  # the last day on which those are enough; null if that is beyond the horizon, or unknown
    steps: tuple[DecidedStep, ...]  # of sizing


class DecidedOption(Document):
    """The verdict on an option of the move."""

    scenario_id: str  # its name
    label: str  # its display name
    status: Status  # the verdict
    is_recommended: bool  # whether it is the one to take
    lasts: str  # how long its count is enough according to sizing: `horizon`, `until`, `not-today` or `not-judged`
    until: str | None  # the last day on which it is enough, for `until`


class DecidedToday(Document):
    """What carrying it out changes, as it is now; null where it is not known."""

    broker_count: int  # how many there are
    fullest_disk_ratio: float | None  # how full the fullest disk is
    usd_per_month: float | None  # what a month costs


class SizingDates(Document):
    """The days that the decision names beside those of the steps."""

    disk_full: str | None  # the first of today's disks to fill up; null for none before the horizon
    runs_out_middle: str | None  # when today's brokers run out at the middle estimate; null if not before the horizon


class DecidedSizing(Document):
    """What the plan says of sizing."""

    badge: Badge  # its verdict
    headline: str  # the answer in one sentence
    figures: tuple[KeyFigure, ...]  # of the first screen
    cost: str | None  # what it costs, as a sentence
    relation: str  # how it relates to the move
    has_room_today: bool  # whether today's brokers fit
    recommended_option_id: str | None  # the option to take, of those at the horizon
    dates: SizingDates | None  # further days; null without sizing


class OtherAnswer(Document):
    """The answer of a question that has no place of its own."""

    headline: str  # in one sentence
    reasons: tuple[str, ...]  # why


class DecisionDocument(Document):
    """What a plan decides: `decision.json`, beside every plan and report."""

    kind: str  # always `kafka-capacity-decision`
    version: int  # of the document
    cluster: str  # its name
    ds: str  # the day of the inventory, YYYY-MM-DD
    plan_id: str  # the plan's name
    status: Status  # the verdict
    fits: bool  # whether that is `fits`
    because: tuple[str, ...]  # why it is not
    badge: Badge  # the verdict in few words
    headline: str  # the answer in one sentence
    box: Box  # the first screen
    recommended_scenario_id: str | None  # the option to take; null if none fits
    nearest_scenario_id: str  # that, or the one closest to fitting
    recommendation: Recommendation  # what to move to
    options: tuple[DecidedOption, ...]  # every option of the move
    reasons: tuple[str, ...]  # why this one
    problems: tuple[DecidedProblem, ...]  # what is wrong, worst first
    today: DecidedToday  # before anything is done
    figures: tuple[KeyFigure, ...]  # of the first screen
    actions: tuple[DecidedAction, ...]  # what to do, in order
    unknown: tuple[str, ...]  # what is not known and so was not judged
    subject: str  # of the e-mail
    sizing: DecidedSizing | None  # null if the plan does not cover it
    answers: Mapping[str, OtherAnswer]  # of further questions, by name
