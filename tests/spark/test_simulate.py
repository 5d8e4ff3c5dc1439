"""The questions of a plan on a real standalone cluster of two workers, whose Python does not have our package."""

from __future__ import annotations

import datetime
import math
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_capacity.errors import StorageError
from kafka_capacity.example import make_example
from kafka_capacity.inventory.chosen_hours import (
    MAX_PARTITION_RATE,
    METRICS,
    RATES,
    assembled,
    choose_hours,
    hourly_totals,
    hours_of_part,
)
from kafka_capacity.inventory.column_values import ReplicaColumns
from kafka_capacity.inventory.staging import inventory_manifest, stage
from kafka_capacity.objects.dataset import read_manifest, read_parts, read_table
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import SHARES, TABLES, seal_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.runner import simulate_plan
from kafka_capacity.questions.change.share import CHANGE
from kafka_capacity.questions.consumers import evaluate as group_evaluation
from kafka_capacity.questions.consumers.share import CONSUMERS
from tests.spark.conftest import JOB_SECONDS

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]
REQUEST = {
    "cluster": "metrics-uneven",
    "broker_counts": [9, 12],
    "placers": ["fewest-bytes", "generate", "zk"],
    "groups": ["app-media-billing", "app-returns-fraud", "app-stock-dashboards", "state-devices-search-index"],
    "consumer_counts": [2, 3, 4, 5, 6, 7, 8, 9],
    "group_assignors": ["range", "cooperative-sticky", "uniform"],
    "group_events": ["scale", "rolling-restart"],
    "member_capacity_bytes_per_second": 20e6,
    "controllers": ["1", "2", "3"],
    "failover_runs": 10,
}
"""Of groups so many scenarios that only some bring details."""


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    """A staged example, a pinned request, and the manifests that one process writes, which are taken away again."""
    folder = tmp_path_factory.mktemp("store")
    store = open_store(str(folder))
    stage(make_example("metrics-uneven"), store)
    plan = pin_plan(store, parse_plan_request(REQUEST), run_date=datetime.date(2026, 12, 1))
    expected = simulate_plan(store, read_plan_inputs(store, plan.request_key))
    assert len(read_table(store, expected[CONSUMERS.share], "group_scenarios")) > group_evaluation.DETAILS_FOR_ALL_UP_TO
    assert expected[CHANGE.share].tables["waves"][0].rows > 0
    for key in store.list_objects(plan.plan_prefix):
        store.delete(key)
    return folder, store, plan, expected


def stored(store, plan):
    return {share: read_manifest(store, plan.plan_prefix, kind=f"plan_{share}", share=share) for share in SHARES}


def test_a_job_killed_after_its_first_file_leaves_nothing_that_a_reader_takes(environment, pinned):
    folder, store, plan, _ = pinned
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
        "import sitecustomize, sys; from spark_jobs.simulate import main; "
        f"main(['--store-uri', {str(folder)!r}, '--request-key', {plan.request_key!r}, '--shares', 'placement'])"
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
    left = list(store.list_objects(plan.plan_prefix))
    assert len(left) == 1
    assert left[0].endswith(".parquet")
    with pytest.raises(StorageError, match=r"has no placement\.manifest\.json, so it is not complete"):
        read_manifest(store, plan.plan_prefix, share=CHANGE.share)


def odd_rates():
    """Return hours of one partition whose rates are none: not known, below nothing, beyond any line."""
    rates = [1.5, None, math.nan, -1.0, MAX_PARTITION_RATE * 1.001, math.inf, MAX_PARTITION_RATE]
    hours = [datetime.datetime(2026, 1, 5, hour, tzinfo=datetime.UTC) for hour in range(len(rates))]
    both = dict.fromkeys(RATES, pa.array(rates, pa.float32()))
    names = {"topic": ["orders"] * len(rates), "partition": pa.array([0] * len(rates), pa.int32())}
    return pa.table({**names, "hour": pa.array(hours, pa.timestamp("ms", tz="UTC")), **both})


