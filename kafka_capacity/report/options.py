"""What a report shows: the plan's inputs, what was decided, and the option that is described in detail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_capacity.questions.capacity.sizing_view import SizingView, read_sizing
from kafka_capacity.questions.change.choice import Option, read_options
from kafka_capacity.questions.change.move_view import MoveView, read_move, read_schedules
from kafka_capacity.report.failures import FailuresView, read_failures
from kafka_capacity.report.groups import GroupsView, read_groups
from kafka_capacity.report.inputs import ReportInputs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanView:
    """A plan's inputs and decision, with the options read from them.

    Attributes:
        inputs: what the report is made of.
        decision: what was decided, as ``decision.json`` has it.
        options: all of them, by broker count, then planning placers first, then bytes.
        recommended: the option to take, ``None`` when none fits.
        nearest: the option to show: the recommended one, else the one that is closest to fitting.
        groups: what the plan says of consumer groups; ``None`` where it says nothing.
        move: the waves of the option to show; ``None`` where the plan has none for it.
        sizing: how many brokers by when; ``None`` where the plan says nothing of it.
        failures: what breaks; ``None`` where the plan says nothing of it.
    """

    inputs: ReportInputs
    decision: Mapping[str, Any]
    options: tuple[Option, ...]
    recommended: Option | None
    nearest: Option
    groups: GroupsView | None = None
    move: MoveView | None = None
    sizing: SizingView | None = None
    failures: FailuresView | None = None

    @property
    def rate_history_hours(self) -> int:
        """How many hours of traffic the plan rests on."""
        return int(self.inputs.snapshot_facts.get("rate_history_hours") or 0)

    @property
    def schedules(self) -> Mapping[str, Mapping[str, Any]]:
        """What is said of the schedule of each option that has one."""
        return read_schedules(self.inputs.tables)

    def verdict(self, option: Option) -> Mapping[str, Any]:
        """Return what was decided about an option."""
        decided: list[Mapping[str, Any]] = self.decision["options"]
        return next(one for one in decided if one["scenario_id"] == option.scenario_id)


def view_plan(inputs: ReportInputs, decision: Mapping[str, Any]) -> PlanView:
    """Read what a report shows of a plan.

    Args:
        inputs: what the report is made of.
        decision: what was decided about it, as ``decision.json`` has it.
    """
    options = read_options(inputs.tables["scenarios"])
    by_id = {option.scenario_id: option for option in options}
    nearest = by_id[decision["nearest_scenario_id"]]
    return PlanView(
        inputs=inputs,
        decision=decision,
        options=options,
        recommended=by_id.get(decision["recommended_scenario_id"] or ""),
        nearest=nearest,
        groups=read_groups(inputs),
        move=read_move(inputs.tables, nearest.scenario_id),
        sizing=read_sizing(inputs.tables, inputs.sizing, inputs.request),
        failures=read_failures(inputs, nearest.scenario_id),
    )
