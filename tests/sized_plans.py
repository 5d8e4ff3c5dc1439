"""The share of a plan about sizing, made in this process."""

from __future__ import annotations

from kafka_capacity.objects.dataset import Manifest
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.workflow.pinned import PinnedPlan, read_plan_inputs
from kafka_capacity.workflow.sizing_evaluation import placement_results, simulate_sizing
from kafka_capacity.workflow.sizing_simulation import load_sizing, write_sizing


def write_sizing_share(store: ObjectStore, pinned: PinnedPlan, *, order: int = 1) -> Manifest:
    """Do what the job does; ``order=-1`` does the pieces of work the other way round."""
    inputs = read_plan_inputs(store, pinned.request_key)
    found = load_sizing(store, inputs)
    sized = simulate_sizing(
        found.inputs, lambda shared, keys: [placement_results(shared, key) for key in list(keys)[::order]]
    )
    return write_sizing(store, inputs, found, sized)
