"""How plans are submitted: one application, or one a question; and what a try finds that another one began."""

from __future__ import annotations

import ast
import base64
import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from kafka_capacity.questions.registry import QUESTIONS

pytestmark = pytest.mark.airflow

PINNED = {"cluster": "payments", "ds": "2026-11-20", "inventory_sha256": "ab" * 32, "plan_id": "1234"}
IN_ONE_GO = [question.share for question in QUESTIONS if not question.has_pieces]
APART = (["sizing", *IN_ONE_GO], ["groups"], ["savings"], ["chargeback"], ["placement"], ["failures"])
REQUEST_KEY = "requests/cluster=payments/ds=2026-11-20/plan=1234/request.json"


@pytest.mark.parametrize(
    ("is_split", "expected"),
    [
        (False, [[]]),
        (True, [["--shares", *shares] for shares in APART]),
    ],
)
def test_a_plan_is_one_application_unless_a_split_is_asked_for(services, is_split, expected):
    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator

    operator = KafkaCapacitySparkOperator(task_id="simulate", job="simulate", pinned=PINNED)
    found = operator._applications({"params": {"is_split_by_question": is_split}})
    assert found == [["--request-key", REQUEST_KEY, *more] for more in expected]


def test_a_line_is_printed_for_each_task_with_what_it_did(tmp_path):
    from rich.console import Console

    from local.task_lines import TaskLines

    console = Console(record=True, width=200)
    log = tmp_path / "jobs.log"
    log.write_text("")
    lines = TaskLines(console, began=0.0, log=log)
    task = SimpleNamespace(task_id="plan.simulate")
    lines.on_task_instance_running(task_instance=task)
    with log.open("a") as written:
        written.write("26/11/20 INFO kafka_capacity.spark 1 of 4 placements are done\nanything else\n")
        written.write("40 of 1,085 group variants are done\n")
    assert str(lines.__rich__()) == "simulate: 1 of 4 placements, 40 of 1,085 group variants"
    with log.open("a") as written:
        written.write("4 of 4 placements are done\n3 of 3 placements are done\n")  # a second batch
    lines.on_task_instance_success(task_instance=task)
    assert "simulate " in (printed := console.export_text())
    assert printed.rstrip().endswith(" s  7 placements, 1,085 group variants")


