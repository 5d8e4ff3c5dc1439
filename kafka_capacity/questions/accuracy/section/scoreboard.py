"""How right earlier plans were: what they expected of days that have come since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.demand.outlook import TRAFFIC
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import column, table
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import format_bytes, format_duration, format_percent, format_rate

MAX_ROWS = 24

_NAMES = {"traffic": "traffic at peak", "stored": "stored bytes"}
_COLUMNS = (
    column("scored_on", "Day", "day"),
    column("figure", "What"),
    column("made_on", "Expected on", "day"),
    column("middle", "Expected"),
    column("high", "High estimate"),
    column("observed", "Came"),
    column("error", "Off by"),
    column("is_below_high", "Below the high estimate", "yes"),
)

_MOVES = (
    column("scenario_id", "Option", "id"),
    column("made_on", "Planned on", "day"),
    column("planned", "Planned time, mean to peak", "duration_band"),
    column("took", "Took, by daily inventories"),
    column("done_by", "Done by", "day"),
    column("is_consistent", "As planned", "yes"),
)


@section("scoreboard", title="How right earlier plans were", order=9)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the scores of earlier predictions; nothing where none has come due."""
    document = view.inputs.sizing.get("scores")
    if not document or not (document["scores"] or document.get("moves") or document.get("coefficients")):
        return None
    moves = document.get("moves", [])
    coefficients = document.get("coefficients", [])
    newest = sorted(document["scores"], key=lambda one: (one["scored_on"], one["figure"], one["made_on"]))[::-1]
    return {
        "sentences": [str(one["sentence"]) for one in document["summaries"]],
        "has_drifted": any(one["has_drifted"] for one in [*document["summaries"], *coefficients]),
        "coefficients": [_coefficient(one) for one in coefficients],
        "table": table("Expected and come", _COLUMNS, [_row(one) for one in newest[:MAX_ROWS]], note=_left_out(newest))
        if newest
        else None,
        "moves": table("Moves that were carried out", _MOVES, [_move(one) for one in moves[-MAX_ROWS:]])
        if moves
        else None,
    }


def _coefficient(one: Mapping[str, Any]) -> dict[str, Any]:
    return {"sentence": str(one["sentence"]), "has_drifted": bool(one["has_drifted"])}


def _move(one: Mapping[str, Any]) -> dict[str, Any]:
    shortest, longest = one["shortest_seconds"], one["longest_seconds"]
    took = f"at most {format_duration(longest)}"
    return {
        "scenario_id": one["scenario_id"],
        "made_on": one["made_on"],
        "planned": [one["seconds"], one["peak_seconds"]],
        "took": f"{format_duration(shortest)} to {format_duration(longest)}" if shortest else took,
        "done_by": one["done_by"],
        "is_consistent": one["is_consistent"],
    }


def _row(one: Mapping[str, Any]) -> dict[str, Any]:
    shown = format_rate if one["figure"] == TRAFFIC else format_bytes
    return {
        "scored_on": one["scored_on"],
        "figure": _NAMES.get(one["figure"], one["figure"]),
        "made_on": one["made_on"],
        "middle": shown(one["middle"]),
        "high": shown(one["high"]),
        "observed": shown(one["observed"]),
        "error": ("+" if one["error_ratio"] > 0 else "−") + format_percent(abs(one["error_ratio"])),
        "is_below_high": one["is_below_high"],
    }


def _left_out(scores: Sequence[Mapping[str, Any]]) -> str | None:
    more = len(scores) - MAX_ROWS
    return f"{more:,} earlier scores count in the figures above and are not listed." if more > 0 else None
