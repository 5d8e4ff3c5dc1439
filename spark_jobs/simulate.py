"""Simulate the questions of a pinned plan on Spark, side by side in one application, and store the share of each.

    spark-submit --py-files kafka_capacity.zip spark_jobs/simulate.py \
        --store-uri s3://bucket/prefix --request-key requests/cluster=…/ds=…/plan=…/request.json

The driver reads the pinned inventory once and has a thread a question. Each question spreads its pieces of work over
the executors: placements; groups with an assignor; sizes; losses of a placement. ``--shares`` takes some of them only,
for large clusters that had better not simulate all at once.
"""

from __future__ import annotations

import argparse
import functools
import logging
import sys
from typing import TYPE_CHECKING

from kafka_capacity import __version__
from kafka_capacity.inventory.staging import gather_here
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import read_plan_inputs
from kafka_capacity.plan.plan_dataset import SHARES
from kafka_capacity.plan.runner import simulate_plan
from spark_jobs.carried import Cargo
from spark_jobs.reading import gather_in_spark
from spark_jobs.spread import MOST_TASKS, Spread, build_parser, run_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("kafka_capacity.simulate")

KEEP_FROM_PARTITIONS = 50_000
"""Below that a question takes a minute or two, and to keep its pieces would cost more than to do them again."""


def run(spark: SparkSession, args: argparse.Namespace) -> dict[str, str]:
    """Simulate and store; return the sha256 of the manifest of each share."""
    store = open_store(args.store_uri)
    inputs = read_plan_inputs(store, args.request_key)
    log.info("kafka_capacity %s: %s", __version__, ", ".join(args.shares))
    cargo = Cargo(spark.sparkContext)
    made = simulate_plan(
        store,
        inputs,
        Spread(spark.sparkContext, cargo, tasks=args.tasks),
        shares=args.shares,
        side_by_side=True,
        gather=functools.partial(gather_in_spark, spark, cargo, gather_here),
        keep_from=args.keep_from,
    )
    for share, manifest in made.items():
        log.info("%s: %d scenarios, %s (%s)", share, manifest.facts["scenarios"], manifest.prefix, manifest.sha256)
    return {share: manifest.sha256 for share, manifest in made.items()}


def parser() -> argparse.ArgumentParser:
    """Describe the arguments."""
    made = build_parser("Simulate the questions of a pinned plan.")
    made.add_argument("--request-key", required=True, help="the pinned request, below the store")
    made.add_argument("--tasks", type=int, default=MOST_TASKS, help="max number of tasks per question")
    made.add_argument(
        "--keep-from",
        type=int,
        default=KEEP_FROM_PARTITIONS,
        help="for clusters of at least this many partitions, store finished pieces for the next try",
    )
    made.add_argument("--shares", nargs="+", choices=SHARES, default=list(SHARES), help="which questions; default: all")
    return made


def main(argv: list[str] | None = None) -> int:
    """Start or join a Spark session and run."""
    return run_job("simulate", run, parser().parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
