"""Evaluate the placement scenarios of a pinned plan on Spark and store their share of the plan.

spark-submit --py-files kafka_capacity.zip spark_jobs/simulate_placement.py \
        --store-uri s3://bucket/prefix --request-key requests/cluster=…/ds=…/plan=…/request.json
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import TYPE_CHECKING

from kafka_capacity import __version__
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import read_plan_inputs
from kafka_capacity.plan.simulation import load_simulation_inputs, write_placement
from kafka_capacity.questions.change.evaluate import placement_pieces, placement_tables
from spark_jobs.spread import build_parser, run_job, spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("kafka_capacity.simulate_placement")


def run(spark: SparkSession, args: argparse.Namespace) -> str:
    """Evaluate and store; give the sha256 of the share's manifest."""
    store = open_store(args.store_uri)
    inputs = read_plan_inputs(store, args.request_key)
    simulation = load_simulation_inputs(store, inputs)
    log.info(
        "kafka_capacity %s: %d scenarios, %d partitions, %d hours of rates",
        __version__,
        len(inputs.scenarios),
        len(simulation.snapshot.partitions),
        simulation.load.hours,
    )
    pieces = placement_pieces(inputs.scenarios)
    bundles = spread(spark, placement_tables, simulation, pieces, tasks=args.tasks, what="scenarios")
    manifest = write_placement(store, inputs, bundles, simulation.facts)
    log.info("wrote %s (%s)", store.uri(manifest.prefix), manifest.sha256)
    return manifest.sha256


def main(argv: list[str] | None = None) -> int:
    """Start or join a Spark session and run."""
    args = build_parser("Evaluate the placement scenarios of a pinned plan.").parse_args(argv)
    return run_job("simulate_placement", run, args)


if __name__ == "__main__":
    sys.exit(main())
