"""Evaluate the consumer groups of a pinned plan on Spark and store their share of the plan.

    spark-submit --py-files kafka_capacity.zip spark_jobs/simulate_rebalance.py \
        --store-uri s3://bucket/prefix --request-key requests/cluster=…/ds=…/plan=…/request.json

The grid is groups × assignors and protocols × member counts × events. A piece of work is a group with an assignor: its
counts share the search for the smallest that will do.
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
from kafka_capacity.plan.group_simulation import load_groups, write_groups
from kafka_capacity.plan.pinned import read_plan_inputs
from kafka_capacity.questions.consumers.evaluate import GroupWork, simulate_groups, work_tables
from spark_jobs.spread import build_parser, run_job, spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("kafka_capacity.simulate_rebalance")


def run(spark: SparkSession, args: argparse.Namespace) -> str:
    """Evaluate and store; give the sha256 of the share's manifest."""
    store = open_store(args.store_uri)
    inputs = read_plan_inputs(store, args.request_key)
    found = load_groups(store, inputs)
    log.info(
        "kafka_capacity %s: %d groups with %d partitions, %d skipped, %d events each",
        __version__,
        len(found.inputs.groups),
        sum(len(facts) for facts in found.inputs.groups),
        len(found.skipped),
        len(found.inputs.request.events),
    )

    def run_work(work: Sequence[GroupWork]) -> list[dict[str, pa.Table]]:
        what = "variants of groups" if all(piece.has_figures for piece in work) else "scenarios in detail"
        return spread(spark, work_tables, found.inputs, work, tasks=args.tasks, what=what)

    tables = simulate_groups(found.inputs, run_work)
    manifest = write_groups(store, inputs, found, tables)
    log.info(
        "wrote %d scenarios to %s (%s)", len(tables["group_scenarios"]), store.uri(manifest.prefix), manifest.sha256
    )
    return manifest.sha256


def main(argv: list[str] | None = None) -> int:
    """Start or join a Spark session and run."""
    args = build_parser("Evaluate the consumer groups of a pinned plan.").parse_args(argv)
    return run_job("simulate_rebalance", run, args)


if __name__ == "__main__":
    sys.exit(main())
