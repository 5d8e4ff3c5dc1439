"""What failures of a plan are simulated on, and what is stored of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_capacity.hardware.cpu import CpuCalibration
from kafka_capacity.hardware.plain import plain_fields
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.sizing_workload import group_lags, hourly_traffic
from kafka_capacity.kafka.cluster.snapshot import PartitionLoad, Snapshot
from kafka_capacity.kafka.controller.quorum.voters import (
    Voter,
    down_minutes_per_year,
    majority,
    quorum_unavailability,
    rack_correlated_unavailability,
    tolerated_losses,
)
from kafka_capacity.objects.dataset import Manifest
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.found_sizing import asked_sizing
from kafka_capacity.plan.pinned import PlanInputs
from kafka_capacity.plan.plan_dataset import FAILURES, FAILURES_DOCUMENT, write_share
from kafka_capacity.plan.request import PlanRequest, parse_plan_request
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.failures.durability.plain import assumed
from kafka_capacity.questions.failures.question import ControllerQuestion
from kafka_capacity.questions.failures.simulate import FailureInputs, ProposedPlacement, distinct_placements
from kafka_capacity.questions.failures.standing import Standing
from kafka_capacity.questions.question import Basis


def pinned_failures(
    inputs: PlanInputs, basis: Basis, focus: str | None, made: Mapping[str, NDArray[np.int32]]
) -> FailureInputs:
    """Return what is to be lost of the pinned inventory.

    Args:
        inputs: what is asked.
        basis: the inventory.
        focus: the scenario that the plan's answer is about.
        made: replica lists of its placements, as far as they are known, by the first scenario of each.

    Raises:
        RequestError: a set of losses cannot be.
    """
    asked = parse_plan_request(inputs.request)
    return find_failures(
        basis.raw,
        basis.snapshot,
        basis.load,
        asked,
        inputs.scenarios,
        placements=placements_to_lose(asked, inputs.scenarios, focus, made),
        own_shapes=inputs.own_shapes,
    )


def placements_to_lose(
    asked: PlanRequest,
    scenarios: Sequence[PlacementScenario],
    focus: str | None,
    made: Mapping[str, NDArray[np.int32]],
) -> tuple[ProposedPlacement, ...]:
    """Return the placements, beside today's, that brokers are lost of; see :func:`pinned_failures`."""
    distinct = distinct_placements(scenarios)
    if asked.failure_placements != "all":
        distinct = {
            first: several
            for first, several in distinct.items()
            if any(scenario.scenario_id == focus for scenario in several)
        }
    return tuple(ProposedPlacement(scenario=several[0], after=made.get(first)) for first, several in distinct.items())


def find_failures(
    raw: RawInventory,
    snapshot: Snapshot,
    traffic: PartitionLoad,
    asked: PlanRequest,
    scenarios: Sequence[PlacementScenario],
    *,
    placements: Sequence[ProposedPlacement],
    own_shapes: str = "",
    cpu: CpuCalibration | None = None,
) -> FailureInputs:
    """Put together what simulating failures needs.

    Args:
        raw: the inventory.
        snapshot: the same as arrays.
        traffic: of its partitions.
        asked: the parameters.
        scenarios: of the plan.
        placements: those of them that are looked at, beside today's.
        own_shapes: the deployment's own shapes and prices, as they were pinned.
        cpu: what came of samples of processors that were given; else the inventory's own count, where it has any.

    Raises:
        RequestError: a set of losses or a shape cannot be.
    """
    question = asked.failure_question(
        throttle_bytes_per_second=asked.throttle_bytes_per_second,
        seed=asked.seed,
    )
    question.check([snapshot.brokers, *(scenario.target for scenario in scenarios)])
    racks = dict(zip(snapshot.brokers.ids.tolist(), snapshot.brokers.racks, strict=True))
    voters = tuple(_with_rack(voter, racks) for voter in question.controllers.voters)
    sizing, _ = asked_sizing(raw, snapshot, asked, own_shapes=own_shapes, cpu=cpu)
    return FailureInputs(
        today=Standing(snapshot=snapshot, load=traffic, traffic=hourly_traffic(raw, snapshot, traffic)),
        placements=tuple(placements),
        durability=asked.durability_scenario(
            rules=question.rules, throttle_bytes_per_second=question.throttle_bytes_per_second
        ),
        question=dataclasses.replace(question, controllers=dataclasses.replace(question.controllers, voters=voters)),
        shape=sizing.today,
        costs=sizing.loads.cpu,
        limits=sizing.limits,
        is_read_in_rack=sizing.loads.is_read_in_rack,
        lags=group_lags(raw, snapshot, traffic),
    )


def _with_rack(voter: Voter, racks: Mapping[int, str | None]) -> Voter:
    """Take the rack of the broker with that id where none was given: a node may be both."""
    return voter if voter.rack is not None else dataclasses.replace(voter, rack=racks.get(voter.node_id))


def failures_document(
    inputs: FailureInputs, scenarios: Sequence[PlacementScenario], tables: Mapping[str, pa.Table]
) -> dict[str, Any]:
    """Describe in plain data what the tables do not: what was asked, and how much of the time there is a quorum."""
    question = inputs.question
    there = set(tables["failure_kinds"].column("placement_id").to_pylist())
    return {
        "rules": str(question.rules),
        "most_sets": question.most_sets,
        "throttle_bytes_per_second": question.throttle_bytes_per_second,
        "seed": question.seed,
        "durability": assumed(inputs.durability),
        "shape": inputs.shape.name,
        "cpu_source": inputs.costs.source,
        "placements": {
            scenario.scenario_id: placement_id
            for placement_id, several in distinct_placements(scenarios).items()
            if placement_id in there
            for scenario in several
        },
        "controllers": _controllers(question.controllers),
    }


def _controllers(asked: ControllerQuestion) -> dict[str, Any] | None:
    voters = asked.voters
    if not voters:
        return None
    apart = quorum_unavailability([asked.up_ratio] * len(voters))
    # Voters of which nobody knows the rack fail by themselves only.
    in_racks = rack_correlated_unavailability(voters, asked.up_ratio, asked.rack_up_ratio)
    return {
        "voters": [{"node_id": voter.node_id, "rack": voter.rack} for voter in voters],
        "majority": majority(len(voters)),
        "tolerated": tolerated_losses(len(voters)),
        "up_ratio": asked.up_ratio,
        "rack_up_ratio": asked.rack_up_ratio,
        "unavailable_ratio": apart,
        "unavailable_in_racks_ratio": in_racks,
        "down_minutes_per_year": down_minutes_per_year(apart),
        "down_in_racks_minutes_per_year": down_minutes_per_year(in_racks),
        "timeouts": plain_fields(asked.timeouts),
        "runs": asked.runs,
        "seed": asked.seed,
    }


def write_failures(
    store: ObjectStore, inputs: PlanInputs, found: FailureInputs, tables: Mapping[str, pa.Table]
) -> Manifest:
    """Store the share of a plan about failures: the same names and bytes whoever did the work."""
    return write_share(
        store,
        inputs,
        FAILURES,
        tables=tables,
        documents={FAILURES_DOCUMENT: failures_document(found, inputs.scenarios, tables)},
        scenario_count=len(tables["failures"]),
    )