def test_executors_choose_the_hours_of_a_large_inventory_as_one_process_does(pinned, environment, tmp_path):
    folder, store, plan, _ = pinned
    odd = odd_rates()
    pq.write_table(odd, tmp_path / "odd.parquet")
    # Found in the driver they would be right as well.
    script = f"""
import functools
import logging
logging.basicConfig(level=logging.INFO)
import numpy as np
from pyspark.sql import SparkSession
from kafka_capacity.inventory import staging
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import read_plan_inputs
from kafka_capacity.plan.traffic import read_basis
from spark_jobs import reading
from spark_jobs.carried import Cargo
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
staging.MOST_ROWS = 0
reading.choose_hours.__kwdefaults__["count"] = 100
store = open_store({str(folder)!r})
gather = functools.partial(reading.gather_in_spark, spark, Cargo(spark.sparkContext), None)
hours = read_basis(store, read_plan_inputs(store, {plan.request_key!r}).pinned, gather=gather).raw.hours
odd = reading.read_by_itself(spark, open_store({str(tmp_path)!r}), ["odd.parquet"])
totals = reading.hourly_totals_in_spark(odd)
np.savez({str(tmp_path / "hours.npz")!r}, odd=sorted(totals.items()), seconds=hours.seconds,
         known_hours=hours.known_hours, has_traffic=hours.has_traffic, **hours.rates)
spark.stop()
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=JOB_SECONDS,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    manifest = inventory_manifest(store, plan.cluster, plan.ds)
    parts = list(read_parts(store, manifest, METRICS))
    index = ReplicaColumns.of(read_table(store, manifest, "replicas")).index()
    seconds = choose_hours(hourly_totals(parts), count=100)
    cells = (one for part in parts for one in hours_of_part(part, index, seconds).items())
    expected = assembled(cells, seconds, len(index.keys))
    with np.load(tmp_path / "hours.npz") as found:
        assert found["odd"].tolist() == [list(one) for one in sorted(hourly_totals([odd]).items())]
        assert len(found["seconds"]) == 100
        for name in ("seconds", "known_hours", "has_traffic"):
            np.testing.assert_array_equal(found[name], getattr(expected, name))
        for name, rates in expected.rates.items():
            np.testing.assert_array_equal(found[name], rates)


def test_two_workers_with_the_python_that_was_shipped_store_what_one_process_does(
    master, pinned, submit, shipped, cluster_folder
):
    folder, store, plan, expected = pinned
    before = set(cluster_folder.glob("work-*/app-*"))
    done = submit("simulate", master, folder, plan, "--tasks", "3", settings=shipped)
    assert done.returncode == 0, done.stderr[-4000:]
    assert stored(store, plan) == expected
    said = done.stdout + done.stderr
    assert "(3 tasks)" in said
    begun = re.findall(r"0 of (\d+ .+) are done", said)
    assert begun
    assert all(re.search(f"{one.split()[0]} of {re.escape(one)} are done", said) for one in begun)
    # Others only warn, but for the context's first lines, which come before it reads the level.
    assert re.findall(r" INFO (?!kafka_capacity|SparkContext: ).*", said) == []
    # An executor unpacks what was shipped, and fetches the arrays, when its first task begins; a late one may get none.
    executors = [one for app in set(cluster_folder.glob("work-*/app-*")) - before for one in app.iterdir()]
    assert {one.parents[1].name for one in executors} == {"work-0", "work-1"}
    busy = [one for one in executors if (one / "environment").exists()]
    assert busy
    for one in busy:
        assert (one / "environment" / "bin" / "python").exists()
        assert list(one.glob("*.arrays"))


def test_a_second_run_does_what_is_missing_and_one_manifest_names_all(pinned, submit):
    folder, store, plan, expected = pinned
    store.delete(f"{plan.plan_prefix}{CONSUMERS.share}.manifest.json")
    done = submit("simulate", "local[2]", folder, plan, "--keep-from", "0")
    assert done.returncode == 0, done.stderr[-4000:]
    assert stored(store, plan) == expected
    said = done.stdout + done.stderr
    assert [share for share in SHARES if f"{share}: already stored" in said] == [
        s for s in SHARES if s != CONSUMERS.share
    ]
    assert "group variants are done" in said
    pieces = list(store.list_objects(plan.pieces_prefix))
    assert len(pieces) > 10
    store.delete(pieces[0])
    store.delete(f"{plan.plan_prefix}{CONSUMERS.share}.manifest.json")
    done = submit("simulate", "local[2]", folder, plan, "--keep-from", "0")
    assert done.returncode == 0, done.stderr[-4000:]
    assert stored(store, plan) == expected
    said = done.stdout + done.stderr
    assert said.count("were done by an earlier try") == len(pieces) - 1
    assert "FairSchedulableBuilder" not in said  # it warns of pools that it does not know
    assert "group variants are done" in said
    assert list(store.list_objects(plan.pieces_prefix)) == pieces
    assert "placements are done" not in said
    sealed = seal_plan(store, plan)
    assert sealed.facts["shares"] == {share: manifest.sha256 for share, manifest in expected.items()}
    assert set(TABLES) == set(sealed.tables)
    assert list(store.list_objects(plan.pieces_prefix)) == []
