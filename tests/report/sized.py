"""Plans that size a cluster and lose parts of it, to report on: made-up inventories, worked on by the real thing."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.plan.failure_simulation import failures_document, find_failures
from kafka_capacity.plan.found_sizing import find_sizing
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.sizing_document import sizing_document
from kafka_capacity.plan.sizing_simulation import sizing_tables
from kafka_capacity.proposal.grid import placement_grid
from kafka_capacity.questions.capacity.simulate import run_here, simulate_sizing
from kafka_capacity.questions.failures.simulate import simulate_here
from kafka_capacity.report.inputs import ReportInputs
from tests.builders import GIB, cluster, rows_of, topic, with_rows
from tests.report.plans import make_inputs
from tests.sized_plans import every_placement

TOPICS = ("orders", "payments")
WEEK_SECONDS = 604_800
REQUEST: Mapping[str, Any] = {
    "sizing_broker_counts": [6, 9, 12],
    "growth_per_year_ratio": 0.5,
    "growth_high_per_year_ratio": 1.0,
    "horizon_months": 6,
}
PLACED: Mapping[str, Any] = {"broker_counts": [7], "placers": ["fewest-bytes"]}


def sized_inputs(
    *,
    topics: Sequence[str] = TOPICS,
    racks: Sequence[str] = ("a", "b", "c"),
    **parameters: Any,
) -> ReportInputs:
    """Size six brokers whose disks fill up within months, lose them, and give what the report of that is made of."""
    asked = {"cluster": "payments", **REQUEST, **PLACED, **parameters}
    key = repr((sorted(asked.items()), tuple(topics), tuple(racks)))
    return _sized(key, _Hidden(asked=asked, topics=tuple(topics), racks=tuple(racks)))


@dataclasses.dataclass(frozen=True)
class _Hidden:
    """Arguments that :func:`lru_cache` shall not look at: the key beside them says the same."""

    asked: Mapping[str, Any] = dataclasses.field(compare=False)
    topics: tuple[str, ...]
    racks: tuple[str, ...]

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=8)
def _sized(_: str, given: _Hidden) -> ReportInputs:
    size = 200 * GIB // len(given.topics)
    rate = size / WEEK_SECONDS  # what a retention of a week holds
    raw = cluster(
        topics=[
            topic(name, partitions=12, size_bytes=size, bytes_in=rate, bytes_out=2 * rate) for name in given.topics
        ],
        disk_capacity_bytes=1.7e12,
    )
    brokers = [
        {**row, "rack": given.racks[place % len(given.racks)]} for place, row in enumerate(rows_of(raw, "brokers"))
    ]
    raw = with_rows(raw, "brokers", brokers)
    snapshot = build_snapshot(raw)
    load = partition_load(raw, snapshot)
    request = parse_plan_request(given.asked)
    found = find_sizing(raw, snapshot, load, request)
    sized = simulate_sizing(found.inputs, run_here)
    scenarios = placement_grid(snapshot.brokers, request.grid())
    losses = find_failures(raw, snapshot, load, request, scenarios, placements=every_placement(scenarios))
    failed = simulate_here(losses)
    placed = make_inputs(observed=(snapshot, load), placers=("fewest-bytes",), broker_counts=(7,))
    return dataclasses.replace(
        placed,
        tables={**placed.tables, **sizing_tables(found, sized), **failed},
        request={**placed.request, **given.asked},
        sizing=sizing_document(found, sized),
        failures=failures_document(losses, scenarios, failed),
    )
