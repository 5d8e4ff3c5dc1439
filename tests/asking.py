"""What a plan asks, of inventories that are made in tests."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.capacity.simulate import placement_results
from kafka_capacity.questions.failures.simulate import FailureInputs, failure_pieces, merged_tables, piece_tables
from kafka_capacity.questions.question import Basis, PlanContext, run_here


def ask(raw: RawInventory, request: Mapping[str, Any], *scenarios: PlacementScenario) -> PlanContext:
    """Ask something of an inventory that nothing was found wrong with."""
    snapshot = build_snapshot(raw)
    basis = Basis(raw=raw, findings=Problems(), snapshot=snapshot, load=partition_load(raw, snapshot))
    return PlanContext(basis=basis, parameters=parse_plan_request(request), scenarios=scenarios, request=request)


run_sizes = functools.partial(run_here, placement_results, what="cluster sizes")
"""Does the pieces of sizing in this process."""


def simulate_here(inputs: FailureInputs) -> dict[str, pa.Table]:
    """Lose what is asked in this process."""
    return merged_tables(inputs, run_here(piece_tables, inputs, failure_pieces(inputs), what="losses"))
