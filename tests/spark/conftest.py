"""A real standalone master and worker, whose Python does not have our package."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.request
from pathlib import Path

import pytest

from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.package_zip import build_zip
from local.environment import QUICK_JVM
from local.java_home import java_home
from tests.ports import free_ports
from tests.spark.histories import DS, stage_history
from tests.spark.s3a_jars import JARS

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 300
JOB_SECONDS = 1200
"""Jobs take some twenty seconds; these are for machines that are busy."""


def pytest_collection_modifyitems(config, items):
    """Deselect what needs jars that cannot be fetched here, and say so; where everything is asked for, it fails."""
    concerned = [item for item in items if item.get_closest_marker("s3a")]
    if not concerned or os.environ.get("KAFKA_CAPACITY_TEST_EVERYTHING") == "1":
        return
    try:
        JARS.paths()
    except RuntimeError as error:
        items[:] = [item for item in items if item not in concerned]
        config.hook.pytest_deselected(items=concerned)
        print(f"left out: tests of Spark reading S3 by itself ({str(error).splitlines()[0]})", file=sys.stderr)


BINARIES = Path(sys.executable).parent


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def master(environment, tmp_path_factory):
    """The address of a master with one worker of two cores."""
    folder = tmp_path_factory.mktemp("spark")
    port, web, worker_web = free_ports(3)
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
        end = time.monotonic() + START_SECONDS
        state = f"http://127.0.0.1:{web}/json/"
        while time.monotonic() < end:
            with contextlib.suppress(OSError), urllib.request.urlopen(state, timeout=30) as answer:
                if b'"aliveworkers" : 1' in answer.read():
                    break
            time.sleep(0.3)
        else:
            pytest.fail((folder / "daemon.log").read_text()[-3000:])
        yield address


def run_job(job, environment, master, folder, plan, bare_python, *extra, store_uri=None, settings=(), **options):
    """Run one of our jobs by spark-submit; the store is the folder, unless ``store_uri`` says another place."""
    command = [
        "spark-submit",
        *("--master", master, "--py-files", str(build_zip(folder / "kafka_capacity.zip"))),
        *("--conf", f"spark.pyspark.python={bare_python}"),
        *("--conf", f"spark.pyspark.driver.python={bare_python}"),
        *("--conf", f"spark.driver.extraJavaOptions={QUICK_JVM}"),
        *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.executor.memory=512m"),
        *settings,
        str(ROOT / "spark_jobs" / f"{job}.py"),
        *("--store-uri", store_uri or str(folder)),
        *(() if plan is None else ("--request-key", plan.request_key)),
        *extra,
    ]
    return subprocess.run(
        command, env=environment, cwd="/", capture_output=True, text=True, timeout=JOB_SECONDS, **options
    )


@pytest.fixture(scope="session")
def submit(environment, bare_python):
    """Runs a job: ``submit("simulate", master, folder, plan, "--tasks", "3")``; a plan is not for all."""

    def run(job, master, folder, plan, *extra):
        return run_job(job, environment, master, folder, plan, bare_python, *extra)

    return run


@pytest.fixture(scope="session")
def profiled_folder(tmp_path_factory, master, submit):
    """A store in a folder with a history and the profile that Spark makes of it, the inventory, and all hours."""
    folder = tmp_path_factory.mktemp("profile")
    store = open_store(str(folder))
    raw, hours = stage_history(store)
    done = submit("load_profile", master, folder, None, "--cluster", raw.cluster, "--ds", DS)
    assert done.returncode == 0, done.stderr[-4000:]
    return store, raw, hours
