"""What a plan says, decided once: after the results are in, and before anything of them is shown.

The questions answer for themselves (``questions/*/decide.py``); here their answers become one: one verdict, one
recommendation, one list of problems. Stored with the plan as ``decision.json``. The page, the e-mail, the command line
and the released files show it and decide nothing.

The two questions about brokers combine so: sizing says how many are needed now and by when, at peak and with failures;
the move goes to the count that is to be approved now, where it is among the counts that were tried and fits. Where it
is not, the move that fits is still the one that is described, with what sizing says of its count, and the run that
would plan the other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kafka_capacity.hardware.limits import resource_name
from kafka_capacity.health.check import NEW, ListedProblem, list_problems
from kafka_capacity.health.cluster_view import UNKNOWN_RATE_RATIO
from kafka_capacity.health.problem import DOWN_NOW, Code, Problem
from kafka_capacity.plan.decision_box import decision_box, move_answer
from kafka_capacity.plan.effects import PLAN_AGAIN
from kafka_capacity.plan.lifecycle import CLUSTER, with_ids
from kafka_capacity.plan.move_and_sizing import is_done_by, lasts_until, missing_of, relation_of, why_not_approved
from kafka_capacity.questions.accuracy.decide import drift_problems
from kafka_capacity.questions.answer import BADGES, Action, Answer, Status
from kafka_capacity.questions.capacity.approval import disk_full
from kafka_capacity.questions.capacity.decide import SINGLE_REPLICAS, count_sentence
from kafka_capacity.questions.capacity.share import CAPACITY
from kafka_capacity.questions.capacity.sizing_view import SizingView, is_soon
from kafka_capacity.questions.capacity.sizing_words import subject_words as sizing_subject
from kafka_capacity.questions.change.change_view import ChangeView
from kafka_capacity.questions.change.choice import Option
from kafka_capacity.questions.change.decide import subject_words as change_subject
from kafka_capacity.questions.change.section.change_tables import broker_rows
from kafka_capacity.questions.change.share import CHANGE
from kafka_capacity.questions.consumers.share import CONSUMERS
from kafka_capacity.questions.failures.section.view import FailuresView
from kafka_capacity.questions.failures.share import FAILURES
from kafka_capacity.questions.question import Handed
from kafka_capacity.questions.registry import QUESTIONS
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.text import capitalised
from kafka_capacity.text.figures import steady
from kafka_capacity.text.names import clipped, visible
from kafka_capacity.text.wording import MAIL_PREFIX

DECISION_KIND = "kafka-capacity-decision"
DECISION_VERSION = 1  # of `decision.json`; a reader of version N reads N-1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decision:
    """The answer of a plan."""

    results: ReportInputs  # what it was decided from
    status: Status  # the verdict
    because: tuple[str, ...]  # why it is not `fits`, as sentences; empty for that
    view: ChangeView  # the options of the move and the choice between them
    sizing: SizingView | None  # what the plan says of sizing; `None` where it says nothing
    answers: Mapping[str, Answer]  # of the questions of which the plan says something, by name
    relation: str  # how the two answers stand to each other, in sentences; empty without sizing
    problems: tuple[tuple[str, ListedProblem], ...]  # all of them by question, the worst first
    why_not_approved: str  # why nothing is to be approved yet, a clause; empty where something may be
    actions: tuple[Action, ...]  # what to do, in order
    today: Mapping[str, Any]  # what carrying it out changes, as it is now: see :func:`_today`
    subject: str  # of the e-mail

    @property
    def change(self) -> Answer:
        """The answer about the move."""
        return self.answers[CHANGE.name]

    @property
    def capacity(self) -> Answer | None:
        """The answer about sizing; ``None`` where the plan has none."""
        return self.answers.get(CAPACITY.name)

    def as_dict(self) -> dict[str, Any]:
        """Return ``decision.json`` as plain data."""
        recommended, capacity = self.view.recommended, self.capacity
        every = [self.change, *(answer for name, answer in self.answers.items() if name != CHANGE.name)]
        decided = {
            "kind": DECISION_KIND,
            "version": DECISION_VERSION,
            **{name: getattr(self.results, name) for name in ("cluster", "ds", "plan_id")},
            "status": str(self.status),
            "fits": self.status is Status.FITS,
            "because": list(self.because),
            "badge": _badge(self.change.badge if self.status is self.change.status else BADGES[self.status]),
            "headline": move_answer(self),
            "box": decision_box(self),
            "recommended_scenario_id": None if recommended is None else recommended.scenario_id,
            "nearest_scenario_id": self.view.nearest.scenario_id,
            "recommendation": _recommendation(self),
            "options": _options(self.view, self.sizing),
            "reasons": list(self.change.reasons),
            "problems": with_ids(
                {"question": question, **one.problem.as_dict(), "text": one.problem.text, "then": one.then}
                for question, one in self.problems
            ),
            "today": self.today,
            "figures": [dataclasses.asdict(figure) for figure in self.change.figures],
            "actions": [action.as_dict() for action in self.actions],
            "unknown": list(dict.fromkeys(what for answer in every for what in answer.unknown)),
            "subject": self.subject,
            "sizing": None if self.sizing is None or capacity is None else _sizing(capacity, self),
            "answers": {
                name: {"headline": answer.headline, "reasons": list(answer.reasons)}
                for name, answer in self.answers.items()
                if name not in _TOLD_APART
            },
        }
        return {name: steady(value) for name, value in decided.items()}


def decide(results: ReportInputs) -> Decision:
    """Return the decision of a plan; the same results give the same. Raises RenderError where it has no scenarios."""
    answers: dict[str, Answer] = {}
    handed = Handed()
    for question in QUESTIONS:
        answer = question.decide(results, handed)
        if answer is None:
            continue
        answers[question.name] = answer
        if question is CAPACITY and answer.details is not None:
            handed = dataclasses.replace(handed, count_due=answer.details.count_due)
        if question is CHANGE:
            handed = dataclasses.replace(handed, focus=answer.details.nearest.scenario_id)
    change, capacity = answers[CHANGE.name], answers.get(CAPACITY.name)
    view: ChangeView = change.details
    sizing: SizingView | None = None if capacity is None else capacity.details
    sentence, other = relation_of(view, sizing, results.request) if sizing is not None else ("", None)
    status, reasons = verdict(view, sizing, change)
    problems = _problems(results, answers, other)
    not_approved = why_not_approved(view, sizing, (one for _, one in problems))
    return Decision(
        results=results,
        status=status,
        because=reasons,
        view=view,
        sizing=sizing,
        answers=answers,
        relation=sentence,
        problems=problems,
        why_not_approved=not_approved,
        actions=_with_due(
            [
                *(() if status is Status.DOES_NOT_FIT or not_approved else change.actions),
                *(() if view.is_unsound else _steps_to_take(view, capacity, other)),
                *(one for name, answer in answers.items() if name not in _TOLD_APART for one in answer.actions),
            ],
            sizing,
            results.ds,
        ),
        today=_today(results, view, sizing),
        subject=subject(view, sizing, cluster=results.cluster, ds=results.ds),
    )


def _with_due(actions: Iterable[Action], sizing: SizingView | None, ds: str) -> tuple[Action, ...]:
    """Return actions that say whether they are due: what may be done now is not where today's brokers last."""
    if sizing is None:
        return tuple(actions)
    until = sizing.until(sizing.today)
    is_short = sizing.today["fits_until"] is None or (until is not None and is_soon(until, ds))
    return tuple(replace(one, is_due=is_short if one.by is None else is_soon(one.by, ds)) for one in actions)


