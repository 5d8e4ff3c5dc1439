"""Which consumer groups of an inventory a plan simulates, and what is stored of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity.inventory.group_facts import group_facts
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.objects.dataset import Manifest
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.pinned import PlanInputs
from kafka_capacity.plan.plan_dataset import GROUPS, GROUPS_DOCUMENT, write_share
from kafka_capacity.questions.consumers.evaluate import GroupInputs
from kafka_capacity.questions.consumers.grid import GroupGridRequest, has_known_assignor, wanted_groups
from kafka_capacity.questions.question import Basis


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundGroups:
    """The groups to simulate, and those that cannot be, or not as they are; each with ``group_id`` and ``reason``."""

    inputs: GroupInputs
    skipped: tuple[dict[str, str], ...]

    @property
    def document(self) -> dict[str, Any]:
        """What is stored beside the tables."""
        return {"skipped": list(self.skipped)}


def find_groups(
    raw: RawInventory, snapshot: Snapshot, request: GroupGridRequest, *, load: PartitionLoad | None = None
) -> FoundGroups:
    """Take the groups that are asked for out of an inventory.

    Args:
        raw: the inventory.
        snapshot: the same as arrays.
        request: which groups.
        load: the traffic of the snapshot, where it is known already.
    """
    found = group_facts(raw, snapshot, broker_heap_bytes=request.broker_heap_bytes, load=load)
    groups = wanted_groups(found.facts, request)
    reasons = {each.group_id: each.reason for each in found.skipped}
    reasons |= {
        facts.group_id: f"It is not tried as it is today, since its assignor {facts.assignor!r} is not known; install "
        "the package that brings it."
        for facts in groups
        if not has_known_assignor(facts)
    }
    wanted = frozenset(request.groups)
    return FoundGroups(
        inputs=GroupInputs(groups=groups, request=request),
        skipped=tuple(
            {"group_id": group_id, "reason": reasons[group_id]}
            for group_id in sorted(reasons)
            if not wanted or group_id in wanted
        ),
    )


def pinned_groups(inputs: PlanInputs, basis: Basis) -> FoundGroups:
    """Return the groups of the pinned inventory that the plan asks for."""
    return find_groups(basis.raw, basis.snapshot, inputs.group_grid, load=basis.load)


def write_groups(
    store: ObjectStore, inputs: PlanInputs, found: FoundGroups, tables: Mapping[str, pa.Table]
) -> Manifest:
    """Store the groups' share of a plan."""
    return write_share(
        store,
        inputs,
        GROUPS,
        tables=tables,
        documents={GROUPS_DOCUMENT: found.document},
        scenario_count=len(tables["group_scenarios"]),
    )
