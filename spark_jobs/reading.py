"""Files of the store that Spark reads by itself, and what executors make of an inventory's metrics."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pyarrow as pa

from kafka_capacity.inventory.chosen_hours import (
    MAX_PARTITION_RATE,
    METRICS,
    RATES,
    ChosenHours,
    assembled,
    choose_hours,
    hours_of_part,
)
from kafka_capacity.inventory.column_values import PartitionIndex
from kafka_capacity.objects.dataset import Manifest
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.packing import pack_tables, unpack_table
from spark_jobs.carried import Cargo, Packed
from spark_jobs.fetching import fetched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kafka_capacity.inventory.staging import Gather

log = logging.getLogger("kafka_capacity.spark")

S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"
ROWS_TOGETHER = 1_000_000
NAMED = "table_name string, data binary"


def read_by_itself(spark: SparkSession, store: ObjectStore, keys: Sequence[str]) -> DataFrame | None:
    """Return the rows of Parquet files as Spark reads them without the driver; ``None`` where it cannot."""
    addresses = [store.uri(key) for key in keys]
    if urlsplit(addresses[0]).scheme not in {"s3", "s3a"}:
        return spark.read.parquet(*addresses)
    if _has_s3a(spark):
        return spark.read.parquet(*(address.replace("s3://", "s3a://", 1) for address in addresses))
    log.warning(
        "Spark has no %s on its class path: the driver reads the files, which is slow for large clusters; add "
        "hadoop-aws to the jobs (spark.jars.packages)",
        S3A,
    )
    return None


def _has_s3a(spark: SparkSession) -> bool:
    """Return whether Spark reads S3 by itself; its endpoint is then the one of the usual AWS variables."""
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


def gather_in_spark(
    spark: SparkSession, cargo: Cargo, otherwise: Gather, store: ObjectStore, manifest: Manifest, index: PartitionIndex
) -> ChosenHours:
    """Let executors choose the hours of an inventory's metrics and read them.

    Where Spark cannot read them the driver does, by another :data:`kafka_capacity.inventory.staging.Gather`. Executors
    import this module too, and have no more than it needs.
    """
    parts = manifest.tables[METRICS]
    rows = read_by_itself(spark, store, [manifest.prefix + part.key for part in parts])
    if rows is None:
        return otherwise(store, manifest, index)
    seconds = choose_hours(hourly_totals_in_spark(rows))
    log.info("%d hours are read from %d files of metrics", len(seconds), len(parts))
    packed = cargo.pack((index, seconds))
    found = fetched(rows.mapInArrow(lambda batches: _hours(packed, batches), NAMED))
    tables = ((row.table_name, unpack_table(bytes(row.data))) for row in found)
    return assembled(tables, seconds, len(index.keys))


def hourly_totals_in_spark(rows: DataFrame) -> dict[int, int]:
    """Return what :func:`kafka_capacity.inventory.chosen_hours.hourly_totals` does."""
    from pyspark.sql import functions as F

    milli = F.lit(0)
    for column in RATES:
        is_rate = F.col(column).between(0, MAX_PARTITION_RATE)  # to Spark NaN is larger than infinity
        thousandths = F.floor(F.col(column).cast("double") * 1000.0 + 0.5)
        milli = milli + F.when(is_rate, thousandths).otherwise(0)
    totals = rows.groupBy(F.unix_seconds("hour").alias("second")).agg(F.sum(milli).alias("milli")).collect()
    return {int(row.second): int(row.milli) for row in totals}


def _hours(packed: Packed, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    index, seconds = packed.open()
    for part in _together(batches):
        found = pack_tables(hours_of_part(part, index, seconds))
        yield pa.RecordBatch.from_pydict({"table_name": list(found), "data": pa.array(found.values(), pa.binary())})


def _together(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Put batches together, which have 10,000 rows in Spark: fewer and larger results travel."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= ROWS_TOGETHER:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
