"""The DAG files: they load, say what they are, and follow our rules."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

pytestmark = pytest.mark.airflow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bag(services):
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(str(ROOT / "dags"))


def test_every_dag_file_loads(bag):
    assert bag.import_errors == {}
    assert set(bag.dags) == {"kafka_inventory", "kafka_capacity_plan", "kafka_capacity_scoreboard"}


def test_a_dag_is_named_after_its_file_and_documented(bag):
    for dag_id, dag in bag.dags.items():
        assert Path(dag.fileloc).stem == dag_id
        assert len(dag.doc_md or "") > 100, f"{dag_id}: say in the module docstring what it does"
        assert "kafka-capacity" in dag.tags
        assert not dag.catchup


def test_every_task_mails_the_owner_and_gives_up_on_bad_input(bag):
    from kafka_capacity.errors import InventoryError, RequestError, SourceError, StorageError

    for dag in bag.dags.values():
        for task in dag.tasks:
            assert task.on_failure_callback, f"{dag.dag_id}.{task.task_id}: nobody is told when it fails"
            policy = task.retry_policy

            def action(error, policy=policy):
                return policy.evaluate(error, 1, 2).action.value

            assert action(RequestError("x")) == action(InventoryError("x")) == "fail"
            assert action(SourceError("x")) == action(StorageError("x")) == "retry"


def test_dag_files_are_thin():
    for file in (ROOT / "dags").glob("*.py"):
        text = file.read_text()
        assert text.count("\n") <= 120, f"{file.name} is longer than 120 lines: logic belongs into the package"
        for word in ("Variable.get", "datetime.now", "date.today", "import pandas", "import pyspark", "import boto3"):
            assert word not in text, f"{file.name}: {word} at the top of a DAG file"


def test_the_plan_is_one_mapped_group_in_the_order_of_the_flow(bag):
    dag = bag.dags["kafka_capacity_plan"]
    order = [
        "pin",
        "plan.simulate",
        "plan.seal_plan",
        "plan.render_report",
        "plan.approve",
        "plan.release_plan_files",
    ]
    others = {"plan.email_report", "plan.tell", "write_fleet_page", "check_that_all_are_planned"}
    assert {task.task_id for task in dag.tasks} == {*order, *others}
    for before, after in pairwise(order):
        assert after in dag.get_task(before).downstream_task_ids


def test_the_page_of_all_clusters_waits_for_reports_and_for_no_approval(bag):
    task = bag.dags["kafka_capacity_plan"].get_task("write_fleet_page")
    assert task.upstream_task_ids == {"plan.render_report"}
    assert task.trigger_rule == "all_done"
    assert not task.is_mapped


@pytest.mark.parametrize("name", ["plan.email_report", "plan.tell"])
def test_nothing_waits_for_a_message_which_is_tried_again_later_and_later(bag, name):
    dag = bag.dags["kafka_capacity_plan"]
    mail = dag.get_task(name)
    assert mail.upstream_task_ids == {"pin", "plan.render_report"}
    assert mail.downstream_task_ids == set()
    assert mail.retries >= 3
    assert mail.retry_exponential_backoff >= 2


def test_mapped_tasks_are_called_by_their_cluster(bag):
    for dag in bag.dags.values():
        for task in dag.tasks:
            if task.is_mapped or task.get_closest_mapped_task_group() is not None:
                assert task.map_index_template, f"{dag.dag_id}.{task.task_id}: its runs would be called 0, 1, 2"


def test_the_form_is_short_and_says_what_the_parser_says(bag):
    from kafka_capacity.plan.request import PlanRequest
    from kafka_capacity_airflow.params import FORM_FIELDS, OTHERS, plan_request

    params = bag.dags["kafka_capacity_plan"].params
    assert list(params) == [*FORM_FIELDS, OTHERS]
    assert len(params) <= 13
    assert plan_request(params.dump(), "shop-eu") == PlanRequest(cluster="shop-eu")
    for name in FORM_FIELDS:
        schema = params.get_param(name).schema
        assert "section" not in schema, f"{name}: stands where the form is open"
        # Airflow draws what has several types as a box of many lines.
        kinds = schema.get("type", "string")
        assert isinstance(kinds, str) or len(set(kinds) - {"null"}) == 1, name
    assert params["throttle_bytes_per_second"] == "50MB/s"
    cluster = params.get_param("cluster").schema
    assert cluster["examples"] == ["shop-eu", "metrics-uneven"]
    assert cluster["description_md"].endswith(" Empty: every cluster of the deployment, side by side.")


def test_the_form_of_inventories_offers_the_clusters_that_there_are(bag):
    field = bag.dags["kafka_inventory"].params.get_param("cluster")
    assert field.schema["examples"] == ["shop-eu", "metrics-uneven"]


def test_what_the_form_shows_is_what_the_model_says(services):
    from kafka_capacity_airflow.params import FORM, form_document

    renew = "renew it: PYTHONPATH=.:plugins .venv/bin/python -m kafka_capacity_airflow.params"
    assert FORM.read_text(encoding="utf-8") == form_document(), renew


def test_to_load_a_dag_file_takes_nothing_that_is_slow_to_import(services):
    code = (
        "import runpy, sys, airflow.dag_processing.processor; before = set(sys.modules); "
        f"sys.path += [{str(ROOT)!r}, {str(ROOT / 'plugins')!r}]; "
        "[runpy.run_path(file) for file in sys.argv[1:]]; "
        "print('new:', *sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    files = [str(file) for file in sorted((ROOT / "dags").glob("*.py"))]
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=True)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("new:")]
    assert "kafka_capacity" in line.split()
    assert not {"boto3", "kafka", "numpy", "pandas", "pyarrow", "pyspark", "vl_convert"} & set(line.split())


def test_a_stored_dag_is_small(bag):
    from airflow.serialization.serialized_objects import DagSerialization

    for dag in bag.dags.values():
        assert len(json.dumps(DagSerialization.to_dict(dag))) < 100_000, dag.dag_id


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"throttle_bytes_per_second": -1}, "-1"),
        ({"broker_counts": [0]}, "0"),
        ({"failure_tolerance": "all"}, "all"),
        ({"ds": 20261115}, "20261115"),
        ({"other_parameters": [1]}, "1"),
    ],
)
def test_the_form_refuses_bad_values_before_anything_runs(bag, values, words):
    from airflow.sdk.exceptions import ParamValidationError

    params = bag.dags["kafka_capacity_plan"].params
    for name, value in values.items():
        with pytest.raises(ParamValidationError, match=words):
            params.get_param(name).resolve(value)


def test_what_is_typed_is_what_a_list_in_json_says(services):
    from kafka_capacity_airflow.params import plan_request

    typed = {
        "broker_counts": "12, 15",
        "removed_brokers": " 3 ",
        "replaced_brokers": "4=14, 5=15",
        "throttle_bytes_per_second": "50MB/s",
        "recipients": "sre@example.com\nvp@example.com",
        "other_parameters": {"placers": ["fewest-bytes"], "replication_factor": 3},
    }
    listed = {
        "broker_counts": [12, 15],
        "removed_brokers": [3],
        "replaced_brokers": {"4": 14, "5": 15},
        "throttle_bytes_per_second": 50_000_000,
        "recipients": ["sre@example.com", "vp@example.com"],
        "placers": ["fewest-bytes"],
        "replication_factor": 3,
    }
    assert plan_request(typed, "shop-eu") == plan_request(listed, "shop-eu")


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"broker_counts": "12, many"}, r"broker_counts\.1: 'many' is invalid: write a whole number"),
        ({"replaced_brokers": "3:13"}, "replaced_brokers: '3:13' is invalid: write old=new"),
        (
            {"replaced_brokers": "1018=99, 1018=98"},
            "^replaced_brokers: '1018' is invalid: it is given both as '99' and as '98'; choose one$",
        ),
        ({"other_parameters": {"placer": "x"}}, "placer: no such parameter"),
        (
            {"horizon_months": 6, "other_parameters": {"horizon_months": 9}},
            r"horizon_months: 6 and 9 \(in other_parameters\) are both given; keep one of them",
        ),
    ],
)
def test_a_refusal_names_the_field_and_the_remedy(services, params, words):
    from kafka_capacity.errors import RequestError
    from kafka_capacity_airflow.params import plan_request

    with pytest.raises(RequestError, match=words):
        plan_request(params, "shop-eu")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("horizon_months", "0", "write months, or 6m or 1y; 1 to 60"),
        ("throttle_bytes_per_second", "fast", "write bytes per second, such as 50MB/s"),
        ("growth_per_year_ratio", "much", "write a ratio, such as 0.4 or 40%"),
        ("broker_counts", "12, many", "write whole numbers from 1 on, separated by commas"),
        ("replaced_brokers", "3", "write old=new, separated by commas"),
    ],
)
def test_a_refused_trigger_says_what_to_write(bag, name, value, words):
    """The text is the one of the API's answer, which the form shows above its fields."""
    from airflow.sdk.exceptions import ParamValidationError

    params = copy.deepcopy(bag.dags["kafka_capacity_plan"].params)
    with pytest.raises(ParamValidationError) as refusal:
        params[name] = value
    assert f"Invalid input for param {name}: {value!r}" in str(refusal.value)
    assert words in re.sub(r"\s*'\s+'", " ", str(refusal.value))


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [
        ("broker_counts", ["12, 15", "12;15 18", "", [12], None], ["0", "12, 0", "many", "-3", [0]]),
        ("removed_brokers", ["0, 3", "3"], ["-1", "3=4"]),
        ("replaced_brokers", ["3=13, 4=14", "3=13, 3=13"], ["3", "3=x"]),
        (
            "throttle_bytes_per_second",
            ["50MB/s", "1e-3", "0.5 MiB/s", 1e6],
            ["0", "-50MB/s", "fast", "50MBps", "50Mb/s", 0],
        ),
        ("horizon_months", ["12", " 1y6mo ", "", 12], ["0", "soon", "1 year", 0, 61]),
        ("growth_per_year_ratio", ["40%", "-10%", "0", ".3", -0.1], ["much", "40", "30pc", -1]),
        ("lag_slo_seconds", ["2m", "120s", "1h30m"], ["0s", "-1m", "2 minutes"]),
        ("recipients", ["a@example.net, b@example.net", "", ["a@b"]], ["a@example.net, sre", "a@b@c", ["sre"]]),
    ],
)
def test_what_no_plan_takes_starts_no_run(services, name, taken, refused):
    from airflow.sdk.exceptions import ParamValidationError

    from kafka_capacity_airflow.params import plan_params

    field = plan_params()[name]
    for value in taken:
        field.resolve(value)
    for value in refused:
        with pytest.raises(ParamValidationError):
            field.resolve(value)


