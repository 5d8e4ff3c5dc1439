"""What our jobs have in common: their arguments, their session, and pieces of work spread over the cluster.

What all pieces need is broadcast once; each task does some of them and returns small Arrow tables, which the driver
brings into the order of the pieces: names and bytes of what is stored do not depend on the number of tasks.
"""

from __future__ import annotations

import argparse
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from kafka_capacity.plan.packing import pack_tables, unpack_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("kafka_capacity.spark")

OUTPUT_SCHEMA = "position long, table_name string, data binary"
PROGRESS_EVERY_SECONDS = 10.0
TASKS_PER_CORE = 16  # a task costs some 10 ms; of many the last ones end together, and the log moves

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")


def build_parser(description: str) -> argparse.ArgumentParser:
    """Describe the arguments of a job."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--store-uri", required=True, help="where everything is: s3://bucket/prefix or a shared folder")
    parser.add_argument("--request-key", required=True, help="the pinned request, below the store")
    parser.add_argument("--tasks", type=int, default=0, help="how many tasks; 0 leaves it to the cluster's parallelism")
    return parser


def spread(
    spark: SparkSession,
    function: Callable[[Shared, Piece], Mapping[str, pa.Table]],
    shared: Shared,
    work: Sequence[Piece],
    *,
    tasks: int,
    what: str,
) -> list[dict[str, pa.Table]]:
    """Do every piece of work on the cluster; gives one bundle a table of a piece, in the order of the pieces.

    Args:
        spark: the session.
        function: of a module that executors have: what is shared and a piece in, tables out.
        shared: what all pieces need.
        work: the pieces, large ones first: neighbours go to different tasks.
        tasks: how many tasks; 0 for a few a core.
        what: what the pieces are called in the log.
    """
    if not work:
        return []
    context = spark.sparkContext
    given = context.broadcast((function, shared, tuple(work)))
    done = context.accumulator(0)
    count = max(1, min(len(work), tasks or TASKS_PER_CORE * context.defaultParallelism))

    def evaluate_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        evaluate, common, pieces = given.value
        for batch in batches:
            for first in batch.column("id").to_pylist():
                for position in range(first, len(pieces), count):
                    packed = pack_tables(evaluate(common, pieces[position]))
                    done.add(1)
                    yield pa.RecordBatch.from_pydict(
                        {
                            "position": pa.array([position] * len(packed), pa.int64()),
                            "table_name": pa.array(list(packed), pa.string()),
                            "data": pa.array(list(packed.values()), pa.binary()),
                        }
                    )

    log.info("%d %s in %d tasks", len(work), what, count)
    with _progress(lambda: done.value, len(work), what):
        rows: list[Any] = spark.range(0, count, 1, count).mapInArrow(evaluate_batches, OUTPUT_SCHEMA).collect()
    log.info("%d of %d %s are done", len(work), len(work), what)
    given.destroy()
    return [{row.table_name: unpack_table(bytes(row.data))} for row in sorted(rows, key=lambda row: row.position)]


@contextmanager
def _progress(done: Callable[[], int], total: int, what: str) -> Iterator[None]:
    """Log every few seconds how many pieces are done, as far as tasks have ended."""
    is_over = threading.Event()

    def tell() -> None:
        while not is_over.wait(PROGRESS_EVERY_SECONDS):
            log.info("%d of %d %s are done", done(), total, what)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        is_over.set()
        teller.join()


def run_job(name: str, run: Callable[[SparkSession, argparse.Namespace], object], args: argparse.Namespace) -> int:
    """Start or join a Spark session and run a job; gives the exit status."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName(f"kafka_capacity_{name}").getOrCreate()
    try:
        run(spark, args)
    finally:
        spark.stop()
    return 0
