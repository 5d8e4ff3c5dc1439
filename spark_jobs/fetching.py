"""How results come from executors to the driver."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger("kafka_capacity.spark")

TOGETHER_BYTES = 64 << 20


def fetched(frame: DataFrame) -> Iterator[Any]:
    """Compute the rows of a frame on executors, which keep them on their disks, and yield them.

    They come together where their column ``data`` is small, else those of a task after those of another: Spark's driver
    never holds all, and refuses more than a gigabyte (``spark.driver.maxResultSize``).
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    kept = frame.persist(StorageLevel.DISK_ONLY)
    try:
        size = kept.agg(F.sum(F.octet_length("data"))).collect()[0][0] or 0
        log.info("%.1f MB of results", size / 1e6)
        yield from kept.collect() if size <= TOGETHER_BYTES else kept.toLocalIterator()
    finally:
        kept.unpersist()
