"""Many clusters in one deployment: one that cannot be read costs the others nothing, and what is done stays done."""

from __future__ import annotations

import dataclasses
import datetime
import email
import email.policy
import html
import json

import pytest

from kafka_capacity.errors import InventoryError, PlacementError, RequestError
from kafka_capacity.example import make_example
from kafka_capacity.inventory.files import write_snapshot_files
from tests.one_spark import one_spark
from tests.small_requests import SMALL_REQUEST

pytestmark = pytest.mark.airflow

DAY = "2026-11-15"
NOON = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)


def states_of(run, task_id):
    return {ti.rendered_map_index: str(ti.state) for ti in run.get_task_instances() if ti.task_id == task_id}


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    """Snapshots of two clusters, one folder each."""
    root = tmp_path_factory.mktemp("snapshots")
    raw = make_example("metrics-uneven", ds=DAY)
    for name in ("north", "south"):
        write_snapshot_files(dataclasses.replace(raw, cluster=name), root / name)
    return root


@pytest.fixture(scope="module")
def run_of_fleet(services, snapshots):
    """A function that runs a DAG for three clusters, one of which cannot be read, and returns the run and its mails."""
    from local.airflow_runs import run_dag

    settings = [
        {"name": name, "source": "files", "uri": str(snapshots / folder)}
        for name, folder in (("north", "north"), ("nowhere", "missing"), ("south", "south"))
    ]

    def run(dag_id, params):
        before = len(services.mail.messages())
        with pytest.MonkeyPatch.context() as patched, one_spark():
            patched.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_CLUSTERS", json.dumps(settings))
            done = run_dag(dag_id, params)
        mails = services.mail.messages()[before:]
        return done, [email.message_from_bytes(path.read_bytes(), policy=email.policy.default) for path in mails]

    return run


@pytest.fixture(scope="module")
def fleet(run_of_fleet):
    """The run that staged them, and its mails."""
    return run_of_fleet("kafka_inventory", {"ds": DAY})


def test_one_that_cannot_be_read_costs_the_others_nothing_and_is_told_once(fleet):
    from airflow.models.asset import AssetEvent
    from airflow.utils.session import create_session

    run, (mail,) = fleet
    assert run.state == "failed"
    for task in ("stage_inventory", "describe_traffic", "announce"):
        found = states_of(run, task)
        assert found["north"] == found["south"] == "success", task
    skipped = states_of(run, "load_profile")  # their traffic is described without Spark
    assert skipped["north"] == skipped["south"] == "skipped"
    assert states_of(run, "stage_inventory")["nowhere"] == "failed"
    with create_session() as session:
        events = session.query(AssetEvent).filter(AssetEvent.source_run_id == run.run_id).all()
        landed = sorted((event.extra["cluster"], event.extra["ds"]) for event in events)
    assert landed == [("north", DAY), ("south", DAY)]
    assert "failed: nowhere, kafka_inventory.stage_inventory" in mail["Subject"]


@pytest.mark.usefixtures("fleet")
def test_a_run_without_a_cluster_plans_every_one_that_has_an_inventory(run_of_fleet):
    run, mails = run_of_fleet("kafka_capacity_plan", {"broker_counts": [10], **SMALL_REQUEST})
    assert run.state == "failed"
    (state,) = states_of(run, "check_that_all_are_planned").values()
    assert state == "failed"
    assert states_of(run, "plan.email_report") == {"north": "success", "south": "success"}
    (failure,) = [mail for mail in mails if "check_that_all_are_planned" in mail["Subject"]]
    assert "nowhere" in failure.get_body(("html",)).get_content()
    reports = [mail for mail in mails if mail is not failure]
    assert sorted(mail["Subject"].split(":")[0] for mail in reports) == [
        "[kafka-capacity] north",
        "[kafka-capacity] south",
    ]
    assert {mail["To"] for mail in reports} == {"platform-team@example.net"}


