"""Publish a plan: its report, and the e-mail of it."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

import pyarrow as pa

from kafka_capacity.demand.calendar_days import days_between
from kafka_capacity.errors import ConflictError, MissingObjectError, StorageError
from kafka_capacity.inventory.owners import Owners
from kafka_capacity.inventory.staging import inventory_manifest
from kafka_capacity.objects.dataset import (
    Manifest,
    canonical_json,
    read_document,
    read_manifest,
    read_table,
    write_dataset,
)
from kafka_capacity.objects.keys import list_plans, report_prefix, request_key, untold_prefix
from kafka_capacity.objects.manifest import read_with_own_hash
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.objects.tables import PLAN_SCHEMA_VERSION
from kafka_capacity.plan.changes import is_comparable
from kafka_capacity.plan.lifecycle import ALIKE_DAYS, keep_observed, read_entries
from kafka_capacity.plan.owners import topic_rows
from kafka_capacity.plan.pinned import PinnedPlan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import (
    DECISION,
    DECISION_DATASET_KIND,
    DECISION_FOLDER,
    PLAN_SHA256,
    read_plan,
    read_plan_document,
    read_plan_tables,
)
from kafka_capacity.plan.untold import read_untold, untold_text
from kafka_capacity.questions.change.wave_runbook import PLAN_FILES_FOLDER

log = logging.getLogger(__name__)

REPORT_KIND = "report"
REPORT_JSON = "report.json"


def publish_report(store: ObjectStore, pinned: PinnedPlan, owners: Owners | None = None) -> dict[str, Any]:
    """Render the report of a simulated plan and store it; the same plan gives the same bytes. Returns the verdict.

    What names the cluster's reports that could not be mailed so far, what became of its problems and who owns what is
    all that comes from elsewhere.

    Raises:
        StorageError: the plan has not been simulated and sealed.
    """
    from kafka_capacity.plan.report import render_all

    decision = decide_plan(store, pinned)
    inputs = report_inputs(store, pinned, read_plan(store, pinned))
    if undelivered := _undelivered(store, pinned.cluster):
        inputs = replace(inputs, provenance={**inputs.provenance, "not_delivered_so_far": undelivered})
    entries = read_entries(store, decision)
    replicas = pinned_replicas(store, pinned, "owner pages are without topics") if owners else None
    topics = [] if replicas is None else topic_rows(replicas)
    known = {"last": last_report(store, pinned), "entries": entries, "owners": owners, "topics": topics}
    rendered = render_all(inputs, decision, **known)
    documents = {DECISION: canonical_json(decision), **rendered.files()}
    facts = {**pinned.as_dict(), "subject": rendered.subject}
    write_documents(store, pinned.report_prefix, REPORT_KIND, documents, facts, kept_folders=(PLAN_FILES_FOLDER,))
    keep_observed(store, decision, json.loads(rendered.report_json)["changes"])
    return dict(rendered.verdict)


def pinned_replicas(store: ObjectStore, pinned: PinnedPlan, missed: str) -> pa.Table | None:
    """Return who holds what in the pinned inventory; ``None``, and what is missed, where that version is gone."""
    try:
        manifest = inventory_manifest(store, pinned.cluster, pinned.ds, manifest_sha256=pinned.inventory_sha256)
    except ConflictError as error:
        log.warning("%s: %s", missed, error)
        return None
    return read_table(store, manifest, "replicas")


def write_documents(
    store: ObjectStore, prefix: str, kind: str, documents: Mapping[str, bytes], facts: Mapping[str, Any], **more: Any
) -> None:
    """Write documents for people to find."""
    of = {"kind": kind, "schema_version": PLAN_SCHEMA_VERSION, "documents": documents, "facts": facts, **more}
    write_dataset(store, prefix, tables={}, has_plain_names=True, **of)


def _undelivered(store: ObjectStore, cluster: str) -> str:
    """Name the cluster's reports that could not be mailed to all so far, with whom and why."""
    told = []
    for key in store.list_objects(untold_prefix(cluster)):
        with contextlib.suppress(MissingObjectError):  # who mails it meanwhile takes the note away
            note = read_untold(store, key)
            told.append(f"report of {note['plan']['ds']} to {untold_text(note['untold'])}")
    return "; ".join(sorted(told))


def last_report(store: ObjectStore, pinned: PinnedPlan) -> dict[str, Any] | None:
    """Return the data of the cluster's report to compare with; ``None`` where there is none to read.

    It is the newest of an earlier inventory that was asked the same, of the last ``ALIKE_DAYS``; where there is
    none, the newest, of several of one day the first by its plan's name.
    """

    def is_alike(ds: str, plan_id: str) -> bool:
        is_recent = days_between(ds, pinned.ds) <= ALIKE_DAYS
        return is_recent and bool(read_request(store, request_key(pinned.cluster, ds, plan_id)) == request)

    request = read_request(store, pinned.request_key)
    earlier = [one for one in list_plans(store, pinned.cluster, "reports") if one[0] < pinned.ds]
    newest_first = sorted(earlier, key=lambda one: one[0], reverse=True)
    for one in sorted(newest_first, key=lambda one: not is_alike(*one)):
        found = _report(store, report_prefix(pinned.cluster, *one))
        if found is not None and is_comparable(found):
            return found
    return None


