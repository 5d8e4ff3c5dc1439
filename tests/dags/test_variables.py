"""What ``make up`` sets is where the UI changes it."""

from __future__ import annotations

import json
import os
import re

import pytest

pytestmark = pytest.mark.airflow


def test_a_variable_that_the_ui_changes_counts_and_stays(services, monkeypatch):
    from airflow.models.variable import Variable
    from airflow.utils.session import create_session
    from sqlalchemy import delete, select

    from local.airflow_runs import hand_over_variables
    from local.up import CHANGED_IN_THE_UI

    def stored():
        with create_session() as session:
            return {one.key: one.get_val() for one in session.scalars(select(Variable))}

    variables = {name: f"AIRFLOW_VAR_{name.upper()}" for name in CHANGED_IN_THE_UI}
    before = {name: os.environ[variable] for name, variable in variables.items()}
    for name, variable in variables.items():
        monkeypatch.setenv(variable, before[name])  # and back after the test
    hand_over_variables(CHANGED_IN_THE_UI)
    assert stored() == {name: before[name] for name in CHANGED_IN_THE_UI}
    with create_session() as session:
        session.scalar(select(Variable).where(Variable.key == "kafka_capacity_recipients")).set_val("me@example.net")
    # The next start has the same environment again.
    monkeypatch.setenv(variables["kafka_capacity_recipients"], "platform-team@example.net")
    hand_over_variables(CHANGED_IN_THE_UI)
    assert stored() == {**before, "kafka_capacity_recipients": "me@example.net"}
    with create_session() as session:
        session.execute(delete(Variable))


@pytest.mark.parametrize("given", ["my-bucket/kafka-capacity", "./store", "file:store"])
def test_a_store_that_would_be_another_folder_on_each_worker_is_refused(services, monkeypatch, given):
    from kafka_capacity.errors import RequestError
    from kafka_capacity_airflow.store import airflow_store

    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_STORE_URI", given)
    said = f"the Airflow variable kafka_capacity_store_uri is {given!r}; write s3://bucket/prefix or an absolute path"
    with pytest.raises(RequestError, match=f"^{re.escape(said)}$"):
        airflow_store()


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_store_may_be_a_folder_that_all_workers_have(services, monkeypatch, tmp_path, scheme):
    from kafka_capacity_airflow.store import airflow_store

    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_STORE_URI", f"{scheme}{tmp_path}")
    airflow_store().write_bytes("a/b", b"c")
    assert (tmp_path / "a" / "b").read_bytes() == b"c"


def test_dags_that_make_plan_has_run_can_be_started_in_the_ui_after(staged):
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        assert session.scalar(select(DagModel.is_paused).where(DagModel.dag_id == "kafka_inventory")) is False


def test_what_a_deployment_says_of_spark_overrides_what_suits_our_jobs(services, monkeypatch):
    from kafka_capacity_airflow.settings import spark_conf

    sockets = "spark.python.unix.domain.socket.enabled"
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_SPARK_CONF", '{"spark.executor.memory": "4g"}')
    assert spark_conf() == {
        "spark.executor.memory": "4g",
        sockets: "true",
        "spark.python.unix.domain.socket.dir": "/tmp",  # noqa: S108 (of executors)
    }
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_SPARK_CONF", json.dumps({sockets: False}))
    assert spark_conf()[sockets] == "False"


def test_where_no_socket_can_be_made_python_workers_are_reached_over_tcp(services, monkeypatch):
    from kafka_capacity_airflow.settings import spark_conf

    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_SPARK_CONF", '{"spark.executor.memory": "4g"}')
    # As in a container whose root is read-only; root itself may write to any folder that merely forbids it.
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != ("/tmp", os.W_OK))  # noqa: S108 (of executors)
    assert spark_conf() == {"spark.executor.memory": "4g"}
    own = {"spark.python.unix.domain.socket.enabled": "true", "spark.python.unix.domain.socket.dir": "/run/spark"}
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_CAPACITY_SPARK_CONF", json.dumps(own))
    assert spark_conf() == own
