"""What a report shows: the plan's inputs, its options, and the choice between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_capacity.errors import RenderError
from kafka_capacity.questions.change.choice import Option, choose, read_options
from kafka_capacity.report.failures import FailuresView, read_failures
from kafka_capacity.report.groups import GroupsView, read_groups
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.report.sizing import SizingView, read_sizing
from kafka_capacity.report.waves import MoveView, read_move, read_schedules


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanView:
    """A plan's inputs with the options read from them, and the choice between those.

    Attributes:
        inputs: what the report is made of.
        options: all of them, by broker count, then planning placers first, then bytes.
        recommended: the best that fits, ``None`` when none does.
        nearest: the option to speak of: the recommended one, else the one that is closest to fitting.
        groups: what the plan says of consumer groups; ``None`` where it says nothing.
        move: the option to speak of in waves; ``None`` where the plan has none for it.
        sizing: how many brokers by when; ``None`` where the plan says nothing of it.
        failures: what breaks; ``None`` where the plan says nothing of it.
    """

    inputs: ReportInputs
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
    def observed_broker_count(self) -> int:
        """How many brokers there are today."""
        return int(self.inputs.snapshot_facts["broker_count"])

    @property
    def schedules(self) -> Mapping[str, Mapping[str, Any]]:
        """What is said of the schedule of each option that has one."""
        return read_schedules(self.inputs.tables)

    @property
    def generate(self) -> Option | None:
        """What ``--generate`` makes of the change that is spoken of, where it was tried."""
        found = [o for o in self.options if o.placer == "generate" and o.is_same_change(self.nearest)]
        return found[0] if found and not found[0].is_refused and self.nearest.placer != "generate" else None


def view_plan(inputs: ReportInputs) -> PlanView:
    """Read the options and choose.

    Raises:
        RenderError: the plan has no options.
    """
    options = read_options(inputs.tables["scenarios"])
    if not options:
        msg = f"plan {inputs.plan_id!r} has no scenarios, so there is nothing to report; evaluate at least one"
        raise RenderError(msg)
    choice = choose(options)
    nearest = choice.nearest
    return PlanView(
        inputs=inputs,
        options=options,
        recommended=choice.recommended,
        nearest=nearest,
        groups=read_groups(inputs),
        move=read_move(inputs.tables, nearest.scenario_id),
        sizing=read_sizing(inputs),
        failures=read_failures(inputs, nearest.scenario_id),
    )
