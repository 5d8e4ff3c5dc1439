"""From the options about consumer groups to what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.plan_input import ask_snapshot, run_step_by_step
from kafka_capacity.plan.pinned import check_groups
from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.consumers.decide import GroupDecision, decide_tables
from kafka_capacity.questions.consumers.grid import GroupGridRequest
from kafka_capacity.questions.consumers.share import find_groups, simulate_found


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedGroups:
    """What came of the groups.

    Attributes:
        cluster: its name.
        ds: the day of the snapshot.
        request: what was tried.
        tables: of :mod:`kafka_capacity.questions.consumers.tables`.
        skipped: groups that are not simulated, each with ``group_id`` and ``reason``.
        warnings: how many things about the snapshot are doubtful.
    """

    cluster: str
    ds: str
    request: GroupGridRequest
    tables: Mapping[str, pa.Table]
    skipped: tuple[dict[str, str], ...]
    warnings: int

    @cached_property
    def answer(self) -> Answer:
        """What is decided about them."""
        return decide_tables(self.tables)

    @property
    def groups(self) -> tuple[GroupDecision, ...]:
        """What is decided about each."""
        return tuple(self.answer.details)

    def members(self, scenario_id: str) -> list[dict[str, Any]]:
        """Return the rows of ``group_members`` of a scenario; none where its details were not kept."""
        return [row for row in self.tables["group_members"].to_pylist() if row["scenario_id"] == scenario_id]


def plan_groups(snapshot: str, given: Mapping[str, Any], begin: Steps) -> PlannedGroups:
    """Read and simulate.

    Raises:
        KafkaCapacityError: an option or the snapshot is wrong.
    """
    begin("reading the snapshot")
    asked = ask_snapshot(snapshot, given)
    basis = asked.basis
    known = basis.raw.table("groups").column("group_id").to_pylist()
    check_groups(asked.parameters.groups, known, cluster=basis.snapshot.cluster)
    found = find_groups(asked)
    return PlannedGroups(
        cluster=basis.snapshot.cluster,
        ds=basis.snapshot.ds,
        request=found.inputs.request,
        tables=simulate_found(found, run_step_by_step(begin, begun=1)).tables,
        skipped=found.skipped,
        warnings=len(basis.findings.warnings),
    )
