"""The controllers of a plan: which losses end their quorum, how long none is active, and how voters are changed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from kafka_capacity.kafka.controller.quorum.settings import Environment, Spread
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind
from kafka_capacity.questions.failures.quorum_tables import HOST_LOST
from kafka_capacity.questions.failures.section.view import FailuresView, Row
from kafka_capacity.report.tables import cells, column, table
from kafka_capacity.text import NOTHING, format_duration, listed, plural

MAX_LOSSES = 15

_WAYS = {
    "killed": "Its process is killed",
    "vanished": "It vanishes with its host",
    "shut down": "It shuts down cleanly",
}


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
        *([{"does": "Upgrade", "text": _UPGRADE, "commands": change["commands"]}] if change["commands"] else []),
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
    remedy = f"Bring {_ids(back, 'or')} back with its old disk first, then plan again."
    return {"does": "Stop", "text": f"{must}, and {_are_down(down)}. {remedy}", "commands": []}


def _ids(nodes: Sequence[int], last: str = "and") -> str:
    return listed([str(one) for one in nodes], last)


def _are_down(nodes: Sequence[int]) -> str:
    return f"{_ids(nodes)} {'is' if len(nodes) == 1 else 'are'} down"


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


_UPGRADE = "Voters can be changed from kraft.version 1 on; upgrading to it needs Kafka 4.1 and cannot be undone."
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


def _verdict(row: Row) -> str:
    if not row["has_majority"]:
        return "▲ no majority: no elections, no metadata changes"
    chance = f"{100 * row['active_lost_ratio']:.0f} %"
    if not row["active_lost_ratio"]:
        return "the active controller stays: no election needed"
    if row["leaderless_p50_seconds"] is None:
        return f"with a probability of {chance} the active controller is lost"
    half, longest = (moment(row[f"leaderless_{name}_seconds"]) for name in ("p50", "p99"))
    return (
        f"with a probability of {chance} the active controller is lost: no leader for {half} (median), {longest} "
        "(99th percentile)"
    )


def _after(key: str) -> Callable[[Row], str]:
    return lambda row: moment(row[f"{key}_seconds"])


_TIMES = (
    column("failure", "The active controller", "text", lambda row: _WAYS[row["failure"]]),
    column("lost_before", "Others lost before", "count"),
    column("p50", "No leader, median", "text", _after("leaderless_p50")),
    column("p95", "95 %", "text", _after("leaderless_p95")),
    column("p99", "99 %", "text", _after("leaderless_p99")),
    column("inactive", "Until the next one can act, 99 %", "text", _after("inactive_p99")),
    column(
        "elections", "Elections", "text", lambda row: f"{row['elections_mean']:.2f}, at most {row['elections_max']:,}"
    ),
    column("rpcs", "Requests", "text", lambda row: f"{row['rpcs_mean']:,.0f}, at most {row['rpcs_max']:,}"),
)
"""One row a way to lose the active controller: made of a row of ``quorum_failovers``."""
_LOSSES = (
    column("lost", "Controllers lost", "text", lambda row: ", ".join(map(str, row["lost"]))),
    column("racks", "Racks emptied", "text", lambda row: ", ".join(row["racks"]) or NOTHING),
    column("living", "Living", "text", lambda row: f"{row['living']} of {row['needed']} needed"),
    column("verdict", "Consequence", "text", _verdict),
)
"""One row a set of voters: made of a row of ``quorum``."""


def controllers(view: FailuresView) -> dict[str, Any]:
    """Return sentences and tables; only a sentence where nobody said what controllers there are."""
    asked = view.document["controllers"]
    if asked is None:
        return {
            "sentences": [
                "Controllers are not covered because this inventory does not include them: name them in the "
                "parameter controllers, node id and rack, such as 1:a."
            ],
            **dict.fromkeys(("losses", "times", "change")),
        }
    today, down = (None, len(asked["voters"])), len(asked.get("down") or ())
    failovers = [row for row in view.failovers if row.get("voters") in today and row["lost_before"] >= down]
    return {
        "sentences": _sentences(asked),
        "losses": _losses(view.quorum, asked["voters"]),
        "times": _times([row for row in failovers if row["failure"] in _WAYS]),
        "change": voter_change(asked, view.failovers),
    }


def _sentences(asked: Row) -> list[str]:
    count, spare = len(asked["voters"]), asked["tolerated"]
    down, more = asked.get("down") or (), " more" if asked.get("down") else ""
    may = "no majority is left" if spare < 0 else f"none{more} may be lost"
    may = may if spare <= 0 else f"any {'one' if spare == 1 else spare}{more} may be lost"
    vote = f"{count} controllers vote and {asked['majority']} must be up" if count > 1 else "One controller votes"
    if down:
        vote += f", and {_are_down(down)}"
    return [
        f"{vote}: {may}. While no controller is active, clients continue, but no partition gets a new leader: "
        "partitions led by a broker that dies meanwhile stay offline until then.",
        f"{f'While {_are_down(down)}, t' if down else 'T'}here is no majority for "
        f"{_year(asked['down_minutes_per_year'])} if each controller is up {_share(asked['up_ratio'])} of the time "
        f"and fails independently, and for {_year(asked['down_in_racks_minutes_per_year'])} if racks are up "
        f"{_share(asked['rack_up_ratio'])} of the time. Both ratios are assumptions: the parameters "
        "controller_up_ratio and rack_up_ratio.",
    ]


def _share(ratio: float) -> str:
    """Write an availability with all its nines."""
    return f"{100 * ratio:.8g} %"


def _year(minutes: float) -> str:
    # A share that is computed is never nothing: "0 s" would say that it cannot happen.
    return f"{format_duration(60 * minutes)} a year" if minutes >= 1 / 60 else "less than 1 s a year"


def _losses(quorum: Sequence[Row], voters: Sequence[Row]) -> dict[str, Any]:
    """List losses of voters, those that end the quorum first: of these a rack by itself, then the smallest."""
    racks = {one["rack"] for one in voters if one["rack"] is not None}
    # A rack is one failure, however many voters stand in it.
    together = [sorted(one["node_id"] for one in voters if one["rack"] == rack) for rack in racks]
    ranked = sorted(
        quorum,
        key=lambda row: (
            row["has_majority"],
            sorted(row["lost"]) not in together,
            len(row["lost"]),
            -len(row["racks"]),
            row["position"],
        ),
    )
    fatal = sum(not row["has_majority"] for row in quorum)
    rows = [cells(_LOSSES, row) for row in ranked[:MAX_LOSSES]]
    more = len(quorum) - len(rows)
    return table(
        f"Every set of controllers: {fatal:,} of {len(quorum):,} losses {'ends' if fatal == 1 else 'end'} the quorum",
        _LOSSES,
        rows,
        note=f"And {more:,} more." if more else None,
    )


def _times(failovers: Sequence[Row]) -> dict[str, Any] | None:
    if not failovers:
        return None
    ranked = sorted(failovers, key=lambda one: (one["lost_before"], list(_WAYS).index(one["failure"])))
    runs, around = failovers[0]["runs"], Environment()
    return table(
        "When the active controller is lost",
        _TIMES,
        [cells(_TIMES, row) for row in ranked],
        note=f"{plural(runs, 'simulated election')} each, by the protocol of Kafka 4.3.1 and the requested timeouts, "
        f"with {_milliseconds(around.delay)} from controller to controller, {_milliseconds(around.flush)} per "
        f"flush, and {_milliseconds(around.first_election)} for code that has rarely run before.",
    )


def _milliseconds(spread: Spread) -> str:
    return f"{spread.least_seconds * 1000:g} to {spread.max_seconds * 1000:g} ms"
