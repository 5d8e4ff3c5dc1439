"""Judge the sizing options of a pinned plan on Spark and store their share of the plan.

    spark-submit --py-files kafka_capacity.zip spark_jobs/simulate_sizing.py \
        --store-uri s3://bucket/prefix --request-key requests/cluster=…/ds=…/plan=…/request.json

The grid is broker counts × racks × replication factors × shapes × dates. A piece of work is a placement: all shapes and
dates are judged on the arrays of one.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from kafka_capacity import __version__
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import read_plan_inputs
from kafka_capacity.plan.sizing_simulation import load_sizing, write_sizing
from kafka_capacity.questions.capacity.results import PlacementKey
from kafka_capacity.questions.capacity.simulate import SizingInputs, placement_results, simulate_sizing
from spark_jobs.spread import build_parser, run_job, spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("kafka_capacity.simulate_sizing")


def run(spark: SparkSession, args: argparse.Namespace) -> str:
    """Judge and store; give the sha256 of the share's manifest."""
    store = open_store(args.store_uri)
    inputs = read_plan_inputs(store, args.request_key)
    found = load_sizing(store, inputs)
    log.info(
        "kafka_capacity %s: %d options at %d dates, %d partitions",
        __version__,
        len(found.inputs.options),
        len(found.expectation.outlook.dates),
        len(found.inputs.snapshot.partitions),
    )

    def run_work(shared: SizingInputs, keys: Sequence[PlacementKey]) -> list[dict[str, pa.Table]]:
        return spread(spark, placement_results, shared, keys, tasks=args.tasks, what="placements")

    sized = simulate_sizing(found.inputs, run_work)
    manifest = write_sizing(store, inputs, found, sized)
    log.info("wrote %d options to %s (%s)", len(sized.results), store.uri(manifest.prefix), manifest.sha256)
    return manifest.sha256


def main(argv: list[str] | None = None) -> int:
    """Start or join a Spark session and run."""
    args = build_parser("Judge the sizing options of a pinned plan.").parse_args(argv)
    return run_job("simulate_sizing", run, args)


if __name__ == "__main__":
    sys.exit(main())
