"""All that is wrong: with the cluster, with what is known of it and with what is proposed; the worst first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_capacity.health.problem import Problem
from kafka_capacity.plan.lifecycle import CLUSTER
from kafka_capacity.report.anchors import FINDINGS
from kafka_capacity.report.sections import section
from kafka_capacity.report.view import ReportView


def cluster_problems(decision: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows of ``problems`` of a decision that are about the cluster, the worst first."""
    return [problem for problem in decision["problems"] if problem["question"] == CLUSTER]


@section(FINDINGS, title="What is wrong today", order=3)
def build(view: ReportView) -> dict[str, Any]:
    """Return the problems, each once, and whether there is too little room today or after a loss."""
    return {
        "problems": [
            {**one, "message": Problem.from_dict(one).sentence, "remedy": one.get("remedy", "")}
            for one in cluster_problems(view.decision)
            if "is_dismissed" not in one
        ],
        "dismissed": [
            {"text": one["text"], "state": one["state"]} for one in view.decision["problems"] if "is_dismissed" in one
        ],
        "lacks_room": bool(view.decision["sizing"]) and not view.decision["sizing"]["has_room_today"],
    }
