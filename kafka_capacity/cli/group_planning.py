"""From the options about consumer groups to what came of them: what ``groups`` and ``report`` do alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.plan_input import PlanInput, read_plan_input
from kafka_capacity.cli.plan_options import request_of
from kafka_capacity.plan.group_simulation import find_groups
from kafka_capacity.plan.pinned import check_groups
from kafka_capacity.plan.request import PlanRequest
from kafka_capacity.questions.consumers.decide import GroupsDecision, decide_tables
from kafka_capacity.questions.consumers.evaluate import GroupWork, simulate_groups, work_tables
from kafka_capacity.questions.consumers.grid import GroupGridRequest


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
    def decision(self) -> GroupsDecision:
        """What is decided about them."""
        return decide_tables(self.tables)

    def members(self, scenario_id: str) -> list[dict[str, Any]]:
        """Return the rows of ``group_members`` of a scenario; none where its details were not kept."""
        return [row for row in self.tables["group_members"].to_pylist() if row["scenario_id"] == scenario_id]


def plan_groups(snapshot: str, given: Mapping[str, Any], begin: Steps) -> PlannedGroups:
    """Read and simulate.

    Args:
        snapshot: its folder or address.
        given: fields of the request that were given.
        begin: told of each step.

    Raises:
        KafkaCapacityError: an option or the snapshot is wrong.
    """
    request_of("not read yet", "2000-01-01", given)  # wrong options are told before a large snapshot is read
    begin("reading the snapshot")
    found = read_plan_input(snapshot)
    return simulate_found_groups(found, request_of(found.snapshot.cluster, found.snapshot.ds, given), begin, begun=1)


def simulate_found_groups(found: PlanInput, request: PlanRequest, begin: Steps, *, begun: int) -> PlannedGroups:
    """Simulate the groups of a snapshot that was read.

    Args:
        found: the snapshot.
        request: what is asked.
        begin: told of each step.
        begun: how many steps there were before; one more follows.

    Raises:
        RequestError: a group that is asked for does not exist.
    """
    known = found.raw.table("groups").column("group_id").to_pylist()
    check_groups(request.groups, known, cluster=found.snapshot.cluster)
    grid = request.group_grid(seed=request.seed)
    groups = find_groups(found.raw, found.snapshot, grid, load=found.load)

    def run(work: Sequence[GroupWork]) -> Iterator[dict[str, pa.Table]]:
        nonlocal begun
        before, begun = begun, begun + len(work)
        for number, piece in enumerate(work):
            facts, variant = groups.inputs.groups[piece.unit.position], piece.unit.variant
            what = f"{facts.group_id}: {variant.protocol} {variant.assignor}, {number + 1:,} of {len(work):,}"
            begin(what, steps=before + len(work) + 1)
            yield work_tables(groups.inputs, piece)

    return PlannedGroups(
        cluster=found.snapshot.cluster,
        ds=found.snapshot.ds,
        request=grid,
        tables=simulate_groups(groups.inputs, run),
        skipped=groups.skipped,
        warnings=len(found.findings.warnings),
    )
