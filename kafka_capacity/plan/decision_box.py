"""The decision box: what to approve, why, what happens otherwise, what it costs and how sure it is.

Made of what the questions answered, a line a fact; what is not known is said. Page, mail and message show the lines as
they stand, in their order; a line more is one more entry of :func:`decision_box`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka_capacity.health.check import RESOLVED
from kafka_capacity.health.controllers import VOTERS_LEAVE
from kafka_capacity.health.problem import DOWN_NOW, Code
from kafka_capacity.plan.move_and_sizing import lasts_until
from kafka_capacity.questions.answer import APPROVED, BADGES, Answer, Status
from kafka_capacity.questions.capacity.approval import (
    NO_BROKERS,
    approval,
    at_other_loads,
    confidence,
    otherwise,
)
from kafka_capacity.questions.capacity.cost_words import month_words
from kafka_capacity.questions.capacity.decide import cost_of_steps, count_sentence
from kafka_capacity.questions.capacity.option_words import run_verb, until_words
from kafka_capacity.questions.capacity.results import LOAD_MARGIN_RATIO
from kafka_capacity.questions.capacity.sizing_view import SizingView, is_soon
from kafka_capacity.questions.capacity.sizing_words import why_sentence
from kafka_capacity.questions.change.change_view import ChangeView
from kafka_capacity.questions.change.choice import Option
from kafka_capacity.questions.change.request_summary import asked_clause
from kafka_capacity.questions.savings.share import SAVINGS
from kafka_capacity.text import capitalised, format_limit, plural, uncapitalised

if TYPE_CHECKING:
    from kafka_capacity.plan.decision import Decision

FIRST = frozenset({*DOWN_NOW, VOTERS_LEAVE, Code.FENCED, Code.LOG_DIR_OFFLINE})
"""Problems that have to be mended before anything is moved: what a broker holds that is down stays where it is."""

_NO_CHANGE = " The move does not change that."
_SAID_ANYWAY = frozenset({"broker_counts", "new_broker_racks", "throttles_bytes_per_second"})
"""What was asked that the line of the move says."""


def decision_box(decision: Decision) -> dict[str, Any]:
    """Return the box as plain data: ``approve``, a sentence, and ``lines`` of ``name``, ``label`` and ``text``.

    What has to be mended before anything is moved stands first, the worst of it: the runbook's check lets nothing be
    moved while reads or writes are refused.
    """
    sizing, capacity, savings = decision.sizing, decision.capacity, decision.answers.get(SAVINGS.name)
    lines: list[tuple[str, str, str | None]] = []
    if sizing is not None and capacity is not None:
        lines = [
            ("why", "Why", why_sentence(sizing)),
            ("otherwise", "If not", otherwise(sizing)),
            ("instead", "Or", None if savings is None else savings.details),
            ("cost", "Cost", _cost(capacity, sizing, decision.view.recommended)),
            ("confidence", "Confidence", confidence(sizing)),
            ("load", f"±{format_limit(LOAD_MARGIN_RATIO)} load", at_other_loads(sizing)),
        ]
    option = decision.view.recommended
    left = (one.problem for _, one in decision.problems if one.then != RESOLVED)
    first = next((problem.sentence for problem in left if problem.code in FIRST), None)
    if first is not None and option is not None and option.figures["changed_partitions"]:
        lines.insert(0, ("first", "First", f"{first.removesuffix('.')}. Fix this before anything is moved."))
    asked = _asked(decision)
    lines.append(("asked", "Requested", f"{capitalised(asked)}." if asked else None))
    lines.append(("move", "The move", move_answer(decision)))
    return {
        "approve": _approve(decision),
        "lines": [{"name": name, "label": label, "text": text} for name, label, text in lines if text],
    }


def approved_actions(decision: Mapping[str, Any]) -> list[str]:
    """Return the ids of the actions of a decision that whoever approves it takes on: what the box says is due."""
    actions = [one for one in decision["actions"] if one["code"] in APPROVED]
    return [one["id"] for one in actions if one["by"] is None or is_soon(one["by"], decision["ds"])]


def _approve(decision: Decision) -> str:
    view, sizing, status = decision.view, decision.sizing, decision.status
    if decision.why_not_approved:
        return f"Approve nothing yet: {decision.why_not_approved}."
    sentence = _approved_move(view) if sizing is None else approval(sizing)
    option = view.recommended
    if sizing is not None and option is not None and status is not Status.DOES_NOT_FIT:
        count = option.broker_count
        if count not in (view.observed_broker_count, sizing.count_due):
            # What was asked for is not what is due: it is described, and not approved.
            sentence += f" {_other_count(sizing, count)}"
        elif option.figures["changed_partitions"] and _is_for_nothing(decision, sizing, option):
            sentence += " The planned move does not change that; it evens out the load."
        elif option.figures["changed_partitions"]:
            sentence = approval(sizing, gone=sizing.removed_brokers)
            new = len(view.new_broker_ids)
            without = f"with {plural(new, 'new broker')} for it, and no more yet" if new else "but no new brokers yet"
            sentence = sentence.replace(NO_BROKERS, f"Approve the move, {without}", 1)
            if count == view.observed_broker_count:
                if sizing.due_soon is not None:
                    sentence = sentence.replace("Approve ", "Approve the move, and ", 1)
                sentence += _after_move(sizing, option)
    count_due = None if sizing is None else sizing.count_due
    if count_due is not None and count_due != view.observed_broker_count:
        planned = [one for one in view.options if one.broker_count == count_due]
        if planned and not any(one.fits for one in planned):
            move = f"no planned move to {plural(count_due, 'broker')} fits"
            return f"Approve nothing yet: {move}. Once one does: {uncapitalised(sentence)}"
    if status is Status.NOT_JUDGED and not (sizing is not None and sizing.is_unknown):
        return f"As far as known: {uncapitalised(sentence)}"
    return sentence


def _is_for_nothing(decision: Decision, sizing: SizingView, option: Option) -> bool:
    """Return whether a move that nobody asked for makes today's brokers last no longer than they do."""
    if decision.results.request.get("broker_counts") or _asked(decision):
        return False
    if option.broker_count != decision.view.observed_broker_count or sizing.now is not sizing.today:
        return False
    return _after_move(sizing, option) == _NO_CHANGE


