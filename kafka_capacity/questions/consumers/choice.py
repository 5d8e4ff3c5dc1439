"""Which scenario of a consumer group to recommend: rows of ``group_scenarios`` and ``group_churn`` in, a choice out.

Goals, ordered:
    1. It fits, and has no fewer members than the smallest count that will do with its assignor and protocol.
    2. The fewest members.
    3. The least change: the same protocol, assignor and static membership as today, unless another choice saves a fifth
       or more of what a rolling restart leaves unread (partitions × seconds), since that is what every deploy costs.
    4. The least left unread; of as much, the fewest pauses by rebalances.

Where nothing that was tried fits, the focus is on the nearest scenario: one that Kafka accepts, not one whose members
have too much to do before anything happens, with the fewest different constraints broken, then the smallest shortfall.
Members with too much to do fall behind without bound in every event, too, which is left out of their reasons: by the
shortfall alone they would seem nearer than members that fall behind in a single one.

Rows are plain mappings (``pyarrow.Table.to_pylist``), so that what was stored and what was evaluated just now are
chosen from alike.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.proposal.excuse import distance
from kafka_capacity.questions.consumers.scenario import Verdict

Row = Mapping[str, Any]
Churn = Mapping[str, Row]  # the rows of `group_churn` of one scenario, by event

WORTH_A_CHANGE_RATIO = 0.2
"""How much less a deploy must leave unread for another protocol, assignor or membership to be worth the change."""


class GroupStatus(StrEnum):
    """What to do with a group, in two words."""

    AT_RISK = "at_risk"  # it does not fit as it is, and something that was tried does
    AT_RISK_NO_FIT = "at_risk_no_fit"
    AT_RISK_NOT_JUDGED = "at_risk_not_judged"  # it does not fit as it is, and too little is known of what would
    NO_FIT = "no_fit"  # it was not tried as it is, and nothing that was tried fits
    NOT_JUDGED = "not_judged"  # too little is known
    BETTER = "better"
    FITS = "fits"
    EMPTY = "empty"
    """It was not tried as it is, such as a group without members: there is nothing that could be at risk."""


RISKS = frozenset({GroupStatus.AT_RISK, GroupStatus.AT_RISK_NO_FIT, GroupStatus.AT_RISK_NOT_JUDGED})
"""Of groups that do not fit as they are."""
_NO_PAUSES = {"paused_partition_seconds": 0.0, "revoked": 0}
_KEPT = ("protocol", "assignor", "is_static", "standby_replicas")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupChoice:
    """One group: what was tried with it, and what to choose."""

    group_id: str  # its name
    scenarios: tuple[Row, ...]  # all its rows of `group_scenarios`
    churn: Mapping[str, Churn]  # by scenario id, what its events do
    facts: Row | None  # its row of `group_facts`; `None` where a plan has none
    today: Row | None  # the row of the group as it is; `None` where that was not tried
    recommended: Row | None  # the row to choose; `None` where nothing fits
    focus: Row  # the recommended row, else the nearest to fitting

    @property
    def is_at_risk(self) -> bool:
        """Whether the group does not fit as it is today."""
        return self.today is not None and self.today["verdict"] == Verdict.DOES_NOT_FIT

    @property
    def is_open(self) -> bool:
        """Whether too little is known to tell that nothing fits: the scenario in focus breaks nothing that is known."""
        return bool(self.focus["verdict"] == Verdict.NOT_JUDGED)

    @property
    def is_change(self) -> bool:
        """Whether there is something to do: a row is recommended, and it is not today's."""
        return self.recommended is not None and self.recommended is not self.today

    @property
    def now(self) -> Row:
        """The scenario that stands for the group as it is; where that was not tried, the one in focus."""
        return self.today or self.focus

    @property
    def then(self) -> Row | None:
        """The scenario to set beside the group as it is; ``None`` where that is itself the one in focus."""
        return None if self.today is None or self.focus is self.today else self.focus

    @property
    def shown(self) -> tuple[Row, ...]:
        """The scenarios that are shown event by event."""
        return (self.now,) if self.then is None else (self.now, self.then)

    @property
    def status(self) -> GroupStatus:
        """What to do with it."""
        if self.is_at_risk:
            if self.recommended is not None:
                return GroupStatus.AT_RISK
            return GroupStatus.AT_RISK_NOT_JUDGED if self.is_open else GroupStatus.AT_RISK_NO_FIT
        if self.recommended is None:
            return GroupStatus.NOT_JUDGED if self.is_open else GroupStatus.NO_FIT
        if self.today is None:
            return GroupStatus.EMPTY
        return GroupStatus.BETTER if self.is_change else GroupStatus.FITS

    @property
    def is_overloaded(self) -> bool:
        """Whether a member has more to read than it can as the group is, with no event at all."""
        return _is_overloaded(self.now)

    @property
    def is_streams(self) -> bool:
        """Whether it is of Kafka Streams, so that what is called its partitions are its tasks."""
        return self.facts is not None and self.facts.get("standby_replicas") is not None

    @property
    def unknown_rate_partitions(self) -> int:
        """Of how many of its partitions no rate is known; earlier versions did not tell, which counts as none."""
        return int((self.facts or {}).get("unknown_rate_partitions") or 0)

    def outcome(self, row: Row | None, event: str) -> Row | None:
        """Return what an event does in a scenario; ``None`` where it was not simulated."""
        return None if row is None else self.churn[row["scenario_id"]].get(event)

    def outcomes(self, row: Row) -> list[Row]:
        """Return what every event does in a scenario, in the order asked for."""
        found = self.churn[row["scenario_id"]]
        return [found[event] for event in row["events"] if event in found]

    def worst(self, row: Row | None) -> Row | None:
        """Return the event of a scenario with the highest max lag; ``None`` where nothing was simulated."""
        return None if row is None else worst_outcome(self.churn[row["scenario_id"]].values())

    def name_of(self, row: Row) -> str:
        """Return in a word which scenario it is."""
        if row is self.today:
            return "today"
        return "recommended" if row is self.recommended else "nearest"


