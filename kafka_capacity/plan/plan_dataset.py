"""The stored plan: a share for each question, and the one manifest that readers ask for.

{plan}/{scenarios,moves,waves,…}/…, facts-….json, request-….json         listed in placement.manifest.json
{plan}/{group_facts,group_scenarios,…}/…, groups-….json                  listed in groups.manifest.json
{plan}/{sizing_options,sizing_exhaustion,sizing_use}/…, sizing-….json    listed in sizing.manifest.json
{plan}/{failures,failure_kinds,…,quorum}/…, failures-….json              listed in failures.manifest.json
{plan}/…/…                                                               listed in {question}.manifest.json
{plan}/manifest.json                                                     lists all, written last by seal_plan

``{question}`` stands for each that is answered in one go, see :mod:`kafka_capacity.questions.registry`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
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
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.objects.tables import PLAN_SCHEMA_VERSION, Tables
from kafka_capacity.plan.pinned import PinnedPlan, PlanInputs
from kafka_capacity.questions.capacity.tables import SIZING_TABLES
from kafka_capacity.questions.change.tables import PLAN_TABLES, RESULT_TABLES
from kafka_capacity.questions.consumers.tables import GROUP_TABLES
from kafka_capacity.questions.failures.tables import FAILURE_TABLES
from kafka_capacity.questions.registry import QUESTIONS

KIND = "plan"
PLACEMENT, GROUPS, SIZING, FAILURES = "placement", "groups", "sizing", "failures"
SIMULATED_SHARES = (PLACEMENT, GROUPS, SIZING, FAILURES)
"""Those of the questions that have work for executors."""
SHARES = (*SIMULATED_SHARES, *(question.name for question in QUESTIONS))
TABLES: Tables = {
    **PLAN_TABLES,
    **GROUP_TABLES,
    **SIZING_TABLES,
    **FAILURE_TABLES,
    **{name: table for question in QUESTIONS for name, table in question.tables.items()},
}
"""Of all shares."""
FACTS_DOCUMENT = "facts.json"
REQUEST_DOCUMENT = "request.json"
GROUPS_DOCUMENT = "groups.json"
SIZING_DOCUMENT = "sizing.json"
FAILURES_DOCUMENT = "failures.json"


def write_share(
    store: ObjectStore,
    inputs: PlanInputs,
    share: str,
    *,
    tables: Mapping[str, pa.Table],
    documents: Mapping[str, Any],
    scenario_count: int,
) -> Manifest:
    """Store one share of a plan; the same content gives the same keys and bytes.

    Args:
        store: where to.
        inputs: which plan.
        share: one of :data:`SHARES`.
        tables: sorted.
        documents: plain data by name.
        scenario_count: how many scenarios the tables tell of.
    """
    return write_dataset(
        store,
        inputs.pinned.plan_prefix,
        kind=_kind_of(share),
        schema_version=PLAN_SCHEMA_VERSION,
        tables=tables,
        documents={name: canonical_json(content) for name, content in documents.items()},
        facts={**_facts_of(inputs), "scenarios": scenario_count},
        share=share,
    )


def _kind_of(share: str) -> str:
    return f"{KIND}_{share}"


def _facts_of(inputs: PlanInputs) -> dict[str, str]:
    return {**inputs.pinned.as_dict(), "model_version": inputs.model_version}


def find_share(store: ObjectStore, inputs: PlanInputs, share: str) -> Manifest | None:
    """Return the manifest of a share that this program has stored and that is whole; ``None`` where there is none."""
    prefix = inputs.pinned.plan_prefix
    if not has_manifest(store, prefix, share=share):
        return None
    try:
        manifest = read_manifest(store, prefix, kind=_kind_of(share), share=share)
        check_parts(store, manifest)
    except StorageError:
        return None
    is_ours = manifest.code_version == __version__ and manifest.schema_version == PLAN_SCHEMA_VERSION
    return manifest if is_ours and _facts_of(inputs).items() <= manifest.facts.items() else None


def seal_plan(store: ObjectStore, pinned: PinnedPlan) -> Manifest:
    """Write the plan's own manifest, which names all shares by their hashes.

    Raises:
        MissingManifestError: one of them has not been simulated.
    """
    shares = {share: read_manifest(store, pinned.plan_prefix, share=share) for share in SHARES}
    return seal_dataset(
        store,
        pinned.plan_prefix,
        shares=SHARES,
        kind=KIND,
        schema_version=PLAN_SCHEMA_VERSION,
        facts={
            **pinned.as_dict(),
            "model_version": shares[PLACEMENT].facts["model_version"],
            "scenarios": {share: manifest.facts["scenarios"] for share, manifest in shares.items()},
        },
    )


def read_plan(store: ObjectStore, pinned: PinnedPlan) -> Manifest:
    """Read the manifest of a sealed plan.

    Raises:
        StorageError: it is not sealed, or of a version that this program does not read.
    """
    return read_manifest(store, pinned.plan_prefix, kind=KIND, schema_version=PLAN_SCHEMA_VERSION)


def read_plan_tables(store: ObjectStore, manifest: Manifest) -> dict[str, pa.Table]:
    """Read every table of a plan; those of later versions are empty in a plan made before there were any."""
    return {
        name: read_table(store, manifest, name)
        if name in manifest.tables or name in RESULT_TABLES
        else schema.empty_table()
        for name, (schema, _) in TABLES.items()
    }


def read_plan_document(store: ObjectStore, manifest: Manifest, name: str) -> dict[str, Any]:
    """Read one of a plan's documents; empty where the plan was made before there was one."""
    return dict(json.loads(read_document(store, manifest, name))) if name in manifest.documents else {}
