"""What the placements of a plan need of its inventory, and what is stored of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.health.codes import CLUSTER_CODES
from kafka_capacity.health.problem import Problem
from kafka_capacity.health.topology import proposed_problems
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.objects.dataset import Manifest
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.plan.pinned import PlanInputs
from kafka_capacity.plan.plan_dataset import FACTS_DOCUMENT, PLACEMENT, REQUEST_DOCUMENT, write_share
from kafka_capacity.proposal.log_dirs import log_dir_facts
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.change.evaluate import SimulationInputs
from kafka_capacity.questions.change.tables import PLAN_TABLES
from kafka_capacity.questions.question import Basis


def simulation_inputs(inputs: PlanInputs, basis: Basis) -> SimulationInputs:
    """Return the inventory as arrays, with what a report says about it."""
    # Groups are no part of placement: they would only make what travels to the executors larger.
    return SimulationInputs(
        snapshot=dataclasses.replace(basis.snapshot, groups=()),
        load=basis.load,
        facts=inventory_facts(basis.raw, basis.snapshot, basis.load, inputs.scenarios, basis.findings),
        move=inputs.move,
    )


def inventory_facts(
    raw: RawInventory,
    snapshot: Snapshot,
    traffic: PartitionLoad,
    scenarios: Sequence[PlacementScenario],
    findings: Iterable[Problem],
) -> dict[str, Any]:
    """Describe what the report needs to know about an inventory, as plain data."""
    brokers = snapshot.brokers

    def known(value: float) -> float | None:
        return float(value) if np.isfinite(value) else None

    layouts = proposed_problems(brokers, replication_factors(snapshot.replicas), scenarios)
    # What is wrong with the cluster itself is judged with the plan's own limits and stands among its failures.
    sound = [one for one in findings if one.code not in CLUSTER_CODES]
    return {
        "snapshot": {
            "brokers": [
                {
                    "broker_id": int(brokers.ids[i]),
                    "rack": brokers.racks[i],
                    "disk_capacity_bytes": known(brokers.disk_capacity_bytes[i]),
                    "network_in_bytes_per_second": known(brokers.network_in_bytes_per_second[i]),
                    "network_out_bytes_per_second": known(brokers.network_out_bytes_per_second[i]),
                }
                for i in range(len(brokers))
            ],
            "broker_count": len(brokers),
            "topic_count": len(snapshot.partitions.topics),
            "partition_count": len(snapshot.partitions),
            "replica_count": int((snapshot.replicas >= 0).sum()),
            "group_count": len(snapshot.groups),
            "total_bytes": int(snapshot.size_bytes.sum()),
            "bytes_in_mean_bytes_per_second": float(traffic.bytes_in_mean_bytes_per_second.sum()),
            "unknown_size_partitions": snapshot.unknown_size_partitions,
            **log_dir_facts(snapshot.log_dirs),
            "rate_history_hours": traffic.hours,
            "source": raw.source,
            "captured_at": raw.captured_at,
            "kafka_version": raw.kafka_version,
        },
        "findings": [one.as_dict() for one in (*layouts, *sound)],
    }


def write_placement(
    store: ObjectStore,
    inputs: PlanInputs,
    bundles: Iterable[Mapping[str, pa.Table]],
    facts: dict[str, Any],
) -> Manifest:
    """Store the placement's share of a plan: the same names and bytes whatever the order the results came in."""
    tables = merge_tables(bundles, PLAN_TABLES)
    return write_share(
        store,
        inputs,
        PLACEMENT,
        tables=tables,
        documents={
            FACTS_DOCUMENT: facts,
            REQUEST_DOCUMENT: {"request": inputs.request, "model_version": inputs.model_version},
        },
        scenario_count=len(tables["scenarios"]),
    )
