"""The traffic that a plan rests on: the profile of the cluster's history, or the hours that the inventory brings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.column_values import partition_of_rows
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load, profiled_rates
from kafka_capacity.inventory.staging import Gather, gather_here, inventory_manifest, load_findings, load_for_plan
from kafka_capacity.kafka.arrays import Floats
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.objects.dataset import read_table
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.load_profile import read_profile_manifest
from kafka_capacity.plan.pinned import PinnedPlan
from kafka_capacity.questions.question import Basis

_NO_RATES = ("no_metrics", "partition_without_metrics")
"""What is found of an inventory without rates, and of one without those of some partitions: a profile may know them."""


def load_of_profile(profile: pa.Table, snapshot: Snapshot) -> PartitionLoad:
    """Return the traffic of a snapshot's partitions by a profile; 0 for those that it does not know."""
    place = partition_of_rows(snapshot.partitions, profile)
    is_ours = place >= 0

    def rates(column: str) -> Floats:
        found = np.zeros(len(snapshot.partitions))
        found[place[is_ours]] = np.nan_to_num(profile.column(column).to_numpy()[is_ours])
        return found

    hours = profile.column("known_hours").to_numpy()[is_ours]
    return PartitionLoad(
        bytes_in_mean_bytes_per_second=rates("bytes_in_mean_bytes_per_second"),
        bytes_in_peak_bytes_per_second=rates("bytes_in_p99_bytes_per_second"),
        bytes_out_mean_bytes_per_second=rates("bytes_out_mean_bytes_per_second"),
        bytes_out_peak_bytes_per_second=rates("bytes_out_p99_bytes_per_second"),
        hours=int(hours.max(initial=0)),
    )


def read_basis(store: ObjectStore, pinned: PinnedPlan, *, gather: Gather = gather_here) -> Basis:
    """Read the pinned inventory and its profile; ``gather`` reads the hours of a large one.

    Raises:
        ConflictError: the inventory, or its profile, was written again so long ago that the pinned one is gone.
    """
    inventory = inventory_manifest(store, pinned.cluster, pinned.ds, manifest_sha256=pinned.inventory_sha256)
    raw = load_for_plan(store, inventory, gather=gather)
    snapshot = build_snapshot(raw)
    tables: dict[str, pa.Table] = {}
    if version := pinned.profile_sha256:
        manifest = read_profile_manifest(store, pinned.cluster, pinned.ds, version=version)
        names = ("profile_partitions", "profile_days", "profile_seasons")
        tables = {name: read_table(store, manifest, name) for name in names}
    findings, rates_until = load_findings(store, inventory), None
    if tables:
        is_all_known = bool(profiled_rates(tables["profile_partitions"], snapshot)[0].all())
        answered = _NO_RATES if is_all_known else _NO_RATES[:1]
        findings = Problems(tuple(one for one in findings if one.code not in answered))
        if raw.hours is None and not len(raw.table("metrics")):
            rates_until = str(pc.max(tables["profile_days"].column("day")).as_py())
    return Basis(
        raw=raw,
        findings=findings,
        rates_until=rates_until,
        snapshot=snapshot,
        load=load_of_profile(tables["profile_partitions"], snapshot) if tables else partition_load(raw, snapshot),
        **tables,
    )
