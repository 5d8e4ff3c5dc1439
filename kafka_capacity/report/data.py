"""The report as plain data: all that the page and the e-mail show, and nothing they would have to compute."""

from __future__ import annotations

from typing import Any

from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.report.options import view_plan
from kafka_capacity.report.sections import sections
from kafka_capacity.report.verdict import decide, key_figures

__all__ = ["REPORT_KIND", "REPORT_VERSION", "ReportInputs", "build_report"]

REPORT_KIND = "kafka-capacity-report"
REPORT_VERSION = 1
"""Of ``report.json``."""


def build_report(inputs: ReportInputs) -> dict[str, Any]:
    """Make the data of a report; the same inputs give the same data.

    Raises:
        RenderError: the plan has no scenarios.
    """
    view = view_plan(inputs)
    built = [(section, section.build(view)) for section in sections()]
    return {
        "kind": REPORT_KIND,
        "version": REPORT_VERSION,
        "cluster": inputs.cluster,
        "ds": inputs.ds,
        "plan_id": inputs.plan_id,
        "generated_at": inputs.generated_at,
        "links": dict(inputs.links),
        "provenance": dict(inputs.provenance),
        "verdict": decide(view),
        "figures": key_figures(view),
        "subject_label": view.nearest.label,
        "sections": [
            {"name": section.name, "title": section.title, "data": data} for section, data in built if data is not None
        ],
    }
