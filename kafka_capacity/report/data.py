"""The report as plain data: all that the page and the e-mail show, and nothing they would have to compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.report.anchors import FINDINGS, anchor_of
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.report.options import view_plan
from kafka_capacity.report.problems import cluster_problems
from kafka_capacity.report.sections import sections

__all__ = ["REPORT_KIND", "REPORT_VERSION", "ReportInputs", "build_report"]

REPORT_KIND = "kafka-capacity-report"
REPORT_VERSION = 2
"""Of ``report.json``."""
SERIOUS_NAMED = 3
"""Things that are seriously wrong with the cluster that stand at the top; the section lists them all."""
_ALARMING = frozenset({"fatal", "serious"})
_ELSEWHERE = frozenset({"kind", "version", "cluster", "ds", "plan_id", "figures"})
"""What a report has at its top."""


def build_report(inputs: ReportInputs, decision: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a report; the same inputs give the same data.

    Args:
        inputs: the results of the plan.
        decision: what was decided about them, as ``decision.json`` has it.
    """
    view = view_plan(inputs, decision)
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
        "verdict": _verdict(decision),
        "figures": _figures(decision["figures"]),
        "subject_label": view.nearest.label,
        "sections": [
            {"name": section.name, "title": section.title, "data": data} for section, data in built if data is not None
        ],
    }


def _verdict(decision: Mapping[str, Any]) -> dict[str, Any]:
    """Return a decision with what the page needs to show it: where each problem is described, and which come first."""
    problems = [{**problem, **_anchor(problem, decision["answers"])} for problem in decision["problems"]]
    alarms = [one for one in cluster_problems({"problems": problems}) if one["severity"] in _ALARMING]
    shown = [one for one in problems if one["question"] != "cluster"]
    sizing = decision["sizing"]
    return {
        **{name: decision[name] for name in decision if name not in _ELSEWHERE},
        "sizing": sizing and {**sizing, "figures": _figures(sizing["figures"])},
        "caveats": shown,
        "serious": {"problems": alarms[:SERIOUS_NAMED], "more": len(alarms[SERIOUS_NAMED:]), "anchor": FINDINGS}
        if alarms
        else None,
    }


def _anchor(problem: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, str]:
    """Return the section that says more; that of a question that is answered in one go has its name."""
    question = str(problem["question"])
    anchor = question if question in answers else anchor_of(str(problem["code"]))
    return {} if anchor is None else {"anchor": anchor}


def _figures(figures: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**figure, "format": figure["unit"]} for figure in figures]
