"""Accuracy of earlier plans: what they expected of days that have come since."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafka_capacity.demand.outlook import TRAFFIC
from kafka_capacity.questions.accuracy.decide import drift_problems
from kafka_capacity.questions.accuracy.scores import NAMES
from kafka_capacity.questions.accuracy.watch import RULE
from kafka_capacity.report.anchors import SCOREBOARD
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import cells, column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import format_bytes, format_duration, format_percent, format_rate

MAX_ROWS = 24


def _amount(key: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda one: (format_rate if one["figure"] == TRAFFIC else format_bytes)(one[key])


def _took(one: Mapping[str, Any]) -> str:
    shortest, longest = one["shortest_seconds"], format_duration(one["longest_seconds"])
    return f"{format_duration(shortest)} to {longest}" if shortest else f"at most {longest}"


_COLUMNS = (
    column("scored_on", "Day", "day"),
    column("figure", "What", "text", lambda one: NAMES.get(one["figure"], one["figure"])),
    column("made_on", "Expected on", "day"),
    column("middle", "Expected", "text", _amount("middle")),
    column("high", "High estimate", "text", _amount("high")),
    column("observed", "Came", "text", _amount("observed")),
    column(
        "error",
        "Off by",
        "text",
        lambda one: ("+" if one["error_ratio"] > 0 else "−") + format_percent(abs(one["error_ratio"])),
    ),
    column("is_below_high", "Below the high estimate", "yes"),
)
_MOVES = (
    column("scenario_id", "Option", "id"),
    column("made_on", "Planned on", "day"),
    column("planned", "Planned time, mean to peak", "duration_band", lambda one: [one["seconds"], one["peak_seconds"]]),
    column("took", "Actual time, from daily inventories", "text", _took),
    column("done_by", "Done by", "day"),
    column("is_consistent", "As planned", "yes"),
)


@section(SCOREBOARD, title="Accuracy of earlier plans", order=9, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the scores of earlier predictions; nothing where none has come due."""
    document = view.inputs.sizing.get("scores")
    if not document or not (document["scores"] or document.get("moves") or document.get("coefficients")):
        return None
    moves, coefficients = document.get("moves", []), document.get("coefficients", [])
    scores = sorted(document["scores"], key=lambda one: (one["scored_on"], one["figure"], one["made_on"]))[::-1]
    newest = [cells(_COLUMNS, one) for one in scores[:MAX_ROWS]]
    return {
        "drifts": [one.text for one in drift_problems(document)],
        "sentences": [str(one["sentence"]) for one in document["summaries"]],
        "has_drifted": any(one["has_drifted"] for one in [*document["summaries"], *coefficients]),
        "rule": RULE,
        "coefficients": [
            {"sentence": str(one["sentence"]), "has_drifted": bool(one["has_drifted"])} for one in coefficients
        ],
        "table": table("Predicted and actual", _COLUMNS, newest, note=_left_out(scores)) if newest else None,
        "moves": table("Executed moves", _MOVES, [cells(_MOVES, one) for one in moves[-MAX_ROWS:]]) if moves else None,
    }


def _left_out(scores: Sequence[Mapping[str, Any]]) -> str | None:
    more = len(scores) - MAX_ROWS
    return f"{more:,} earlier scores count in the figures above and are not listed." if more > 0 else None
