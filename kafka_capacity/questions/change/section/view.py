"""What the report shows of a change: the options, and what was decided about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_capacity.questions.change.change_view import ShownChange
from kafka_capacity.questions.change.choice import Option, read_options
from kafka_capacity.questions.change.move_view import read_move, read_schedules
from kafka_capacity.report.view import ReportView


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangePage(ShownChange):
    """The change of a plan."""

    decision: Mapping[str, Any]  # what was decided, as `decision.json` has it
    schedules: Mapping[str, Mapping[str, Any]]  # what is said of the schedule of each option that has one

    def verdict(self, option: Option) -> Mapping[str, Any]:
        """Return what was decided about an option."""
        decided: list[Mapping[str, Any]] = self.decision["options"]
        return next(one for one in decided if one["scenario_id"] == option.scenario_id)


def change_of(view: ReportView) -> ChangePage:
    """Return what a plan says of a change."""
    tables = view.inputs.tables
    options = read_options(tables["scenarios"])
    by_id = {option.scenario_id: option for option in options}
    return ChangePage(
        inputs=view.inputs,
        decision=view.decision,
        options=options,
        recommended=by_id.get(view.decision["recommended_scenario_id"] or ""),
        nearest=by_id[view.focus_id],
        move=read_move(tables, view.focus_id),
        schedules=read_schedules(tables),
    )
