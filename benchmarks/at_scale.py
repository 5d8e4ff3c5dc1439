"""A plan of a large cluster on a standalone Spark cluster: seconds, and the peak memory of the driver and an executor.

    python -m benchmarks.at_scale --parts 100 [--scenarios 1000] [--workers 1 2] [--shares placement]
    python -m benchmarks.at_scale --parts 100 --profile

The whole are 500 brokers, a million partitions of RF 3 and 90 days of hourly rates; ``--parts 100`` makes a hundredth
of the partitions, on a tenth of the brokers, since both grow together. The rates have a day's course of their own for
each topic and noise. They are written before the clock starts, some partitions at a time. Scenarios are up to 50 counts
of brokers with each of four placers, and beyond that several throttles. All runs on this machine, a core a worker.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.made_up import hourly_rates, keep_days, made_up_inventory, usual_case, without_metrics
from benchmarks.peak_memory import DRIVER, EXECUTOR, Watched, watched
from benchmarks.through_spark import say
from kafka_capacity.inventory.chosen_hours import METRICS
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.staging import KIND, inventory_manifest, stage
from kafka_capacity.inventory.tables import SCHEMA_VERSION
from kafka_capacity.objects.dataset import Part, parquet_bytes
from kafka_capacity.objects.manifest import MANIFEST, manifest_body
from kafka_capacity.objects.store import ObjectStore, open_store
from kafka_capacity.plan.package_zip import build_zip
from kafka_capacity.plan.pinned import pin_plan
from kafka_capacity.plan.request import parse_plan_request
from spark_jobs.spread import SPARK_DEFAULTS
from tests.spark.standalone import spark_environment, standalone

WHOLE_PARTITIONS, WHOLE_BROKERS, DAYS = 1_000_000, 500, 90
MOST_COUNTS = 50  # of brokers in one request
PLACERS = ("fewest-bytes", "generate", "striped", "zk")
GIB = 1 << 30
ROOT = Path(__file__).resolve().parents[1]


def cluster(parts: int) -> RawInventory:
    """Make the cluster up, with an hour of metrics."""
    brokers = round(WHOLE_BROKERS / math.sqrt(parts))
    return made_up_inventory(usual_case(WHOLE_PARTITIONS // parts, brokers, racks=5), 1)


def stage_in_parts(raw: RawInventory, store: ObjectStore, days: int) -> None:
    """Stage a cluster, its metrics a part after another."""
    stage(without_metrics(raw), store)
    manifest = inventory_manifest(store, raw.cluster, raw.ds)
    listed = []
    for number, table in enumerate(hourly_rates(raw.table(METRICS), raw.ds, days)):
        data = parquet_bytes(table)
        digest = hashlib.sha256(data).hexdigest()
        part = Part(
            key=f"{METRICS}/part-{number:05d}-{digest[:16]}.parquet", rows=len(table), bytes=len(data), sha256=digest
        )
        store.write_bytes(manifest.prefix + part.key, data)
        listed.append(part)
    body = manifest_body(KIND, SCHEMA_VERSION, {**manifest.tables, METRICS: listed}, manifest.documents, manifest.facts)
    store.write_bytes(manifest.prefix + MANIFEST, body)


def run(
    folder: Path, environment: dict[str, str], master: str, job: str, words: Sequence[str], memory: str
) -> tuple[float, Watched, str]:
    """Submit a job; returns seconds, what its processes took, and what it logged."""
    command = [
        "spark-submit",
        *("--master", master, "--py-files", str(build_zip(folder / "kafka_capacity.zip"))),
        *("--driver-memory", memory, "--executor-memory", memory),
        *(
            "--conf",
            f"spark.pyspark.python={sys.executable}",
            "--conf",
            f"spark.pyspark.driver.python={sys.executable}",
        ),
        *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false"),
        *(part for name, value in SPARK_DEFAULTS.items() for part in ("--conf", f"{name}={value}")),
        str(ROOT / "spark_jobs" / f"{job}.py"),
        *("--store-uri", str(folder / "store"), *words),
    ]
    began = time.perf_counter()
    with (folder / "job.log").open("w+") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
        with watched(process.pid) as seen:
            status = process.wait()
        seconds = time.perf_counter() - began
        log.seek(0)
        said = log.read()
    if status:
        raise RuntimeError(said[-4000:])
    return seconds, seen, said


def seconds_between(said: str, first: str, last: str) -> float:
    """Return how long after a line of the log another one came, NaN where one is missing."""
    moments = [
        datetime.datetime.fromisoformat(found[1].replace(",", "."))
        for text in (first, last)
        if (found := re.search(rf"^(\S+ \S+) INFO .*{text}", said, re.MULTILINE))
    ]
    return (moments[1] - moments[0]).total_seconds() if len(moments) == 2 else math.nan


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=int, default=100, help="100 for a hundredth of the partitions")
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--scenarios", type=int, default=1000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--memory", default="2g", help="of the JVM of the driver and of each executor")
    parser.add_argument("--profile", action="store_true", help="describe the history instead of planning")
    parser.add_argument("--shares", nargs="+", default=["placement"], help="questions of the plan")
    parser.add_argument("--keep", type=Path, help="folder for what is made up, by default a temporary one")
    chosen = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as name:
        folder = chosen.keep or Path(name)
        store = open_store(str(folder / "store"))
        made = folder / f"made-{chosen.parts}-{chosen.days}-{chosen.profile}"
        if not made.exists():
            raw = cluster(chosen.parts)
            stage_in_parts(raw, store, 1 if chosen.profile else chosen.days)
            if chosen.profile:
                keep_days(store, raw, chosen.days)
            made.write_text(raw.ds)
        hours = WHOLE_PARTITIONS // chosen.parts * 24 * chosen.days
        ds = made.read_text()
        say(f"made: {hours / 1e6:.1f} M hours of partitions")
        environment = {**spark_environment(folder), "PYTHONPATH": os.fspath(ROOT)}
        environment.pop("JDK_JAVA_OPTIONS")
        for workers in chosen.workers:
            job, given = _job(store, chosen, ds)
            spark = folder / f"spark-{workers}-{os.getpid()}"
            spark.mkdir()
            with standalone(environment, spark, workers=workers, cores=1, memory="8g") as master:
                seconds, seen, said = run(folder, environment, master, job, given, chosen.memory)
            pieces = seconds_between(said, "0 of .* are done", r"(\d+) of \2 .* are done")
            say(
                f"1/{chosen.parts}, {workers} workers: {job} {seconds:.0f} s, pieces {pieces:.0f} s; "
                + "; ".join(
                    f"{role} {seen.seconds(role):.0f} s of processor, {seen.peaks[role] / GIB:.2f} GiB at most"
                    for role in (DRIVER, EXECUTOR)
                )
            )
    return 0


def _job(store: ObjectStore, chosen: argparse.Namespace, ds: str) -> tuple[str, list[str]]:
    """Return the job and its arguments, and take away what it stored before."""
    if chosen.profile:
        prefix = "profiles/"
        given = ("load_profile", ["--cluster", "made-up", "--ds", ds, "--days", str(chosen.days)])
    else:
        brokers = round(WHOLE_BROKERS / math.sqrt(chosen.parts))
        count = max(1, min(MOST_COUNTS, chosen.scenarios // len(PLACERS)))
        throttles = max(1, chosen.scenarios // (len(PLACERS) * count))
        request = parse_plan_request(
            {
                "cluster": "made-up",
                "broker_counts": list(range(brokers, brokers + count)),
                "placers": list(PLACERS),
                "throttles_bytes_per_second": [20e6 * (1 + number) for number in range(throttles)],
            }
        )
        plan = pin_plan(store, request, run_date=datetime.date.fromisoformat(ds))
        prefix = plan.plan_prefix
        given = ("simulate", ["--request-key", plan.request_key, "--shares", *chosen.shares])
    for key in list(store.list_objects(prefix)):
        store.delete(key)
    return given


if __name__ == "__main__":
    raise SystemExit(main())
