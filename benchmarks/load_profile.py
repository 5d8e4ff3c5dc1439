"""How long Spark takes to describe a history of hourly rates, by its size and the number of cores.

    python -m benchmarks.load_profile [--partitions 5000 10000 20000] [--days 30] [--cores 1 2]

A made-up cluster of topics with 50 partitions, RF 3, on 30 brokers; every partition has a rate of its own for each
hour, in and out. The history is written before the clock starts, by the code that keeps it; so is Spark's session.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.made_up import keep_days, made_up_inventory, usual_case, without_metrics
from benchmarks.through_spark import add_cores, say, scaling, session
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.load_profile import read_profile_manifest
from spark_jobs import load_profile

BROKERS = 30


def prepare(folder: Path, partitions: int, days: int) -> RawInventory:
    """Stage the cluster and write its history."""
    store = open_store(str(folder))
    raw = made_up_inventory(usual_case(partitions, BROKERS, racks=3), 1)
    stage(without_metrics(raw), store)
    keep_days(store, raw, days)
    return raw


def through_spark(folder: Path, raw: RawInventory, days: int, cores: int) -> tuple[float, str]:
    """Describe the history; returns seconds without the start of the session, and the hash of what was stored."""
    args = argparse.Namespace(store_uri=str(folder), cluster=raw.cluster, ds=raw.ds, days=days)
    with session("load_profile", cores, memory="6g") as spark:
        began = time.perf_counter()
        load_profile.run(spark, args)
        seconds = time.perf_counter() - began
    return seconds, read_profile_manifest(open_store(str(folder)), raw.cluster, raw.ds).sha256


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
            raw = prepare(Path(name), partitions, chosen.days)
            hashes, first = set(), None
            for cores in chosen.cores:
                seconds, sha256 = through_spark(Path(name), raw, chosen.days, cores)
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
