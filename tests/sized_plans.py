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
from kafka_capacity.objects.dataset import Manifest, manifest_name, read_document, read_table
from kafka_capacity.objects.store import LocalStore, ObjectStore
from kafka_capacity.plan.pinned import PinnedPlan, pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import seal_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.runner import simulate_plan
from kafka_capacity.questions.capacity.share import CAPACITY
from kafka_capacity.questions.change.share import CHANGE
from kafka_capacity.questions.failures.share import FAILURES
from kafka_capacity.questions.question import run_here


def pinned_inventory(raw: RawInventory, request: Mapping[str, Any], folder: Path) -> tuple[ObjectStore, PinnedPlan]:
    """Stage an inventory in a folder, and pin a request on it."""
    store = LocalStore(folder)
    stage(raw, store)
    return store, pin_plan(store, parse_plan_request(request), run_date=datetime.date(2026, 11, 25))


def read_share(store: ObjectStore, manifest: Manifest, document: str) -> tuple[dict[str, pa.Table], Any]:
    """Read what a share of a plan has: its tables, and its document."""
    tables = {name: read_table(store, manifest, name) for name in manifest.tables}
    return tables, json.loads(read_document(store, manifest, document))


def backwards(function, shared, pieces, *, what):
    """Do pieces of work the other way round; what came of them is returned in their order, as `RunPieces` promises."""
    return [function(shared, piece) for piece in pieces[::-1]][::-1]


def write_shares(store: ObjectStore, pinned: PinnedPlan, *shares: str, order: int = 1) -> dict[str, Manifest]:
    """Simulate some questions, whether or not they are stored; ``order=-1`` does pieces of work the other way round."""
    for share in shares:
        store.delete(pinned.plan_prefix + manifest_name(share))
    inputs = read_plan_inputs(store, pinned.request_key)
    return simulate_plan(store, inputs, run_here if order == 1 else backwards, shares=shares)


def write_sizing_share(store: ObjectStore, pinned: PinnedPlan, *, order: int = 1) -> Manifest:
    """Do what the job does of sizing."""
    return write_shares(store, pinned, CAPACITY.share, order=order)[CAPACITY.share]


def write_failures_share(store: ObjectStore, pinned: PinnedPlan, *, order: int = 1) -> Manifest:
    """Do what the job does of failures, and of the placements that these stand on."""
    return write_shares(store, pinned, CHANGE.share, FAILURES.share, order=order)[FAILURES.share]


def simulated_plan(store: ObjectStore, request: Mapping[str, Any]) -> tuple[PinnedPlan, Manifest]:
    """Do what the tasks of a plan do, up to its manifest; the request has a ``ds``."""
    pinned = pin_plan(store, parse_plan_request(request), run_date=datetime.date(2027, 1, 1))
    simulate_plan(store, read_plan_inputs(store, pinned.request_key))
    return pinned, seal_plan(store, pinned)