def test_a_live_cluster_is_read_for_no_other_day(services):
    from kafka_capacity_airflow.inventory import read_inventory
    from kafka_capacity_airflow.settings import ClusterSetting

    live = ClusterSetting(name="payments", source="kafka")
    with pytest.raises(RequestError, match=r"ds: 2026-11-15 is invalid: cluster 'payments' is read as it is now"):
        read_inventory(live, ds=DAY, now=NOON, progress=print)
    # A run that was due before midnight and began after it is of the day on which it was due.
    late = datetime.datetime(2026, 11, 16, 5, 59, tzinfo=datetime.UTC)
    with pytest.raises(Exception, match="kafka_payments"):
        read_inventory(live, ds=DAY, now=late, progress=print)
    with pytest.raises(RequestError, match=r"ds: 2026-11-15 is invalid"):
        read_inventory(live, ds=DAY, now=late + datetime.timedelta(minutes=1), progress=print)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (None, "cluster 'payments': there is no Airflow connection 'kafka_payments'; add it, or name another in "),
        (
            {"bootstrap.servers": "a:9092", "security.protocol": "SSL", "ssl.ca.location": "/nowhere/ca.pem"},
            "kafka connection: ssl.ca.location '/nowhere/ca.pem' is not a file; correct the path "
            "(cluster 'payments', Airflow connection 'kafka_payments')",
        ),
        ({"bootstrap.server": "a:9092"}, "kafka connection: 'bootstrap.server' is unknown; correct or remove it."),
    ],
)
def test_a_wrong_connection_fails_the_task_at_once_and_is_named(services, monkeypatch, extra, words):
    from local.airflow_runs import run_dag

    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_CLUSTERS", json.dumps([{"name": "payments"}]))
    if extra is not None:
        monkeypatch.setenv("AIRFLOW_CONN_KAFKA_PAYMENTS", json.dumps({"conn_type": "kafka", "extra": extra}))
    mails = len(services.mail.messages())
    run = run_dag("kafka_inventory")
    (staging,) = [ti for ti in run.get_task_instances() if ti.task_id == "stage_inventory"]
    assert (str(staging.state), staging.try_number) == ("failed", 1)
    (mail,) = services.mail.messages()[mails:]
    text = email.message_from_bytes(mail.read_bytes(), policy=email.policy.default).get_body(("html",)).get_content()
    assert words in html.unescape(text)
    assert "kafka_payments" in text


def test_a_connection_to_prometheus_that_there_is_not_is_named(services, snapshots, monkeypatch):
    from kafka_capacity_airflow.inventory import read_inventory
    from kafka_capacity_airflow.settings import ClusterSetting

    of = {"name": "north", "source": "files", "uri": str(snapshots / "north"), "prometheus": {}}
    setting = ClusterSetting.model_validate(of)
    words = "^cluster 'north': there is no Airflow connection 'prometheus_north'; add it, or name another in kafka_cap"
    with pytest.raises(RequestError, match=words):
        read_inventory(setting, ds=DAY, now=NOON, progress=print)
    monkeypatch.setenv("AIRFLOW_CONN_PROMETHEUS_NORTH", json.dumps({"conn_type": "http"}))
    words = r"has no host; write the address .* \(cluster 'north', Airflow connection 'prometheus_north'\)$"
    with pytest.raises(RequestError, match=words):
        read_inventory(setting, ds=DAY, now=NOON, progress=print)


def test_an_endpoint_of_s3_without_a_scheme_is_named_with_its_connection(services, monkeypatch):
    from kafka_capacity_airflow.store import airflow_store

    extra = {"endpoint_url": "s3.internal:9000"}
    monkeypatch.setenv("AIRFLOW_CONN_AWS_DEFAULT", json.dumps({"conn_type": "aws", "extra": extra}))
    words = "^Airflow connection 'aws_default': Invalid endpoint: s3.internal:9000; correct its extra "
    with pytest.raises(RequestError, match=words):
        airflow_store("s3://bucket/x")


def test_files_of_another_day_are_refused_or_told(services, snapshots, caplog):
    from kafka_capacity_airflow import steps
    from kafka_capacity_airflow.inventory import read_inventory
    from kafka_capacity_airflow.settings import ClusterSetting

    by_day = ClusterSetting(name="north", source="files", uri=f"{snapshots}/{{ds}}")
    (snapshots / "2026-11-16").symlink_to(snapshots / "north")
    with pytest.raises(InventoryError, match=r"for 2026-11-16 says that it is for 2026-11-15"):
        read_inventory(by_day, ds="2026-11-16", now=NOON, progress=print)
    same_place = {"name": "north", "source": "files", "uri": str(snapshots / "north")}
    assert steps.stage_inventory(same_place, "2026-11-16")["ds"] == DAY
    assert "is of 2026-11-15, not of 2026-11-16" in caplog.text


def test_the_pool_is_made_once_and_stays_as_it_is_set(services):
    from airflow.jobs.job import Job
    from airflow.models.pool import Pool

    from kafka_capacity_airflow.pool import SPARK_SLOTS, on_starting, spark_pool

    on_starting(Job())
    assert Pool.get_pool(spark_pool()).slots == SPARK_SLOTS
    Pool.create_or_update_pool(spark_pool(), 1, "", False)
    on_starting(Job())
    assert Pool.get_pool(spark_pool()).slots == 1


def test_a_task_that_starts_leaves_the_pool_alone(services, monkeypatch):
    from airflow.models.pool import Pool
    from airflow.sdk.execution_time.task_runner import TaskRunnerMarker

    from kafka_capacity_airflow.pool import on_starting

    # Airflow keeps tasks from its database: an error with its traceback would begin the log of every one.
    monkeypatch.setattr(Pool, "get_pool", lambda name: pytest.fail("a task asked Airflow's database"))
    on_starting(TaskRunnerMarker())


