"""Evaluate the placement scenarios of a pinned plan on Spark and store the plan's tables.

    spark-submit --py-files kafka_capacity.zip spark_jobs/simulate_placement.py \
        --store-uri s3://bucket/prefix --request-key requests/cluster=…/ds=…/plan=…/request.json

The inventory is broadcast once; each task evaluates a few scenarios and returns small Arrow tables; the driver sorts
and stores them, so that names and bytes are the same whatever the number of tasks.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafka_capacity import __version__
from kafka_capacity.objects.store import open_store
from kafka_capacity.workflow.evaluation import evaluate_tables, pack_tables, unpack_table, wants_moves
from kafka_capacity.workflow.pinned import read_plan_inputs
from kafka_capacity.workflow.simulation import load_simulation_inputs, write_plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("kafka_capacity.simulate_placement")

OUTPUT_SCHEMA = "position long, table_name string, data binary"


def build_parser() -> argparse.ArgumentParser:
    """Describe the arguments."""
    parser = argparse.ArgumentParser(description="Evaluate the placement scenarios of a pinned plan.")
    parser.add_argument("--store-uri", required=True, help="where everything is: s3://bucket/prefix or a shared folder")
    parser.add_argument("--request-key", required=True, help="the pinned request, below the store")
    parser.add_argument("--tasks", type=int, default=0, help="how many tasks; 0 leaves it to the cluster's parallelism")
    return parser


def run(spark: SparkSession, args: argparse.Namespace) -> str:
    """Evaluate and store; give the sha256 of the plan's manifest."""
    store = open_store(args.store_uri)
    inputs = read_plan_inputs(store, args.request_key)
    simulation = load_simulation_inputs(store, inputs)
    scenarios = inputs.scenarios
    log.info(
        "kafka_capacity %s: %d scenarios, %d partitions, %d hours of rates",
        __version__,
        len(scenarios),
        len(simulation.snapshot.partitions),
        simulation.load.hours,
    )
    shared = spark.sparkContext.broadcast((simulation, scenarios))

    def evaluate_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given, all_scenarios = shared.value
        for batch in batches:
            for position in batch.column("id").to_pylist():
                scenario = all_scenarios[position]
                tables = evaluate_tables(given, scenario, has_moves=wants_moves(all_scenarios, scenario))
                packed = pack_tables(tables)
                yield pa.RecordBatch.from_pydict(
                    {
                        "position": pa.array([position] * len(packed), pa.int64()),
                        "table_name": pa.array(list(packed), pa.string()),
                        "data": pa.array(list(packed.values()), pa.binary()),
                    }
                )

    tasks = args.tasks or min(len(scenarios), 4 * spark.sparkContext.defaultParallelism)
    rows: list[Any] = (
        spark.range(0, len(scenarios), 1, max(1, tasks)).mapInArrow(evaluate_batches, OUTPUT_SCHEMA).collect()
    )
    bundles = [{row.table_name: unpack_table(bytes(row.data))} for row in sorted(rows, key=lambda row: row.position)]
    manifest = write_plan(store, inputs, bundles, simulation.facts)
    log.info("wrote %s (%s)", store.uri(manifest.prefix), manifest.sha256)
    return manifest.sha256


def main(argv: list[str] | None = None) -> int:
    """Start or join a Spark session and run."""
    args = build_parser().parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("kafka_capacity_simulate_placement").getOrCreate()
    try:
        run(spark, args)
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
