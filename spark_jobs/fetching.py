"""How results come from executors to the driver, and where it keeps them."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafka_capacity.plan.packing import unpack_table

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext
    from pyspark.sql import DataFrame

log = logging.getLogger("kafka_capacity.spark")

TOGETHER_BYTES = 64 << 20
IN_MEMORY_BYTES = 1 << 20
FETCHING_POOL = "fetching"  # where Spark shares executors out fairly between pools, it need not wait for who computes


def kept_table(data: bytes) -> pa.Table:
    """Unpack a table; a large one stays in a file without a name, which is mapped into memory and goes with it."""
    if len(data) <= IN_MEMORY_BYTES:
        return unpack_table(data)
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return pa.ipc.open_stream(pa.memory_map(file.name)).read_all()


def fetched(frame: DataFrame) -> Iterator[Any]:
    """Compute the rows of a frame on executors, which keep them on their disks, and yield them.

    They come together where their column ``data`` is small, else those of a task after those of another: Spark's driver
    never holds all, and refuses more than a gigabyte (``spark.driver.maxResultSize``).
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    def data_bytes() -> int:
        return kept.agg(F.sum(F.octet_length("data"))).collect()[0][0] or 0

    kept = frame.persist(StorageLevel.DISK_ONLY)
    yield from _brought(kept, data_bytes, kept.sparkSession.sparkContext)


def fetched_data(rows: RDD[tuple[int, str, bytes]]) -> Iterator[tuple[int, str, bytes]]:
    """Do what :func:`fetched` does with rows that are no frame, for which Spark starts faster; the bytes are last."""
    from pyspark import StorageLevel

    kept = rows.persist(StorageLevel.DISK_ONLY)
    yield from _brought(kept, lambda: kept.map(lambda row: len(row[2])).sum(), kept.context)


def _brought(kept: Any, data_bytes: Callable[[], int], context: SparkContext) -> Iterator[Any]:
    try:
        size = data_bytes()
        log.debug("%.1f MB of results", size / 1e6)
        # Else what is done would wait until no task of another job has yet to start.
        context.setLocalProperty("spark.scheduler.pool", FETCHING_POOL)
        yield from kept.collect() if size <= TOGETHER_BYTES else kept.toLocalIterator()
    finally:
        context.setLocalProperty("spark.scheduler.pool", "default")
        kept.unpersist()
