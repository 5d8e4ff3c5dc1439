"""The plan DAG from end to end, in process: real Spark, a real S3 API, a real SMTP server."""

from __future__ import annotations

import email
import email.policy
import hashlib
import json
import re

import pytest

from kafka_capacity.questions.registry import QUESTIONS
from tests.ports import free_port
from tests.small_requests import SMALL_REQUEST

pytestmark = [pytest.mark.airflow, pytest.mark.spark]


CHANGES = {"partition_counts": {"carts.audited": 40}, "pinned_topics": {"accounts.audited": ["1", 2, 3, 4, 5, 6]}}
FEW_GROUPS = {"groups": ["accounts-audited-etl", "stock-created-archive"], "group_events": ["scale", "crash"]}


def objects_below(services, prefix):
    root = services.state / "s3" / "kafka-capacity" / "capacity"
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((root / prefix).rglob("*"))
        if path.is_file()
    }


def states(run):
    return {ti.task_id: str(ti.state) for ti in run.get_task_instances()}


def report_folder(services, cluster, brokers):
    """The report of the plan that recommends so many brokers."""
    root = services.state / "s3" / "kafka-capacity" / "capacity" / "reports" / f"cluster={cluster}"
    for file in root.glob("ds=*/plan=*/report.json"):
        if json.loads(file.read_text())["verdict"]["headline"].startswith(f"{brokers} brokers"):
            return file.parent
    pytest.fail(f"no report of {cluster} recommends {brokers} brokers")


@pytest.fixture(scope="module")
def planned(staged):
    """One run with parameters, each job submitted by a ``spark-submit`` of its own, and what it left."""
    from local.airflow_runs import run_dag

    before = len(staged.mail.messages())
    run = run_dag(
        "kafka_capacity_plan",
        {
            "cluster": "shop-eu",
            "broker_counts": [12, 15],
            "recipients": ["sre@example.net", "vp@example.net"],
            **CHANGES,
            **FEW_GROUPS,
        },
    )
    assert run.state == "success", states(run)
    return staged, run, staged.mail.messages()[before:]


def test_the_tables_of_the_plan_are_in_s3_with_a_manifest(planned):
    services, _, _ = planned
    keys = objects_below(services, "plans/cluster=shop-eu")
    (manifest,) = [key for key in keys if re.search(r"/plan=[^/]+/manifest\.json$", key)]
    content = json.loads((services.state / "s3/kafka-capacity/capacity" / manifest).read_text())
    about_groups = {f"group_{name}" for name in ("facts", "scenarios", "churn", "timeline", "members")}
    about_waves = {"schedules", "waves", "wave_moves", "broker_timeline", "log_dir_timeline"}
    about_brokers = {"scenarios", "moves", "broker_load", "broker_peaks", "new_partitions"}
    about_sizing = {"sizing_options", "sizing_exhaustion", "sizing_use"}
    about_failures = {"failures", *(f"failure_{name}" for name in ("kinds", "brokers", "groups")), "diagnoses"}
    about_controllers = {"quorum", "quorum_failovers"}
    about_durability = {"durability", "durability_placements", "durability_outcomes"}
    about_losses = about_failures | about_controllers | about_durability
    in_one_go = {name for question in QUESTIONS if not question.has_pieces for name in question.tables}
    about_costs = {"chargeback", *(f"chargeback_{name}" for name in ("bill", "marginal", "scope", "tiered"))}
    about_racks = {f"rack_{name}" for name in ("flows", "topics", "brokers", "leaders", "leader_brokers")}
    found = set(content["tables"]) - in_one_go
    about_savings = {f"savings_{name}" for name in ("actions", "sets", "dates", "scope")}
    of_sizes_and_costs = {*about_sizing, *about_savings, *about_costs, *about_racks}
    assert found == {*about_brokers, *about_waves, *about_groups, *of_sizes_and_costs, *about_losses}
    assert in_one_go <= set(content["tables"])
    assert content["tables"]["scenarios"][0]["rows"] == 4
    assert content["tables"]["group_facts"][0]["rows"] == 2
    shares = {"placement", "groups", "sizing", "failures", "idle", "savings", "chargeback"}
    assert {question.share for question in QUESTIONS} == shares
    for share in (question.share for question in QUESTIONS):
        own = manifest.replace("manifest.json", f"{share}.manifest.json")
        assert content["facts"]["shares"][share] == keys[own]
    for parts in content["tables"].values():
        for part in parts:
            assert keys[manifest.replace("manifest.json", part["key"])] == part["sha256"]


