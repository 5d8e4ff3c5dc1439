"""What is down, or about to be, and which groups are far behind, at the moment of the snapshot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kafka_capacity.health.cluster_view import ClusterView, called
from kafka_capacity.health.problem import Code, Figure, Problem, Severity
from kafka_capacity.text import format_duration, plural


def check_now(view: ClusterView) -> Iterator[Problem]:
    """Look for partitions that are offline, refuse writes or lack replicas, and for brokers that are fenced."""
    states = view.states
    size = states.isr_size()
    offline = states.is_offline
    refused = ~offline & (size < states.min_isr)
    behind = ~offline & ~refused & (size < view.factor)
    yield from view.problems(
        Severity.SERIOUS,
        Code.OFFLINE,
        offline,
        "have no leader: nothing is written or read there",
        "bring back the brokers that were last in sync; an unclean election loses records",
    )
    yield from view.problems(
        Severity.SERIOUS,
        Code.UNDER_MIN_ISR,
        refused,
        "have fewer replicas in sync than min.insync.replicas: writes with acks=all are rejected",
        "bring the missing replicas back in sync; do not lower min.insync.replicas to hide the problem",
    )
    one_left = behind & (size == 1)
    yield from view.problems(
        Severity.SERIOUS if one_left.any() else Severity.WARNING,
        Code.UNDER_REPLICATED,
        behind,
        "have replicas out of sync" + _alone(int(one_left.sum()), int(behind.sum())),
        "find out which brokers lag before anything is moved or restarted",
    )
    yield from _fenced(view)


def _alone(count: int, behind: int) -> str:
    if not count:
        return ""
    who = "with" if count == behind else f"{count:,} of these partitions with"
    return f", {who} only one left in sync"


def _fenced(view: ClusterView) -> Iterator[Problem]:
    brokers = view.snapshot.brokers
    fenced = brokers.ids[brokers.is_fenced]
    held = np.asarray(np.isin(view.snapshot.replicas, fenced).any(axis=1), dtype=np.bool_)
    if len(fenced) and held.any():
        yield Problem(
            severity=Severity.SERIOUS,
            code=Code.FENCED,
            where=called("broker", fenced),
            message=(
                f"{plural(len(fenced), 'broker')} of {len(brokers):,} {'is' if len(fenced) == 1 else 'are'} fenced "
                f"and {'holds' if len(fenced) == 1 else 'hold'} replicas of {plural(int(held.sum()), 'partition')}"
            ),
            remedy="start it, or move its replicas away"
            if len(fenced) == 1
            else "start them, or move their replicas away",
            partitions=int(held.sum()),
            bytes_per_second=view.rate(held),
        )


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
    seconds = format_duration(behind[worst])
    message = (
        f"consumer group {names[0]} is {seconds} behind"
        if count == 1
        else f"{count:,} consumer groups are more than {format_duration(limit_seconds)} behind, the worst is "
        f"{names[0]} with {seconds}"
    )
    whose = "its members" if count == 1 else "their members"
    yield Problem(
        severity=severity,
        code=code,
        where=called("group", names),
        message=message,
        remedy=f"find out whether {whose} are stopped, slow or too few before anything moves",
        figure=Figure(float(behind[worst]), limit_seconds, "seconds"),
    )
