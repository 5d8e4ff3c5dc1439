"""What is decided about consumer groups, once: verdict, advice, reasons and key figures, which every surface shows.

Everything is read from rows of the plan's tables, so that what was stored and what was evaluated just now are decided
alike::

    for group in decide(scenarios, churn, facts).details:
        print(group.group_id, group.verdict, group.advice)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from kafka_capacity.hardware.plain import to_plain
from kafka_capacity.health.problem import Problem, serious
from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.consumers.advice import advice_of, risk_of
from kafka_capacity.questions.consumers.choice import RISKS, GroupChoice, GroupStatus, Row, choose, excuses_of
from kafka_capacity.questions.consumers.columns import figures_of
from kafka_capacity.questions.consumers.known import is_late_now, known_of
from kafka_capacity.questions.consumers.names import short
from kafka_capacity.questions.consumers.scenario import Verdict
from kafka_capacity.questions.consumers.tables import stored_rows
from kafka_capacity.report.tables import cells
from kafka_capacity.text import plural

MAX_NAMED = 3  # groups at risk that a line names; further ones are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDecision:
    """What is decided about one group."""

    group_id: str  # which
    verdict: Verdict  # of the group as it is; where that was not tried, of the nearest scenario that was
    status: GroupStatus  # what to do with it, in two words
    reasons: tuple[str, ...]  # why it does not fit, or is not judged; empty where it fits
    today: str | None  # the scenario of the group as it is; `None` where that was not tried
    recommended: str | None  # the scenario to choose; `None` where nothing fits
    focus: str  # the recommended scenario, else the nearest to fitting
    recommended_members: int | None  # how many members to have; `None` where nothing fits
    advice: str  # what to do and why, a sentence with numbers
    risk: str | None  # what is wrong with the group as it is, in a few words; `None` where nothing is
    known: tuple[str, ...]  # what else is to know, sentences
    # the key figures, plain data; `value` is today's and the recommended one, null where there is none or no change
    figures: tuple[Mapping[str, Any], ...]
    # the rows that all this was read from; no part of the plain data
    choice: GroupChoice = field(repr=False, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, without the rows."""
        names = (each.name for each in dataclasses.fields(self) if each.name != "choice")
        plain = {name: to_plain(getattr(self, name)) for name in names}
        return {**plain, "is_at_risk": self.choice.is_at_risk, "is_change": self.choice.is_change}


def decide_tables(tables: Mapping[str, pa.Table], shared: Sequence[Row] = ()) -> Answer:
    """Return the answer that the tables of a plan hold, of this version or the one before, and its share groups."""
    answer = decide(*(stored_rows(tables, name) for name in ("group_scenarios", "group_churn", "group_facts")))
    counted = [(sum(row["verdict"] == kind for row in shared), words) for kind, words in _SHARE_KINDS]
    risky = sorted((row["group_id"], row["reasons"][0]) for row in shared if row["verdict"] == Verdict.DOES_NOT_FIT)
    headline = " ".join(filter(None, (answer.headline, _counted("share group", len(shared), counted))))
    problems = (*answer.problems, *_at_risk("share group", len(shared), risky, "share-groups-at-risk"))
    return dataclasses.replace(answer, headline=headline, problems=problems)


def decide(scenarios: Iterable[Row], churn: Iterable[Row], facts: Iterable[Row] = ()) -> Answer:
    """Decide about every group, by rows of its three tables.

    Returns:
        The answer: how many groups there are of each kind, those at risk as a problem, and as its details what is
        decided about each: those at risk first, the worst of them first; then those with a change to recommend, by
        what it saves.
    """
    choices = sorted(choose(scenarios, churn, facts), key=_rank)
    groups = tuple(map(_decide, choices))
    counted = [(sum(group.status in kind for group in groups), words) for kind, words in _KINDS]
    risky = [(group.group_id, group.risk) for group in groups if group.risk is not None]
    return Answer(
        headline=_counted("consumer group", len(groups), counted) + _late(choices),
        problems=_at_risk("consumer group", len(groups), risky, "groups-at-risk"),
        details=groups,
    )


