"""The report of a plan that is made on the spot: of the same data as the scheduled plan's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.pieces import run_step_by_step
from kafka_capacity.cli.planning import ask_plan
from kafka_capacity.cli.sizing import read_size_files
from kafka_capacity.errors import RequestError
from kafka_capacity.inventory.files import READ_FORMATS
from kafka_capacity.inventory.owners import read_owners
from kafka_capacity.inventory.raw import CLUSTER_DOCUMENT
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.decision import decide
from kafka_capacity.plan.owners import topic_rows
from kafka_capacity.plan.pinned import check_failures, check_groups
from kafka_capacity.plan.report import render_all
from kafka_capacity.plan.results import plan_results
from kafka_capacity.plan.runner import simulate_questions
from kafka_capacity.proposal.grid import scenario_to_json
from kafka_capacity.questions.question import PlanContext, RunPieces
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.report.render import RenderedReport, read_report


def snapshot_sha256(place: str) -> str:
    """Name the content of a snapshot's files."""
    store = open_store(place)
    known = {CLUSTER_DOCUMENT, *(f"{table}.{ending}" for table in TABLES for ending in READ_FORMATS)}
    digest = hashlib.sha256()
    for key in store.list_objects(""):
        if key in known:
            digest.update(f"{key} {hashlib.sha256(store.read_bytes(key)).hexdigest()}\n".encode())
    return digest.hexdigest()


def make_report(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
    *,
    out: str,
    last: Path | None,
    owners: Path | None,
    brokers: Path | None,
    shapes_file: Path | None,
    cpu_samples: Path | None,
) -> tuple[RenderedReport, dict[str, Any]]:
    """Ask all questions of a snapshot, as a scheduled plan does; returns the report and what is decided.

    What is wrong with a file is told before a large snapshot is read.
    """
    known_owners = read_owners(owners)
    before = None if last is None else read_report(last.read_bytes())
    files = read_size_files(shapes_file, cpu_samples, given)
    begin("reading the snapshot")
    asked = ask_plan(snapshot, given, brokers, owners=known_owners, **files)
    if before is not None:
        _check_last(before, asked.basis.snapshot.cluster, asked.basis.snapshot.ds)
    run = run_step_by_step(begin, begun=1)
    results = _simulate(asked, run, snapshot=snapshot, cpu_samples=cpu_samples, out=out)
    begin("drawing")
    decision = decide(results).as_dict()
    topics = topic_rows(asked.basis.raw.table("replicas")) if known_owners else []
    return render_all(results, decision, last=before, owners=known_owners, topics=topics), decision


def _check_last(last: Mapping[str, Any], cluster: str, ds: str) -> None:
    """Refuse a report that this one cannot be compared with, before anything is simulated."""
    if last["cluster"] != cluster:
        raise RequestError(f"--last: this is a report of cluster {last['cluster']!r}, not of {cluster!r}")
    if last["ds"] > ds:
        raise RequestError(f"--last: this is the report of {last['ds']}, which is after the snapshot, of {ds}")


def _simulate(asked: PlanContext, run: RunPieces, *, snapshot: str, cpu_samples: Path | None, out: str) -> ReportInputs:
    basis = asked.basis
    check_groups(asked.parameters.groups, basis.raw.table("groups"), cluster=basis.snapshot.cluster)
    check_failures(asked.parameters, basis.snapshot.brokers, asked.scenarios)
    shares = {name: done.result() for name, done in simulate_questions(asked, run).items()}
    sha256 = snapshot_sha256(snapshot)
    plan_id = asked.parameters.plan_id(
        ds=basis.snapshot.ds,
        inventory_sha256=sha256,
        own_shapes=asked.own_shapes,
        owners=json.dumps(asked.owners) if asked.owners else "",
        cpu_samples_sha256="" if cpu_samples is None else hashlib.sha256(cpu_samples.read_bytes()).hexdigest(),
        brokers=json.dumps(scenario_to_json(asked.scenarios[0])["target"]) if "brokers" in asked.request else "",
    )
    return plan_results(
        {name: table for share in shares.values() for name, table in share.tables.items()},
        {name: document for share in shares.values() for name, document in share.documents.items()},
        basis.snapshot.cluster,
        basis.snapshot.ds,
        request=asked.request,
        plan_id=plan_id,
        rests_on={"snapshot_sha256": sha256},
        own_shapes=asked.own_shapes,
        report_uri=open_store(out).uri("index.html"),
    )
