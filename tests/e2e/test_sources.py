"""From a real cluster, and from files, to a mailed report: the two DAGs, as a deployment would run them."""

from __future__ import annotations

import datetime
import email
import email.policy
import json

import pytest

from kafka_capacity.example import make_example
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.inventory.raw import RawInventory
from tests.live.clients import make_topics, produce
from tests.live.cluster import KafkaCluster
from tests.small_requests import SMALL_REQUEST

pytestmark = [pytest.mark.e2e, pytest.mark.live, pytest.mark.airflow, pytest.mark.spark]

HOSTILE = "<script>{{7*7}}</script>/..\u202e"


def states(run):
    return {ti.task_id: str(ti.state) for ti in run.get_task_instances()}


def last_report(services, encoded_cluster):
    root = services.state / "s3" / "kafka-capacity" / "capacity" / "reports" / f"cluster={encoded_cluster}"
    return max(root.glob("ds=*/plan=*"), key=lambda path: path.stat().st_mtime)


@pytest.fixture
def deployment(services, monkeypatch):
    """Let a test configure the deployment's clusters and connections."""

    def configure(clusters, **connections):
        monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_CLUSTERS", json.dumps(clusters))
        for name, value in connections.items():
            monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", json.dumps(value))
        return services

    return configure


@pytest.mark.usefixtures("in_one_spark")
def test_a_live_cluster_is_staged_and_planned(deployment, tmp_path):
    from local.airflow_runs import run_dag

    before = datetime.datetime.now(datetime.UTC).date()
    with KafkaCluster(tmp_path, {1: "rack-a", 2: "rack-b", 3: "rack-c"}) as cluster:
        make_topics(cluster, {"orders": (6, 3), "clicks": (4, 2)})
        produce(cluster, "orders", {partition: 200_000 for partition in range(6)})
        services = deployment(
            [{"name": "live"}],
            kafka_live={"conn_type": "kafka", "extra": {"bootstrap.servers": cluster.bootstrap_servers()}},
        )
        staged = run_dag("kafka_inventory")
        assert staged.state == "success", states(staged)
    # The brokers are gone: a plan rests on the inventory alone.
    planned = run_dag("kafka_capacity_plan", {"cluster": "live", "broker_counts": [3, 6]})
    assert planned.state == "success", states(planned)
    report = json.loads((last_report(services, "live") / "report.json").read_text())
    after = datetime.datetime.now(datetime.UTC).date()
    # Midnight may pass meanwhile.
    assert report["ds"] in {before.isoformat(), after.isoformat()}
    # Brokers tell neither their traffic nor their networks: what fits is not judged, and planned all the same.
    assert report["verdict"]["status"] == "not_judged"
    assert report["verdict"]["recommended_scenario_id"] is not None


@pytest.mark.usefixtures("in_one_spark")
def test_a_snapshot_of_files_with_a_hostile_name_is_planned_and_shown_as_typed(deployment, tmp_path):
    from local.airflow_runs import run_dag

    example = make_example("metrics-uneven")
    raw = RawInventory(cluster=HOSTILE, ds=example.ds, source="files", tables=dict(example.tables))
    write_snapshot_files(raw, tmp_path / "snapshot")
    services = deployment([{"name": HOSTILE, "source": "files", "uri": str(tmp_path / "snapshot")}])
    before = len(services.mail.messages())
    staged = run_dag("kafka_inventory")
    assert staged.state == "success", states(staged)
    planned = run_dag("kafka_capacity_plan", {"cluster": HOSTILE, **SMALL_REQUEST})
    assert planned.state == "success", states(planned)

    folders = [path.name for path in (services.state / "s3/kafka-capacity/capacity/reports").iterdir()]
    (folder,) = [name for name in folders if "script" in name]
    assert "/" not in folder.removeprefix("cluster=")
    html = (services.state / "s3/kafka-capacity/capacity/reports" / folder).rglob("index.html")
    text = next(iter(html)).read_text()
    assert "<script>{{" not in text
    assert "&lt;script&gt;{{7*7}}&lt;/script&gt;" in text
    message = email.message_from_bytes(services.mail.messages()[before].read_bytes(), policy=email.policy.default)
    assert "<script>{{7*7}}</script>" in message["Subject"]
    assert "49" not in message["Subject"].split(":")[0]


@pytest.mark.usefixtures("in_one_spark")
def test_an_inventory_with_fatal_findings_fails_and_keeps_what_was_there(deployment, tmp_path):
    import pyarrow as pa

    from local.airflow_runs import run_dag

    good = make_example("metrics-uneven")
    raw = RawInventory(cluster="torn", ds=good.ds, source="files", tables=dict(good.tables))
    write_snapshot_files(raw, tmp_path / "snapshot")
    services = deployment([{"name": "torn", "source": "files", "uri": str(tmp_path / "snapshot")}])
    assert run_dag("kafka_inventory").state == "success"
    manifest = next((services.state / "s3").rglob("inventory/cluster=torn/*/manifest.json"))
    kept = manifest.read_bytes()

    brokers = good.table("brokers")
    torn = RawInventory(
        cluster="torn",
        ds=good.ds,
        source="files",
        tables={**good.tables, "brokers": pa.concat_tables([brokers, brokers.slice(0, 1)])},
    )
    write_snapshot_files(torn, tmp_path / "snapshot")
    failed = run_dag("kafka_inventory")
    assert failed.state == "failed"
    assert manifest.read_bytes() == kept
