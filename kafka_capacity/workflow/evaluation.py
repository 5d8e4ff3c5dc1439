"""Evaluate one scenario of a plan and give its tables: what runs on an executor, and on a laptop just the same.

Executors have numpy, scipy and pyarrow; nothing here, nor what it imports, may ask for more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from kafka_capacity.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.objects.plan_tables import result_tables
from kafka_capacity.sizing.evaluate import evaluate_placement
from kafka_capacity.sizing.move_schedule import MoveSettings, scheduled
from kafka_capacity.sizing.scenario import PlacementScenario

MOVES_FOR_ALL_UP_TO = 24
"""Up to so many scenarios every one brings its moves; beyond, only those of ``fewest-bytes`` are listed one by one."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulationInputs:
    """Everything that evaluating needs, as arrays; ``move`` says how moves are cut into waves."""

    snapshot: Snapshot
    load: PartitionLoad
    facts: dict[str, Any]
    move: MoveSettings = dataclasses.field(default_factory=MoveSettings)


def wants_moves(scenarios: Sequence[PlacementScenario], scenario: PlacementScenario) -> bool:
    """Tell whether the moves of a scenario are listed one by one."""
    return len(scenarios) <= MOVES_FOR_ALL_UP_TO or scenario.placer == "fewest-bytes"


def evaluate_tables(inputs: SimulationInputs, scenario: PlacementScenario, *, has_moves: bool) -> dict[str, pa.Table]:
    """Evaluate one scenario and give its tables; where its moves are listed, in what waves they are done as well."""
    result = evaluate_placement(inputs.snapshot, inputs.load, scenario)
    schedule = None
    if has_moves:
        result, schedule = scheduled(inputs.snapshot, inputs.load, result, inputs.move)
    return result_tables(result, inputs.snapshot, has_moves=has_moves, schedule=schedule)


def placement_pieces(scenarios: Sequence[PlacementScenario]) -> list[tuple[PlacementScenario, bool]]:
    """List the scenarios as pieces of work, each with whether its moves are listed."""
    return [(scenario, wants_moves(scenarios, scenario)) for scenario in scenarios]


def placement_tables(inputs: SimulationInputs, piece: tuple[PlacementScenario, bool]) -> dict[str, pa.Table]:
    """Do one piece of work and give its tables."""
    scenario, has_moves = piece
    return evaluate_tables(inputs, scenario, has_moves=has_moves)
