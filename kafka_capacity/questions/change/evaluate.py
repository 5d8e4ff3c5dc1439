"""Evaluate one scenario of a plan and give its tables: what runs on an executor, and on a laptop just the same.

Executors have numpy, scipy and pyarrow; nothing here, nor what it imports, may ask for more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.workload import Traffic
from kafka_capacity.kafka.arrays import Int32s
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.placement.registry import FEWEST_BYTES
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.grid import distinct_placements
from kafka_capacity.proposal.scenario import PlacementResult, PlacementScenario
from kafka_capacity.questions.change.move_schedule import MoveSettings, scheduled
from kafka_capacity.questions.change.tables import PLAN_TABLES, result_tables

MOVES_FOR_ALL_UP_TO = 24
"""Up to so many scenarios every one brings its moves; beyond, only those of ``fewest-bytes`` are listed one by one."""

MADE = "made"
"""Beside the tables of a plan: the replica lists of the placement of a piece, for who stands on it; not stored."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulationInputs:
    """Everything that evaluating needs, as arrays; ``move`` says how moves are cut into waves."""

    snapshot: Snapshot
    load: PartitionLoad
    traffic: Traffic | None = None
    move: MoveSettings = dataclasses.field(default_factory=MoveSettings)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementPiece:
    """A piece of work: scenarios that share a placement, and whether their moves are listed."""

    scenarios: tuple[PlacementScenario, ...]
    has_moves: bool


def placement_pieces(scenarios: Sequence[PlacementScenario]) -> list[PlacementPiece]:
    """List the scenarios as pieces of work: several throttles need one placement only."""
    has_all_moves = len(scenarios) <= MOVES_FOR_ALL_UP_TO
    return [
        PlacementPiece(scenarios=tuple(several), has_moves=has_all_moves or several[0].placer == FEWEST_BYTES)
        for several in distinct_placements(scenarios).values()
    ]


def placement_tables(inputs: SimulationInputs, piece: PlacementPiece) -> dict[str, pa.Table]:
    """Do one piece of work and give its tables."""
    first: PlacementResult | None = None
    bundles = []
    for scenario in piece.scenarios:
        judged = evaluate_placement(inputs.snapshot, inputs.load, scenario, first, traffic=inputs.traffic)
        first = first or judged
        schedule = None
        if piece.has_moves:
            judged, schedule = scheduled(inputs.snapshot, inputs.load, judged, inputs.move)
        bundles.append(result_tables(judged, inputs.snapshot, has_moves=piece.has_moves, schedule=schedule))
    tables = bundles[0] if len(bundles) == 1 else merge_tables(bundles, PLAN_TABLES)
    if piece.has_moves and first is not None and first.diff is not None:
        after = first.diff.after
        row = {
            "scenario_id": first.scenario.scenario_id,
            "width": after.shape[1],
            "after": after.astype("<i4").tobytes(),
        }
        tables[MADE] = pa.Table.from_pylist([row])
    return tables


def made_placements(bundles: Iterable[Mapping[str, pa.Table]]) -> dict[str, Int32s]:
    """Return the replica lists of the placements that pieces of work made, by the first scenario of each."""
    rows = [row for bundle in bundles if MADE in bundle for row in bundle[MADE].to_pylist()]
    return {row["scenario_id"]: np.frombuffer(row["after"], "<i4").reshape(-1, row["width"]) for row in rows}
