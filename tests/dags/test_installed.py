"""Without this folder on any path: the wheel in an Airflow of somebody else, and the repository as a bundle of DAGs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.airflow

ROOT = Path(__file__).resolve().parents[2]
DAGS = ["kafka_capacity_plan", "kafka_capacity_scoreboard", "kafka_inventory"]
LOOK = """
import json, sys
from airflow.dag_processing.dagbag import BundleDagBag
from pathlib import Path
folder = Path(sys.argv[1])
bag = BundleDagBag(dag_folder=str(folder), bundle_path=folder, bundle_name="ours")
from airflow import plugins_manager
from airflow.providers_manager import ProvidersManager
print("found:" + json.dumps({
    "dags": sorted(bag.dags), "errors": bag.import_errors,
    "plugins": [plugin.name for plugin in plugins_manager._get_plugins()[0]],
    "providers": [name for name in ProvidersManager().providers if "kafka-capacity" in name],
    "jobs": str(__import__("kafka_capacity_airflow.spark").spark.job_file("simulate")),
}))
"""


@pytest.fixture
def elsewhere(tmp_path):
    """A Python with Airflow and without this project, and what looks at a folder of DAGs with it."""
    home = tmp_path / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    site = next(home.glob("lib/python*/site-packages"))
    # A path inside a .pth is added without reading the .pth files in it, ours among them.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "PYTHONPATH"))}
    environment = {
        **kept,
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "120",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }

    def look(folder):
        command = [str(home / "bin" / "python"), "-W", "ignore", "-c", LOOK, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith("found:")]
        assert lines, done.stderr[-3000:]
        return json.loads(lines[0].removeprefix("found:"))

    return home, look


def test_the_repository_is_a_bundle_of_dags_as_it_is(services, elsewhere, tmp_path):
    _, look = elsewhere
    bundle = tmp_path / "bundle"
    for folder in ("dags", "plugins", "kafka_capacity", "spark_jobs", "templates"):
        shutil.copytree(ROOT / folder, bundle / folder, ignore=shutil.ignore_patterns("__pycache__"))
    found = look(bundle / "dags")
    assert found["errors"] == {}
    assert found["dags"] == DAGS
    assert found["jobs"] == str(bundle / "spark_jobs" / "simulate.py")


def test_the_wheel_brings_dags_operators_and_the_plugin_to_an_airflow_of_somebody_else(services, elsewhere, tmp_path):
    home, look = elsewhere
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "build", "--quiet", "--wheel", "--out-dir", str(tmp_path / "wheels"), str(ROOT)], check=True)
    (wheel,) = (tmp_path / "wheels").glob("kafka_capacity-*.whl")
    python = str(home / "bin" / "python")
    subprocess.run([*uv, "pip", "install", "--quiet", "--no-deps", "--python", python, str(wheel)], check=True)
    own = tmp_path / "their_dags"
    own.mkdir()
    (own / "capacity.py").write_text(
        "from kafka_capacity_airflow.packaged_dags import *  # the DAGs of kafka-capacity for airflow\n"
    )
    found = look(own)
    assert found["errors"] == {}
    assert found["dags"] == DAGS
    assert found["plugins"].count("kafka_capacity") == 1
    assert found["providers"] == ["kafka-capacity"]
    assert found["jobs"].startswith(str(home))
    with_commands = subprocess.run([home / "bin" / "kafka-capacity", "--help"], capture_output=True, text=True)
    assert "plan" in with_commands.stdout


def test_what_the_lock_installs_is_one_pyspark_and_all_else_that_is_required():
    from kafka_capacity_airflow.spark import any_file_that_differs

    installed = {canonicalize_name(each.name): each for each in metadata.distributions() if each.name}
    assert any_file_that_differs(installed["pyspark"]) is None
    missing = {
        (canonicalize_name(needed.name), distribution.name)
        for distribution in installed.values()
        for needed in map(Requirement, distribution.requires or ())
        if needed.marker is None or needed.marker.evaluate({"extra": ""})
        if (found := installed.get(canonicalize_name(needed.name))) is None
        or not needed.specifier.contains(found.version, prereleases=True)
    }
    assert missing == {("pyspark-client", "apache-airflow-providers-apache-spark")}
