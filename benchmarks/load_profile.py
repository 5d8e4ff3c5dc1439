"""How long Spark takes to describe a history of hourly rates, by its size and the number of cores.

    python -m benchmarks.load_profile [--partitions 5000 10000 20000] [--days 30] [--cores 1 2]

A made-up cluster of topics with 50 partitions, RF 3, on 30 brokers; every partition has a rate of its own for each
hour, in and out. The history is written before the clock starts, by the code that keeps it; so is Spark's session.
"""

from __future__ import annotations

import argparse
import datetime
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.through_spark import add_cores, say, scaling, session
from kafka_capacity.inventory.history import keep_history
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.staging import stage
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.load_profile import read_profile_manifest
from spark_jobs import load_profile

CLUSTER, DS = "many-partitions", datetime.date(2026, 6, 30)
BROKERS, PER_TOPIC, FACTOR = 30, 50, 3


def prepare(folder: Path, partitions: int, days: int) -> None:
    """Stage the cluster and write its history."""
    store = open_store(str(folder))
    topics = [f"topic-{number:05d}" for number in range(partitions // PER_TOPIC)]
    topic, partition = np.repeat(topics, PER_TOPIC), np.tile(np.arange(PER_TOPIC), len(topics))
    stage(_inventory(topics, topic, partition), store)
    rng = np.random.default_rng(1)
    scale = rng.lognormal(11, 1, len(topic))
    for number in range(days):
        day = DS - datetime.timedelta(days=days - 1 - number)
        rates = (scale[:, None] * rng.uniform(0.5, 1.5, (len(topic), 24))).astype(np.float32).reshape(-1)
        start = int(datetime.datetime.combine(day, datetime.time(), datetime.UTC).timestamp())
        hours = np.tile(start + 3600 * np.arange(24), len(topic))
        columns = [
            pa.array(np.repeat(topic, 24), pa.string()),
            pa.array(np.repeat(partition, 24), pa.int32()),
            pa.array(hours, pa.int64()).cast(pa.timestamp("s", tz="UTC")),
            pa.array(rates),
            pa.array(2 * rates),
        ]
        metrics = pa.Table.from_arrays(columns, schema=TABLES["metrics"].schema)
        keep_history(store, CLUSTER, metrics, captured=day.isoformat())


def _inventory(topics: list[str], topic: np.ndarray, partition: np.ndarray) -> RawInventory:
    count = len(topic)
    replica = np.tile(np.arange(FACTOR), count)
    broker = (np.repeat(np.arange(count), FACTOR) + replica) % BROKERS
    rows = {
        "brokers": {"broker_id": np.arange(BROKERS), "rack": [f"r{number % 3}" for number in range(BROKERS)]},
        "topics": {"topic": topics},
        "replicas": {
            "topic": np.repeat(topic, FACTOR),
            "partition": np.repeat(partition, FACTOR),
            "position": replica,
            "broker_id": broker,
            "is_leader": replica == 0,
            "is_in_sync": np.ones(len(replica), dtype=bool),
            "size_bytes": np.full(len(replica), 2**30),
        },
    }
    return RawInventory(
        cluster=CLUSTER,
        ds=DS.isoformat(),
        captured_at=None,
        source="benchmark",
        kafka_version=None,
        tables={name: _table(name, columns) for name, columns in rows.items()},
    )


def _table(name: str, columns: dict[str, object]) -> pa.Table:
    schema = TABLES[name].schema
    count = len(next(iter(columns.values())))  # type: ignore[arg-type]  # every column is a list or an array
    return pa.Table.from_arrays(
        [pa.array(columns[f.name], f.type) if f.name in columns else pa.nulls(count, f.type) for f in schema],
        schema=schema,
    )


def through_spark(folder: Path, days: int, cores: int) -> tuple[float, str]:
    """Describe the history; returns seconds without the start of the session, and the hash of what was stored."""
    args = argparse.Namespace(store_uri=str(folder), cluster=CLUSTER, ds=DS.isoformat(), days=days)
    with session("load_profile", cores, memory="6g") as spark:
        began = time.perf_counter()
        load_profile.run(spark, args)
        seconds = time.perf_counter() - began
    return seconds, read_profile_manifest(open_store(str(folder)), CLUSTER, DS.isoformat()).sha256


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether the answers were the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, nargs="*", default=[5_000, 10_000, 20_000])
    parser.add_argument("--days", type=int, default=30)
    add_cores(parser)
    chosen = parser.parse_args(words)
    is_same = True
    for partitions in chosen.partitions:
        with tempfile.TemporaryDirectory() as name:
            prepare(Path(name), partitions, chosen.days)
            hashes, first = set(), None
            for cores in chosen.cores:
                seconds, sha256 = through_spark(Path(name), chosen.days, cores)
                first = first or (cores, seconds)
                hashes.add(sha256)
                values = partitions * chosen.days * 24
                say(
                    f"{partitions:,} partitions x {chosen.days} days ({values / 1e6:.1f} M hours), {cores} cores: "
                    f"{seconds:.0f} s, {values / seconds / 1e6:.2f} M hours a second{scaling(first, cores, seconds)}"
                )
            is_same &= len(hashes) == 1
    say(f"{'the same' if is_same else 'OTHER'} answers whatever the number of cores")
    return 0 if is_same else 1


if __name__ == "__main__":
    raise SystemExit(main())
