"""What measuring a Spark job takes: a session that runs before the clock does, and one process to compare with."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_capacity.objects.dataset import read_manifest
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import PinnedPlan, read_plan_inputs
from kafka_capacity.plan.runner import simulate_plan
from spark_jobs import simulate
from spark_jobs.spread import SPARK_DEFAULTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CORES = (1, 2)


def add_cores(parser: argparse.ArgumentParser) -> None:
    """Let people say on how many cores Spark is measured; the first is what the others are held against."""
    parser.add_argument("--cores", type=int, nargs="+", default=list(CORES), metavar="N")


def say(line: str) -> None:
    """Print a line at once: the next figure may take minutes."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def scaling(first: tuple[int, float], cores: int, seconds: float) -> str:
    """Return how many times as fast so many cores are as the first ones; nothing for these themselves."""
    count, least = first
    return "" if cores == count else f", {least / seconds:.2f} times as fast as {count}"


@contextmanager
def session(name: str, cores: int, *, memory: str = "1g") -> Iterator[SparkSession]:
    """Start Spark on this machine and have it do something, so that the next thing is not its first.

    Its JVM ends with it: the next session would else find everything compiled, and seem to gain by more cores.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores}]").appName(name).config(map=SPARK_DEFAULTS)
    builder = builder.config("spark.driver.memory", memory)
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    try:
        spark.range(1).count()
        yield spark
    finally:
        spark.stop()
        gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(60)


def seconds_of_plan(folder: Path, plan: PinnedPlan, share: str, cores: int) -> float:
    """Simulate a share of a plan; returns seconds without the start of the session."""
    words = ["--store-uri", str(folder), "--request-key", plan.request_key, "--shares", share]
    with session("simulate", cores) as spark:
        began = time.perf_counter()
        simulate.run(spark, simulate.parser().parse_args(words))
        return time.perf_counter() - began


def beside_one_process(folder: Path, plan: PinnedPlan, share: str, cores: Sequence[int]) -> bool:
    """Time one share of a plan of the store in ``folder`` in this process and through Spark, and print each.

    Returns:
        Whether Spark stored the same with each number of ``cores``, one after the other.
    """
    store = open_store(str(folder))
    began = time.perf_counter()
    manifest = simulate_plan(store, read_plan_inputs(store, plan.request_key), shares=(share,))[share]
    say(f"in one process: {manifest.facts['scenarios']:,} scenarios, {time.perf_counter() - began:.0f} s")
    expected = manifest.sha256
    is_same, first = True, None
    for count in cores:
        for key in list(store.list_objects(plan.plan_prefix)):
            store.delete(key)
        seconds = seconds_of_plan(folder, plan, share, count)
        first = first or (count, seconds)
        same = read_manifest(store, plan.plan_prefix, share=share).sha256 == expected
        is_same &= same
        answers = "the same" if same else "OTHER"
        say(f"Spark, {count} cores: {seconds:.0f} s, {answers} answers{scaling(first, count, seconds)}")
    return is_same
