"""Plans that size a cluster and lose parts of it, to report on: made-up inventories, worked on by the real thing."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from kafka_capacity.plan.handing import given_hardware
from kafka_capacity.proposal.grid import placement_grid
from kafka_capacity.questions.capacity.document import SIZING_DOCUMENT
from kafka_capacity.questions.capacity.share import CAPACITY
from kafka_capacity.questions.failures.share import FAILURES, FAILURES_DOCUMENT
from kafka_capacity.questions.question import Handed, run_here
from kafka_capacity.report.inputs import ReportInputs
from tests.asking import ask
from tests.builders import GIB, cluster, rows_of, topic, with_rows
from tests.report.plans import make_inputs

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
    asked = ask(raw, {**given.asked, "failure_placements": "all"})
    snapshot, load = asked.basis.snapshot, asked.basis.load
    asked = dataclasses.replace(asked, scenarios=placement_grid(snapshot.brokers, asked.parameters.grid()))
    sized = CAPACITY.simulate(asked, Handed(), run_here)
    failed = FAILURES.simulate(asked, Handed(hardware=given_hardware(asked)), run_here)
    placed = make_inputs(observed=(snapshot, load), placers=("fewest-bytes",), broker_counts=(7,))
    return dataclasses.replace(
        placed,
        tables={**placed.tables, **sized.tables, **failed.tables},
        request={**placed.request, **given.asked},
        sizing=sized.documents[SIZING_DOCUMENT],
        failures=failed.documents[FAILURES_DOCUMENT],
    )
