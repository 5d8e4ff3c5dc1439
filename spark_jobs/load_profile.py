"""Describe the traffic of a cluster from its kept history, on Spark, and store the profile of one day's inventory.

Spark reads the history and deals it out by topic; each task describes the partitions that it is dealt, as one process
does with a small history.

spark-submit --py-files kafka_capacity.zip spark_jobs/load_profile.py \
        --store-uri s3://bucket/prefix --cluster shop-eu --ds 2026-01-31 --days 90
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa

from kafka_capacity.demand.totals import HOURS
from kafka_capacity.objects.store import ObjectStore, open_store
from kafka_capacity.plan.load_profile import DEFAULT_DAYS, ProfileInputs, history_table, profile_inputs, write_profile
from kafka_capacity.plan.packing import pack_tables, unpack_table
from kafka_capacity.plan.profile_rows import profile_tables
from kafka_capacity.plan.traffic_profile import PARTITIONS, TOTALS, Carriers, added, describe_batch
from spark_jobs.carried import Cargo
from spark_jobs.fetching import fetched
from spark_jobs.reading import read_by_itself
from spark_jobs.spread import build_parser, run_job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger("kafka_capacity.load_profile")

DESCRIBED = "table_name string, thing string, data binary"
PARTITIONS_TOGETHER = 256
HOURS_A_TASK = 2_500_000
"""So many hours of partitions a task describes, in some 300 MB, whatever cores there are."""


def run(spark: SparkSession, args: argparse.Namespace) -> str:
    """Describe and store; give the sha256 of the profile's manifest."""
    store = open_store(args.store_uri)
    inputs = profile_inputs(store, args.cluster, args.ds, days=args.days)
    log.info("cluster %s, %s: %d days of history", args.cluster, args.ds, len(inputs.history))
    history = _read_history(spark, store, inputs)
    manifest = write_profile(store, inputs, _tables(spark, history, inputs))
    log.info("wrote %s (%s)", store.uri(manifest.prefix), manifest.sha256)
    return manifest.sha256


def _read_history(spark: SparkSession, store: ObjectStore, inputs: ProfileInputs) -> DataFrame:
    """Read the files of the window, and no others: natively where Spark can, else through the driver."""
    keys = inputs.part_keys()
    rows = read_by_itself(spark, store, keys)
    if rows is None:
        return spark.createDataFrame(history_table(store, inputs))
    log.info("Spark reads the %d history files itself", len(keys))
    return rows


def _tables(spark: SparkSession, history: DataFrame, inputs: ProfileInputs) -> dict[str, pa.Table]:
    """Let executors describe the partitions and add them up; what is left is small, and is described here."""
    from pyspark.sql import functions as F

    newest = history.agg(F.max(F.unix_date("day") * HOURS + F.col("last_hour"))).collect()[0][0]
    end = 0 if newest is None else int(newest) + 1
    carriers = Cargo(spark.sparkContext).pack(Carriers(replicas=inputs.replicas, reads=inputs.reads, end=end))
    tasks = 1 + inputs.hours // HOURS_A_TASK
    log.info("%d partition-hours in %d tasks", inputs.hours, tasks)
    # Of a large topic some partitions together: its totals are then sums of few.
    dealt = history.repartition(tasks, "topic", F.floor(F.col("partition") / PARTITIONS_TOGETHER))
    described = dealt.mapInArrow(lambda batches: _describe(carriers.open(), batches), DESCRIBED)
    added_up = described.repartition(tasks, "table_name", "thing").mapInArrow(_add, DESCRIBED)
    parts = defaultdict[str, list[pa.Table]](list)
    for row in fetched(added_up):
        parts[row.table_name].append(unpack_table(bytes(row.data)))
    found = {name: pa.concat_tables(parts[name]) for name in (PARTITIONS, *TOTALS)}
    for name, table in found.items():
        log.info("%s: %d rows", name, len(table))
    return profile_tables(inputs.cluster, **found)


def _describe(carriers: Carriers, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Describe the partitions that a task is dealt; totals thing by thing, so that others can add to them."""
    dealt = list(batches)
    if sum(len(batch) for batch in dealt):
        history = pa.Table.from_batches(dealt)
        for name, table in describe_batch(carriers, history).items():
            if name == PARTITIONS:
                yield _row(name, str(history.column("topic")[0]), table)
            else:
                things = table.column(TOTALS[name][0]).to_pylist()
                if not things:  # such as groups, where there are none: whoever adds up needs to know the columns
                    yield _row(name, "", table)
                starts = [place for place in range(len(things)) if not place or things[place] != things[place - 1]]
                for start, end in pairwise([*starts, len(things)]):
                    yield _row(name, str(things[start]), table.slice(start, end - start))


def _add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add up what several tasks say of a thing."""
    said = defaultdict[str, list[pa.Table]](list)
    for batch in batches:
        for row in batch.to_pylist():
            said[row["table_name"]].append(unpack_table(row["data"]))
    for name, tables in said.items():
        whole = pa.concat_tables(tables)
        yield _row(name, "", whole if name == PARTITIONS or not len(whole) else added(name, [whole]))


def _row(name: str, thing: str, table: pa.Table) -> pa.RecordBatch:
    (data,) = pack_tables({name: table}).values()
    return pa.RecordBatch.from_pydict(
        {"table_name": pa.array([name]), "thing": pa.array([thing]), "data": pa.array([data], pa.binary())}
    )


def main(argv: list[str] | None = None) -> int:
    """Start or join a Spark session and run."""
    parser = build_parser("Profile the traffic of a cluster from its history.")
    parser.add_argument("--cluster", required=True, help="the name under which the cluster's inventory is staged")
    parser.add_argument("--ds", required=True, help="the day of the inventory, YYYY-MM-DD")
    parser.add_argument("--days", type=int, default=DEFAULT_DAYS, help="how many days of history, up to that day")
    return run_job("load_profile", run, parser.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
