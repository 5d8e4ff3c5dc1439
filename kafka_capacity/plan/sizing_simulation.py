"""Load what sizing needs from a pinned inventory, and store what came of it."""

from __future__ import annotations

import pyarrow as pa

from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.staging import load
from kafka_capacity.objects.dataset import Manifest
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.found_sizing import FoundSizing, find_sizing
from kafka_capacity.plan.pinned import PlanInputs
from kafka_capacity.plan.plan_dataset import SIZING, SIZING_DOCUMENT, write_share
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.sizing_document import sizing_document
from kafka_capacity.plan.traffic import pinned_profile, plan_load
from kafka_capacity.questions.capacity.simulate import Sized
from kafka_capacity.questions.capacity.tables import sizing_exhaustion_table, sizing_options_table, sizing_use_table


def load_sizing(store: ObjectStore, inputs: PlanInputs) -> FoundSizing:
    """Read what is to be sized of the pinned inventory.

    Raises:
        InventoryError: the inventory is not the one that was pinned.
        RequestError: a planned event or a shape cannot be.
    """
    pinned = inputs.pinned
    raw = load(store, pinned.cluster, pinned.ds, manifest_sha256=pinned.inventory_sha256)
    snapshot = build_snapshot(raw)
    return find_sizing(
        raw,
        snapshot,
        plan_load(store, pinned, raw, snapshot),
        parse_plan_request(inputs.request),
        own_shapes=inputs.own_shapes,
        profile_days=pinned_profile(store, pinned, "profile_days"),
    )


def sizing_tables(found: FoundSizing, sized: Sized) -> dict[str, pa.Table]:
    """Give the tables about sizing."""
    advice = sized.advice
    return {
        "sizing_options": sizing_options_table(sized.results, recommended=advice.recommended, front=advice.front),
        "sizing_exhaustion": sizing_exhaustion_table(sized.results),
        "sizing_use": sizing_use_table(sized.results, found.inputs.request.limits),
    }


def write_sizing(store: ObjectStore, inputs: PlanInputs, found: FoundSizing, sized: Sized) -> Manifest:
    """Store the share of a plan about sizing: the same names and bytes whoever did the work."""
    tables = sizing_tables(found, sized)
    return write_share(
        store,
        inputs,
        SIZING,
        tables=tables,
        documents={SIZING_DOCUMENT: {**sizing_document(found, sized), "scores": inputs.scores}},
        scenario_count=len(tables["sizing_options"]),
    )