def _report(store: ObjectStore, prefix: str) -> dict[str, Any] | None:
    try:
        return dict(json.loads(read_document(store, report_manifest(store, prefix), REPORT_JSON)))
    except (StorageError, ValueError) as error:
        log.warning("the report at %s is not compared: %s", prefix, error)
        return None


def read_request(store: ObjectStore, key: str) -> Any:
    """Return what a plan was asked; ``None`` where that is not kept."""
    try:
        return read_with_own_hash(store, key, json.loads)["request"]
    except (StorageError, KeyError):
        return None


def decide_plan(store: ObjectStore, pinned: PinnedPlan) -> dict[str, Any]:
    """Decide about a sealed plan and store ``decision.json`` with it, which is returned; the same plan gives the same.

    Raises StorageError where the plan has not been simulated and sealed.
    """
    from kafka_capacity.plan.decision import decide

    manifest = read_plan(store, pinned)
    decision = decide(report_inputs(store, pinned, manifest)).as_dict()
    facts = {**pinned.as_dict(), PLAN_SHA256: manifest.sha256}
    documents = {DECISION: canonical_json(decision)}
    write_documents(store, pinned.plan_prefix + DECISION_FOLDER, DECISION_DATASET_KIND, documents, facts)
    return decision


def read_decision(store: ObjectStore, plan_prefix: str) -> dict[str, Any]:
    """Read what was decided about the plan below a prefix.

    Raises StorageError where nothing has been decided yet, or by a version that this program does not read.
    """
    folder = plan_prefix + DECISION_FOLDER
    manifest = read_manifest(store, folder, kind=DECISION_DATASET_KIND, schema_version=PLAN_SCHEMA_VERSION)
    return dict(json.loads(read_document(store, manifest, DECISION)))


def report_inputs(store: ObjectStore, pinned: PinnedPlan, manifest: Manifest) -> Any:
    """Gather what a report is made of from a stored plan."""
    from kafka_capacity.plan.results import plan_results
    from kafka_capacity.questions.change.share import REQUEST_DOCUMENT

    documents = {name: read_plan_document(store, manifest, name) for name in manifest.documents}
    return plan_results(
        read_plan_tables(store, manifest),
        documents,
        pinned.cluster,
        pinned.ds,
        plan_id=pinned.plan_id,
        request=documents[REQUEST_DOCUMENT]["request"],
        rests_on={
            "inventory_manifest_sha256": pinned.inventory_sha256,
            PLAN_SHA256: manifest.sha256,
            "plan_id": pinned.plan_id,
        },
        own_shapes=read_plan_inputs(store, pinned.request_key).own_shapes,
        report_uri=store.uri(pinned.report_key),
        more_facts={"manifest_sha256": pinned.inventory_sha256},
    )


def published_report(store: ObjectStore, pinned: PinnedPlan) -> dict[str, Any]:
    """Return the data of a published report; raises StorageError where it has not been published."""
    return _read_report(store, report_manifest(store, pinned.report_prefix))


def report_manifest(store: ObjectStore, prefix: str) -> Manifest:
    """Read the manifest of a published report."""
    return read_manifest(store, prefix, kind=REPORT_KIND, schema_version=PLAN_SCHEMA_VERSION)


def _read_report(store: ObjectStore, manifest: Manifest) -> dict[str, Any]:
    from kafka_capacity.report.render import read_report

    return read_report(read_document(store, manifest, REPORT_JSON))


def mail_report(
    store: ObjectStore,
    pinned: PinnedPlan,
    *,
    sender: str,
    recipients: tuple[str, ...],
    report_url: str,
    run_id: str,
    date: datetime.datetime,
) -> EmailMessage:
    """Build the e-mail of a published report.

    The run that sends it is part of its id: mail programs take two messages with one id for one.
    """
    from kafka_capacity.report.charts import IMAGES
    from kafka_capacity.report.email import build_email

    manifest = report_manifest(store, pinned.report_prefix)
    report = _read_report(store, manifest)
    report["links"] = {**report.get("links", {}), "report_uri": report_url}
    images = {
        name.removeprefix(IMAGES): read_document(store, manifest, name)
        for name in manifest.documents
        if name.startswith(IMAGES)
    }
    return build_email(
        report,
        sender=sender,
        recipients=recipients,
        images=images,
        message_id=f"<{pinned.plan_id}.{hashlib.sha256(run_id.encode()).hexdigest()[:16]}@kafka-capacity>",
        date=date,
    )
