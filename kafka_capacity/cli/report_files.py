"""A plan made on the spot as a report: the same data, templates and files as the scheduled plan's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafka_capacity import MODEL_VERSION, __version__
from kafka_capacity.cli.documents import write_files
from kafka_capacity.cli.failure_planning import PlannedFailures
from kafka_capacity.cli.group_planning import PlannedGroups
from kafka_capacity.cli.planning import Judged, Planned, requested
from kafka_capacity.cli.size_files import SizeFiles
from kafka_capacity.inventory.raw import CLUSTER_DOCUMENT
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.objects.dataset import canonical_json
from kafka_capacity.objects.store import ObjectStore, open_store
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.plan.decision_file import DECISION
from kafka_capacity.plan.found_sizing import find_sizing
from kafka_capacity.plan.sizing_document import sizing_document
from kafka_capacity.plan.sizing_simulation import sizing_tables
from kafka_capacity.proposal.grid import scenario_to_json
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.capacity.simulate import run_here, simulate_sizing
from kafka_capacity.questions.change.evaluate import wants_moves
from kafka_capacity.questions.change.tables import PLAN_TABLES, result_tables
from kafka_capacity.questions.registry import QUESTIONS
from kafka_capacity.report.inputs import ReportInputs

if TYPE_CHECKING:
    from kafka_capacity.report.render import RenderedReport


def snapshot_sha256(place: str) -> str:
    """Name the content of a snapshot's files."""
    store = open_store(place)
    known = {CLUSTER_DOCUMENT, *(f"{table}.{ending}" for table in TABLES for ending in ("parquet", "json"))}
    digest = hashlib.sha256()
    for key in store.list_keys(""):
        if key in known:
            digest.update(f"{key} {hashlib.sha256(store.read_bytes(key)).hexdigest()}\n".encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlannedSizing:
    """What a plan says of sizing: its tables, its document as plain data, and the files that it rests on."""

    tables: Mapping[str, pa.Table]
    document: Mapping[str, Any]
    files: SizeFiles


def size_plan(planned: Planned, files: SizeFiles) -> PlannedSizing:
    """Size the cluster of a plan as the scheduled plan does.

    Args:
        planned: the snapshot and the request.
        files: the user's own shapes and samples of processors.

    Raises:
        RequestError: a planned event or a shape cannot be.
    """
    found = find_sizing(
        planned.found.raw,
        planned.found.snapshot,
        planned.found.load,
        planned.request,
        own_shapes=files.own_shapes,
        own_shapes_name=files.own_shapes_name,
        cpu=files.cpu,
    )
    sized = simulate_sizing(found.inputs, run_here)
    return PlannedSizing(tables=sizing_tables(found, sized), document=sizing_document(found, sized), files=files)


def planned_tables(planned: Planned) -> dict[str, pa.Table]:
    """Return the tables about the placements of a plan."""
    scenarios = [result.scenario for result in planned.results]
    return merge_tables((_tables(one, planned.found.snapshot, scenarios) for one in planned.judged), PLAN_TABLES)


def report_inputs(
    planned: Planned,
    tables: Mapping[str, pa.Table],
    groups: PlannedGroups,
    sizing: PlannedSizing,
    failures: PlannedFailures,
    *,
    snapshot: str,
    out: str,
) -> ReportInputs:
    """Return what the report is made of.

    Args:
        planned: the results.
        tables: as :func:`planned_tables` gives them.
        groups: those of the consumer groups.
        sizing: how many brokers by when.
        failures: what breaks.
        snapshot: where they come from.
        out: where the report goes.
    """
    found = planned.found
    scenarios = [result.scenario for result in planned.results]
    sha256 = snapshot_sha256(snapshot)
    plan_id = planned.request.plan_id(
        ds=found.snapshot.ds,
        inventory_sha256=sha256,
        own_shapes=sizing.files.own_shapes,
        cpu_samples_sha256=sizing.files.cpu_samples_sha256,
        brokers=json.dumps(scenario_to_json(scenarios[0])["target"]) if planned.has_broker_list else "",
    )
    return ReportInputs(
        tables={
            **tables,
            **groups.tables,
            **sizing.tables,
            **failures.tables,
            **{name: table for question in QUESTIONS for name, table in question.results(found).items()},
        },
        sizing=sizing.document,
        failures=failures.document,
        cluster=found.snapshot.cluster,
        ds=found.snapshot.ds,
        plan_id=plan_id,
        request=requested(planned),
        snapshot_facts={**planned.facts["snapshot"], "skipped_groups": list(groups.skipped)},
        findings=planned.facts["findings"],
        provenance={
            "code_version": __version__,
            "model_version": MODEL_VERSION,
            "snapshot_sha256": sha256,
        },
        links={"report_uri": open_store(out).uri("index.html")},
        generated_at=f"{found.snapshot.ds}T00:00:00+00:00",
    )


def _tables(one: Judged, snapshot: Snapshot, scenarios: Sequence[PlacementScenario]) -> dict[str, pa.Table]:
    """Return what an executor gives: waves where the moves are listed."""
    has_moves = wants_moves(scenarios, one.result.scenario)
    tables = result_tables(one.result, snapshot, has_moves=has_moves)
    return {**tables, **one.wave_tables} if has_moves else tables


def serious_texts(verdict: Mapping[str, Any]) -> list[str]:
    """Return what is serious about the plan's answer, of a report of this version or the one before."""
    return [str(one["text"]) for one in verdict["caveats"] if one["severity"] == "serious"]


def write_report(store: ObjectStore, rendered: RenderedReport, decision: Mapping[str, Any] | None) -> None:
    """Write the files of a report, the page last; without a decision where an earlier report is drawn again."""
    files = {
        **({} if decision is None else {DECISION: canonical_json(dict(decision))}),
        **{f"images/{name}": data for name, data in sorted(rendered.images.items())},
        "report.json": rendered.report_json,
        "email.html": rendered.email_html,
        "email.txt": rendered.email_text.encode(),
        "index.html": rendered.index_html,
    }
    write_files(store, files)
