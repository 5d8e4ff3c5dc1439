"""A change of the voters: its steps, what may fail meanwhile, and how long nobody leads."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from kafka_capacity.kafka.controller.quorum.simulation import FailureKind
from kafka_capacity.questions.failures.quorum_tables import HOST_LOST
from kafka_capacity.questions.failures.section.view import Row
from kafka_capacity.report.tables import cells, column, table
from kafka_capacity.text import NOTHING, listed, plural


def moment(seconds: float | None) -> str:
    """Write a time of an election, which may be milliseconds."""
    if seconds is None:
        return "never"
    return f"{1000 * seconds:,.0f} ms" if seconds < 1.0 else f"{seconds:,.1f} s"


STEPS = (
    column("number", "Step", "count"),
    column("what", "Controller", "text", lambda row: f"{row['does']} {row['node_id']}"),
    column("voters", "Voters afterwards", "text", lambda row: ", ".join(map(str, row["voters"]))),
    column("majority", "Must be up", "count"),
    column("tolerated", "May fail meanwhile", "text", lambda row: _tolerated(row["tolerated"])),
    column("fatal_racks", "Racks that must not fail", "text", lambda row: ", ".join(row["fatal_racks"]) or NOTHING),
    column("handover", "No leader during the step", "text", lambda row: row["handover"]),
    column("leaderless", "No leader if the active controller's host is lost", "text", lambda row: row["leaderless"]),
)
"""One row a step: made of what :func:`step_rows` returns."""


def _tolerated(count: int) -> str:
    return str(count) if count >= 0 else "▲ no majority"


def step_rows(change: Row, failovers: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the steps with their numbers, and with the times of elections in words."""
    times = {(row["failure"], row["voters"]): row for row in failovers if not row["lost_before"]}
    rows = []
    for number, step in enumerate(change["steps"], start=1):
        count = len(step["voters"])
        handover = "not at all"
        if step["does"] == "remove" and step["is_active"] is not False:
            handover = _spread(times.get((str(FailureKind.REMOVED), count + 1)))
            handover += "" if step["is_active"] else ", if it is the active one"
        leaderless = _spread(times.get((str(HOST_LOST), count))) if step["tolerated"] > 0 else "until it is back"
        if step["tolerated"] < 0:
            handover = leaderless = "the step is never committed"
        rows.append({**step, "number": number, "handover": handover, "leaderless": leaderless})
        if step["tolerated"] < 0:
            break  # what would come after it never does
    return rows


def _spread(row: Row | None) -> str:
    if row is None:
        return "not known"
    return f"{moment(row['leaderless_p50_seconds'])}, at 99 % {moment(row['leaderless_p99_seconds'])}"


def voter_change(asked: Row, failovers: Sequence[Row]) -> dict[str, Any] | None:
    """Return sentence, table and commands; nothing where the voters stay."""
    change = asked.get("change")
    if change is None:
        return None
    rows = step_rows(change, failovers)
    return {
        "sentences": change_sentences(asked),
        "table": table("Step by step", STEPS, [cells(STEPS, row) for row in rows]) if rows else None,
        "runbook": runbook(change),
    }


def runbook(change: Row) -> list[dict[str, Any]]:
    """Return what to do as the page writes it: ``does``, ``text`` and ``commands`` of each step."""
    steps = list(itertools.takewhile(lambda step: step["tolerated"] >= 0, change["steps"]))
    return [
        *_upgrade(change),
        *(
            {"does": f"{step['does'].capitalize()} {step['node_id']}", "text": _why(step), "commands": step["commands"]}
            for step in steps
        ),
        *(_stop(step, change["renewed"]) for step in change["steps"][len(steps) : len(steps) + 1]),
    ]


def _stop(step: Row, renewed: Sequence[int]) -> dict[str, Any]:
    """Say what keeps a step from ever being agreed upon, and what to do instead."""
    voters = step["lacking"]
    down = [one for one in voters if one in step["down"]]
    back = [one for one in down if one not in renewed] or down  # what lost its disk comes back without its vote
    must = f"To {step['does']} {step['node_id']}, {step['majority']} of the voters {_ids(voters)} must be up"
    lost = f"{_ids(down)} {'is' if len(down) == 1 else 'are'} down"
    remedy = f"Bring {_ids(back, 'or')} back with its old disk first, then plan again."
    return {"does": "Stop", "text": f"{must}, and {lost}. {remedy}", "commands": []}


def _ids(nodes: Sequence[int], last: str = "and") -> str:
    return listed([str(one) for one in nodes], last)


def _why(step: Row) -> str:
    if step["does"] == "add":
        return "Let it catch up as an observer first: Kafka would accept it sooner, but then waits for it."
    if step["is_renewal"]:
        return "This removes the vote of its old directory; it keeps running and observes with the new one."
    if step["node_id"] in step["down"]:
        return "It is down: as long as it counts as a voter, one vote is missing."
    return (
        "Do this while it runs, so that its vote counts until the others have committed the change; the active "
        "controller hands over by itself."
    )


def _upgrade(change: Row) -> list[dict[str, Any]]:
    text = "Voters can be changed from kraft.version 1 on; upgrading to it needs Kafka 4.1 and cannot be undone."
    return [{"does": "Upgrade", "text": text, "commands": change["commands"]}] if change["commands"] else []


_STATIC = (
    "kraft.version is 0: the voters are fixed by controller.quorum.voters, and no step is possible before the "
    "feature is upgraded."
)


_RETURNING = (
    "▲ Controller {} is not a target voter but would add itself again: turn controller.quorum.auto.join.enable off "
    "there first."
)


def change_sentences(asked: Row) -> list[str]:
    """Describe the change and what it tolerates at its worst."""
    steps, today = asked["change"]["steps"], len(asked["voters"])
    returning = asked["change"].get("returning")
    comes_back = [_RETURNING.format(_ids(returning))] if returning else []
    if not steps:
        return ["The target controllers are already the voters.", *comes_back]
    worst = min(step["tolerated"] for step in steps)
    may = {0: "no controller may fail", 1: "one controller may fail"}.get(worst, f"{worst} controllers may fail")
    is_static = asked["change"]["kraft_version"] == 0
    racks = sorted({rack for step in steps for rack in step["fatal_racks"]})
    trap = f" During the change, losing rack {' or '.join(racks)} takes the quorum down."
    return [
        f"From {plural(today, 'voter')} to {len(steps[-1]['voters'])} in {plural(len(steps), 'step')}, one at a time: "
        f"{may if worst >= 0 else 'there is no majority'} at the worst moment."
        f"{trap if racks else ''}",
        *([_STATIC] if is_static else []),
        *comes_back,
    ]
