"""Plans with their shares about sizing and failures, made in this process."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import Manifest, read_document, read_table
from kafka_capacity.objects.store import LocalStore, ObjectStore
from kafka_capacity.plan.failure_simulation import load_failures, write_failures
from kafka_capacity.plan.group_simulation import load_groups, write_groups
from kafka_capacity.plan.pinned import PinnedPlan, pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import seal_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.simulation import load_simulation_inputs, write_placement
from kafka_capacity.plan.sizing_simulation import load_sizing, write_sizing
from kafka_capacity.questions.capacity.simulate import placement_results, simulate_sizing
from kafka_capacity.questions.change.evaluate import placement_pieces, placement_tables
from kafka_capacity.questions.consumers.evaluate import simulate_groups, work_tables
from kafka_capacity.questions.failures.simulate import failure_pieces, merged_tables, piece_tables


def pinned_inventory(raw: RawInventory, request: Mapping[str, Any], folder: Path) -> tuple[ObjectStore, PinnedPlan]:
    """Stage an inventory in a folder, and pin a request on it."""
    store = LocalStore(folder)
    stage(raw, store)
    return store, pin_plan(store, parse_plan_request(request), run_date=datetime.date(2026, 11, 25))


def read_share(store: ObjectStore, manifest: Manifest, document: str) -> tuple[dict[str, pa.Table], Any]:
    """Read what a share of a plan has: its tables, and its document."""
    tables = {name: read_table(store, manifest, name) for name in manifest.tables}
    return tables, json.loads(read_document(store, manifest, document))


def write_sizing_share(store: ObjectStore, pinned: PinnedPlan, *, order: int = 1) -> Manifest:
    """Do what the job does; ``order=-1`` does the pieces of work the other way round."""
    inputs = read_plan_inputs(store, pinned.request_key)
    found = load_sizing(store, inputs)
    sized = simulate_sizing(
        found.inputs, lambda shared, keys: [placement_results(shared, key) for key in list(keys)[::order]]
    )
    return write_sizing(store, inputs, found, sized)


def write_failures_share(store: ObjectStore, pinned: PinnedPlan, *, order: int = 1) -> Manifest:
    """Do what the job does; ``order=-1`` does the pieces of work the other way round."""
    inputs = read_plan_inputs(store, pinned.request_key)
    found = load_failures(store, inputs)
    bundles = [piece_tables(found, piece) for piece in failure_pieces(found)[::order]]
    return write_failures(store, inputs, found, merged_tables(found, bundles))


def simulate_plan(store: ObjectStore, request: Mapping[str, Any]) -> tuple[PinnedPlan, Manifest]:
    """Do what the tasks of a plan do, up to its manifest; the request has a ``ds``."""
    pinned = pin_plan(store, parse_plan_request(request), run_date=datetime.date(2027, 1, 1))
    inputs = read_plan_inputs(store, pinned.request_key)
    simulation = load_simulation_inputs(store, inputs)
    bundles = [placement_tables(simulation, piece) for piece in placement_pieces(inputs.scenarios)]
    write_placement(store, inputs, bundles, simulation.facts)
    found = load_groups(store, inputs)
    groups = simulate_groups(found.inputs, lambda work: [work_tables(found.inputs, one) for one in work])
    write_groups(store, inputs, found, groups)
    write_sizing_share(store, pinned)
    write_failures_share(store, pinned)
    return pinned, seal_plan(store, pinned)
