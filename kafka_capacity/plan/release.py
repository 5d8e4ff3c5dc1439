"""Releasing the files of an approved plan, and taking them back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.inventory.snapshot import observed_assignment
from kafka_capacity.kafka.reassignment.runbook import WAVES_FOLDER
from kafka_capacity.objects.dataset import MANIFEST, read_table
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.pinned import PinnedPlan
from kafka_capacity.plan.plan_dataset import read_plan, serious_texts
from kafka_capacity.plan.publish import pinned_replicas, read_decision, report_manifest, write_documents
from kafka_capacity.plan.released_files import NEW_PARTITIONS_TABLE, REASSIGNMENT, RELEASED_TABLES, TARGET, option_files
from kafka_capacity.plan.runbook_page import RUNBOOK
from kafka_capacity.questions.change.wave_runbook import PLAN_FILES_FOLDER

PLAN_FILES_KIND = "plan_files"


def release_plan_files(store: ObjectStore, pinned: PinnedPlan) -> list[str]:
    """Store the files of the recommended option beside the report, the manifest last.

    They are made from the stored tables: what was approved is what is released. Only the whole target needs the
    inventory as well, and is left out where the version that was pinned is kept no more.

    Returns:
        Their addresses, those of waves as one folder; none when no option is recommended.

    Raises:
        StorageError: the report has not been published, or a wave's file would not be the one that was planned.
    """
    report = report_manifest(store, pinned.report_prefix)
    decision = read_decision(store, pinned.plan_prefix)
    scenario_id = decision["recommended_scenario_id"]
    documents: dict[str, bytes] = {}
    facts: dict[str, Any] = {}
    if scenario_id is not None:
        plan = read_plan(store, pinned)
        names = {"moves", NEW_PARTITIONS_TABLE, *RELEASED_TABLES} & set(plan.tables)
        tables = {name: read_table(store, plan, name) for name in sorted(names)}
        if _are_moves_listed(read_table(store, plan, "scenarios"), tables["moves"], scenario_id):
            replicas = pinned_replicas(store, pinned, f"{TARGET} and {REASSIGNMENT} are left out")
            today = None if replicas is None else observed_assignment(replicas)
            documents = option_files(tables, scenario_id, today, serious_texts(decision))
        if RUNBOOK in documents:
            (schedule,) = tables["schedules"].filter(pc.field("scenario_id") == scenario_id).to_pylist()
            facts = {name: schedule[name] for name in ("wave_count", "refused_partitions")}
    prefix = pinned.report_prefix + PLAN_FILES_FOLDER
    facts = {**pinned.as_dict(), "scenario_id": scenario_id, "report_manifest_sha256": report.sha256, **facts}
    write_documents(store, prefix, PLAN_FILES_KIND, documents, facts)
    shown = dict.fromkeys(WAVES_FOLDER if name.startswith(WAVES_FOLDER) else name for name in documents)
    return [store.uri(prefix + name) for name in shown]


def _are_moves_listed(scenarios: pa.Table, moves: pa.Table, scenario_id: str) -> bool:
    """Whether the moves of a scenario are stored: those of other placers of a large plan are not."""
    (row,) = scenarios.filter(pc.field("scenario_id") == scenario_id).to_pylist()
    return bool(len(moves.filter(pc.field("scenario_id") == scenario_id)) == row["changed_partitions"])


def withdraw_plan_files(store: ObjectStore, pinned: PinnedPlan) -> int:
    """Take back the plan files of an earlier run of the same plan, the manifest first; returns how many there were."""
    prefix = pinned.report_prefix + PLAN_FILES_FOLDER
    keys = list(store.list_objects(prefix))
    for key in sorted(keys, key=lambda key: not key.endswith(MANIFEST)):
        store.delete(key)
    return len(keys)
