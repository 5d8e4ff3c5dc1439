"""The one list of what is wrong with the cluster, as it was decided: page and mail show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def cluster_problems(decision: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows of ``problems`` of a decision that are about the cluster, the worst first."""
    return [problem for problem in decision["problems"] if problem["question"] == "cluster"]
