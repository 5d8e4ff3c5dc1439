"""Describe the traffic of a cluster from its kept history, on Spark, and store the profile of one day's inventory.

spark-submit --py-files kafka_capacity.zip spark_jobs/load_profile.py \
        --store-uri s3://bucket/prefix --cluster shop-eu --ds 2026-01-31 --days 90
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pyarrow as pa

from kafka_capacity.objects.store import ObjectStore, open_store
from kafka_capacity.plan.load_profile import DEFAULT_DAYS, ProfileInputs, history_table, profile_inputs, write_profile
from kafka_capacity.plan.profile_rows import profile_tables
from spark_jobs.profiling import daily_totals, newest_hour, partitions_profile
from spark_jobs.spread import run_job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger("kafka_capacity.load_profile")

S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"


def run(spark: SparkSession, args: argparse.Namespace) -> str:
    """Describe and store; give the sha256 of the profile's manifest."""
    store = open_store(args.store_uri)
    inputs = profile_inputs(store, args.cluster, args.ds, days=args.days)
    log.info("cluster %s, %s: %d days of history", args.cluster, args.ds, len(inputs.history))
    # Sums of 24 hours are more columns than Spark compiles by default: without, it takes half as long again.
    spark.conf.set("spark.sql.codegen.maxFields", "2000")
    history = _read_history(spark, store, inputs)
    manifest = write_profile(store, inputs, _tables(spark, history, inputs))
    log.info("wrote %s (%s)", store.uri(manifest.prefix), manifest.sha256)
    return manifest.sha256


def _read_history(spark: SparkSession, store: ObjectStore, inputs: ProfileInputs) -> DataFrame:
    """Read the files of the window, and no others: natively where Spark can, else through the driver."""
    addresses = [store.uri(key) for key in inputs.part_keys()]
    if urlsplit(addresses[0]).scheme not in {"s3", "s3a"}:
        return spark.read.parquet(*addresses)
    if _has_s3a(spark):
        log.info("Spark reads the %d files of the history by itself", len(addresses))
        return spark.read.parquet(*(address.replace("s3://", "s3a://", 1) for address in addresses))
    log.warning(
        "Spark has no %s on its class path: the driver reads the history, which is slow for large clusters; "
        "give the jobs hadoop-aws (spark.jars.packages)",
        S3A,
    )
    return spark.createDataFrame(history_table(store, inputs))


def _has_s3a(spark: SparkSession) -> bool:
    """Tell whether Spark reads S3 by itself; its endpoint is then the one of the usual AWS variables."""
    jvm, context = spark._jvm, spark.sparkContext._jsc
    if jvm is None or context is None:
        return False
    try:
        # Class.forName would ask the loader of py4j, which does not know what --jars and spark.jars.packages bring.
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(S3A)
    except Exception:  # py4j wraps ClassNotFoundException in an error of its own
        return False
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        configuration = context.hadoopConfiguration()
        configuration.set("fs.s3a.endpoint", endpoint)
        configuration.set("fs.s3a.path.style.access", "true")
    return True


def _tables(spark: SparkSession, history: DataFrame, inputs: ProfileInputs) -> dict[str, pa.Table]:
    """Let Spark describe the partitions and add them up; what is left is small, and is described here."""
    from pyspark.sql import functions as F

    place = ["topic", "partition"]
    bytes_in, bytes_out = F.col("bytes_in"), F.col("bytes_out")
    on_brokers = history.join(F.broadcast(spark.createDataFrame(inputs.replicas)), place)
    of_groups = history.join(F.broadcast(spark.createDataFrame(inputs.reads)), place)
    frames = {
        "partitions": partitions_profile(history, end=newest_hour(history) + 1),
        "topics": daily_totals(history, ["topic"], {"in": bytes_in, "out": bytes_out}),
        "brokers": daily_totals(on_brokers, ["broker_id"], {"written": bytes_in}),
        "leaders": daily_totals(on_brokers.where("is_leader"), ["broker_id"], {"led": bytes_in, "read": bytes_out}),
        "groups": daily_totals(of_groups, ["group_id"], {"in": bytes_in}),
    }
    found = {}
    for name, frame in frames.items():
        found[name] = frame.toArrow()
        log.info("%s: %d rows", name, len(found[name]))
    return profile_tables(inputs.cluster, **found)


def main(argv: list[str] | None = None) -> int:
    """Start or join a Spark session and run."""
    parser = argparse.ArgumentParser(description="Describe the traffic of a cluster from its kept history.")
    parser.add_argument("--store-uri", required=True, help="where everything is: s3://bucket/prefix or a shared folder")
    parser.add_argument("--cluster", required=True, help="the cluster, by the name its inventory is staged under")
    parser.add_argument("--ds", required=True, help="the day of the inventory, YYYY-MM-DD")
    parser.add_argument("--days", type=int, default=DEFAULT_DAYS, help="how many days of history, up to that day")
    return run_job("load_profile", run, parser.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
