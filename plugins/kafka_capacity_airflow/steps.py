"""What the tasks of our DAGs do; the DAG files only say when and in which order."""

from __future__ import annotations

import datetime
import functools
import logging
from collections.abc import Mapping
from typing import Any

from airflow.sdk.exceptions import AirflowSkipException

from kafka_capacity.errors import DamagedObjectError, InventoryError, RequestError, StorageError
from kafka_capacity.inventory.history import keep_history
from kafka_capacity.inventory.staging import load_findings, newest_complete, stage
from kafka_capacity.objects.keys import list_days, list_inventory_clusters, untold_prefix
from kafka_capacity.plan.fleet import write_fleet_page
from kafka_capacity.plan.lifecycle import Request, Said, Verb, keep_said
from kafka_capacity.plan.load_profile import profile_inputs, profile_without_spark
from kafka_capacity.plan.pinned import PinnedPlan, pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import seal_plan
from kafka_capacity.plan.publish import read_decision
from kafka_capacity.plan.release import release_plan_files, withdraw_plan_files
from kafka_capacity.plan.scoreboard import score_cluster
from kafka_capacity.questions.accuracy.decide import score_sentences
from kafka_capacity.questions.accuracy.stored_scores import read_score_document
from kafka_capacity_airflow.approval import is_released
from kafka_capacity_airflow.inventory import read_inventory
from kafka_capacity_airflow.lineage import record_lineage
from kafka_capacity_airflow.params import asked, plan_request
from kafka_capacity_airflow.report_mail import ReportMail, UntoldError, mail_owners, tell_earlier
from kafka_capacity_airflow.settings import (
    CLUSTERS,
    RECIPIENTS,
    TELL,
    ClusterSetting,
    browser_url,
    clusters,
    names_in,
    own_shapes,
    owners,
)
from kafka_capacity_airflow.store import airflow_store
from kafka_capacity_airflow.tell import tell_news

log = logging.getLogger("kafka_capacity")


def list_clusters(only: str | None) -> list[dict[str, Any]]:
    """List the clusters to inventory, or the one asked for; raises RequestError where there is none."""
    found = [cluster for cluster in clusters() if only in (None, "", cluster.name)]
    if not found:
        names = ", ".join(cluster.name for cluster in clusters()) or "none"
        what = f"cluster: {only!r} is not configured" if only else "no cluster is configured"
        raise RequestError(f"{what} (configured: {names}); add it to the Airflow variable {CLUSTERS}")
    return [cluster.model_dump(mode="json") for cluster in found]


def stage_inventory(setting: Mapping[str, Any], ds: str) -> dict[str, str]:
    """Read and stage one cluster; returns what was staged."""
    cluster = ClusterSetting.model_validate(dict(setting))
    raw = read_inventory(cluster, ds=ds, now=datetime.datetime.now(datetime.UTC), progress=log.info)
    if raw.ds != ds:
        log.warning("cluster %s: the snapshot at %s is of %s, not of %s", cluster.name, cluster.uri, raw.ds, ds)
    store = airflow_store()
    manifest = stage(raw, store)
    for finding in load_findings(store, manifest):
        log.warning("%s: %s", finding.code, finding.message)
    log.info("staged %s: %s", store.uri(manifest.prefix), ", ".join(f"{n} {len(t)}" for n, t in raw.tables.items()))
    changed = keep_history(store, raw.cluster, raw.table("metrics"), captured=raw.captured_at or raw.ds)
    log.info("history: %d days are new or have new hours", len(changed))
    record_lineage(raw.cluster, written=("inventory", "history"))
    return {"cluster": raw.cluster, "ds": raw.ds, "manifest_sha256": manifest.sha256}


def describe_traffic(staged: Mapping[str, str], days: int) -> list[str]:
    """Describe the traffic of a staged cluster, or return the arguments of the job that does so of a large history."""
    store = airflow_store()
    if not list_days(store, staged["cluster"], "history"):
        log.warning("cluster %s has no history of rates: its traffic is not profiled", staged["cluster"])
        return []
    inputs = profile_inputs(store, staged["cluster"], staged["ds"], days=days)
    if profile_without_spark(store, inputs) is not None:
        record_lineage(staged["cluster"], read=("inventory", "history"), written=("profiles",))
        return []
    # With "=": a name that begins with "-" would be taken for an option.
    return [f"--cluster={staged['cluster']}", f"--ds={staged['ds']}", f"--days={days}"]


