"""A grid of sizing options through Spark and in one process: the same answers, and how long each takes.

    python -m benchmarks.size_grid [--counts 50] [--cores 1 2]

The example cluster `shop-eu` (about 6,000 partitions) is staged, and so many broker counts are tried, each as it is,
with one and with two racks more, with every shape of the catalogue, at every month of a year. Spark runs on this
machine; its session is started before the clock is.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from kafka_capacity.example.generator import make_example
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_manifest
from kafka_capacity.objects.store import ObjectStore, open_store
from kafka_capacity.request import parse_plan_request
from kafka_capacity.request.shape_catalogue import read_shapes
from kafka_capacity.workflow.pinned import PinnedPlan, pin_plan, read_plan_inputs
from kafka_capacity.workflow.plan_dataset import SIZING
from kafka_capacity.workflow.sizing_evaluation import run_here, simulate_sizing
from kafka_capacity.workflow.sizing_simulation import load_sizing, write_sizing

CLUSTER = "shop-eu"
FEWEST_BROKERS = 6


def prepare(folder: Path, counts: int) -> tuple[ObjectStore, PinnedPlan]:
    """Stage the cluster, and pin a grid of so many counts."""
    store = open_store(str(folder))
    stage(make_example(CLUSTER), store)
    request = parse_plan_request(
        {
            "cluster": CLUSTER,
            "sizing_broker_counts": list(range(FEWEST_BROKERS, FEWEST_BROKERS + counts)),
            "extra_racks": [0, 1, 2],
            "shapes": sorted(read_shapes()),
        }
    )
    return store, pin_plan(store, request, run_date=datetime.date(2027, 1, 1))


def in_process(store: ObjectStore, plan: PinnedPlan) -> tuple[float, int, int]:
    """Do all of it here; gives seconds, options and dates."""
    began = time.perf_counter()
    inputs = read_plan_inputs(store, plan.request_key)
    found = load_sizing(store, inputs)
    sized = simulate_sizing(found.inputs, run_here)
    write_sizing(store, inputs, found, sized)
    return time.perf_counter() - began, len(sized.results), len(found.expectation.outlook.dates)


def through_spark(folder: Path, plan: PinnedPlan, cores: int) -> float:
    """Do all of it through Spark; gives seconds without the start of the session."""
    from pyspark.sql import SparkSession

    from spark_jobs import simulate_sizing as job
    from spark_jobs.spread import build_parser

    spark = SparkSession.builder.master(f"local[{cores}]").appName("size_grid").getOrCreate()
    spark.range(1).count()
    args = build_parser("").parse_args(["--store-uri", str(folder), "--request-key", plan.request_key])
    began = time.perf_counter()
    job.run(spark, args)
    seconds = time.perf_counter() - began
    spark.stop()
    return seconds


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether the answers were the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, default=50)
    parser.add_argument("--cores", type=int, nargs="*", default=[1, 2])
    chosen = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store, plan = prepare(folder, chosen.counts)
        seconds, options, dates = in_process(store, plan)
        expected = read_manifest(store, plan.plan_prefix, share=SIZING).sha256
        sys.stdout.write(f"in one process: {options:,} options at {dates} dates, {seconds:.0f} s\n")
        sys.stdout.flush()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        is_same = True
        for cores in chosen.cores:
            for key in list(store.list_keys(plan.plan_prefix)):
                store.delete(key)
            seconds = through_spark(folder, plan, cores)
            same = read_manifest(store, plan.plan_prefix, share=SIZING).sha256 == expected
            is_same &= same
            sys.stdout.write(f"Spark, {cores} cores: {seconds:.0f} s, {'the same' if same else 'OTHER'} answers\n")
            sys.stdout.flush()
    return 0 if is_same else 1


if __name__ == "__main__":
    raise SystemExit(main())
