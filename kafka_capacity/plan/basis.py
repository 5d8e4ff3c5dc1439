"""The pinned inventory as every question of a plan needs it: read once, checked once, made into arrays once."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.staging import load, load_findings
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.pinned import PinnedPlan
from kafka_capacity.plan.traffic import pinned_profile, plan_load


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanBasis:
    """What the questions of a plan rest on.

    Attributes:
        raw: the inventory.
        findings: what was found when it was staged.
        snapshot: the same as arrays.
        load: traffic of its partitions.
        profile_days: the table of that name of the load profile; ``None`` where there is no profile.
    """

    raw: RawInventory
    findings: Problems
    snapshot: Snapshot
    load: PartitionLoad
    profile_days: pa.Table | None


def read_basis(store: ObjectStore, pinned: PinnedPlan) -> PlanBasis:
    """Read the pinned inventory and its profile.

    Raises:
        InventoryError: the inventory, or its profile, is not the one that was pinned.
    """
    raw = load(store, pinned.cluster, pinned.ds, manifest_sha256=pinned.inventory_sha256)
    snapshot = build_snapshot(raw)
    return PlanBasis(
        raw=raw,
        findings=load_findings(store, pinned.cluster, pinned.ds),
        snapshot=snapshot,
        load=plan_load(store, pinned, raw, snapshot),
        profile_days=pinned_profile(store, pinned, "profile_days"),
    )
