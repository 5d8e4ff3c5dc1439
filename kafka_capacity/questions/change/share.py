"""What moves with other brokers: the share of a plan, and what is decided from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from kafka_capacity.hardware.plain import plain_number
from kafka_capacity.health.controllers import leaving_voters
from kafka_capacity.health.cordons import uncordoned_problems
from kafka_capacity.health.groups import expansion_problems
from kafka_capacity.health.problem import CLUSTER_CODES
from kafka_capacity.health.racks import proposed_problems
from kafka_capacity.health.settings import lower_factor_problems
from kafka_capacity.inventory.sizing_workload import known_hours
from kafka_capacity.inventory.snapshot import read_quorum
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.cluster.brokers import DISK_AND_NETWORK
from kafka_capacity.kafka.controller.quorum.voters import parse_voters
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.proposal.log_dirs import log_dir_facts
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.change.change_view import view_change
from kafka_capacity.questions.change.decide import decide_change
from kafka_capacity.questions.change.evaluate import (
    SimulationInputs,
    made_placements,
    placement_pieces,
    placement_tables,
)
from kafka_capacity.questions.change.move_schedule import MoveSettings
from kafka_capacity.questions.change.tables import PLAN_TABLES
from kafka_capacity.questions.question import Handed, PlanContext, Question, RunPieces, Share
from kafka_capacity.report.inputs import ReportInputs

FACTS_DOCUMENT = "facts.json"
REQUEST_DOCUMENT = "request.json"


def simulation_inputs(asked: PlanContext) -> SimulationInputs:
    """Return what evaluating placements needs of the inventory."""
    # Groups are no part of placement: they would only make what travels to the executors larger.
    return SimulationInputs(
        snapshot=dataclasses.replace(asked.basis.snapshot, groups=()),
        load=asked.basis.load,
        traffic=asked.basis.traffic,
        move=move_settings(asked),
    )


def move_settings(asked: PlanContext) -> MoveSettings:
    """Return how moves are carried out, with the traffic of each hour where waves keep to a window."""
    settings: MoveSettings = asked.parameters.move_settings()
    week = None if settings.waves.window is None else asked.basis.week
    ratio = None if week is None or not week.any() else tuple((week / week.mean()).tolist())
    return dataclasses.replace(settings, week_ratio=ratio)


def inventory_facts(asked: PlanContext, scenarios: Sequence[PlacementScenario]) -> dict[str, Any]:
    """Describe what the report needs to know about an inventory and about the brokers that are proposed, plain data."""
    basis, parameters = asked.basis, asked.parameters
    raw, snapshot, traffic = basis.raw, basis.snapshot, basis.load
    brokers = snapshot.brokers
    factor, quorum = replication_factors(snapshot.replicas), read_quorum(raw)
    named, wanted = parse_voters(parameters.controllers), parse_voters(parameters.wanted_controllers)
    proposed = {
        one.scenario_id: [
            *proposed_problems(brokers, factor, one),
            *uncordoned_problems(brokers, snapshot.release, one.target),
            *expansion_problems(snapshot, dict(one.partition_counts)),
            *lower_factor_problems(snapshot, traffic, one.replication_factor),
            *leaving_voters(quorum, np.setdiff1d(brokers.ids, one.target.ids).tolist(), named=named, wanted=wanted),
        ]
        for one in scenarios
    }
    # What is wrong with the cluster itself is judged with the plan's own limits and stands among its failures.
    sound = [one for one in basis.findings if one.code not in CLUSTER_CODES]
    return {
        "snapshot": {
            "brokers": [
                {
                    "broker_id": int(brokers.ids[i]),
                    "rack": brokers.racks[i],
                    "is_fenced": bool(brokers.is_fenced[i]),
                    **{name: plain_number(getattr(brokers, name)[i]) for name in DISK_AND_NETWORK},
                }
                for i in range(len(brokers))
            ],
            "broker_count": len(brokers),
            "topic_count": len(snapshot.partitions.topics),
            "replica_count": int((snapshot.replicas >= 0).sum()),
            "group_count": len(snapshot.groups),
            "total_bytes": int(snapshot.size_bytes.sum()),
            "bytes_in_mean_bytes_per_second": float(traffic.bytes_in_mean_bytes_per_second.sum()),
            "unknown_size_partitions": snapshot.unknown_size_partitions,
            **log_dir_facts(snapshot.log_dirs),
            "rate_history_hours": known_hours(traffic, snapshot),
            "rates_until": basis.rates_until,
            **basis.unknown_traffic,
            "peak_basis": str(basis.traffic.basis),
            "bytes_in_by_hour_of_week": None if basis.week is None else np.rint(basis.week).tolist(),
            "source": raw.source,
            "captured_at": raw.captured_at,
            "kafka_version": raw.kafka_version,
        },
        "findings": [one.as_dict() for one in sound],
        "proposed": {name: [one.as_dict() for one in found] for name, found in proposed.items() if found},
    }


def _simulate(asked: PlanContext, _: Handed, run: RunPieces) -> Share:
    pieces = placement_pieces(asked.scenarios)
    bundles = run(placement_tables, simulation_inputs(asked), pieces, what="placements")
    tables = merge_tables(bundles, PLAN_TABLES)
    return Share(
        tables=tables,
        documents={
            FACTS_DOCUMENT: inventory_facts(asked, asked.scenarios),
            REQUEST_DOCUMENT: {"request": asked.request, "model_version": asked.model_version},
        },
        scenario_count=len(tables["scenarios"]),
        made=made_placements(bundles),
    )


def _decide(results: ReportInputs, handed: Handed) -> Answer | None:
    view = view_change(results, count_due=handed.count_due)
    return dataclasses.replace(decide_change(view), details=view)


CHANGE = Question(
    name="change", share="placement", tables=PLAN_TABLES, simulate=_simulate, decide=_decide, is_handed=True
)
