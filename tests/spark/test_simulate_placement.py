"""The placement job on a real standalone master and worker, whose Python does not have our package."""

from __future__ import annotations

import datetime
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_capacity.errors import StorageError
from kafka_capacity.example import make_example
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_manifest
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import PLACEMENT
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.simulation import load_simulation_inputs, write_placement
from kafka_capacity.questions.change.evaluate import evaluate_tables
from tests.spark.conftest import JOB_SECONDS

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]


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
    expected = write_placement(store, inputs, bundles, simulation.facts)
    return folder, store, plan, expected


def test_a_standalone_cluster_gives_what_one_process_gives(master, pinned, submit):
    folder, store, plan, expected = pinned
    for key in store.list_keys(plan.plan_prefix):
        store.delete(key)
    done = submit("simulate_placement", master, folder, plan, "--tasks", "5")
    assert done.returncode == 0, done.stderr[-4000:]
    found = read_manifest(store, plan.plan_prefix, kind="plan_placement", share=PLACEMENT)
    assert found.sha256 == expected.sha256
    assert {name: [part.key for part in parts] for name, parts in found.tables.items()} == {
        name: [part.key for part in parts] for name, parts in expected.tables.items()
    }
    assert found.tables["waves"][0].rows > 0


def test_a_job_killed_after_its_first_file_leaves_nothing_that_a_reader_takes(environment, pinned, submit):
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
        timeout=JOB_SECONDS,
    )
    killer.unlink()
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-3000:]
    left = store.list_keys(plan.plan_prefix)
    assert len(left) == 1
    assert left[0].endswith(".parquet")
    with pytest.raises(StorageError, match=r"has no placement\.manifest\.json, so it is not complete"):
        read_manifest(store, plan.plan_prefix, share=PLACEMENT)

    done = submit("simulate_placement", "local[2]", folder, plan)
    assert done.returncode == 0, done.stderr[-4000:]
    assert read_manifest(store, plan.plan_prefix, share=PLACEMENT).sha256 == expected.sha256
