"""A grid of sizing options through Spark and in one process: the same answers, and how long each takes.

    python -m benchmarks.size_grid [--counts 50] [--cores 1 2]

The example cluster `shop-eu` (about 6,000 partitions) is staged, and so many broker counts are tried, each as it is,
with one and with two racks more, with every shape of the catalogue, at every month of a year. Spark runs on this
machine; its session is started before the clock is.
"""

from __future__ import annotations

import argparse
import datetime
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.through_spark import add_cores, beside_one_process
from kafka_capacity.example.generator import make_example
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import PinnedPlan, pin_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.questions.capacity.share import CAPACITY
from tests.shapes import read_shapes

CLUSTER = "shop-eu"
FEWEST_BROKERS = 6


def prepare(folder: Path, counts: int) -> PinnedPlan:
    """Stage the cluster, and pin a grid of so many counts."""
    store = open_store(str(folder))
    stage(make_example(CLUSTER), store)
    request = parse_plan_request(
        {
            "cluster": CLUSTER,
            "sizing_broker_counts": list(range(FEWEST_BROKERS, FEWEST_BROKERS + counts)),
            "extra_racks": [0, 1, 2],
            "shapes": sorted(read_shapes()),
        }
    )
    return pin_plan(store, request, run_date=datetime.date(2027, 1, 1))


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether the answers were the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, default=50)
    add_cores(parser)
    chosen = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as name:
        plan = prepare(Path(name), chosen.counts)
        is_same = beside_one_process(Path(name), plan, CAPACITY.share, chosen.cores)
    return 0 if is_same else 1


if __name__ == "__main__":
    raise SystemExit(main())
