"""What breaks, in a plan made on the spot: the same work as the scheduled plan's, in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity.cli.planning import Planned
from kafka_capacity.cli.size_files import SizeFiles
from kafka_capacity.plan.failure_simulation import failures_document, find_failures, placements_to_lose
from kafka_capacity.questions.failures.simulate import simulate_here


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlannedFailures:
    """What a plan says of failures: its tables, and its document as plain data."""

    tables: Mapping[str, pa.Table]
    document: Mapping[str, Any]


def fail_plan(planned: Planned, focus: str | None, files: SizeFiles) -> PlannedFailures:
    """Lose brokers, racks and controllers of the placements of a plan.

    Args:
        planned: the snapshot, the request and the placements.
        focus: the scenario that the plan's answer is about.
        files: the user's own shapes and samples of processors.

    Raises:
        RequestError: a set of losses cannot be.
    """
    scenarios = [result.scenario for result in planned.results]
    made = {one.scenario.scenario_id: one.diff.after for one in planned.results if one.diff is not None}
    found = find_failures(
        planned.found.raw,
        planned.found.snapshot,
        planned.found.load,
        planned.request,
        scenarios,
        placements=placements_to_lose(planned.request, scenarios, focus, made),
        own_shapes=files.own_shapes,
        cpu=files.cpu,
    )
    tables = simulate_here(found)
    return PlannedFailures(tables=tables, document=failures_document(found, scenarios, tables))