def _today(results: ReportInputs, view: ChangeView, sizing: SizingView | None) -> dict[str, Any]:
    """Return how many brokers there are, how full the fullest is and what a month costs; what is not known is none."""
    fills = [row["fill_before"] for row in broker_rows(results.tables, view.nearest) if not row["is_new"]]
    facts = results.snapshot_facts
    unsized, partitions = facts.get("unknown_size_partitions", 0), facts.get("partition_count", 0)
    known = [one for one in fills if one is not None]
    is_unknown = not known or unsized > UNKNOWN_RATE_RATIO * partitions
    return {
        "broker_count": view.observed_broker_count,
        "fullest_disk_ratio": None if is_unknown else max(known),
        "usd_per_month": None if sizing is None else sizing.today["total_usd_per_month"],
    }


def _steps_to_take(view: ChangeView, capacity: Answer | None, other: Problem | None) -> list[Action]:
    """Return the steps of sizing; the one that is due now only where the move does not go there."""
    found = []
    if other is not None:
        text = f"{capitalised(other.remedy)}."
        found.append(Action(code=PLAN_AGAIN, about=other.remedy.split(" with ")[0], text=text))
    steps = capacity.actions if capacity is not None else ()
    return found + [action for action in steps if not is_done_by(view, action, other)]


