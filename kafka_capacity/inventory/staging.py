"""Inventories where every task finds them: Parquet below the prefix of a cluster and a day, the manifest last."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Callable, Collection
from typing import TypeAlias

import pyarrow as pa

from kafka_capacity.errors import InventoryError, MissingManifestError
from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.chosen_hours import METRICS, MOST_ROWS, ChosenHours, gather_hours
from kafka_capacity.inventory.column_values import PartitionIndex, ReplicaColumns
from kafka_capacity.inventory.columns import conform
from kafka_capacity.inventory.observed_brokers import BROKER_TABLES, observed_brokers
from kafka_capacity.inventory.raw import (
    CLUSTER_DOCUMENT,
    RawInventory,
    cluster_document,
    parse_cluster_document,
    raw_from_document,
)
from kafka_capacity.inventory.tables import SCHEMA_VERSION, TABLES, empty_table
from kafka_capacity.inventory.validation import inventory_problems
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.objects.dataset import (
    PART_ROWS,
    Manifest,
    canonical_json,
    read_document,
    read_manifest,
    read_parts,
    read_table,
    write_dataset,
)
from kafka_capacity.objects.keys import day_prefix, list_inventory_clusters
from kafka_capacity.objects.manifest import complete_days, manifest_name
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.text.wording import few_names

KIND = "inventory"
FINDINGS_DOCUMENT = "findings.json"
_CLUSTERS_NAMED = 5  # of others, where the one that was asked for has no inventory


def stage(raw: RawInventory, store: ObjectStore) -> Manifest:
    """Check an inventory and write it to a store; the same inventory gives the same bytes.

    Raises:
        InventoryError: it has fatal findings; what was staged for that day before stays as it was.
    """
    findings = inventory_problems(raw)
    findings.raise_if_fatal()
    return write_dataset(
        store,
        day_prefix("inventory", raw.cluster, raw.ds),
        kind=KIND,
        schema_version=SCHEMA_VERSION,
        tables={name: sorted_table(raw.table(name), name) for name in TABLES},
        documents={
            CLUSTER_DOCUMENT: canonical_json(cluster_document(raw)),
            FINDINGS_DOCUMENT: canonical_json(findings.to_json()),
        },
        facts={"cluster": raw.cluster, "ds": raw.ds, "source": raw.source, "captured_at": raw.captured_at},
    )


def sorted_table(table: pa.Table, name: str) -> pa.Table:
    """Return the one order of rows that a table of the inventory is stored in."""
    return table.sort_by([(column, "ascending") for column in TABLES[name].sort_by]).combine_chunks()


def inventory_manifest(store: ObjectStore, cluster: str, ds: str, *, manifest_sha256: str | None = None) -> Manifest:
    """Find a staged inventory: what stands for the day, or the pinned version of it, whatever was staged since.

    Raises:
        InventoryError: there is none for that day, or it is not complete.
        ConflictError: the pinned version is kept no more.
        StorageError: it is damaged, or of a schema version that this program does not read.
    """
    prefix = day_prefix("inventory", cluster, ds)
    try:
        return read_manifest(store, prefix, kind=KIND, schema_version=SCHEMA_VERSION, version=manifest_sha256)
    except MissingManifestError as error:
        there = _there_instead(store, cluster)
        file = store.uri(prefix + manifest_name())
        msg = f"cluster {cluster!r} has no complete inventory of {ds} ({file} is missing){there}: stage one first"
        raise InventoryError(msg) from error


def load(store: ObjectStore, manifest: Manifest, *, leave_out: Collection[str] = ()) -> RawInventory:
    """Read a staged inventory; optional tables to ``leave_out`` are empty.

    Raises:
        InventoryError: it is no inventory.
        StorageError: a file is damaged or gone.
    """
    place = store.uri(manifest.prefix)
    document = parse_cluster_document(read_document(store, manifest, CLUSTER_DOCUMENT), place + CLUSTER_DOCUMENT)
    tables: dict[str, pa.Table] = {}
    mistakes: list[str] = []
    needed = {name for name, spec in TABLES.items() if spec.is_required}
    if odd := sorted((set(manifest.tables) - set(TABLES)) | (needed - set(manifest.tables))):
        state = "has a table" if odd[0] in manifest.tables else "lacks the table"
        raise InventoryError(f"{place} {state} {odd[0]!r}, so it is not an inventory; stage it again")
    for name in sorted({*manifest.tables} - {*leave_out}):
        table, wrong = conform(read_table(store, manifest, name), name, place + name)
        mistakes += wrong
        if table is not None:
            tables[name] = table
    if mistakes:
        raise InventoryError("\n".join(mistakes))
    return raw_from_document(document, tables)


def read_staged_brokers(store: ObjectStore, manifest: Manifest) -> Brokers:
    """Return the brokers of a staged inventory, as its snapshot has them, without reading all of it.

    Raises:
        InventoryError: a table of it is none of an inventory.
    """
    place = store.uri(manifest.prefix)
    tables = (
        _conforming(read_table(store, manifest, name), name, place) if name in manifest.tables else empty_table(name)
        for name in BROKER_TABLES
    )
    return observed_brokers(*tables)


def _conforming(table: pa.Table, name: str, place: str) -> pa.Table:
    found, mistakes = conform(table, name, place + name)
    if found is None:
        raise InventoryError("\n".join(mistakes))
    return found


def gather_here(store: ObjectStore, manifest: Manifest, index: PartitionIndex) -> ChosenHours:
    """Choose hours of a staged inventory's metrics and read them in this process."""
    place = store.uri(manifest.prefix)
    return gather_hours(
        lambda: (_conforming(part, METRICS, place) for part in read_parts(store, manifest, METRICS)), index
    )


