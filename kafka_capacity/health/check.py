"""All checks of a cluster, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.controllers import check_controllers, check_quorum
from kafka_capacity.health.cordons import check_cordons
from kafka_capacity.health.groups import check_groups
from kafka_capacity.health.hot import check_hot
from kafka_capacity.health.now import check_lags, check_now
from kafka_capacity.health.problem import CLUSTER_CODES, RETIRED_CODES, Code, Problem, Problems
from kafka_capacity.health.racks import check_racks
from kafka_capacity.health.resources import check_log_dirs, check_resources
from kafka_capacity.health.settings import check_settings


def check_health(view: ClusterView, soundness: Iterable[Problem] = ()) -> Problems:
    """Return everything that is wrong with a cluster, as far as it is known.

    ``soundness`` is what is wrong with the inventory itself. Of an earlier check of the cluster nothing is taken from
    it: under other limits other problems are there.
    """
    return Problems.of(
        [
            *(one for one in soundness if one.code not in CLUSTER_CODES),
            *check_now(view),
            *check_cordons(view),
            *check_resources(view),
            *check_log_dirs(view),
            *check_lags(view),
            *check_groups(view),
            *check_hot(view),
            *check_settings(view),
            *check_racks(view),
            *check_controllers(view.voters),
            *check_quorum(view.quorum),
        ]
    )


WORSE_RATIO = 1.01  # less is the rounding of loads that moves with leaders
RESOLVED = "The change resolves this."
NEW = "New with the change."
_UNRESOLVED: dict[str, str] = {
    **dict.fromkeys(
        (Code.OFFLINE, Code.UNDER_MIN_ISR, Code.UNDER_REPLICATED),
        "The change does not resolve this by itself: figures after it assume that all replicas are in sync.",
    ),
    **dict.fromkeys(
        (Code.GROUPS_HOURS_BEHIND, Code.GROUPS_BEHIND),
        "The change does not resolve this by itself: groups have to catch up.",
    ),
    **dict.fromkeys(
        (Code.LOG_DIR_OVER_LIMIT, Code.LOG_DIRS_UNEVEN),
        "Replicas that move go where the log dirs have room; the move says where they have none.",
    ),
    Code.RECORDS_LOST: "No change brings back what was deleted.",
}
"""What is so at the moment of the snapshot; a placement is looked at once all that it copies is there."""


_OF_RACKS = frozenset({Code.RACK_LOSS, Code.ONE_RACK_PARTITIONS, Code.NARROW_PARTITIONS, Code.RF_ABOVE_RACKS})
"""Of several racks: where one is left, they are not told of it any more, and not resolved."""


@dataclass(frozen=True, slots=True)
class ListedProblem:
    """A problem, and what becomes of it with what is proposed; ``""`` where it stays or nothing is proposed."""

    problem: Problem
    then: str = ""


def _with_change(today: Problem, after: Mapping[tuple[str, str], Problem]) -> str:
    """Return what becomes of a problem, given those of then; ``""`` where it stays as it is, or less of it does."""
    then = after.get((today.code, today.about))
    if then is None:
        one_rack = next((one for one in after.values() if one.code == Code.ONE_RACK), None)
        if today.code in _OF_RACKS and one_rack is not None:
            return f"Worse with the change: {one_rack.message}."
        return _UNRESOLVED.get(today.code, RESOLVED)
    return f"Worse with the change: {then.message}." if _is_worse(today, then) else ""


def _is_worse(today: Problem, then: Problem) -> bool:
    if then.partitions != today.partitions or today.figure is None or then.figure is None:
        return then.partitions > today.partitions
    return then.figure.needed > today.figure.needed * WORSE_RATIO


def list_problems(
    found: Iterable[Problem], today: Sequence[Problem] | None, then: Sequence[Problem] | None = None
) -> list[ListedProblem]:
    """Return every problem once, the worst first: those of the inventory, those of the cluster today and then.

    ``today`` is ``None`` where only the inventory was checked; ``then`` is of the cluster as the option to speak of
    would leave it, ``None`` for none.
    """
    known = list(found) if today is None else [one for one in found if one.code not in RETIRED_CODES]
    now, after = {one.code for one in today or ()}, {(one.code, one.about): one for one in then or ()}
    outcome = dict.fromkeys(known, "")
    for one in today or ():
        outcome[one] = "" if then is None else _with_change(one, after)
    reported = now | {one.code for one in known}
    outcome |= {one: NEW for one in then or () if one.code not in reported}
    return [ListedProblem(one, outcome[one]) for one in Problems.of(outcome)]
