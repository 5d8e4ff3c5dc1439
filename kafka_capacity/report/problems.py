"""The one list of what is wrong that a plan's page and mail show."""

from __future__ import annotations

from kafka_capacity.health.listing import ListedProblem, list_problems
from kafka_capacity.health.problem import Problem
from kafka_capacity.report.options import PlanView

SECTION = "findings"
"""The name of the section, and so its anchor."""


def problems_of(view: PlanView) -> list[ListedProblem]:
    """Return the one list of problems of a plan."""
    if view.failures is None:
        return list_problems(map(Problem.from_dict, view.inputs.findings), None)
    return view.failures.problems(view.inputs.findings)
