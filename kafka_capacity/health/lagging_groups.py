"""Consumer groups that are far behind today."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.health.cluster_view import ClusterView, counted, some_names
from kafka_capacity.health.codes import Code
from kafka_capacity.health.problem import Figure, Problem, Severity
from kafka_capacity.text import format_duration

SERIOUS_SECONDS = 3600.0
WARNING_SECONDS = 600.0
"""A rolling restart or a deployment may leave a group behind for minutes; what is more has another cause."""


def check_lags(view: ClusterView) -> Iterator[Problem]:
    """Look for groups that read what was produced long ago: lag over the rate at which it was produced."""
    if view.lags is None or not view.lags.groups:
        return
    behind = np.zeros(len(view.lags.groups))
    np.maximum.at(behind, view.lags.group, view.lags.seconds)
    serious = behind >= SERIOUS_SECONDS
    yield from _behind(view, behind, serious, Severity.SERIOUS, Code.GROUPS_HOURS_BEHIND, SERIOUS_SECONDS)
    minor = ~serious & (behind >= WARNING_SECONDS)
    yield from _behind(view, behind, minor, Severity.WARNING, Code.GROUPS_BEHIND, WARNING_SECONDS)


def _behind(
    view: ClusterView,
    behind: NDArray[np.float64],
    rows: NDArray[np.bool_],
    severity: Severity,
    code: Code,
    limit_seconds: float,
) -> Iterator[Problem]:
    if view.lags is None or not rows.any():
        return
    order = [place for place in np.argsort(-behind, kind="stable").tolist() if rows[place]]
    count, worst = len(order), order[0]
    names = [view.lags.groups[place] for place in order]
    at_worst = "" if count == 1 else f", at worst {names[0]} by {format_duration(behind[worst])}"
    by = f" by {format_duration(behind[worst])}" if count == 1 else f" by more than {format_duration(limit_seconds)}"
    yield Problem(
        severity=severity,
        code=code,
        where=f"group{'' if count == 1 else 's'} {some_names(names)}",
        message=f"{counted(count, 'consumer group')} {'is' if count == 1 else 'are'} behind{by}{at_worst}",
        remedy="find out whether its members are stopped, slow or too few before anything moves"
        if count == 1
        else "find out whether their members are stopped, slow or too few before anything moves",
        figure=Figure(float(behind[worst]), limit_seconds, "seconds"),
    )
