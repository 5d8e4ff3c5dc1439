"""The pinned inventory as every question of a plan needs it: read once, checked once, made into arrays once."""

from __future__ import annotations

from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.staging import load, load_findings
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.pinned import PinnedPlan
from kafka_capacity.plan.traffic import load_of_profile, pinned_profile
from kafka_capacity.questions.question import Basis


def read_basis(store: ObjectStore, pinned: PinnedPlan) -> Basis:
    """Read the pinned inventory and its profile.

    Raises:
        InventoryError: the inventory, or its profile, is not the one that was pinned.
    """
    raw = load(store, pinned.cluster, pinned.ds, manifest_sha256=pinned.inventory_sha256)
    snapshot = build_snapshot(raw)
    profile = pinned_profile(store, pinned, "profile_partitions")
    return Basis(
        raw=raw,
        findings=load_findings(store, pinned.cluster, pinned.ds, manifest_sha256=pinned.inventory_sha256),
        snapshot=snapshot,
        load=partition_load(raw, snapshot) if profile is None else load_of_profile(profile, snapshot),
        profile_partitions=profile,
        profile_days=pinned_profile(store, pinned, "profile_days"),
    )