_TOLD_APART = frozenset({CHANGE.name, CAPACITY.name, CONSUMERS.name, FAILURES.name})
"""Questions whose answers have places of their own in ``decision.json`` or on the page."""


def _problems(
    results: ReportInputs, answers: Mapping[str, Answer], other: Problem | None
) -> tuple[tuple[str, ListedProblem], ...]:
    found = [] if other is None else [(CAPACITY.name, other)]
    found += [(name, problem) for name, answer in answers.items() for problem in answer.problems]
    found += [(CAPACITY.name, problem) for problem in drift_problems(results.sizing.get("scores"))]
    listed = [(question, ListedProblem(problem)) for question, problem in found]
    # What the move brings about is said of the move already.
    proposed = {one["code"] for one in answers[CHANGE.name].details.proposed}
    of_cluster = _of_cluster(results, answers.get(FAILURES.name))
    listed += [(CLUSTER, one) for one in of_cluster if one.then != NEW or one.problem.code not in proposed]
    repeated = _repeated([one.problem for _, one in listed])
    kept = [one for one in listed if one[1].problem.code not in repeated]
    # Of equal severity, what is wrong today comes before what may become so.
    return tuple(sorted(kept, key=lambda one: (_rank(one[1].problem), one[0] != CLUSTER)))


def _rank(problem: Problem) -> tuple[int, bool]:
    return problem.severity.rank, problem.code not in DOWN_NOW


_SAID_OF_THE_PLAN = {
    "missing_sizes": "size-not-known",
    "partition_without_metrics": "traffic-not-known",
    "no_metrics": "traffic-not-known",
    "disk_capacity_unknown": "disk-not-known",
}
"""What a staged inventory lacks, by its code, and the code under which the answer about the change says the same."""


def _repeated(problems: Sequence[Problem]) -> set[str]:
    """Return the codes of problems that another one says as well, with more."""
    codes = {one.code for one in problems}
    found = {code for code, same in _SAID_OF_THE_PLAN.items() if same in codes}
    # Sizing counts planned topics too: those are said by nobody else.
    partitions = {one.code: one.partitions for one in problems}
    if 0 < partitions.get(SINGLE_REPLICAS, 0) <= partitions.get(Code.SINGLE_REPLICA, 0):
        found.add(SINGLE_REPLICAS)
    return found


def _of_cluster(results: ReportInputs, failures: Answer | None) -> list[ListedProblem]:
    if failures is None:
        return list_problems(map(Problem.from_dict, results.findings), None)
    view: FailuresView = failures.details
    return view.problems(results.findings)


def _badge(badge: tuple[str, str]) -> dict[str, str]:
    kind, text = badge
    return {"kind": kind, "text": text}


def _sizing(capacity: Answer, decision: Decision) -> dict[str, Any]:
    sizing = decision.sizing
    chosen = None if sizing is None else sizing.recommended
    return {
        "badge": _badge(capacity.badge),
        "headline": capacity.headline,
        "figures": [dataclasses.asdict(figure) for figure in capacity.figures],
        "cost": capacity.reasons[0] if capacity.reasons else None,
        "dates": None if sizing is None else _dates(sizing),
        "relation": decision.relation,
        "has_room_today": sizing is None or bool(sizing.today["fits_until"]),
        "recommended_option_id": None if chosen is None else chosen["option_id"],
    }


def _dates(sizing: SizingView) -> dict[str, str | None]:
    """Return the days that the box names beside those of the steps; null for not before the horizon."""
    full, out = disk_full(sizing), sizing.runs_out(sizing.today, "middle")
    return {"disk_full": None if full is None else full[0], "runs_out_middle": None if out is None else out["middle"]}