def _asked(decision: Decision) -> str:
    """Return what was asked that the line of the move does not say, a clause; empty for nothing."""
    return asked_clause({name: value for name, value in decision.results.request.items() if name not in _SAID_ANYWAY})


def _after_move(sizing: SizingView, option: Option) -> str:
    """Say until when today's brokers last after a move between them: what it is good for."""
    how, until = lasts_until(sizing, option.broker_count, is_moved=option.is_moved)
    without = sizing.until(sizing.today)
    if not option.is_moved or how not in ("horizon", "until"):
        return ""
    if until == without:
        return _NO_CHANGE
    only = "only " if until is not None and (without is None or until < without) else ""
    return f" After the move they last {only}{until_words(sizing, until)}."


def _other_count(sizing: SizingView, count: int) -> str:
    """Describe a move to another count than the one that is needed now."""
    day = next((step.from_day for step in sizing.steps[1:] if step.option["broker_count"] == count), None)
    if day is not None:
        return f"The planned move goes to the {count:,} brokers of {day}: approve it together with them."
    return f"The planned move goes to {plural(count, 'broker')}: {count_sentence(sizing, count)}."


def _approved_move(view: ChangeView) -> str:
    """Return what to approve where only a move was asked about."""
    option = view.recommended
    if option is None:
        return "Approve nothing: no option fits."
    more = option.broker_count - view.observed_broker_count
    if more > 0:
        return f"Approve {plural(more, 'more broker')}, and the move to {option.broker_count:,}."
    if more < 0:
        return f"Approve the removal of {plural(-more, 'broker')}, and the move to {option.broker_count:,}."
    if not option.figures["changed_partitions"]:
        return "Nothing to approve: nothing has to move."
    return f"Approve the move among {plural(option.broker_count, 'broker')}."


def move_answer(decision: Decision) -> str:
    """Return the answer about the move, after what sizing has against it."""
    headline = decision.change.headline
    if decision.status is decision.change.status or not decision.because:
        return headline
    verdict = BADGES[decision.status][1].split(" ", 1)[-1]
    return f"{verdict}: {'; '.join(decision.because)}. At today’s sizes: {headline}"


def _cost(capacity: Answer, sizing: SizingView, move: Option | None) -> str:
    """Return what the steps to the horizon cost on average, or which parameter would tell."""
    # What it is made of stands with the figure.
    figure = next(one for one in capacity.figures if one.name == "usd_per_month")
    sentence = cost_of_steps(sizing)
    return f"Unknown: {figure.note}." if sentence is None else sentence + _cost_after(sizing, move)


def _cost_after(sizing: SizingView, move: Option | None) -> str:
    """Say what today's brokers cost after a move between them, where that is not what they cost as they are."""
    if move is None or not move.is_moved or move.broker_count != sizing.today["broker_count"]:
        return ""
    row = sizing.of_count(move.broker_count, is_moved=True)
    if row is None or row is sizing.now:
        return ""
    before, after = (month_words(one, one["total_usd_per_month"]) for one in (sizing.today, row))
    todays = f"today’s {move.broker_count:,} {run_verb(move.broker_count, 'cost')}"
    return "" if before == after else f" After the move {todays} {after}."