def newest_inventories(only: str | None, run_after: datetime.datetime) -> list[dict[str, str]]:
    """Find the newest inventory of each cluster that has a complete one, or of the one asked for, which must.

    Raises:
        InventoryError: the one asked for has none.
    """
    store = airflow_store()
    run_date = run_after.astimezone(datetime.UTC).date()
    found = []
    for name in [only] if only else list_inventory_clusters(store):
        try:
            found.append({"cluster": name, "ds": newest_complete(store, name, not_after=run_date)})
        except InventoryError as error:
            if only:
                raise
            log.warning("cluster %s is not scored: %s", name, error)
    return found


def score(inventory: Mapping[str, str]) -> list[str]:
    """Hold earlier predictions against an inventory; returns what there is to say."""
    store = airflow_store()
    manifest = score_cluster(store, inventory["cluster"], inventory["ds"])
    document = read_score_document(store, manifest)
    record_lineage(inventory["cluster"], read=("inventory", "plans"), written=("scores",))
    sentences = score_sentences(document)
    for is_warning, sentence in sentences:
        log.log(logging.WARNING if is_warning else logging.INFO, "%s: %s", inventory["cluster"], sentence)
    if not sentences:
        log.info("%s: there is no earlier prediction of this day to score", inventory["cluster"])
    return [sentence for _, sentence in sentences]


def landed(events: Any) -> dict[str, str]:
    """Return the day of each cluster's inventory that started a run, by the events that its context has by asset."""
    every = sorted((event for of_one in (events or {}).values() for event in of_one), key=lambda one: one.timestamp)
    return {str(event.extra["cluster"]): str(event.extra["ds"]) for event in every if "cluster" in event.extra}


def pin(
    params: Mapping[str, Any], run_after: datetime.datetime, *, landed: Mapping[str, str]
) -> tuple[list[dict[str, str]], list[str]]:
    """Pin one plan for the cluster asked for, else for each that landed, else for each of the deployment.

    What has landed are the days of inventories that the run is started for, by cluster.

    Returns:
        The plans, and which could not be pinned and why.
    """
    store = airflow_store()
    given = asked(params)
    only = given.get("cluster")
    names = [only] if only else sorted(landed) or [one.name for one in clusters()] or list_inventory_clusters(store)
    if not names:
        raise RequestError("cluster: none is given, configured or staged; give one, or run kafka_inventory first")
    pinned, unplanned = [], []
    for name in names:
        request = plan_request({"ds": None if only else landed.get(name), **given}, name)
        try:
            plan = pin_plan(
                store,
                request,
                run_date=run_after.astimezone(datetime.UTC).date(),
                own_shapes=own_shapes(),
                owners=owners(),
            )
        except RequestError as error:
            if only:
                raise
            # Nobody named the cluster: what others have it may lack.
            raise RequestError(f"{error} (cluster {name!r})") from error
        except (InventoryError, DamagedObjectError) as error:
            if len(names) == 1:
                raise
            # The others are planned all the same; the last task of the run fails and names this one.
            log.error("cluster %s is not planned: %s", name, error)
            unplanned.append(f"{name}: {error}")
            continue
        count = len(read_plan_inputs(store, plan.request_key).scenarios)
        what = f"{count:,} placements" if count else "placements with the broker counts from sizing"
        log.info("cluster %s, inventory of %s, plan %s: %s", plan.cluster, plan.ds, plan.plan_id, what)
        pinned.append(plan.as_dict())
    if not pinned:
        raise InventoryError("\n".join(unplanned))
    return pinned, unplanned


def fail_if_unplanned(unplanned: list[str]) -> None:
    """Raise InventoryError where a cluster could not be planned, so that its owner is told of each and why."""
    if unplanned:
        raise InventoryError("\n".join(unplanned))


