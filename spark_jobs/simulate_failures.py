"""Simulate what breaks when brokers, racks and controllers of a pinned plan die, and store this share of the plan.

    spark-submit --py-files kafka_capacity.zip spark_jobs/simulate_failures.py \
        --store-uri s3://bucket/prefix --request-key requests/cluster=…/ds=…/plan=…/request.json

The grid is placements × sets of losses, today's placement among them. A piece of work is a placement, or on large
clusters one kind of losses of it; further pieces are ways to lose the active controller.
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import TYPE_CHECKING

from kafka_capacity import __version__
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.failure_simulation import load_failures, write_failures
from kafka_capacity.plan.pinned import read_plan_inputs
from kafka_capacity.questions.failures.simulate import failure_pieces, merged_tables, piece_tables
from spark_jobs.spread import build_parser, run_job, spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("kafka_capacity.simulate_failures")


def run(spark: SparkSession, args: argparse.Namespace) -> str:
    """Simulate and store; give the sha256 of the share's manifest."""
    store = open_store(args.store_uri)
    inputs = read_plan_inputs(store, args.request_key)
    found = load_failures(store, inputs)
    log.info(
        "kafka_capacity %s: %d placements beside today's, %d partitions, %d controllers",
        __version__,
        len(found.placements),
        len(found.today.snapshot.partitions),
        len(found.question.controllers.voters),
    )
    pieces = failure_pieces(found)
    bundles = spread(spark, piece_tables, found, pieces, tasks=args.tasks, what="pieces of losses")
    manifest = write_failures(store, inputs, found, merged_tables(found, bundles))
    log.info("wrote %d losses to %s (%s)", manifest.facts["scenarios"], store.uri(manifest.prefix), manifest.sha256)
    return manifest.sha256


def main(argv: list[str] | None = None) -> int:
    """Start or join a Spark session and run."""
    args = build_parser("Simulate what breaks when brokers, racks and controllers die.").parse_args(argv)
    return run_job("simulate_failures", run, args)


if __name__ == "__main__":
    sys.exit(main())