def worst_outcome(outcomes: Iterable[Row]) -> Row | None:
    """Return the row of ``group_churn`` with the highest max lag; an unbounded one is the highest.

    Of events alike those that stop somebody come first: what an overload makes grow without bound, it does in each.
    """
    return max(
        outcomes,
        key=lambda row: (_or_endless(row["lag_max_seconds"]), bool(row["partition_pauses"]), row["event"]),
        default=None,
    )


def choose(scenarios: Iterable[Row], churn: Iterable[Row], facts: Iterable[Row] = ()) -> tuple[GroupChoice, ...]:
    """Choose for every group, by rows of its three tables, sorted by the group's name."""
    by_scenario: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in churn:
        by_scenario[row["scenario_id"]][row["event"]] = row
    by_group: dict[str, list[Row]] = defaultdict(list)
    for row in scenarios:
        by_group[row["group_id"]].append(row)
    known = {row["group_id"]: row for row in facts}
    return tuple(
        _choose_for(group_id, by_group[group_id], by_scenario, known.get(group_id)) for group_id in sorted(by_group)
    )


def _choose_for(group_id: str, rows: Sequence[Row], by_scenario: Mapping[str, Churn], facts: Row | None) -> GroupChoice:
    today = next((row for row in rows if row["is_today"]), None)
    churn = {row["scenario_id"]: by_scenario.get(row["scenario_id"], {}) for row in rows}

    def rank(row: Row) -> tuple[Any, ...]:
        deploy = churn[row["scenario_id"]].get(Event.ROLLING_RESTART, _NO_PAUSES)
        unread = _or_endless(deploy["paused_partition_seconds"])
        return row["member_count"], unread, deploy["revoked"], changes(row, today), row["scenario_id"]

    def distance_of(row: Row) -> tuple[Any, ...]:
        is_judged = row["verdict"] != Verdict.NOT_JUDGED
        is_refused = row["partition_count"] is None
        return is_refused, _is_overloaded(row), *distance(excuses_of(row)), is_judged, *rank(row)

    fitting = [row for row in rows if row["verdict"] == Verdict.FITS and (row is today or is_enough(row))]
    recommended = _best(sorted(fitting, key=rank), rank, today) if fitting else None
    return GroupChoice(
        group_id=group_id,
        scenarios=tuple(rows),
        churn=churn,
        facts=facts,
        today=today,
        recommended=recommended,
        focus=recommended or min(rows, key=distance_of),
    )


def is_enough(row: Row) -> bool:
    """Return whether a scenario fits, with no fewer members than the smallest count that will do with its protocol."""
    return bool(row["verdict"] == Verdict.FITS and row["member_count"] >= (row["smallest_for_all"] or 0))


def _best(ranked: Sequence[Row], rank: Callable[[Row], tuple[Any, ...]], today: Row | None) -> Row:
    """Return the best, or the one nearest to today's of as few members where the best is not worth the change."""
    best = ranked[0]
    as_few = [row for row in ranked if row["member_count"] == best["member_count"]]
    nearest = min(as_few, key=lambda row: (changes(row, today), *rank(row)))
    unread, nearest_unread = rank(best)[1], rank(nearest)[1]
    return best if unread < nearest_unread * (1 - WORTH_A_CHANGE_RATIO) else nearest


def changes(row: Row, today: Row | None) -> int:
    """Count in how much of protocol, assignor, membership and standbys a scenario differs from today."""
    return 0 if today is None else sum(row.get(name) != today.get(name) for name in _KEPT)


def excuses_of(row: Row) -> list[dict[str, Any]]:
    """Return the constraints that a scenario breaks."""
    return list(json.loads(row["excuses"]))


def _is_overloaded(row: Row) -> bool:
    return bool(row["is_capacity_limit"]) and "member_capacity" in _broken(row)


def is_offline(row: Row) -> bool:
    """Return whether partitions of the group have no leader, which breaks every scenario and comes first in it."""
    return "offline" in _broken(row)


def _broken(row: Row) -> set[str]:
    return {excuse["constraint"] for excuse in excuses_of(row)}


def why_not(row: Row) -> str:
    """Return why a scenario does not fit, or is not judged; the first reason of several."""
    if excuses := excuses_of(row):
        return str(excuses[0]["reason"])
    if row["verdict"] == Verdict.FITS:
        return (
            f"as partitions are assigned here it fits, but once they are assigned anew, as after a failure, it takes "
            f"{row['smallest_for_all']:,}"
        )
    return row["not_judged"] or "it does not fit"


def _or_endless(seconds: float | None) -> float:
    return math.inf if seconds is None else seconds
