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