def test_the_report_answers_and_the_files_are_released(planned):
    services, _, _ = planned
    folder = report_folder(services, "shop-eu", 15)
    verdict = json.loads((folder / "report.json").read_text())["verdict"]
    assert verdict["fits"]
    assert verdict["recommended_scenario_id"] == "015-brokers.fewest-bytes"
    why = next(line["text"] for line in verdict["box"]["lines"] if line["name"] == "why")
    assert why in (folder / "index.html").read_text()
    assert verdict["sizing"]["headline"].endswith(f"{why[:1].lower()}{why[1:]}")
    plan = json.loads((folder / "reassignment" / "moves.json").read_text())
    whole = json.loads((folder / "reassignment" / "target.json").read_text())
    assert len(whole["partitions"]) > len(plan["partitions"])
    assert json.loads((folder / "reassignment" / "reassignment.json").read_text()) == whole
    assert plan["version"] == 1
    assert {13, 14, 15} <= {broker for partition in plan["partitions"] for broker in partition["replicas"]}
    rollback = json.loads((folder / "reassignment" / "rollback.json").read_text())
    assert not {13, 14, 15} & {broker for partition in rollback["partitions"] for broker in partition["replicas"]}
    manifest = json.loads((folder / "reassignment" / "manifest.json").read_text())
    waves = {name for name in manifest["documents"] if name.startswith("waves/")}
    assert "waves/01-copy.json" in waves
    assert {f"waves/{path.name}" for path in (folder / "reassignment" / "waves").iterdir()} == waves
    pinned = [row["replicas"] for row in plan["partitions"] if row["topic"] == "accounts.audited"]
    assert all(set(brokers) <= {1, 2, 3, 4, 5, 6} for brokers in pinned)
    runbook = (folder / "reassignment" / "runbook.md").read_text()
    assert (
        r"--alter --topic 'carts\.audited' --partitions 40 --replica-assignment " in runbook.partition("## Wave 1")[0]
    )
    for name in waves:
        assert f"{manifest['documents'][name]['sha256']}  {name}" in runbook


def test_the_message_reached_a_real_server_with_the_verdict_first(planned):
    _, _, mails = planned
    assert len(mails) == 1
    message = email.message_from_bytes(mails[0].read_bytes(), policy=email.policy.default)
    assert message["Subject"].startswith("[kafka-capacity] shop-eu: 15 brokers now, 18 by ")
    assert "sre@example.net" in message["To"]
    assert "vp@example.net" in message["To"]
    kinds = [part.get_content_type() for part in message.walk()]
    assert "text/plain" in kinds
    assert "text/html" in kinds
    assert "image/png" in kinds


def test_all_clusters_are_on_one_page_and_what_is_open_is_kept(planned):
    services, run, _ = planned
    root = services.state / "s3" / "kafka-capacity" / "capacity"
    page = (root / "reports" / "index.html").read_text()
    link = re.search(r'<a href="(cluster=shop-eu/ds=[^"]+)"', page)
    assert link is not None
    assert (root / "reports" / link[1]).is_file()
    assert "Never planned" in page  # metrics-uneven
    kept = json.loads((root / "lifecycle" / "cluster=shop-eu.json").read_text())
    assert kept["entries"]["disk-over-limit"]["first"] == kept["day"]
    assert {task: states(run)[task] for task in ("write_fleet_page", "plan.tell")} == {
        "write_fleet_page": "success",
        "plan.tell": "success",
    }


def test_the_same_request_for_other_readers_changes_nothing_that_is_stored(planned):
    from local.airflow_runs import run_dag

    services, first, _ = planned
    kinds = ("requests", "plans", "reports/cluster=shop-eu")
    before = {kind: objects_below(services, kind) for kind in kinds}
    run = run_dag("kafka_capacity_plan", {**first.conf, "recipients": ["other@example.net"]})
    assert run.state == "success", states(run)
    assert {kind: objects_below(services, kind) for kind in kinds} == before


