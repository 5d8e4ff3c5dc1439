"""Which consumer groups of an inventory a plan simulates, what is stored of them, and what is decided from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity.kafka.rebalance.tasks import as_tasks
from kafka_capacity.questions.consumers.decide import decide_tables
from kafka_capacity.questions.consumers.evaluate import GroupInputs, GroupWork, simulate_groups, work_tables
from kafka_capacity.questions.consumers.grid import has_known_assignor, wanted_groups
from kafka_capacity.questions.consumers.share_groups import SHARED, share_group
from kafka_capacity.questions.consumers.tables import GROUP_TABLES
from kafka_capacity.questions.question import PlanContext, Question, RunPieces, Share

GROUPS_DOCUMENT = "groups.json"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundGroups:
    """The groups to simulate, and those that cannot be, or not as they are; each with ``group_id`` and ``reason``."""

    inputs: GroupInputs
    skipped: tuple[dict[str, str], ...]
    shared: tuple[dict[str, Any], ...] = ()  # share groups, see `share_groups.py`


def find_groups(asked: PlanContext) -> FoundGroups:
    """Take the groups that are asked for out of an inventory."""
    basis, request = asked.basis, asked.parameters.group_grid(seed=asked.parameters.seed)
    found = basis.groups.with_heap(basis.snapshot, basis.load, request.broker_heap_bytes)
    groups = wanted_groups(found.facts, request)
    reasons = {each.group_id: each.reason for each in found.skipped}
    reasons |= {
        facts.group_id: f"Today's setup is not simulated, because its assignor {facts.assignor!r} is unknown; "
        "install the package that provides it."
        for facts in groups
        if not has_known_assignor(facts)
    }
    wanted = frozenset(request.groups)
    return FoundGroups(
        inputs=GroupInputs(groups=tuple(map(as_tasks, groups)), request=request),
        skipped=tuple(
            {"group_id": group_id, "reason": reasons[group_id]}
            for group_id in sorted(reasons)
            if not wanted or group_id in wanted
        ),
        shared=tuple(share_group(facts, request) for facts in wanted_groups(found.shared, request)),
    )


def simulate_found(found: FoundGroups, run: RunPieces) -> Share:
    """Simulate groups that were found."""

    def run_work(work: Sequence[GroupWork]) -> Sequence[Mapping[str, pa.Table]]:
        what = "group variants" if all(piece.has_figures for piece in work) else "group scenarios in detail"
        return run(work_tables, found.inputs, work, what=what)

    tables = simulate_groups(found.inputs, run_work)
    return Share(
        tables=tables,
        documents={GROUPS_DOCUMENT: {"skipped": list(found.skipped), "shared": list(found.shared)}},
        scenario_count=len(tables["group_scenarios"]),
    )


CONSUMERS = Question(
    name="consumers",
    share="groups",
    tables=GROUP_TABLES,
    simulate=lambda asked, _, run: simulate_found(find_groups(asked), run),
    decide=lambda results, _: decide_tables(results.tables, results.snapshot_facts.get(SHARED) or ()),
)
