"""A grid of group scenarios through Spark and in one process: the same answers, and how long each takes.

    python -m benchmarks.group_grid [--groups 100] [--counts 20] [--cores 1 2]

An example cluster with many consumer groups is staged, and every group is tried with every count and with range,
roundrobin, cooperative-sticky and the coordinator's uniform, through a change of the count, a rolling restart and a
crash. Spark runs on this machine; its session is started before the clock is.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.through_spark import add_cores, beside_one_process
from kafka_capacity.example import shapes
from kafka_capacity.example.generator import make_example
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import PinnedPlan, pin_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.questions.consumers.share import CONSUMERS

CLUSTER = "many-groups"
ASSIGNORS = ("range", "roundrobin", "cooperative-sticky", "uniform")
EVENTS = ("scale", "rolling-restart", "crash")


def prepare(folder: Path, groups: int, counts: int) -> PinnedPlan:
    """Stage a cluster with so many groups, and pin a grid of so many counts."""
    shapes.SHAPES[CLUSTER] = dataclasses.replace(shapes.SHAPES["metrics-uneven"], cluster=CLUSTER, group_count=groups)
    store = open_store(str(folder))
    stage(make_example(CLUSTER), store)
    request = parse_plan_request(
        {
            "cluster": CLUSTER,
            "consumer_counts": list(range(1, counts + 1)),
            "group_assignors": list(ASSIGNORS),
            "group_events": list(EVENTS),
            "static_membership": "as-is",
        }
    )
    return pin_plan(store, request, run_date=datetime.date(2027, 1, 1))


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether the answers were the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--counts", type=int, default=20)
    add_cores(parser)
    chosen = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as name:
        plan = prepare(Path(name), chosen.groups, chosen.counts)
        is_same = beside_one_process(Path(name), plan, CONSUMERS.share, chosen.cores)
    return 0 if is_same else 1


if __name__ == "__main__":
    raise SystemExit(main())
