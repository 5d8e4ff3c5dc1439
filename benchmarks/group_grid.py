"""A grid of group scenarios through Spark and in one process: the same answers, and how long each takes.

    python -m benchmarks.group_grid [--groups 100] [--counts 20] [--cores 1 2]

An example cluster with many consumer groups is staged, and every group is tried with every count and with range,
roundrobin, cooperative-sticky and the coordinator's uniform, through a change of the count, a rolling restart and a
crash. Spark runs on this machine; its session is started before the clock is.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from kafka_capacity.example import shapes
from kafka_capacity.example.generator import make_example
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_manifest
from kafka_capacity.objects.store import ObjectStore, open_store
from kafka_capacity.request import parse_plan_request
from kafka_capacity.workflow.group_evaluation import simulate_groups, work_tables
from kafka_capacity.workflow.group_simulation import load_groups, write_groups
from kafka_capacity.workflow.pinned import PinnedPlan, pin_plan, read_plan_inputs
from kafka_capacity.workflow.plan_dataset import GROUPS

CLUSTER = "many-groups"
ASSIGNORS = ("range", "roundrobin", "cooperative-sticky", "uniform")
EVENTS = ("scale", "rolling-restart", "crash")


def prepare(folder: Path, groups: int, counts: int) -> tuple[ObjectStore, PinnedPlan]:
    """Stage a cluster with so many groups, and pin a grid of so many counts."""
    shapes.SHAPES[CLUSTER] = dataclasses.replace(shapes.SHAPES["metrics-uneven"], cluster=CLUSTER, group_count=groups)
    store = open_store(str(folder))
    stage(make_example(CLUSTER), store)
    request = parse_plan_request(
        {
            "cluster": CLUSTER,
            "consumer_counts": list(range(1, counts + 1)),
            "group_assignors": list(ASSIGNORS),
            "group_events": list(EVENTS),
            "static_membership": "as-is",
        }
    )
    return store, pin_plan(store, request, run_date=datetime.date(2027, 1, 1))


def in_process(store: ObjectStore, plan: PinnedPlan) -> tuple[float, int]:
    """Do all of it here; gives seconds and scenarios."""
    began = time.perf_counter()
    inputs = read_plan_inputs(store, plan.request_key)
    found = load_groups(store, inputs)
    tables = simulate_groups(found.inputs, lambda work: [work_tables(found.inputs, piece) for piece in work])
    write_groups(store, inputs, found, tables)
    return time.perf_counter() - began, len(tables["group_scenarios"])


def through_spark(folder: Path, plan: PinnedPlan, cores: int) -> float:
    """Do all of it through Spark; gives seconds without the start of the session."""
    from pyspark.sql import SparkSession

    from spark_jobs import simulate_rebalance
    from spark_jobs.spread import build_parser

    spark = SparkSession.builder.master(f"local[{cores}]").appName("group_grid").getOrCreate()
    spark.range(1).count()
    args = build_parser("").parse_args(["--store-uri", str(folder), "--request-key", plan.request_key])
    began = time.perf_counter()
    simulate_rebalance.run(spark, args)
    seconds = time.perf_counter() - began
    spark.stop()
    return seconds


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether the answers were the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--counts", type=int, default=20)
    parser.add_argument("--cores", type=int, nargs="*", default=[1, 2])
    chosen = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store, plan = prepare(folder, chosen.groups, chosen.counts)
        seconds, scenarios = in_process(store, plan)
        expected = read_manifest(store, plan.plan_prefix, share=GROUPS).sha256
        sys.stdout.write(f"in one process: {scenarios:,} scenarios, {seconds:.0f} s\n")
        sys.stdout.flush()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        is_same = True
        for cores in chosen.cores:
            for key in list(store.list_keys(plan.plan_prefix)):
                store.delete(key)
            seconds = through_spark(folder, plan, cores)
            same = read_manifest(store, plan.plan_prefix, share=GROUPS).sha256 == expected
            is_same &= same
            sys.stdout.write(f"Spark, {cores} cores: {seconds:.0f} s, {'the same' if same else 'OTHER'} answers\n")
            sys.stdout.flush()
    return 0 if is_same else 1


if __name__ == "__main__":
    raise SystemExit(main())