def _late(choices: Iterable[GroupChoice]) -> str:
    """Say how many groups fit although they are behind by more than is allowed now, since they catch up in time."""
    count = sum(one.now["verdict"] == Verdict.FITS and is_late_now(one.now) for one in choices)
    if not count:
        return ""
    is_one = count == 1
    return (
        f" {count:,} {'is' if is_one else 'are'} further behind now than the lag objective allows, and "
        f"{'catches' if is_one else 'catch'} up in time."
    )


def decided_groups(answer: Answer) -> dict[str, Any]:
    """Return an answer about groups as plain data."""
    return {
        "summary": answer.headline,
        "at_risk": next((f"{problem.message}." for problem in answer.problems), None),
        "groups": [group.as_dict() for group in sorted(answer.details, key=lambda group: group.group_id)],
    }


def _decide(choice: GroupChoice) -> GroupDecision:
    now, recommended = choice.now, choice.recommended
    reasons = [str(excuse["reason"]) for excuse in excuses_of(now)] or [now["not_judged"]]
    return GroupDecision(
        group_id=choice.group_id,
        verdict=Verdict(now["verdict"]),
        status=choice.status,
        reasons=tuple(reason for reason in reasons if reason),
        today=None if choice.today is None else choice.today["scenario_id"],
        recommended=None if recommended is None else recommended["scenario_id"],
        focus=choice.focus["scenario_id"],
        recommended_members=None if recommended is None else recommended["member_count"],
        advice=advice_of(choice),
        risk=risk_of(choice) if choice.is_at_risk else None,
        known=known_of(choice),
        figures=tuple(
            {
                "name": one.key,
                "label": one.label,
                "kind": one.kind,
                "definition": one.definition,
                "value": cells((one,), choice)[one.key],
            }
            for one in figures_of(choice)
        ),
        choice=choice,
    )


def _rank(group: GroupChoice) -> tuple[Any, ...]:
    """Put what matters first: who cannot keep up at all, how high max lag is, how many pauses a change saves."""
    if group.is_at_risk:
        if group.is_overloaded:
            return 0, -math.inf, -group.now["load_ratio"], group.group_id
        worst = group.worst(group.now)
        seconds = 0.0 if worst is None else worst["lag_max_seconds"]
        is_endless = seconds is None or group.now["partition_count"] is None
        return 0, -math.inf if is_endless else -seconds / group.now["lag_slo_seconds"], 0.0, group.group_id
    if group.is_change:
        outcomes = [group.outcome(row, Event.ROLLING_RESTART) for row in (group.now, group.then)]
        before, after = (0 if one is None else one["revoked"] for one in outcomes)
        return 1, after - before, 0.0, group.group_id
    return (2 if group.recommended is None else 3), 0, 0.0, group.group_id


_KINDS = (
    (RISKS, "at risk as they are today"),
    ((GroupStatus.BETTER,), "could run with fewer members or fewer pauses"),
    ((GroupStatus.NO_FIT,), "without any option that fits"),
    ((GroupStatus.NOT_JUDGED,), "not judged because too little is known"),
    ((GroupStatus.EMPTY,), "not simulated with today's setup"),
    ((GroupStatus.FITS,), "best left as they are"),
)
_SHARE_KINDS = (
    (Verdict.DOES_NOT_FIT, "that cannot keep up or process records twice"),
    (Verdict.NOT_JUDGED, "not judged because too little is known"),
    (Verdict.FITS, "best left as they are"),
)


def _counted(kind: str, total: int, counted: Sequence[tuple[int, str]]) -> str:
    parts = [
        f"{count:,} {words.replace('they are', 'it is') if count == 1 else words}" for count, words in counted if count
    ]
    return f"{plural(total, kind)}: {', '.join(parts)}." if parts else ""


def _at_risk(kind: str, total: int, risky: Sequence[tuple[str, str]], code: str) -> tuple[Problem, ...]:
    """Return which groups are at risk and how, as one problem; none where none is."""
    if not risky:
        return ()
    named = [f"{short(group_id)} ({risk})" for group_id, risk in risky[:MAX_NAMED]]
    if len(risky) > MAX_NAMED:
        named.append(f"and {len(risky) - MAX_NAMED:,} more")
    message = f"{len(risky):,} of {plural(total, kind)} at risk: {', '.join(named)}"
    return (serious(code, f"{kind}s", message),)
