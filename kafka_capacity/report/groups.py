"""The consumer groups of a plan as the report speaks of them: the advice for each, and its rows of every table."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.questions.consumers.advice import GroupAdvice, Row, WorstLag, advise, worst_lag
from kafka_capacity.questions.consumers.events import JUDGED_EVENTS
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.text import ENDLESS

SKIPPED = "skipped_groups"
"""Among the facts about an inventory: groups that were left out, each with ``group_id`` and ``reason``."""
SECTION = "groups"
"""The name of the section, and so its anchor."""


class GroupVerdict(StrEnum):
    """What to say of a group in two words; templates have the words."""

    AT_RISK = "at_risk"
    AT_RISK_NO_FIT = "at_risk_no_fit"
    NO_FIT = "no_fit"
    BETTER = "better"
    FITS = "fits"
    EMPTY = "empty"
    """It has no members today, so there is nothing that could be at risk."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupView:
    """One group.

    Attributes:
        advice: what to do with it.
        scenarios: all its rows of ``group_scenarios``.
        facts: its row of ``group_facts``; ``None`` where a plan has none.
        tables: of the plan.
    """

    advice: GroupAdvice
    scenarios: tuple[Row, ...]
    facts: Row | None
    tables: Mapping[str, pa.Table]

    @property
    def group_id(self) -> str:
        """Its name."""
        return self.advice.group_id

    @property
    def now(self) -> Row:
        """The scenario that stands for the group as it is; where that was not tried, the one that is spoken of."""
        return self.advice.today or self.advice.spoken_of

    @property
    def then(self) -> Row | None:
        """The scenario to set beside the group as it is; ``None`` where that is itself the one that is spoken of."""
        advice = self.advice
        return None if advice.today is None or advice.spoken_of is advice.today else advice.spoken_of

    @property
    def shown(self) -> tuple[Row, ...]:
        """The scenarios that are shown event by event."""
        return (self.now,) if self.then is None else (self.now, self.then)

    @cached_property
    def verdict(self) -> GroupVerdict:
        """What to say of it."""
        advice = self.advice
        if advice.is_at_risk:
            return GroupVerdict.AT_RISK if advice.recommended else GroupVerdict.AT_RISK_NO_FIT
        if advice.recommended is None:
            return GroupVerdict.NO_FIT
        if advice.today is None:
            return GroupVerdict.EMPTY
        return GroupVerdict.BETTER if advice.is_change else GroupVerdict.FITS

    def outcome(self, row: Row | None, event: str) -> Row | None:
        """Give what an event does in a scenario; ``None`` where it was not simulated."""
        return None if row is None else self.advice.churn[row["scenario_id"]].get(event)

    def revoked_per_deploy(self, row: Row | None) -> int | None:
        """Tell how often a rebalance takes a partition from a reader while all members are restarted in turn."""
        outcome = self.outcome(row, "rolling-restart")
        return None if outcome is None else int(outcome["revoked"])

    @property
    def is_overloaded(self) -> bool:
        """Whether a member has more to read than it can as the group is, with no event at all."""
        row = self.now
        return bool(row["is_capacity_limit"] and row["load_ratio"] is not None and row["load_ratio"] > 1.0)

    def worst_lag(self, row: Row | None) -> WorstLag | None:
        """Tell where a scenario falls furthest behind.

        Of the events that are judged, those that stop anybody; of all where there is none of them.
        """
        outcomes = [] if row is None else list(self.advice.churn[row["scenario_id"]].values())
        judged = [one for one in outcomes if one["event"] in JUDGED_EVENTS]
        return worst_lag([one for one in judged if one["partition_pauses"]] or judged or outcomes)

    def worst_wait(self, row: Row | None) -> float | str | None:
        """Tell how far that is; ``None`` where nothing was simulated."""
        worst = self.worst_lag(row)
        return None if worst is None else endless(worst.seconds)

    def rows_of(self, name: str, row: Row) -> pa.Table | None:
        """Give the rows of a table that belong to a scenario; ``None`` where there are none."""
        table = self.tables.get(name)
        found = table.filter(pc.equal(table["scenario_id"], row["scenario_id"])) if table is not None else None
        return found if found is not None and len(found) else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupsView:
    """All groups of a plan.

    Attributes:
        groups: those at risk first, the worst of them first; then those with a change to recommend, by what it saves.
        skipped: groups that were left out: ``group_id`` and ``reason``.
    """

    groups: tuple[GroupView, ...]
    skipped: tuple[Mapping[str, Any], ...]

    @property
    def at_risk(self) -> tuple[GroupView, ...]:
        """Those that do not do as they are today."""
        return tuple(group for group in self.groups if group.advice.is_at_risk)


def read_groups(inputs: ReportInputs) -> GroupsView | None:
    """Read what a plan says of consumer groups; ``None`` where it says nothing, as older plans do."""
    tables = inputs.tables
    skipped = tuple(sorted(inputs.snapshot_facts.get(SKIPPED) or (), key=lambda one: str(one["group_id"])))
    scenarios, churn = (tables[name].to_pylist() if name in tables else [] for name in _READ)
    if not scenarios and not skipped:
        return None
    facts = {row["group_id"]: row for row in tables["group_facts"].to_pylist()} if "group_facts" in tables else {}
    by_group: dict[str, list[Row]] = defaultdict(list)
    for row in scenarios:
        by_group[row["group_id"]].append(row)
    groups = [
        GroupView(
            advice=advice,
            scenarios=tuple(by_group[advice.group_id]),
            facts=facts.get(advice.group_id),
            tables=tables,
        )
        for advice in advise(scenarios, churn)
    ]
    return GroupsView(groups=tuple(sorted(groups, key=_rank)), skipped=skipped)


_READ = ("group_scenarios", "group_churn")


def _rank(group: GroupView) -> tuple[Any, ...]:
    """Put what matters first: who cannot keep up at all, how far a group is behind, how many pauses a change saves."""
    if group.advice.is_at_risk:
        if group.is_overloaded:
            return 0, -math.inf, -group.now["load_ratio"], group.group_id
        wait = group.worst_wait(group.now)
        seconds = math.inf if wait == ENDLESS or group.now["partition_count"] is None else float(wait or 0.0)
        return 0, -seconds / group.now["lag_slo_seconds"], 0.0, group.group_id
    if group.advice.is_change:
        before, after = (group.revoked_per_deploy(row) or 0 for row in (group.now, group.then))
        return 1, after - before, 0.0, group.group_id
    return (2 if group.advice.recommended is None else 3), 0, 0.0, group.group_id


def endless(seconds: float | None) -> float | str:
    """Give a time of a simulated event, where null says that it has no end."""
    return ENDLESS if seconds is None else seconds


def catch_up(outcome: Row) -> float | str | None:
    """Give how long catching up takes at peak; ``None`` where it would take more than anybody has been seen to do."""
    seconds: float | None = outcome["catch_up_seconds"]
    return None if seconds is None and outcome["keeps_up"] is None else endless(seconds)
