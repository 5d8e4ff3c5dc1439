"""What the report of a plan that is made on the spot is made of: the same data as the scheduled plan's."""

from __future__ import annotations

import hashlib
import json

from kafka_capacity.cli.sizing import SizeFiles
from kafka_capacity.inventory.files import READ_FORMATS
from kafka_capacity.inventory.raw import CLUSTER_DOCUMENT
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import check_failures, check_groups
from kafka_capacity.plan.results import plan_results
from kafka_capacity.plan.runner import simulate_questions
from kafka_capacity.proposal.grid import scenario_to_json
from kafka_capacity.questions.question import PlanContext, RunPieces
from kafka_capacity.report.inputs import ReportInputs


def snapshot_sha256(place: str) -> str:
    """Name the content of a snapshot's files."""
    store = open_store(place)
    known = {CLUSTER_DOCUMENT, *(f"{table}.{ending}" for table in TABLES for ending in READ_FORMATS)}
    digest = hashlib.sha256()
    for key in store.list_objects(""):
        if key in known:
            digest.update(f"{key} {hashlib.sha256(store.read_bytes(key)).hexdigest()}\n".encode())
    return digest.hexdigest()


def simulate_report(asked: PlanContext, files: SizeFiles, run: RunPieces, *, snapshot: str, out: str) -> ReportInputs:
    """Ask all questions of a snapshot, as a scheduled plan does, and return what the report is made of.

    Raises:
        KafkaCapacityError: something that is asked for cannot be.
    """
    basis = asked.basis
    check_groups(asked.parameters.groups, basis.raw.table("groups"), cluster=basis.snapshot.cluster)
    check_failures(asked.parameters, basis.snapshot.brokers, asked.scenarios)
    shares = {name: done.result() for name, done in simulate_questions(asked, run).items()}
    sha256 = snapshot_sha256(snapshot)
    plan_id = asked.parameters.plan_id(
        ds=basis.snapshot.ds,
        inventory_sha256=sha256,
        own_shapes=files.own_shapes,
        owners=json.dumps(asked.owners) if asked.owners else "",
        cpu_samples_sha256=files.cpu_samples_sha256,
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