def email_report(
    pinned: Mapping[str, str],
    params: Mapping[str, Any],
    *,
    run_id: str,
    run_after: datetime.datetime,
    is_last_try: bool,
) -> dict[str, str]:
    """Mail the report of a plan, and what earlier runs could not; returns who was not told, each with why."""
    plan = PinnedPlan(**pinned)
    to = tuple(asked(params).get("recipients") or ()) or names_in(RECIPIENTS)
    if not to:
        log.warning("no mail is sent: no recipients are given, and %s is not set", RECIPIENTS)
        return {}
    store = airflow_store()
    mail = ReportMail(plan=plan, run_id=run_id, run_after=run_after, recipients=to)
    earlier = [key for key in store.list_objects(untold_prefix(plan.cluster)) if key != mail.note]
    untold = mail.tell(store, is_last_try=is_last_try)
    tell_earlier(store, earlier)
    return untold


def tell(pinned: Mapping[str, str], *, run_id: str, run_after: datetime.datetime) -> list[str]:
    """Tell the connections of the deployment what is new in a report, and owners what to do; returns whom.

    Where some could not be told, the others were.

    Raises:
        UntoldError: trying again may help some of them.
        RequestError: it helps none, since settings are wrong.
    """
    store, plan = airflow_store(), PinnedPlan(**pinned)
    news = functools.partial(tell_news, store, plan, run_id, names_in(TELL))
    to_do = functools.partial(mail_owners, store, plan, run_id, run_after)
    told: list[str] = []
    untold: list[Exception] = []
    for tell_some in (news, to_do):
        try:
            told += tell_some()
        except (UntoldError, RequestError) as error:
            untold.append(error)
    if untold:
        is_worth_trying = any(isinstance(error, UntoldError) for error in untold)
        msg = "; ".join(map(str, untold))
        raise UntoldError(msg) if is_worth_trying else RequestError(msg)
    return told


def write_fleet() -> str:
    """Write the page over all clusters; returns its address."""
    store = airflow_store()
    return browser_url(store, write_fleet_page(store))


def keep_answer(
    pinned: Mapping[str, str],
    *,
    asked: datetime.datetime,
    is_approved: bool,
    by: str,
    on: datetime.date,
    reason: str,
) -> None:
    """Keep what somebody answered to the request of the run that was due at a time.

    Who approves has what is due now, who rejects does without the move, unless another plan, of a later run, was
    answered before.
    """
    from kafka_capacity.plan.decision_box import approved_actions

    store, plan = airflow_store(), PinnedPlan(**pinned)
    decision = read_decision(store, plan.plan_prefix)
    moves = [one["id"] for one in decision["actions"] if one["code"] == "move"]
    ids = approved_actions(decision) if is_approved else moves
    verb = Verb.CLAIM if is_approved else Verb.DISMISS
    at = asked.astimezone(datetime.UTC).isoformat(timespec="microseconds")
    request = Request(plan_id=plan.plan_id, asked=at)
    said = Said(ids=tuple(ids), verb=verb, by=by, on=on.isoformat(), reason=reason, answers=request)
    try:
        keep_said(store, decision, said)
    except StorageError as error:  # the answer stands: what it releases does not wait for what is kept of it
        log.warning("the answer was not kept for the next report: %s", error)


def seal(pinned: Mapping[str, str]) -> dict[str, Any]:
    """Write the manifest of a plan whose questions are all answered; returns how many scenarios each has."""
    manifest = seal_plan(airflow_store(), PinnedPlan(**pinned))
    for share, count in manifest.facts["scenarios"].items():
        log.info("%s: %d scenarios, %s", share, count, manifest.facts["shares"][share])
    return dict(manifest.facts["scenarios"])


def release_if_approved(pinned: Mapping[str, str], params: Mapping[str, Any], ti: Any) -> list[str]:
    """Release the reassignment files of a plan, and return their addresses.

    Raises AirflowSkipException where the plan was not approved.
    """
    if not is_released(ti, params):
        withdraw(pinned)  # another run may have released the same plan while this one waited for its answer
        raise AirflowSkipException("the plan was not approved")
    released = release_plan_files(airflow_store(), PinnedPlan(**pinned))
    record_lineage(pinned["cluster"], read=("plans",), written=("reports",))
    for address in released:
        log.info("released %s", address)
    return released


def withdraw(pinned: Mapping[str, str]) -> None:
    """Take back the plan files that an earlier run of the same plan released."""
    if count := withdraw_plan_files(airflow_store(), PinnedPlan(**pinned)):
        log.info("withdrew %d files of an earlier release", count)
