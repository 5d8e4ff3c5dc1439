"""What could be lost for good, duplicated or refused: today, and after the change."""

from __future__ import annotations

from typing import Any

from kafka_capacity.questions.failures.section.durability_figures import (
    basis_notes,
    chances_line,
    few_sentence,
    losses_sentence,
    read_durability,
    topics_table,
    ways,
)
from kafka_capacity.report.sections import section
from kafka_capacity.report.view import ReportView
from kafka_capacity.text import uncapitalised


@section("durability", title="What could be lost", order=8, is_closed=True)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the chances of a year, the topics, the ways to each outcome, and the assumptions."""
    sides = read_durability(view)
    if not sides:
        return None
    max_failures = int(view.inputs.failures["durability"]["max_failures"])
    names = ("Today", f"After the change: {view.focus_label}")
    return {
        "line": chances_line(sides),
        "verdicts": [
            {"side": name, "sentences": [losses_sentence(side), few_sentence(side)]}
            for name, side in zip(names, sides, strict=False)
        ],
        "tables": [
            topics_table(side, f"Topics by expected loss: {uncapitalised(name)}", max_failures=max_failures)
            for name, side in zip(names, sides, strict=False)
        ],
        "settings": ways(sides[0]),
        "notes": basis_notes(view.inputs.failures),
    }
