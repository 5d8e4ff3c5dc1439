"""The Spark job on a real standalone master and worker, whose Python does not have our package."""

from __future__ import annotations

import contextlib
import datetime
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
from pathlib import Path

import pytest

from kafka_capacity.errors import StorageError
from kafka_capacity.example import make_example
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_manifest
from kafka_capacity.objects.store import open_store
from kafka_capacity.request import parse_plan_request
from kafka_capacity.workflow.evaluation import evaluate_tables
from kafka_capacity.workflow.pinned import pin_plan, read_plan_inputs
from kafka_capacity.workflow.simulation import load_simulation_inputs, write_plan
from local.environment import QUICK_JVM
from local.java_home import java_home

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(sys.executable).parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory):
    """A Python with the libraries of this one and without the project."""
    home = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    site = next(home.glob("lib/python*/site-packages"))
    # A path inside a .pth is added without reading the .pth files in it, ours among them.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = home / "bin" / "python"
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    absent = subprocess.run([python, "-c", "import kafka_capacity"], cwd="/", env=clean, capture_output=True, text=True)
    assert "ModuleNotFoundError" in absent.stderr
    subprocess.run([python, "-c", "import numpy, pyarrow, pyspark"], cwd="/", env=clean, check=True)
    return python


@pytest.fixture(scope="module")
def environment(tmp_path_factory, bare_python):
    home = java_home(tmp_path_factory.mktemp("java"))
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "SPARK_HOME"}}
    return {
        **kept,
        "JAVA_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK_JVM,
        "PATH": f"{BINARIES}:{os.environ['PATH']}",
    }


@contextlib.contextmanager
def daemon(environment, folder, *arguments):
    with (folder / "daemon.log").open("ab") as log:
        process = subprocess.Popen(
            ["spark-class", *arguments], env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="module")
def master(environment, tmp_path_factory):
    """The address of a master with one worker of two cores."""
    folder = tmp_path_factory.mktemp("spark")
    port, web, worker_web = free_port(), free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    with (
        daemon(
            environment,
            folder,
            f"{deploy}.master.Master",
            *("--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web)),
        ),
        daemon(
            environment,
            folder,
            f"{deploy}.worker.Worker",
            *("--host", "127.0.0.1", "--webui-port", str(worker_web), "--cores", "2", "--memory", "1g"),
            *("--work-dir", str(folder / "work")),
            address,
        ),
    ):
        end = time.monotonic() + 90
        while time.monotonic() < end:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{web}/json/") as answer:
                if b'"aliveworkers" : 1' in answer.read():
                    break
            time.sleep(0.3)
        else:
            pytest.fail((folder / "daemon.log").read_text()[-3000:])
        yield address


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    """A staged example, a pinned request with six scenarios, and the manifest that in-process evaluation writes."""
    folder = tmp_path_factory.mktemp("store")
    store = open_store(str(folder))
    stage(make_example("metrics-uneven"), store)
    request = parse_plan_request(
        {"cluster": "metrics-uneven", "broker_counts": [9, 12], "placers": ["fewest-bytes", "generate", "zk"]}
    )
    plan = pin_plan(store, request, run_date=datetime.date(2026, 12, 1))
    inputs = read_plan_inputs(store, plan.request_key)
    simulation = load_simulation_inputs(store, inputs)
    bundles = [evaluate_tables(simulation, scenario, has_moves=True) for scenario in inputs.scenarios]
    expected = write_plan(store, inputs, bundles, simulation.facts)
    return folder, store, plan, expected


def zip_of_the_package(folder):
    from zipfile import ZipFile

    target = folder / "kafka_capacity.zip"
    with ZipFile(target, "w") as archive:
        for package in ("kafka_capacity", "spark_jobs"):
            for path in sorted((ROOT / package).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    archive.write(path, path.relative_to(ROOT).as_posix())
    return target


def submit(environment, master, folder, plan, bare_python, *extra, **options):
    command = [
        "spark-submit",
        *("--master", master, "--py-files", str(zip_of_the_package(folder))),
        *("--conf", f"spark.pyspark.python={bare_python}"),
        *("--conf", f"spark.pyspark.driver.python={bare_python}"),
        *("--conf", f"spark.driver.extraJavaOptions={QUICK_JVM}"),
        *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.executor.memory=512m"),
        str(ROOT / "spark_jobs" / "simulate_placement.py"),
        *("--store-uri", str(folder), "--request-key", plan.request_key),
        *extra,
    ]
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, timeout=300, **options)


@pytest.mark.parametrize("tasks", [1, 5])
def test_a_standalone_cluster_gives_what_one_process_gives_whatever_the_number_of_tasks(
    environment, master, pinned, bare_python, tasks
):
    folder, store, plan, expected = pinned
    for key in store.list_keys(plan.plan_prefix):
        store.delete(key)
    done = submit(environment, master, folder, plan, bare_python, "--tasks", str(tasks))
    assert done.returncode == 0, done.stderr[-4000:]
    found = read_manifest(store, plan.plan_prefix, kind="plan")
    assert found.sha256 == expected.sha256
    assert {part.key for part in found.tables["moves"]} == {part.key for part in expected.tables["moves"]}


def test_a_job_killed_after_its_first_file_leaves_nothing_that_a_reader_takes(environment, pinned, bare_python):
    folder, store, plan, expected = pinned
    for key in store.list_keys(plan.plan_prefix):
        store.delete(key)
    # The kernel kills the driver as it is: no clean-up code of ours runs.
    killer = folder / "sitecustomize.py"
    killer.write_text(
        "import os, signal\n"
        "from kafka_capacity.objects import store\n"
        "write = store.LocalStore.write_bytes\n"
        "def first_then_die(self, key, data, **kw):\n"
        "    write(self, key, data, **kw)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.LocalStore.write_bytes = first_then_die\n"
    )
    job = (
        "import sitecustomize, sys; from spark_jobs.simulate_placement import main; "
        f"main(['--store-uri', {str(folder)!r}, '--request-key', {plan.request_key!r}])"
    )
    killed = subprocess.run(
        [sys.executable, "-c", job],
        env={**environment, "PYTHONPATH": f"{folder}:{ROOT}", "PYSPARK_PYTHON": sys.executable},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=300,
    )
    killer.unlink()
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-3000:]
    left = store.list_keys(plan.plan_prefix)
    assert len(left) == 1
    assert left[0].endswith(".parquet")
    with pytest.raises(StorageError, match=r"has no manifest\.json, so it is not complete"):
        read_manifest(store, plan.plan_prefix)

    done = submit(environment, "local[2]", folder, plan, bare_python)
    assert done.returncode == 0, done.stderr[-4000:]
    assert read_manifest(store, plan.plan_prefix).sha256 == expected.sha256