@pytest.mark.parametrize(
    "refused",
    [InventoryError("no such day"), PlacementError("no rack", kafka_type="InvalidReplicationFactorException")],
)
def test_what_a_driver_refuses_is_what_the_task_fails_with(services, monkeypatch, refused):
    from types import SimpleNamespace

    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
    from airflow.sdk.exceptions import AirflowException

    from kafka_capacity.objects.refusal import tell_refusal
    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator
    from kafka_capacity_airflow.store import airflow_store

    def submit(self, context):
        key = self.application_args[self.application_args.index("--refusal-key") + 1]
        if refused is not None and context["ti"].id == "first":
            tell_refusal(airflow_store(), key, refused)
        raise AirflowException("Cannot execute: spark-submit. Error code is: 1.")

    monkeypatch.setattr(SparkSubmitOperator, "execute", submit)
    operator = KafkaCapacitySparkOperator(task_id="load_profile", job="load_profile", arguments=["--cluster=c"])
    with pytest.raises(type(refused), match=str(refused)):
        operator.execute({"ti": SimpleNamespace(id="first")})
    with pytest.raises(AirflowException, match="Error code is: 1"):
        operator.execute({"ti": SimpleNamespace(id="second")})


def test_a_plan_that_is_simulated_already_is_not_submitted(services, monkeypatch):
    from types import SimpleNamespace

    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator

    submitted = []
    monkeypatch.setattr(SparkSubmitOperator, "execute", lambda self, context: submitted.append(self.task_id))
    for is_done in (True, False):
        operator = KafkaCapacitySparkOperator(task_id=f"{is_done}", job="simulate", pinned={"cluster": "c"})
        monkeypatch.setattr(operator, "_is_done", lambda is_done=is_done: is_done)
        monkeypatch.setattr(operator, "_applications", lambda context: [["--one"]])
        monkeypatch.setattr(operator, "_record_lineage", lambda: None)
        operator.execute({"ti": SimpleNamespace(id="first")})
    assert submitted == ["False"]


def test_a_number_of_the_environment_that_is_none_keeps_the_dag_from_loading(services, monkeypatch):
    from kafka_capacity_airflow.task_defaults import max_runs

    monkeypatch.setenv("KAFKA_CAPACITY_MAX_RUNS", "many")
    with pytest.raises(ValueError, match=r"KAFKA_CAPACITY_MAX_RUNS: 'many' is invalid: write a whole number"):
        max_runs()


@pytest.mark.spark
def test_a_real_driver_tells_what_it_refuses(services):
    from types import SimpleNamespace

    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator

    asked = ["--cluster=nobody", f"--ds={DAY}"]
    operator = KafkaCapacitySparkOperator(task_id="load_profile", job="load_profile", arguments=asked)
    with pytest.raises(InventoryError, match=r"^cluster 'nobody' has no complete inventory of 2026-11-15"):
        operator.execute({"ti": SimpleNamespace(id="a-real-one")})


def test_who_approves_reads_which_cluster_and_what_in_the_question_and_in_the_mail(services, monkeypatch):
    from airflow.providers.standard.operators.hitl import ApprovalOperator

    from kafka_capacity_airflow import approval, steps

    verdict = {
        "subject": "[kafka-capacity] north: 9 brokers now, 12 by May 2027 (2026-11-15)",
        "headline": "9 brokers fit",
        "box": {"approve": "Approve 3 more brokers now", "lines": [{"label": "If not", "text": "disk <of> broker_8_"}]},
    }
    found = {approval.REPORT_URL_KEY: "https://reports.example.com/north", "return_value": verdict}
    ti = _to_approve(map_index=0)
    monkeypatch.setattr(type(ti), "xcom_pull", lambda self, *, task_ids, map_indexes, key="return_value": found[key])
    asked = []
    monkeypatch.setattr(ApprovalOperator, "execute", lambda self, context: asked.append((self.subject, self.body)))
    monkeypatch.setattr(steps, "withdraw", lambda pinned: None)
    operator = approval.OptionalApprovalOperator(task_id="approve", pinned={"cluster": "north"})
    context = {"ti": ti, "params": {"is_approval_required": False}, "task": operator, "var": {"value": {}}}

    assert operator.execute(context) is None
    assert asked == []
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_APPROVAL", "always")
    operator.execute(context)
    ((subject, body),) = asked
    assert subject == "north: 9 brokers now, 12 by May 2027 (2026-11-15). Release the reassignment files?"
    assert body.splitlines() == [
        "Approve 3 more brokers now",
        "",
        r"- **If not:** disk \<of\> broker\_8\_",
        "- **Report:** <https://reports.example.com/north>",
    ]
    mails = len(services.mail.messages())
    operator.notifiers[0](context)
    (mail,) = services.mail.messages()[mails:]
    message = email.message_from_bytes(mail.read_bytes(), policy=email.policy.default)
    assert message["To"] == "root@localhost"
    assert message["Subject"].startswith("[kafka-capacity] to approve: north: 9 brokers now")
    text = message.get_body(("html",)).get_content()
    assert "<br>If not: disk &lt;of&gt; broker_8_<br>" in text