def _recommendation(decision: Decision) -> dict[str, Any]:
    """Return what to move to, how many brokers are needed now, and how many by when."""
    option, sizing = decision.view.recommended, decision.sizing
    steps = [step.as_dict() for step in (sizing.steps if sizing is not None else ())]
    moved_to = None if option is None or decision.why_not_approved else option.broker_count
    count = steps[0]["broker_count"] if steps else moved_to
    return {
        "scenario_id": None if option is None else option.scenario_id,
        "broker_count_now": count,
        "moves_to": None if option is None else option.broker_count,
        "until": None if option is None else lasts_until(sizing, option.broker_count, is_moved=option.is_moved)[1],
        "steps": steps,
    }


def _options(view: ChangeView, sizing: SizingView | None) -> list[dict[str, Any]]:
    """Return the verdict on every option of the move, and until when sizing says that its count lasts."""
    return [
        {
            "scenario_id": option.scenario_id,
            "label": option.label,
            "status": str(_option_status(view, sizing, option)),
            "is_recommended": option is view.recommended,
            **_lasting(sizing, option),
        }
        for option in view.options
    ]


def _lasting(sizing: SizingView | None, option: Option) -> dict[str, str | None]:
    lasts, until = lasts_until(sizing, option.broker_count, is_moved=option.is_moved)
    return {"lasts": lasts, "until": until}


def _option_status(view: ChangeView, sizing: SizingView | None, option: Option) -> Status:
    return _with_sizing(view.status(option), sizing, option)[0]


def _with_sizing(status: Status, sizing: SizingView | None, option: Option) -> tuple[Status, tuple[str, ...]]:
    """Return what an option's verdict is with what sizing says of its count, and that where it says anything.

    A count that sizing says is too small today does not fit, whatever fits at today's sizes and without failures; nor
    is a count judged that sizing did not try, or of which it misses what may bind.
    """
    count, is_moved = option.broker_count, option.is_moved
    if sizing is not None and lasts_until(sizing, count, is_moved=is_moved)[0] == "not-today":
        because = count_sentence(sizing, count, is_moved=is_moved)
        return (Status.DOES_NOT_FIT if status is Status.FITS else status), (because,)
    unjudged = _unjudged(sizing, option)
    return (Status.NOT_JUDGED, unjudged) if status is Status.FITS and unjudged else (status, ())


def _unjudged(sizing: SizingView | None, option: Option) -> tuple[str, ...]:
    """Return why sizing does not tell whether an option fits, as sentences; none where it does or was not asked."""
    if sizing is not None and sizing.of_count(option.broker_count, is_moved=option.is_moved) is None:
        return (count_sentence(sizing, option.broker_count, is_moved=option.is_moved),)
    return tuple(f"{resource_name(one)} is unknown" for one in missing_of(sizing, option.broker_count))


SUBJECT_NAME_LENGTH = 60  # a longer cluster name is cut in the subject, where the verdict must stay in sight


def verdict(view: ChangeView, sizing: SizingView | None, change: Answer) -> tuple[Status, tuple[str, ...]]:
    """Return whether a plan fits, and why not; nothing where it fits."""
    status = change.status or Status.NOT_JUDGED
    if status is Status.DOES_NOT_FIT:
        return status, tuple(str(excuse["reason"]) for excuse in view.nearest.excuses)
    if status is Status.NOT_JUDGED:
        return status, tuple(f"{what} is not known" for what in change.unknown)
    return _with_sizing(status, sizing, view.nearest)


def subject(view: ChangeView, sizing: SizingView | None, *, cluster: str, ds: str) -> str:
    """Return the subject of the e-mail, the verdict in it."""
    answer = change_subject(view) if sizing is None else sizing_subject(sizing)
    is_unsound = view.is_unsound
    warning = "inventory is inconsistent; " if is_unsound else ""
    if sizing is not None and view.recommended is not None and view.status(view.recommended) is Status.NOT_JUDGED:
        warning += "the move is not judged; "
    return f"{MAIL_PREFIX}{clipped(visible(cluster), SUBJECT_NAME_LENGTH)}: {warning}{answer} ({visible(ds)})"
