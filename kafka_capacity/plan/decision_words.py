"""The sentences of a decision that rest on more than one question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.hardware.shapes import TODAY
from kafka_capacity.health.problem import Problem, Severity
from kafka_capacity.questions.answer import Answer, Status
from kafka_capacity.questions.capacity.decide import count_sentence
from kafka_capacity.questions.capacity.sizing_view import SizingView
from kafka_capacity.questions.capacity.sizing_words import subject_words as sizing_subject
from kafka_capacity.questions.change.change_view import ChangeView
from kafka_capacity.questions.change.choice import counts_by_fit
from kafka_capacity.questions.change.decide import subject_words as change_subject
from kafka_capacity.text import format_month, plural
from kafka_capacity.text.names import clipped, visible

SUBJECT_NAME_LENGTH = 60
"""A longer cluster name is cut in the subject, where the verdict must stay in sight."""
_COUNTS_NAMED = 6


def verdict(view: ChangeView, sizing: SizingView | None, change: Answer) -> tuple[Status, tuple[str, ...]]:
    """Return whether a plan fits, and why not; nothing where it fits.

    A count that sizing says is too small today does not fit, whatever fits at today's sizes and without failures; nor
    is a count judged of which sizing misses what may bind.
    """
    status = change.status or Status.NOT_JUDGED
    if status is Status.DOES_NOT_FIT:
        return status, tuple(str(excuse["reason"]) for excuse in view.nearest.excuses)
    if status is Status.NOT_JUDGED:
        return status, tuple(f"{what} is not known" for what in change.unknown)
    count = view.nearest.broker_count
    row = None if sizing is None else sizing.of_count(count)
    if sizing is not None and row is not None and not row["fits"] and row["fits_until"] is None:
        return (Status.DOES_NOT_FIT if status is Status.FITS else status), (count_sentence(sizing, count),)
    # What is not known of the hardware is so for every count of it.
    missing = () if sizing is None else (row or sizing.nearest)["not_judged"]
    if status is Status.FITS and missing:
        return Status.NOT_JUDGED, tuple(f"{resource_name(one)} is not known" for one in missing)
    return status, ()


def relation(view: ChangeView, sizing: SizingView, request: Mapping[str, Any]) -> tuple[str, Problem | None]:
    """Return how the move stands to the months to come, and the problem where it goes to another count than needed."""
    sentence = (
        f"The move is judged at today’s sizes and rates, among {_counts(view, request)}; the answer above at peak up "
        f"to {format_month(sizing.horizon)}, failures included."
    )
    count, needed = view.nearest.broker_count, sizing.steps[0].option if sizing.steps else None
    if view.recommended is None or needed is None:
        return sentence, None
    today = sizing.today
    if needed["shape"] != today["shape"]:
        return f"{sentence} It moves replicas on today’s hardware, not onto {needed['shape']}.", None
    _, failing = counts_by_fit(view.options)
    if today["shape"] != TODAY and today["broker_count"] in failing and today["fits_until"]:
        sentence += (
            f" By the move {plural(today['broker_count'], 'broker')} do not fit, since it takes disks and networks "
            f"from the inventory; the answer above takes those of {today['shape']}."
        )
    if count == needed["broker_count"]:
        until = sizing.until(needed)
        lasts = f"last until {until}" if until is not None else f"last beyond {sizing.horizon}"
        return f"{sentence} It goes to the {count:,} that are needed now, which {lasts}.", None
    wanted = int(needed["broker_count"])
    if needed is today:
        until = sizing.until(today)
        enough = f"last until {until}" if until is not None else f"last beyond {sizing.horizon}"
        return f"{sentence} It goes to {plural(count, 'broker')}; today’s {wanted:,} {enough}.", None
    other = f"It goes to {plural(count, 'broker')}, not to the {wanted:,} that are needed now: "
    other += count_sentence(sizing, count)
    if wanted in failing:
        return f"{sentence} {other}; at today’s sizes no option with {wanted:,} fits.", None
    problem = Problem(
        severity=Severity.SERIOUS if wanted > count else Severity.INFO,
        code="other-count",
        where=plural(count, "broker"),
        message=other.replace("It goes", "The move goes", 1),
        remedy=f"plan the move to {wanted:,} with broker_counts: [{wanted}]",
    )
    return f"{sentence} {other}. A run with broker_counts: [{wanted}] plans the move to {wanted:,}.", problem


def _counts(view: ChangeView, request: Mapping[str, Any]) -> str:
    fitting, failing = counts_by_fit(view.options)
    tried = sorted([*fitting, *failing])
    shown = ", ".join(f"{count:,}" for count in tried[:_COUNTS_NAMED]) + (", …" if tried[_COUNTS_NAMED:] else "")
    if request.get("broker_counts"):
        return f"the counts asked for ({shown})"
    if any(request.get(name) for name in ("removed_brokers", "replaced_brokers", "rack_names")):
        return f"the brokers asked for ({shown})"
    return f"the counts tried by default ({shown})"


def subject(view: ChangeView, sizing: SizingView | None, *, cluster: str, ds: str) -> str:
    """Return the subject of the e-mail, the verdict in it."""
    answer = change_subject(view) if sizing is None else sizing_subject(sizing)
    is_unsound = any(finding["severity"] == "fatal" for finding in view.findings)
    warning = "inventory is unsound; " if is_unsound else ""
    if sizing is not None and view.recommended is not None and view.status(view.recommended) is Status.NOT_JUDGED:
        warning += "the move is not judged; "
    return f"[kafka-capacity] {clipped(visible(cluster), SUBJECT_NAME_LENGTH)}: {warning}{answer} ({visible(ds)})"