def test_what_travels_is_what_jobs_import_and_no_commands_or_recorded_answers(services, tmp_path):
    from kafka_capacity.plan.package_zip import build_zip

    archive = build_zip(tmp_path / "kafka_capacity.zip")
    with zipfile.ZipFile(archive) as packed:
        rooms = {name.split("/")[1] for name in packed.namelist() if name.startswith("kafka_capacity/")}
    assert not rooms & {"cli", "conformance", "example"}
    code = (
        f"import sys; sys.path.insert(0, {str(archive)!r}); "
        "import spark_jobs.simulate, spark_jobs.load_profile, kafka_capacity.plan.runner; "
        "print(kafka_capacity.plan.runner.__file__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout.startswith(str(archive)), done.stderr


@pytest.fixture
def submitted(tmp_path, monkeypatch):
    """A ``spark-submit`` that notes how it was called, and says what YARN says."""
    calls = tmp_path / "calls"
    calls.mkdir()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "spark-submit"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, os, pathlib, sys, uuid\n"
        "call = {'arguments': sys.argv[1:], 'environment': dict(os.environ)}\n"
        f"folder = pathlib.Path({str(calls)!r})\n"
        "number = len(list(folder.iterdir()))\n"
        "(folder / f'{number:03}').write_text(json.dumps(call))\n"
        "print(f'Submitted application application_1_000{number}')\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return lambda: [json.loads(call.read_text()) for call in sorted(calls.iterdir())]


def test_a_driver_here_gets_credentials_by_its_environment_alone_and_ends_with_its_task(
    services, submitted, monkeypatch
):
    from airflow.providers.apache.spark.hooks import spark_submit

    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator

    started = {}

    def popen(*args, preexec_fn, **kwargs):
        started["tied"] = preexec_fn is not None
        return subprocess.Popen(*args, **kwargs)

    monkeypatch.setattr(spark_submit, "subprocess", SimpleNamespace(**vars(subprocess) | {"Popen": popen}))
    operator = KafkaCapacitySparkOperator(
        task_id="profile", job="load_profile", arguments=["--cluster=c"], executor_memory="3g"
    )
    operator.execute({"ti": SimpleNamespace(id="one")})
    (call,) = submitted()
    secret = json.loads(os.environ["AIRFLOW_CONN_AWS_DEFAULT"])["password"]
    assert call["environment"]["AWS_SECRET_ACCESS_KEY"] == secret
    assert secret not in " ".join(call["arguments"])
    assert call["arguments"][-1] == "--cluster=c"
    assert "--executor-memory 3g" in " ".join(call["arguments"])
    assert started["tied"] == (sys.platform == "linux")


class _ResourceManager(http.server.BaseHTTPRequestHandler):
    """Says of YARN's applications what it is told to, each once, and then that they succeeded."""

    states: ClassVar[dict[str, list[tuple[str, str]]]] = {}

    def do_GET(self):
        left = self.states.get(self.path.rsplit("/", 1)[-1])
        state, final = left.pop(0) if left else ("FINISHED", "SUCCEEDED")
        body = json.dumps({"app": {"state": state, "finalStatus": final}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def yarn(monkeypatch):
    """A cluster in whose connection the ResourceManager is named."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _ResourceManager)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    extra = {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": address}
    connection = {"conn_type": "spark", "host": "yarn", "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    monkeypatch.setattr(_ResourceManager, "states", {})
    yield _ResourceManager.states
    server.shutdown()
    server.server_close()


class _State(dict):
    """What a task keeps for its next try, as Airflow's own accessor does it."""

    def set(self, key, value):
        self[key] = value


class WorkerLostError(BaseException):
    """Nobody catches it, as if the process were gone."""


def test_a_try_after_a_lost_worker_waits_for_the_driver_that_runs_already(services, submitted, yarn, monkeypatch):
    import time

    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator

    def simulate(number):
        operator = KafkaCapacitySparkOperator(task_id="simulate", job="simulate", pinned=PINNED)
        monkeypatch.setattr(operator, "_is_done", lambda: False)
        operator.execute(
            {
                "ti": SimpleNamespace(id=f"try-{number}", stats_tags={}),
                "task_state_store": state,
                "params": {"is_split_by_question": True},
            }
        )

    def lose_the_worker(seconds):
        raise WorkerLostError

    state = _State()
    yarn["application_1_0001"] = [("RUNNING", "UNDEFINED")] * 2
    with monkeypatch.context() as patched:
        patched.setattr(time, "sleep", lose_the_worker)
        with pytest.raises(WorkerLostError):
            simulate(1)
    assert len(submitted()) == 2  # the first is done, the second was waited for
    assert not any("AWS_SECRET" in name for name in submitted()[0]["environment"])
    simulate(2)
    shares = [call["arguments"][call["arguments"].index("--shares") + 1] for call in submitted()]
    assert shares == [shares[0] for shares in APART]  # each once
    assert yarn["application_1_0001"] == []  # it was asked for at both tries
    assert state == {}  # who clears the task wants it done again


def test_what_a_lost_try_submitted_is_refused_in_its_words_at_the_next_one(services, submitted, yarn, monkeypatch):
    import time

    from kafka_capacity.errors import InventoryError
    from kafka_capacity.objects.refusal import tell_refusal
    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator
    from kafka_capacity_airflow.store import airflow_store

    def profile(number):
        operator = KafkaCapacitySparkOperator(task_id="profile", job="load_profile", arguments=["--cluster=c"])
        operator.execute({"ti": SimpleNamespace(id=f"try-{number}", stats_tags={}), "task_state_store": state})

    def lose_the_worker(seconds):
        raise WorkerLostError

    state = _State()
    yarn["application_1_0000"] = [("RUNNING", "UNDEFINED")] * 2 + [("FAILED", "FAILED")]
    with monkeypatch.context() as patched:
        patched.setattr(time, "sleep", lose_the_worker)
        with pytest.raises(WorkerLostError):
            profile(1)
    (call,) = submitted()
    key = call["arguments"][call["arguments"].index("--refusal-key") + 1]
    tell_refusal(airflow_store(), key, InventoryError("no such day"))
    with pytest.raises(InventoryError, match="no such day"):
        profile(2)
    assert len(submitted()) == 1


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({}, {}),
        ({"deploy-mode": "cluster"}, {}),
        ({"deploy-mode": "cluster", "track_driver_via_k8s_api": True}, {"track_driver_via_k8s_api": True}),
        ({"track_driver_via_k8s_api": True}, {}),
    ],
)
def test_a_driver_on_the_cluster_is_followed_where_its_connection_says_how(services, monkeypatch, extra, expected):
    from kafka_capacity_airflow.spark import KafkaCapacitySparkOperator

    connection = {"conn_type": "spark", "host": "k8s://https://kubernetes:6443", "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    operator = KafkaCapacitySparkOperator(task_id="profile", job="load_profile", arguments=["--cluster=c"])
    assert operator._tracking() == expected


@pytest.mark.parametrize(("version", "over"), [("4.2.0", b"# of 4.2.0"), ("4.2.0", None), ("4.3.0", b"# alike")])
def test_a_pyspark_that_another_package_wrote_over_is_refused(tmp_path, monkeypatch, version, over):
    from airflow.sdk.exceptions import AirflowFailException

    from kafka_capacity_airflow.spark import refuse_mixed_pyspark

    own = b"# of 4.3.0"
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "worker.py").write_bytes(own if over is None else over)
    sha256 = base64.urlsafe_b64encode(hashlib.sha256(own).digest()).rstrip(b"=").decode()
    for name, one in (("pyspark", "4.3.0"), ("pyspark_client", version)):
        folder = tmp_path / f"{name}-{one}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Name: {name.replace('_', '-')}\nVersion: {one}\n")
        (folder / "RECORD").write_text(f"pyspark/worker.py,sha256={sha256},{len(own)}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    if over is None or version == "4.3.0":
        refuse_mixed_pyspark()
        return
    with pytest.raises(
        AirflowFailException, match=r"pyspark/worker\.py is not that of pyspark 4\.3\.0: pyspark-client 4"
    ):
        refuse_mixed_pyspark()


def test_no_private_part_of_the_hook_of_spark_is_used():
    import kafka_capacity_airflow.spark as ours

    tree = ast.parse(Path(ours.__file__).read_text())
    private = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr.startswith("_")]
    of_others = {ast.unparse(node) for node in private if ast.unparse(node.value) not in {"self", "super()"}}
    assert of_others == {"os._exit"}
