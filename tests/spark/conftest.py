"""A real standalone cluster of two workers, whose Python does not have our package."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.package_zip import build_zip
from local.environment import QUICK_SPARK
from spark_jobs.spread import SPARK_DEFAULTS
from tests.spark.histories import DS, stage_history
from tests.spark.s3a_jars import JARS
from tests.spark.standalone import spark_environment, standalone

ROOT = Path(__file__).resolve().parents[2]
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
    return spark_environment(tmp_path_factory.mktemp("java"))


@pytest.fixture(scope="session")
def cluster_folder(tmp_path_factory):
    """Where the workers keep what jobs bring along, each in a folder of its own."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def master(environment, cluster_folder):
    """The address of a master with two workers of a core each."""
    with standalone(environment, cluster_folder, workers=2, cores=1) as address:
        yield address


@pytest.fixture(scope="session")
def shipped(tmp_path_factory, bare_python):
    """What a job is submitted with to bring its executors' Python along."""
    archive = tmp_path_factory.mktemp("shipped") / "environment.tar.gz"
    with tarfile.open(archive, "w:gz") as made:
        made.add(bare_python.parents[1], ".")
    return "--archives", f"{archive}#environment", "--conf", "spark.pyspark.python=./environment/bin/python"


def run_job(job, environment, master, folder, plan, bare_python, *extra, store_uri=None, settings=(), **options):
    """Run one of our jobs by spark-submit; the store is the folder, unless ``store_uri`` says another place."""
    command = [
        "spark-submit",
        *("--master", master, "--py-files", str(build_zip(folder / "kafka_capacity.zip"))),
        *("--conf", f"spark.pyspark.python={bare_python}"),
        *("--conf", f"spark.pyspark.driver.python={bare_python}"),
        *("--conf", "spark.executor.memory=512m"),
        *(part for name, value in (QUICK_SPARK | SPARK_DEFAULTS).items() for part in ("--conf", f"{name}={value}")),
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

    def run(job, master, folder, plan, *extra, settings=()):
        return run_job(job, environment, master, folder, plan, bare_python, *extra, settings=settings)

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