Gather: TypeAlias = Callable[[ObjectStore, Manifest, PartitionIndex], ChosenHours]


def load_for_plan(store: ObjectStore, manifest: Manifest, *, gather: Gather = gather_here) -> RawInventory:
    """Read an inventory as :func:`load` does, of too many metrics some hours only.

    ``gather`` reads those hours, here or elsewhere, as :func:`gather_here` does.
    """
    if sum(part.rows or 0 for part in manifest.tables.get(METRICS, ())) <= MOST_ROWS:
        return load(store, manifest)
    raw = load(store, manifest, leave_out={METRICS})
    return dataclasses.replace(raw, hours=gather(store, manifest, ReplicaColumns.of(raw.table("replicas")).index()))


def with_chosen_hours(raw: RawInventory) -> RawInventory:
    """Return an inventory that is read already as :func:`load_for_plan` reads it, so that both give the same plan."""
    metrics = raw.table(METRICS)
    if len(metrics) <= MOST_ROWS:
        return raw
    index = ReplicaColumns.of(raw.table("replicas")).index()
    parts = [metrics.slice(start, PART_ROWS) for start in range(0, len(metrics), PART_ROWS)]
    tables = {**raw.tables, METRICS: empty_table(METRICS)}
    return dataclasses.replace(raw, tables=tables, hours=gather_hours(lambda: parts, index))


def load_findings(store: ObjectStore, manifest: Manifest) -> Problems:
    """Return what was found when an inventory was staged."""
    return Problems.from_json(json.loads(read_document(store, manifest, FINDINGS_DOCUMENT)))


def newest_complete(store: ObjectStore, cluster: str, *, not_after: datetime.date) -> str:
    """Return the day of the newest inventory that is complete, up to a day that counts.

    Raises:
        InventoryError: there is none.
    """
    if ds := next(complete_days(store, cluster, "inventory", up_to=not_after.isoformat()), None):
        return ds
    there = _there_instead(store, cluster)
    raise InventoryError(f"cluster {cluster!r} has no complete inventory up to {not_after}{there}: stage one first")


def _there_instead(store: ObjectStore, cluster: str) -> str:
    """Return which day of a cluster is there instead, or which clusters where its name was most likely mistyped."""
    if ds := next(complete_days(store, cluster, "inventory"), None):
        return f"; there is one of {ds}"
    others = [name for name in list_inventory_clusters(store) if name != cluster]
    return f"; there are inventories of {few_names(map(repr, others), _CLUSTERS_NAMED)}" if others else ""
