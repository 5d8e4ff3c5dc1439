"""What a plan sizes of its inventory, and what is stored of it."""

from __future__ import annotations

import pyarrow as pa

from kafka_capacity.objects.dataset import Manifest
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.found_sizing import FoundSizing, find_sizing
from kafka_capacity.plan.pinned import PlanInputs
from kafka_capacity.plan.plan_dataset import SIZING, SIZING_DOCUMENT, write_share
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.sizing_document import sizing_document
from kafka_capacity.questions.capacity.simulate import Sized
from kafka_capacity.questions.capacity.tables import sizing_exhaustion_table, sizing_options_table, sizing_use_table
from kafka_capacity.questions.question import Basis


def pinned_sizing(inputs: PlanInputs, basis: Basis) -> FoundSizing:
    """Return what is to be sized of the pinned inventory.

    Raises:
        RequestError: a planned event or a shape cannot be.
    """
    return find_sizing(
        basis.raw,
        basis.snapshot,
        basis.load,
        parse_plan_request(inputs.request),
        own_shapes=inputs.own_shapes,
        profile_days=basis.profile_days,
    )


def sizing_tables(found: FoundSizing, sized: Sized) -> dict[str, pa.Table]:
    """Return the tables about sizing."""
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
