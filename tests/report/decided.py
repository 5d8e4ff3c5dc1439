"""Reports of plans that are decided first, as those who publish them do."""

from __future__ import annotations

from typing import Any

from kafka_capacity.plan import report
from kafka_capacity.plan.decision import decide
from kafka_capacity.questions.change.section.view import ChangePage, change_of
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.report.render import RenderedReport
from kafka_capacity.report.view import ReportView


def decision_of(inputs: ReportInputs) -> dict[str, Any]:
    """Return what is decided about a plan, as it is stored."""
    return decide(inputs).as_dict()


def build_report(inputs: ReportInputs) -> dict[str, Any]:
    """Return the data of a plan's report."""
    return report.build_report(inputs, decision_of(inputs))


def view_plan(inputs: ReportInputs) -> ReportView:
    """Return what the sections of a plan's report are made from."""
    return ReportView(inputs=inputs, decision=decision_of(inputs))


def change_page(inputs: ReportInputs) -> ChangePage:
    """Return what a plan's report shows of the change."""
    return view_plan(inputs).of(change_of)


def render_all(inputs: ReportInputs, **more: Any) -> RenderedReport:
    """Render a plan."""
    return report.render_all(inputs, decision_of(inputs), **more)
