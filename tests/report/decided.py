"""Reports of plans that are decided first, as those who publish them do."""

from __future__ import annotations

from typing import Any

from kafka_capacity.plan.decision import decide
from kafka_capacity.report import data, options, render
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.report.options import PlanView
from kafka_capacity.report.render import RenderedReport


def decision_of(inputs: ReportInputs) -> dict[str, Any]:
    """Give what is decided about a plan, as it is stored."""
    return decide(inputs).as_dict()


def build_report(inputs: ReportInputs) -> dict[str, Any]:
    """Give the data of a plan's report."""
    return data.build_report(inputs, decision_of(inputs))


def view_plan(inputs: ReportInputs) -> PlanView:
    """Give what a report shows of a plan."""
    return options.view_plan(inputs, decision_of(inputs))


def render_all(inputs: ReportInputs, **more: Any) -> RenderedReport:
    """Render a plan."""
    return render.render_all(inputs, decision_of(inputs), **more)
