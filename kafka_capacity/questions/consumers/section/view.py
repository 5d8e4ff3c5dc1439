"""The consumer groups of a plan as the report shows them: what is decided about each, and the details behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.consumers.choice import Row
from kafka_capacity.questions.consumers.decide import GroupDecision, decide_tables
from kafka_capacity.questions.consumers.share_groups import SHARED
from kafka_capacity.report.view import ReportView

SKIPPED = "skipped_groups"
"""Among the facts about an inventory: groups that were left out, each with ``group_id`` and ``reason``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupsView:
    """All groups of a plan."""

    answer: Answer  # what is decided about them
    skipped: tuple[Mapping[str, Any], ...]  # groups that were left out: `group_id` and `reason`
    tables: Mapping[str, pa.Table]  # of the plan
    shared: tuple[Mapping[str, Any], ...] = ()  # share groups

    @property
    def groups(self) -> tuple[GroupDecision, ...]:
        """What is decided about each."""
        return tuple(self.answer.details)

    def rows_of(self, name: str, row: Row) -> pa.Table | None:
        """Return the rows of a table that belong to a scenario; ``None`` where there are none."""
        table = self.tables.get(name)
        found = table.filter(pc.equal(table["scenario_id"], row["scenario_id"])) if table is not None else None
        return found if found is not None and len(found) else None


def groups_of(view: ReportView) -> GroupsView | None:
    """Read what a plan says of consumer groups; ``None`` where it says nothing, as older plans do."""
    inputs = view.inputs
    skipped = tuple(sorted(inputs.snapshot_facts.get(SKIPPED) or (), key=lambda one: str(one["group_id"])))
    shared = tuple(inputs.snapshot_facts.get(SHARED) or ())
    answer = decide_tables(inputs.tables, shared)
    if not answer.details and not skipped and not shared:
        return None
    return GroupsView(answer=answer, skipped=skipped, tables=inputs.tables, shared=shared)