def test_a_bad_value_fails_the_first_task_and_the_owner_is_mailed(staged):
    from local.airflow_runs import run_dag

    before = len(staged.mail.messages())
    run = run_dag("kafka_capacity_plan", {"cluster": "shop-eu", "removed_brokers": [999]})
    assert run.state == "failed"
    assert states(run)["pin"] == "failed"
    message = email.message_from_bytes(staged.mail.messages()[before].read_bytes(), policy=email.policy.default)
    assert message["To"] == "platform-owner@example.net"
    assert "kafka_capacity_plan.pin" in message["Subject"]
    assert "removed_brokers: broker 999 is invalid" in message.get_body(("html",)).get_content()


@pytest.mark.usefixtures("in_one_spark")
def test_with_an_approval_asked_for_nothing_but_an_approval_releases_the_files(staged):
    from local.airflow_runs import run_dag

    params = {"cluster": "metrics-uneven", "is_approval_required": True, "broker_counts": [10], **SMALL_REQUEST}
    # Somebody marks the task as done instead of approving.
    run = run_dag("kafka_capacity_plan", params, mark_success_pattern=r"plan\.approve")
    assert run.state == "success", states(run)
    assert states(run)["plan.approve"] == "success"
    assert states(run)["plan.release_plan_files"] == "skipped"
    assert not (report_folder(staged, "metrics-uneven", 10) / "reassignment").exists()


@pytest.mark.usefixtures("in_one_spark")
def test_who_rejects_takes_back_what_another_run_released_meanwhile(staged):
    from types import SimpleNamespace

    from airflow.sdk.exceptions import AirflowSkipException

    from kafka_capacity_airflow import steps
    from local.airflow_runs import run_dag

    params = {"cluster": "metrics-uneven", "broker_counts": [10], **SMALL_REQUEST}
    run = run_dag("kafka_capacity_plan", params)
    files = report_folder(staged, "metrics-uneven", 10) / "reassignment" / "moves.json"
    assert files.exists()
    (pinned,), _ = steps.pin(params, run.run_after, landed={})
    rejected = SimpleNamespace(map_index=0, xcom_pull=lambda **_: {"chosen_options": ["Reject"]})
    with pytest.raises(AirflowSkipException, match="not approved"):
        steps.release_if_approved(pinned, {**params, "is_approval_required": True}, rejected)
    assert not files.exists()


@pytest.mark.usefixtures("in_one_spark")
def test_with_the_mail_server_down_the_files_are_published_and_released(staged, monkeypatch):
    from kafka_capacity_airflow import task_defaults
    from local.airflow_runs import run_dag

    down = {"conn_type": "smtp", "host": "127.0.0.1", "port": free_port(), "extra": {"disable_ssl": True}}
    monkeypatch.setenv("AIRFLOW_CONN_SMTP_DEFAULT", json.dumps(down))
    monkeypatch.setattr(task_defaults, "MAIL_RETRIES", 0)
    run = run_dag("kafka_capacity_plan", {"cluster": "metrics-uneven", "broker_counts": [11], **SMALL_REQUEST})
    assert run.state == "failed"
    assert [task for task, state in states(run).items() if state != "success"] == ["plan.email_report"]
    folder = report_folder(staged, "metrics-uneven", 11)
    assert (folder / "reassignment" / "manifest.json").is_file()
    (note,) = (folder.parents[3] / "untold" / "cluster=metrics-uneven").rglob("*.json")
    assert list(json.loads(note.read_text())["untold"]) == ["platform-team@example.net"]
    note.unlink()


def test_no_secret_is_in_any_object_log_or_mail(planned):
    services, _, _ = planned
    for folder in ("s3", "mail", "airflow"):
        for path in (services.state / folder).rglob("*"):
            if path.is_file() and path.suffix not in {".db", ".cfg"}:
                assert b"local-only" not in path.read_bytes(), path
