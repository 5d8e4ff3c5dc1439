"""What is worth a message to people who did not open the report: five lines, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_capacity.plan.changes import METHOD_IS_SAME
from kafka_capacity.plan.lifecycle import CLUSTER, GRAVE, gravest, id_of
from kafka_capacity.questions.accuracy.decide import PREDICTION_DRIFT
from kafka_capacity.text.names import clipped, visible
from kafka_capacity.text.wording import MAIL_PREFIX

LINE_LENGTH = 400  # a longer line is cut: the report has it whole


_ANSWER = frozenset({"Verdict", "Brokers now"})  # lines of the comparison that are the answer itself


def reasons(report: Mapping[str, Any]) -> list[str]:
    """Return why a report is news: another verdict, a day that has passed, a new or worse serious problem, or drift.

    Nothing is where there is no earlier report. After one that was asked otherwise only what is new or worse with
    the cluster counts: the rest may come from the asking.
    """
    changes = report["changes"]
    return [] if changes is None else list(_reasons(report["verdict"], changes))


def _reasons(verdict: Mapping[str, Any], changes: Mapping[str, Any]) -> Iterator[str]:
    if changes["is_alike"]:
        yield from (f"{line['label']}: {line['text']}." for line in changes["lines"] if line["label"] in _ANSWER)
        yield from changes["passed"]
    if changes.get("was_grave") and gravest(verdict) is None and not changes["unjudged"]:
        yield "No serious problem is left."
    labels = dict.fromkeys(changes.get("worse_ids", ()), "Worse") | dict.fromkeys(changes["new_ids"], "New")
    for problem in verdict["problems"]:
        is_news = problem["severity"] in GRAVE or problem["code"] == PREDICTION_DRIFT
        label = labels.get(id_of(problem))
        is_told = is_news and "is_dismissed" not in problem and label is not None
        if is_told and (changes["is_alike"] or problem["question"] == CLUSTER):
            yield f"{label}: {problem['text']}"


def message(report: Mapping[str, Any]) -> list[str]:
    """Return the five lines of the message about a report; none where it is no news."""
    why = reasons(report)
    if not why:
        return []
    verdict, changes = report["verdict"], report["changes"]
    otherwise = next(
        (one for one in verdict["box"]["lines"] if one["name"] == "otherwise"), verdict["box"]["lines"][-1]
    )
    resolved = f"Resolved: {' '.join(changes['resolved'])}" if changes["resolved"] else "Nothing was resolved."
    lines = [
        verdict["subject"].removeprefix(MAIL_PREFIX),
        " ".join(why),
        verdict["box"]["approve"],
        f"{otherwise['label']}: {otherwise['text']}",
        resolved if changes["method"] == METHOD_IS_SAME else changes["method"],
    ]
    return [clipped(visible(line), LINE_LENGTH) for line in lines]
