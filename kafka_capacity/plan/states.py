"""What a report tells of how its problems and actions stand: new, open since, claimed, dismissed, resolved, done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_capacity.demand.calendar_days import days_between
from kafka_capacity.health.problem import Problem
from kafka_capacity.plan.effects import ACTION, GONE, PROBLEM, ended
from kafka_capacity.plan.growth import Row
from kafka_capacity.plan.lifecycle import (
    CLUSTER,
    Entry,
    dismissal,
    done_words,
    followed,
    id_of,
    is_followed,
    question_of,
)
from kafka_capacity.questions.answer import APPROVED
from kafka_capacity.text import capitalised, plural


def state_words(entry: Entry | None, row: Row, ds: str) -> str:
    """Return the state of a problem or an action on the day of a report, in a few words."""
    since = None if entry is None or (entry["done"] and entry["done"]["on"] < ds) else str(entry["first"])
    if entry is None or since is None or since >= ds:
        age = "new"
    else:
        days = days_between(since, ds)
        age = f"open for {plural(days // 7, 'week') if days >= 7 else plural(days, 'day')}"
    found = dismissal(entry, row, ds)
    if found is not None:
        until = f" until {found['until']}" if found["until"] else ""
        return f"dismissed by {found['by']} on {found['on']}{until}: {found['reason']}"
    if entry is not None and entry["claimed"] is not None and since is not None:
        claimed = entry["claimed"]
        reason = f": {claimed['reason']}" if claimed["reason"] else ""
        age += f", claimed by {claimed['by']} on {claimed['on']}{reason}"
    return age


def with_states(decision: Mapping[str, Any], entries: Mapping[str, Entry]) -> dict[str, Any]:
    """Return a decision whose problems and actions have a ``state``, and ``is_dismissed`` where they are.

    Those that were, and count again, are marked ``is_again``.

    A dismissed step that the decision box is about stands in its first line: what is to be approved stays as it was.
    """

    def told(row: Row) -> dict[str, Any]:
        entry, ds = entries.get(id_of(row)), decision["ds"]
        found = {**row, "state": state_words(entry, row, ds)}
        if entry is not None and entry["dismissed"] is not None:
            found["is_again" if dismissal(entry, row, ds) is None else "is_dismissed"] = True
        return found

    problems = [told(one) if is_followed(one) else dict(one) for one in decision["problems"]]
    actions = [told(one) for one in decision.get("actions", ())]
    dismissed = [
        f"{capitalised(one['about'])}: {one['state']}."
        for one in actions
        if "is_dismissed" in one and one["code"] in APPROVED and one["by"] is None
    ]
    found = {**decision, "problems": problems, "actions": actions}
    if dismissed:
        lines = [{"name": "dismissed", "label": "Dismissed", "text": text} for text in dismissed]
        found["box"] = {**decision["box"], "lines": [*lines, *decision["box"]["lines"]]}
    return found


def settled(entries: Mapping[str, Entry], decision: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes with what the comparison with the last report does not tell of problems of the cluster.

    Those that it could not judge, or judged by other limits, were neither in that report nor resolved by it: where they
    are judged again and are not there, they are over, and where nobody knew of them, they are new.
    """
    if not entries or not changes["is_alike"]:
        return dict(changes)
    ds = decision["ds"]
    left_open = {*changes["unjudged"], *changes["other_limits"], *changes["resolved_ids"]}
    rows = {key: row for key, row in followed(decision).items() if question_of(row) == CLUSTER}
    over = {
        key: f"{str(entry['text']).split(' Remedy: ')[0].rstrip('.')}."
        for key, entry in entries.items()
        if (entry["kind"], entry["question"]) == (PROBLEM, CLUSTER)
        and (entry["done"] is None or entry["done"]["on"] == ds)
        and not {key, entry["code"]} & left_open
        and key not in rows
    }
    unknown = {*changes["new_ids"], *changes["other_limits"]}
    come = {
        key: stated(row)
        for key, row in rows.items()
        if (key not in entries or entries[key]["first"] >= ds) and not {key, row["code"]} & unknown
    }
    return {
        **changes,
        "new": [*changes["new"], *come.values()],
        "new_ids": [*changes["new_ids"], *come],
        "resolved": [*changes["resolved"], *over.values()],
        "resolved_ids": [*changes["resolved_ids"], *over],
    }


def stated(row: Mapping[str, Any]) -> str:
    """Return the sentence that says what is wrong, without the remedy."""
    return f"{Problem.from_dict(row).sentence.rstrip('.')}."


def resolved_lines(entries: Mapping[str, Entry], decision: Mapping[str, Any], changes: Mapping[str, Any]) -> list[str]:
    """Return the problems that were resolved since the last report, each with the effect that was measured."""
    effects = done_words(entries, decision, changes)
    return [
        text if (effect := effects.get(key, GONE)) == GONE else f"{text.rstrip('.')}: {effect}."
        for key, text in zip(changes["resolved_ids"], changes["resolved"], strict=True)
    ]


def followed_lines(
    entries: Mapping[str, Entry], decision: Mapping[str, Any], changes: Mapping[str, Any]
) -> list[dict[str, str]]:
    """Return which actions were done, and how what is due or claimed stands, as lines of ``label`` and ``text``.

    What is new is not among them.
    """
    done = [
        {
            "label": capitalised(ended(effect)),
            "text": f"{entries[key]['text'].rstrip('.')}: {effect}.",
        }
        for key, effect in done_words(entries, decision, changes).items()
        if effect != GONE and entries[key]["kind"] == ACTION
    ]
    return done + [
        {"label": capitalised(row["about"]), "text": state}
        for row in decision["actions"]
        if (state := state_words(entries.get(row["id"]), row, decision["ds"])) != "new"
        and (row["by"] is None or not state.startswith("open") or "claimed" in state)
    ]
