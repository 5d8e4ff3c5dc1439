"""The stored plan: a share for each question, and the one manifest that readers ask for.

{plan}/{scenarios,moves,waves,…}/…, facts-….json, request-….json         listed in placement.manifest.json
{plan}/{group_facts,group_scenarios,…}/…, groups-….json                  listed in groups.manifest.json
{plan}/{table}/…, {document}-….json                                      listed in {share}.manifest.json
{plan}/manifest.json                                                     lists all, written last by seal_plan

Tables, documents and names of shares are those of :mod:`kafka_capacity.questions.registry`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from kafka_capacity import __version__
from kafka_capacity.errors import StorageError
from kafka_capacity.objects.dataset import (
    Manifest,
    canonical_json,
    check_parts,
    has_manifest,
    read_document,
    read_manifest,
    read_table,
    seal_dataset,
    write_dataset,
)
from kafka_capacity.objects.keys import plan_prefix
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.objects.tables import PLAN_SCHEMA_VERSION, Tables
from kafka_capacity.plan.kept_pieces import remove_kept
from kafka_capacity.plan.pinned import PinnedPlan, PlanInputs
from kafka_capacity.questions.change.share import CHANGE
from kafka_capacity.questions.change.tables import RESULT_TABLES
from kafka_capacity.questions.question import Share
from kafka_capacity.questions.registry import QUESTIONS

KIND = "plan"
PLAN_SHA256 = "plan_manifest_sha256"  # of a stored plan; one of a snapshot alone knows neither history nor scores
DECISION, DECISION_FOLDER, DECISION_DATASET_KIND = "decision.json", "decision/", "decision"
"""What is decided about a plan: a document with a manifest of its own, in the plan's folder."""
SHARES = tuple(question.share for question in QUESTIONS)
TABLES: Tables = {name: table for question in QUESTIONS for name, table in question.tables.items()}  # of all shares


def write_share(store: ObjectStore, inputs: PlanInputs, name: str, share: Share) -> Manifest:
    """Store one of :data:`SHARES` of a plan; the same content gives the same keys and bytes."""
    return write_dataset(
        store,
        inputs.pinned.plan_prefix,
        kind=f"{KIND}_{name}",
        schema_version=PLAN_SCHEMA_VERSION,
        tables=share.tables,
        documents={document: canonical_json(content) for document, content in share.documents.items()},
        facts={**_facts_of(inputs), "scenarios": share.scenario_count},
        share=name,
    )


def read_share(store: ObjectStore, manifest: Manifest, tables: Collection[str]) -> Share:
    """Read some tables of a stored share, and its documents."""
    return Share(
        tables={name: read_table(store, manifest, name) for name in sorted({*manifest.tables} & {*tables})},
        documents={name: read_plan_document(store, manifest, name) for name in manifest.documents},
    )


def _facts_of(inputs: PlanInputs) -> dict[str, str]:
    return {**inputs.pinned.as_dict(), "model_version": inputs.model_version}


def find_share(store: ObjectStore, inputs: PlanInputs, share: str) -> Manifest | None:
    """Return the manifest of a share that this program has stored and that is whole; ``None`` where there is none."""
    prefix = inputs.pinned.plan_prefix
    if not has_manifest(store, prefix, share=share):
        return None
    try:
        manifest = read_manifest(store, prefix, kind=f"{KIND}_{share}", share=share)
        check_parts(store, manifest)
    except StorageError:
        return None
    is_ours = manifest.code_version == __version__ and manifest.schema_version == PLAN_SCHEMA_VERSION
    return manifest if is_ours and _facts_of(inputs).items() <= manifest.facts.items() else None


def is_simulated(store: ObjectStore, inputs: PlanInputs) -> bool:
    """Return whether every share is stored by this program and whole."""
    return all(find_share(store, inputs, share) is not None for share in SHARES)


def seal_plan(store: ObjectStore, pinned: PinnedPlan) -> Manifest:
    """Write the plan's own manifest, which names all shares by their hashes; what led to them is taken away.

    Raises MissingManifestError where one of them has not been simulated.
    """
    shares = {share: read_manifest(store, pinned.plan_prefix, share=share) for share in SHARES}
    sealed = seal_dataset(
        store,
        pinned.plan_prefix,
        shares=SHARES,
        kind=KIND,
        schema_version=PLAN_SCHEMA_VERSION,
        facts={
            **pinned.as_dict(),
            "model_version": shares[CHANGE.share].facts["model_version"],
            "scenarios": {share: manifest.facts["scenarios"] for share, manifest in shares.items()},
        },
    )
    remove_kept(store, pinned.pieces_prefix)
    return sealed


def read_plan(store: ObjectStore, pinned: PinnedPlan) -> Manifest:
    """Read the manifest of a sealed plan.

    Raises StorageError where it is not sealed, or of a version that this program does not read.
    """
    return read_manifest(store, pinned.plan_prefix, kind=KIND, schema_version=PLAN_SCHEMA_VERSION)


def read_plan_tables(store: ObjectStore, manifest: Manifest) -> dict[str, pa.Table]:
    """Read every table of a plan; tables and columns of later versions are empty in one made before there were any."""
    return {
        name: _completed(read_table(store, manifest, name), schema)
        if name in manifest.tables or name in RESULT_TABLES
        else schema.empty_table()
        for name, (schema, _) in TABLES.items()
    }


def _completed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Add what columns a table lacks, of nulls; it keeps its own where it has others."""
    for field in schema:
        if field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(len(table), field.type))
    return table


def finished_document(store: ObjectStore, cluster: str, ds: str, plan_id: str, name: str) -> dict[str, Any]:
    """Read a document of an earlier plan; empty where it was never finished, or made before there was one."""
    try:
        return read_plan_document(store, read_manifest(store, plan_prefix(cluster, ds, plan_id), kind=KIND), name)
    except StorageError:
        return {}


def read_plan_document(store: ObjectStore, manifest: Manifest, name: str) -> dict[str, Any]:
    """Read one of a plan's documents; empty where the plan was made before there was one."""
    return dict(json.loads(read_document(store, manifest, name))) if name in manifest.documents else {}


def serious_texts(decision: Mapping[str, Any]) -> list[str]:
    """Return what is serious about the move that is decided on, as sentences."""
    moves = [one for one in decision["problems"] if one["question"] == CHANGE.name]
    return [str(one["text"]) for one in moves if one["severity"] == "serious"]
