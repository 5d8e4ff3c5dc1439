"""The rates of a cluster beside its topology, as the setting of a deployment says."""

from __future__ import annotations

import datetime
import json

import pytest

from kafka_capacity.inventory.files import write_snapshot_files
from tests.made_up_metrics import World
from tests.prometheus_stand_in import StandIn

pytestmark = pytest.mark.airflow

NOW = datetime.datetime(2026, 11, 22, tzinfo=datetime.UTC)


@pytest.fixture
def read(services, tmp_path):
    """Read a cluster by a setting, as it comes to the task: through XCom."""
    from kafka_capacity_airflow.inventory import read_inventory
    from kafka_capacity_airflow.settings import ClusterSetting

    write_snapshot_files(World().inventory(), tmp_path / "snapshot")

    def reading(**setting):
        given = ClusterSetting(name="payments", source="files", uri=str(tmp_path / "snapshot"), **setting)
        again = ClusterSetting.model_validate(json.loads(json.dumps(given.model_dump(mode="json"))))
        return read_inventory(again, ds="2026-11-20", now=NOW, progress=lambda _: None)

    return reading


def test_rates_come_from_the_server_of_the_connection(read, monkeypatch):
    with StandIn(World().jmx()) as server:
        connection = {"conn_type": "http", "host": server.url, "extra": {"token": "hush"}}
        monkeypatch.setenv("AIRFLOW_CONN_PROMETHEUS_PAYMENTS", json.dumps(connection))
        raw = read(prometheus={"days": 1, "names": {"group_lag": "no_such"}})
        assert server.headers[0]["authorization"] == "Bearer hush"
    assert len(raw.table("metrics")) == 168
    assert len(raw.table("broker_metrics")) == 72


def test_a_server_that_is_away_is_a_warning_of_the_inventory(read, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_OTHER", json.dumps({"conn_type": "http", "host": "127.0.0.1", "port": 9}))
    raw = read(prometheus={"conn_id": "other"})
    assert [remark.code for remark in raw.remarks] == ["prometheus_failed"]
    assert "http://127.0.0.1:9/api/v1/query_range" in raw.remarks[0].message
    assert raw.remarks[0].message.endswith("fix it and stage again (Airflow connection 'other')")


def test_brokers_that_cannot_be_reached_name_the_connection_and_the_mend(services, monkeypatch):
    from kafka_capacity.errors import SourceError
    from kafka_capacity_airflow.inventory import read_inventory
    from kafka_capacity_airflow.settings import ClusterSetting

    extra = {"bootstrap.servers": "127.0.0.1:9", "request.timeout.ms": 5000}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_PAYMENTS", json.dumps({"conn_type": "kafka", "extra": extra}))
    with pytest.raises(SourceError) as found:
        read_inventory(ClusterSetting(name="payments", source="kafka"), ds="2026-11-21", now=NOW, progress=str)
    message = str(found.value)
    assert message.startswith("Kafka at 127.0.0.1:9 (PLAINTEXT) could not be reached: ")
    assert message.endswith(
        "; check bootstrap.servers, and that brokers can be reached from here (cluster 'payments', Airflow connection "
        "'kafka_payments')"
    )


def test_rates_come_from_files_of_the_day(read, tmp_path):
    (tmp_path / "2026-11-20.csv").write_text(
        "topic,partition,hour,bytes_in_bytes_per_second\norders,0,2026-11-20T00:00:00Z,5\n"
    )
    assert len(read(metrics_uri=f"{tmp_path}/{{ds}}.csv").table("metrics")) == 1


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"prometheus": {}, "metrics_uri": "x"}, "it has prometheus and metrics_uri; keep one of them"),
        ({"source": "example", "prometheus": {}}, "an example has metrics of its own"),
        ({"prometheus": {"dialects": ["burrow"]}}, "prometheus.dialects.0: choose 'jmx'"),
        ({"uri": 3, "x": "hunter2"}, "entry 1: uri: write a string\nthe Airflow variable"),
        ({"x": "hunter2"}, "x: no such field; remove it or correct its name"),
    ],
)
def test_a_wrong_setting_names_the_variable_and_the_field(services, monkeypatch, setting, said):
    from kafka_capacity.errors import RequestError
    from kafka_capacity_airflow.settings import clusters

    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_CLUSTERS", json.dumps([{"name": "payments", **setting}]))
    with pytest.raises(RequestError, match="kafka_capacity_clusters, entry 1") as found:
        clusters()
    assert said in str(found.value)
    assert "hunter2" not in str(found.value)


@pytest.mark.spark
@pytest.mark.usefixtures("in_one_spark")
def test_the_dag_stages_topology_and_rates_and_describes_them(services, monkeypatch, tmp_path):
    from kafka_capacity.inventory.staging import inventory_manifest, load, load_findings
    from kafka_capacity.objects.keys import list_days
    from kafka_capacity_airflow.store import airflow_store
    from local.airflow_runs import run_dag

    write_snapshot_files(World().inventory(), tmp_path / "snapshot")
    setting = {
        "name": "payments",
        "source": "files",
        "uri": str(tmp_path / "snapshot"),
        "prometheus": {"days": 2, "labels": {"job": "kafka"}},
    }
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_CLUSTERS", json.dumps([setting]))
    with StandIn(World().jmx()) as server:
        connection = {"conn_type": "http", "host": server.url}
        monkeypatch.setenv("AIRFLOW_CONN_PROMETHEUS_PAYMENTS", json.dumps(connection))
        run = run_dag("kafka_inventory", {"ds": "2026-11-20"})
    assert run.state == "success", {ti.task_id: str(ti.state) for ti in run.get_task_instances()}
    store = airflow_store()
    manifest = inventory_manifest(store, "payments", "2026-11-20")
    assert len(load(store, manifest).table("metrics")) == 7 * 48
    # Of the topology, whose brokers have no rack; nothing is wrong with the rates.
    assert [found.code for found in load_findings(store, manifest).warnings] == ["one-rack"]
    assert list_days(store, "payments", "history") == ["2026-11-19", "2026-11-20"]
