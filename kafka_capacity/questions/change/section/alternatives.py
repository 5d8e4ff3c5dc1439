"""The other options that move something, folded away."""

from __future__ import annotations

from typing import Any

from kafka_capacity.questions.change.choice import Option
from kafka_capacity.questions.change.section.change_tables import change_tables
from kafka_capacity.questions.change.section.view import ChangePage, change_of
from kafka_capacity.report.sections import section
from kafka_capacity.report.view import ReportView

MAX_DETAILED = 11  # with the one in the section before, a dozen; more would only make the page heavy


@section("alternatives", title="The other options in detail", order=30, is_closed=True)
def build(report: ReportView) -> dict[str, Any] | None:
    """Return the tables of each other option."""
    view = report.of(change_of)
    others = [
        option
        for option in view.options
        if option is not view.nearest and not option.is_refused and option.figures["changed_partitions"]
    ]
    if not others:
        return None
    detailed = others[:MAX_DETAILED]
    return {
        "options": [
            {
                "label": option.label,
                "moved_bytes": option.figures["moved_bytes"],
                "verdict": view.verdict(option)["status"],
                "excuses": [str(excuse["reason"]) for excuse in option.excuses],
                "tables": _tables(view, option),
            }
            for option in detailed
        ],
        "left_out": len(others) - len(detailed),
    }


def _tables(view: ChangePage, option: Option) -> dict[str, Any]:
    """Return the tables of an option, which say in their captions whose they are."""
    made = change_tables(view.inputs.tables, option, has_rates=view.rate_history_hours > 0, has_topics=False)
    for one in (made["brokers"], made["moves"]):
        if one is not None:
            one["caption"] += f": {option.label}"
    return made
