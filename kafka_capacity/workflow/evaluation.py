"""Evaluate one scenario of a plan and give its tables: what runs on an executor, and on a laptop just the same.

Executors have numpy and pyarrow; nothing here, nor what it imports, may ask for more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from kafka_capacity.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.objects.plan_tables import result_tables
from kafka_capacity.sizing.evaluate import evaluate_placement
from kafka_capacity.sizing.scenario import PlacementScenario

MOVES_FOR_ALL_UP_TO = 24
"""Up to so many scenarios every one brings its moves; beyond, only those of ``fewest-bytes`` are listed one by one."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulationInputs:
    """Everything that evaluating needs, as arrays."""

    snapshot: Snapshot
    load: PartitionLoad
    facts: dict[str, Any]


def wants_moves(scenarios: Sequence[PlacementScenario], scenario: PlacementScenario) -> bool:
    """Tell whether the moves of a scenario are listed one by one."""
    return len(scenarios) <= MOVES_FOR_ALL_UP_TO or scenario.placer == "fewest-bytes"


def evaluate_tables(inputs: SimulationInputs, scenario: PlacementScenario, *, has_moves: bool) -> dict[str, pa.Table]:
    """Evaluate one scenario and give its tables."""
    return result_tables(
        evaluate_placement(inputs.snapshot, inputs.load, scenario), inputs.snapshot, has_moves=has_moves
    )


def pack_tables(tables: dict[str, pa.Table]) -> dict[str, bytes]:
    """Put tables into Arrow streams, to travel from an executor."""
    packed = {}
    for name, table in tables.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        packed[name] = sink.getvalue().to_pybytes()
    return packed


def unpack_table(data: bytes) -> pa.Table:
    """Undo :func:`pack_tables` for one table."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
