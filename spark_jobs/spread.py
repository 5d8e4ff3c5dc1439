"""What our jobs have in common: their session, and pieces of work spread over the cluster.

What pieces need is sent once; each task does some of them and returns small Arrow tables, which the driver brings into
the order of the pieces: names and bytes of what is stored do not depend on the number of tasks.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from kafka_capacity.errors import KafkaCapacityError
from kafka_capacity.objects.refusal import tell_refusal
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.packing import Tables, pack_tables
from spark_jobs.carried import Cargo, Packed
from spark_jobs.fetching import FETCHING_POOL, fetched_data, kept_table

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext
    from pyspark.sql import SparkSession

log = logging.getLogger("kafka_capacity.spark")

PROGRESS_EVERY_SECONDS = 2.0
MOST_TASKS = 200
"""Pieces are done by so many tasks at most, whatever cores there are, or come with the work where an application grows.
A task costs 10 to 50 ms; of many the last ones end together, and the log moves, as Spark tells of ended ones only.
"""

SPARK_SOCKETS = "spark.python.unix.domain.socket.dir"
SPARK_DEFAULTS = {
    # Over TCP a Python worker waits 40 ms, twice a task, for what the other end holds back to send together (Nagle).
    "spark.python.unix.domain.socket.enabled": "true",
    # Temporary folders of node managers have longer names than the 108 bytes that the address of a socket may have.
    SPARK_SOCKETS: "/tmp",  # noqa: S108 (only their owner may write to sockets)
}
"""What suits our jobs anywhere, unless a deployment says otherwise; to be set when they are submitted."""

POOLS = f"""<allocations><pool name="{FETCHING_POOL}">
<schedulingMode>FIFO</schedulingMode><weight>1</weight><minShare>1</minShare></pool></allocations>"""

LOG_FILE = "KAFKA_CAPACITY_JOB_LOG"
"""The variable of the environment that names a file which a job appends its log to, for who follows it."""

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")


def build_parser(description: str) -> argparse.ArgumentParser:
    """Describe the arguments that every job has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--store-uri", required=True, help=("where everything is stored: s3://bucket/prefix or a shared folder")
    )
    parser.add_argument("--refusal-key", default="", help="where to report rejected input, below the store")
    return parser


class Spread:
    """Does pieces of work on the cluster: a :class:`kafka_capacity.questions.question.RunPieces`."""

    def __init__(self, context: SparkContext, cargo: Cargo, *, tasks: int = MOST_TASKS) -> None:
        self._context = context
        self._tasks = tasks
        self._cargo = cargo

    def __call__(
        self, function: Callable[[Shared, Piece], Tables], shared: Shared, pieces: Sequence[Piece], *, what: str
    ) -> list[dict[str, pa.Table]]:
        """Do every piece; returns one bundle a table of a piece, in the order of the pieces."""
        if not pieces:
            return []
        count = max(1, min(len(pieces), self._tasks))
        packed = self._cargo.pack((function, shared, tuple(pieces)))
        done = self._context.accumulator(0)
        evaluate = _evaluation(packed, done, count)
        log.info("0 of %d %s are done (%d tasks)", len(pieces), what, count)
        # What is computed again, where a node was lost, counts twice.
        with _progress(lambda: min(done.value, len(pieces)), len(pieces), what):
            rows = self._context.parallelize(range(count), count).mapPartitions(evaluate)
            found = [(position, name, kept_table(data)) for position, name, data in fetched_data(rows)]
        log.info("%d of %d %s are done", len(pieces), len(pieces), what)
        packed.destroy()
        return [{name: table} for _, name, table in sorted(found, key=lambda one: one[0])]


def _evaluation(
    packed: Packed, done: Accumulator[int], count: int
) -> Callable[[Iterable[int]], Iterator[tuple[int, str, bytes]]]:
    """Return what a task does: every ``count``-th piece, from its own number on."""

    def evaluate_own(numbers: Iterable[int]) -> Iterator[tuple[int, str, bytes]]:
        evaluate, common, pieces = packed.open()
        for number in numbers:
            for position in range(number, len(pieces), count):
                tables = pack_tables(evaluate(common, pieces[position]))
                done.add(1)
                for name, data in tables.items():
                    yield position, name, data

    return evaluate_own


@contextmanager
def _progress(done: Callable[[], int], total: int, what: str) -> Iterator[None]:
    """Log how many pieces are done whenever a task has ended, but not more often than every few seconds."""
    is_over = threading.Event()

    def tell() -> None:
        told = 0
        while not is_over.wait(PROGRESS_EVERY_SECONDS):
            if told < done() < total:  # the last line comes with the results
                told = done()
                log.info("%d of %d %s are done", told, total, what)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        is_over.set()
        teller.join()


def run_job(name: str, run: Callable[[SparkSession, argparse.Namespace], object], args: argparse.Namespace) -> int:
    """Start or join a Spark session and run a job; returns the exit status."""
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    if LOG_FILE in os.environ:
        handlers.append(logging.FileHandler(os.environ[LOG_FILE], encoding="utf-8"))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", handlers=handlers)
    logging.getLogger("py4j").setLevel(logging.WARNING)  # it tells of each connection
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(f"kafka_capacity_{name}")
    builder = builder.config("spark.log.level", "WARN")  # else one line of thirty is ours
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as pools:
        pools.write(POOLS)
        pools.flush()
        builder = builder.config("spark.scheduler.mode", "FAIR")  # between that pool and the one that computes
        spark = builder.config("spark.scheduler.allocation.file", Path(pools.name).as_uri()).getOrCreate()
    try:
        run(spark, args)
    except KafkaCapacityError as error:
        if args.refusal_key:
            tell_refusal(open_store(args.store_uri), args.refusal_key, error)
        raise
    finally:
        spark.stop()
    return 0