def test_a_dag_loads_where_variables_cannot_be_read(services, monkeypatch):
    from kafka_capacity_airflow import params

    def fail():
        raise ConnectionError("no answer from the API server")

    monkeypatch.setattr(params, "clusters", fail)
    assert "examples" not in params.plan_params()["cluster"].schema


def test_a_dag_that_is_unpaused_does_not_run_what_is_past(bag):
    for dag in bag.dags.values():
        assert dag.start_date is None
        assert dag.timetable.run_immediately is False


def test_plugins_are_loaded_without_shadowing_anything(services):
    # In a process of its own: what other tests have imported does not count.
    code = (
        "import sys; from airflow import plugins_manager\n"
        "names = [plugin.name for plugin in plugins_manager._get_plugins()[0]]\n"
        "print(names, sorted(set(sys.modules) & {'inventory', 'settings', 'store', 'spark', 'mail', 'links', 'steps'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'kafka_capacity'" in done.stdout
    assert done.stdout.strip().endswith("[]"), "plugins/ leaks top-level modules: see plugins/.airflowignore"


def test_pages_are_asked_for_behind_the_path_of_airflows_address(services):
    code = (
        "from airflow import plugins_manager\n"
        "(ours,) = (plugin for plugin in plugins_manager._get_plugins()[0] if plugin.name == 'kafka_capacity')\n"
        "print(*(view['href'] for view in ours.external_views))"
    )
    changed = {**os.environ, "AIRFLOW__API__BASE_URL": "https://tools.example.net/airflow/"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=changed)
    assert done.stdout.split()[-2:] == [
        "/airflow/kafka-capacity/runs/{RUN_ID}",
        "/airflow/kafka-capacity/reports/index.html",
    ]


def test_what_pins_is_tried_again(bag):
    assert bag.dags["kafka_capacity_plan"].get_task("pin").retries == 2


def test_an_approval_has_a_deadline_and_is_asked_for_by_mail(bag):
    task = bag.dags["kafka_capacity_plan"].get_task("plan.approve")
    asked = vars(task)
    assert asked["response_timeout"].total_seconds() == 72 * 3600
    assert asked["execution_timeout"] is None
    assert asked["notifiers"]


def test_a_run_has_a_deadline_where_the_deployment_says_so(services, monkeypatch):
    from kafka_capacity_airflow.task_defaults import run_limits

    assert "deadline" not in run_limits()
    monkeypatch.setenv("KAFKA_CAPACITY_LATE_MINUTES", "90")
    deadline = run_limits()["deadline"]
    assert deadline.interval.total_seconds() == 5400
    assert deadline.callback.path == "kafka_capacity_airflow.notices.mail_that_a_run_is_late"


def test_there_are_brakes(bag):
    from kafka_capacity_airflow.pool import spark_pool

    for dag in bag.dags.values():
        # Longer than an approval may take, and the tasks before and after it.
        assert dag.dagrun_timeout.total_seconds() == 96 * 3600
        for task in dag.tasks:
            on_spark = "SparkOperator" in task.task_type
            assert task.pool == (spark_pool() if on_spark else "default_pool"), task.task_id
            assert task.execution_timeout or task.task_id == "plan.approve", task.task_id
            assert task.weight_rule == "upstream"
            assert task.owner == "kafka-capacity"
