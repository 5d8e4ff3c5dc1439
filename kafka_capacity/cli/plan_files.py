"""A plan as files: for scripts, and for Kafka's own tool.

    decision.json  the verdict, what is recommended, what is wrong; at the top of DIR only
    plan.json      figures, excuses, waves, brokers; the same bytes for the same input
    timing.json    how long this program took, which is never the same; at the top of DIR only

and beside them the files of :mod:`kafka_capacity.plan.released_files`, none of which there is where Kafka would refuse
the placement. Everything is worked out before the first byte is written; all files are written beside the earlier
ones, those go, and then these take their places: a full disk changes nothing, and no two plans stand side by side.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.cli.documents import document_head
from kafka_capacity.cli.planning import Judged, Planned, plan_caveats, serious_sentences
from kafka_capacity.health.problem import Problem
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.reassignment.runbook import WAVES_FOLDER
from kafka_capacity.objects.dataset import canonical_json
from kafka_capacity.objects.store import open_store
from kafka_capacity.objects.tables import cells_of
from kafka_capacity.plan import released_files
from kafka_capacity.plan.decision import Decision
from kafka_capacity.plan.plan_dataset import DECISION
from kafka_capacity.plan.released_files import option_files, schedule_facts
from kafka_capacity.proposal.grid import scenario_to_json
from kafka_capacity.proposal.scenario import PlacementMetrics
from kafka_capacity.questions.change.tables import broker_load_table, result_tables

SCHEMA_VERSION = 2
PLAN, TIMING = "plan.json", "timing.json"
FILES = (*released_files.FILES, DECISION, PLAN, TIMING)
EARLIER_FILES = ("moves-rollback.json",)
"""Names that earlier versions wrote; taken away, so that no folder holds files of two plans."""
_LONG_LISTS = frozenset({"brokers", "waves"})


def plan_document(snapshot: Snapshot, one: Judged, status: str, caveats: Sequence[str]) -> dict[str, Any]:
    """Return ``plan.json`` of one scenario: its inputs and all its figures side by side, null where there is none."""
    result, metrics = one.result, one.result.metrics
    figures = dict.fromkeys(field.name for field in dataclasses.fields(PlacementMetrics))
    if metrics is not None:
        figures = cells_of(metrics)
    return {
        **document_head(SCHEMA_VERSION, cluster=snapshot.cluster, ds=snapshot.ds),
        "partition_count": len(snapshot.partitions),
        **scenario_to_json(result.scenario),
        "fits": result.fits,
        "status": status,
        "excuses": [excuse.as_dict() for excuse in result.excuses],
        "standing": [excuse.as_dict() for excuse in result.standing],
        "warnings": [dict(warning) for warning in one.warnings],
        "serious_caveats": list(caveats),
        **figures,
        "schedule": _without_scenario(schedule_facts(one.wave_tables["schedules"])) if one.schedule else None,
        "waves": [_wave_row(row) for row in one.wave_tables["waves"].to_pylist()],
        "brokers": [_without_scenario(row) for row in broker_load_table(result).to_pylist()],
    }


def _without_scenario(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "scenario_id"}


def _wave_row(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in _without_scenario(row).items() if name != "runbook"}
    return {**kept, "files": json.loads(row["files"])}


def summary_document(documents: Sequence[Mapping[str, Any]], chosen: str | None) -> dict[str, Any]:
    """Return the ``plan.json`` above several scenarios: each without waves and brokers, and the recommended one."""
    return {
        "schema_version": SCHEMA_VERSION,
        "recommended": chosen,
        "scenarios": [{key: document[key] for key in document if key not in _LONG_LISTS} for document in documents],
    }


def scenario_files(
    snapshot: Snapshot, one: Judged, document: Mapping[str, Any], warnings: Sequence[str]
) -> dict[str, bytes]:
    """Return the files of one scenario but its timing, by name."""
    result = one.result
    files = {PLAN: canonical_json(dict(document))}
    if result.diff is not None:
        tables = {**result_tables(result, snapshot, has_moves=True), **one.wave_tables}
        files |= option_files(tables, result.scenario.scenario_id, (snapshot.partitions, snapshot.replicas), warnings)
    return files


def plan_files(planned: Planned, decision: Decision) -> tuple[dict[str, Any], dict[str, dict[str, bytes]]]:
    """Return the document to print, and all files by folder (``""`` is the top), without their timings."""
    snapshot = planned.asked.basis.snapshot
    (of_cluster, of_moves), decision_document = plan_caveats(decision), decision.as_dict()
    decided = {DECISION: canonical_json(decision_document)}
    statuses = {option["scenario_id"]: option["status"] for option in decision_document["options"]}
    made: list[dict[str, bytes]] = []
    documents: list[dict[str, Any]] = []
    for one in planned.judged:
        name = one.result.scenario.scenario_id
        proposed = planned.facts["proposed"].get(name, ())
        excuses = "; ".join(excuse.reason for excuse in one.result.excuses)
        serious = [] if one.result.fits else [f"This option does not fit: {excuses}."]
        serious += [*serious_sentences(map(Problem.from_dict, proposed)), *of_cluster, *of_moves[name]]
        documents.append(plan_document(snapshot, one, statuses[name], serious))
        made.append(scenario_files(snapshot, one, documents[-1], serious))
    if len(made) == 1:
        return documents[0], {"": {**made[0], **decided}}
    chosen = decision.view.recommended
    summary = summary_document(documents, None if chosen is None else chosen.scenario_id)
    folders = {f"{one.result.scenario.scenario_id}/": files for one, files in zip(planned.judged, made, strict=True)}
    return summary, {**folders, "": {PLAN: canonical_json(summary), **decided}}


def _in_order(folder: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of one folder by key, in the order in which they are written."""
    waves = sorted(name for name in files if name.startswith(WAVES_FOLDER))
    return {folder + name: files[name] for name in (*waves, *FILES) if name in files}


def write_plan(out: str, planned: Planned, folders: Mapping[str, Mapping[str, bytes]], *, began: float) -> None:
    """Write all folders, the top one last, so that what it names is there, in place of those of an earlier plan.

    The work began at ``began`` by the performance counter.
    """
    store = open_store(out)
    timing = {
        "read_seconds": planned.read_seconds,
        "evaluate_seconds": {one.result.scenario.scenario_id: one.seconds for one in planned.judged},
        "total_seconds": time.perf_counter() - began,
    }
    top = {**folders[""], TIMING: canonical_json(timing)}
    ordered = {**{folder: files for folder, files in folders.items() if folder}, "": top}
    # What an earlier plan may have left, at the top and in the folders of its options.
    keys = (key for key in store.list_objects("") if key.endswith(f"/{PLAN}") and key.count("/") == 1)
    earlier = [
        key
        for folder in {*ordered, *(key.removesuffix(PLAN) for key in keys)}
        for key in (*(folder + name for name in (*FILES, *EARLIER_FILES)), *store.list_objects(folder + WAVES_FOLDER))
    ]
    files = {key: data for folder, content in ordered.items() for key, data in _in_order(folder, content).items()}
    store.write_together(files, drop=earlier)