def _to_approve(map_index):
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

    of = {"dag_id": "kafka_capacity_plan", "task_id": "plan.approve", "run_id": "at 06:00+00:00"}
    return RuntimeTaskInstance.model_construct(**of, map_index=map_index, try_number=1)


@pytest.mark.parametrize(("map_index", "place"), [(3, "plan.approve/mapped/3"), (-1, "plan.approve")])
def test_the_mail_to_approvers_leads_to_the_page_where_they_answer(services, monkeypatch, map_index, place):
    from types import SimpleNamespace

    from kafka_capacity_airflow.notices import approval_mail

    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://tools.example.net/airflow/")
    mails = len(services.mail.messages())
    task = SimpleNamespace(subject="Release?", box=["15 brokers"])
    approval_mail()({"ti": _to_approve(map_index), "task": task, "var": {"value": {}}})
    (mail,) = services.mail.messages()[mails:]
    message = email.message_from_bytes(mail.read_bytes(), policy=email.policy.default)
    runs = "https://tools.example.net/airflow/dags/kafka_capacity_plan/runs"
    link = f'<a href="{runs}/at%2006%3A00%2B00%3A00/tasks/{place}/required_actions">'
    assert link in message.get_body(("html",)).get_content()


def test_a_deployment_that_says_neither_is_told(services, monkeypatch):
    from kafka_capacity_airflow.settings import are_approvals_demanded

    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_APPROVAL", "sometimes")
    with pytest.raises(RequestError, match="kafka_capacity_approval is 'sometimes'; write 'always' or 'as asked'"):
        are_approvals_demanded()


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (("Approve", ""), {"move-to-9-brokers": ("claimed", ""), "have-15-brokers": ("claimed", "")}),
        (("Reject", " not before May "), {"move-to-9-brokers": ("dismissed", "not before May")}),
        (("Reject", ""), {"move-to-9-brokers": ("dismissed", "rejected")}),
        (("Reject", None), {"move-to-9-brokers": ("dismissed", "rejected")}),
    ],
)
def test_who_approves_has_what_is_due_and_who_rejects_does_without_the_move(
    services, monkeypatch, tmp_path, answer, kept
):
    from types import SimpleNamespace

    from kafka_capacity.objects.store import open_store
    from kafka_capacity.plan.lifecycle import read_entries
    from kafka_capacity_airflow import steps
    from kafka_capacity_airflow.approval import OptionalApprovalOperator

    def action(code, about, by=None):
        name = about.replace(" ", "-")
        return {"id": name, "code": code, "about": about, "text": about, "by": by, "broker_count": 9}

    actions = [action("move", "move to 9 brokers"), action("brokers", "have 15 brokers")]
    actions.append(action("brokers", "have 18 brokers", "2027-05-01"))
    today = {"broker_count": 6, "fullest_disk_ratio": None, "usd_per_month": None}
    decision = {"cluster": "north", "ds": DAY, "problems": [], "actions": actions, "today": today}
    store = open_store(str(tmp_path))
    monkeypatch.setattr(steps, "airflow_store", lambda: store)
    monkeypatch.setattr(steps, "read_decision", lambda store, prefix: decision)
    pinned = {"cluster": "north", "ds": DAY, "inventory_sha256": "a", "plan_id": "p"}
    operator = OptionalApprovalOperator(task_id="approve", pinned=pinned)
    monkeypatch.setattr(operator, "skip", lambda **given: None)
    chosen, reason = answer
    event = {
        "chosen_options": [chosen],
        "params_input": {"reason": reason},
        "responded_at": NOON,
        "responded_by_user": {"id": "7", "name": "ana"},
    }
    given = operator.execute_complete({"ti": SimpleNamespace(), "task": operator}, event)
    assert given["chosen_options"] == [chosen]
    entries = read_entries(store, decision)
    found = {
        key: (verb, entry[verb]["reason"])
        for key, entry in entries.items()
        for verb in ("claimed", "dismissed")
        if entry[verb]
    }
    assert found == kept
    assert {entry[verb]["by"] for entry in entries.values() for verb in ("claimed", "dismissed") if entry[verb]} == {
        "ana"
    }
    assert {one["on"] for entry in entries.values() if (one := entry["claimed"] or entry["dismissed"])} == {
        "2026-11-20"
    }
