"""What breaks when something dies: the share of a plan, and what is read from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.plain import to_plain
from kafka_capacity.inventory.sizing_workload import group_lags
from kafka_capacity.inventory.snapshot import read_quorum
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.release import kafka_release
from kafka_capacity.kafka.controller.quorum.change import VoterStep, fatal_racks, spare_voters
from kafka_capacity.kafka.controller.quorum.runbook import step_commands, upgrade_commands
from kafka_capacity.kafka.controller.quorum.voters import (
    Quorum,
    Voter,
    down_minutes_per_year,
    majority,
    quorum_unavailability,
    rack_correlated_unavailability,
)
from kafka_capacity.proposal.grid import distinct_placements
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.answer import Answer, unknown_traffic
from kafka_capacity.questions.failures.baseline import Baseline
from kafka_capacity.questions.failures.durability.tables import assumed
from kafka_capacity.questions.failures.request import ControllerRequest, FailureRequest
from kafka_capacity.questions.failures.section.view import read_failures
from kafka_capacity.questions.failures.simulate import (
    FailureInputs,
    ProposedPlacement,
    failure_pieces,
    merged_tables,
    piece_tables,
)
from kafka_capacity.questions.failures.tables import FAILURE_TABLES
from kafka_capacity.questions.question import Handed, PlanContext, Question, RunPieces, Share
from kafka_capacity.report.inputs import ReportInputs

FAILURES_DOCUMENT = "failures.json"


def asked_losses(asked: PlanContext) -> FailureRequest:
    """Return what is asked, with the voters that are known; no traffic is looked at.

    Raises:
        RequestError: a set of losses, or of voters, cannot be.
    """
    snapshot, parameters, raw = asked.basis.snapshot, asked.parameters, asked.basis.raw
    throttle = parameters.throttle_bytes_per_second
    request: FailureRequest = parameters.failure_request(throttle_bytes_per_second=throttle, seed=parameters.seed)
    controllers = _known(request.controllers, read_quorum(raw), snapshot.brokers)
    release = None if raw.kafka_version is None else kafka_release(raw.kafka_version)
    request = dataclasses.replace(request, controllers=dataclasses.replace(controllers, release=release))
    request.check([snapshot.brokers, *(scenario.target for scenario in asked.scenarios)])
    return request


def find_failures(asked: PlanContext, handed: Handed) -> FailureInputs:
    """Put together what simulating failures needs, of today's placement and of the one in focus, or of all.

    Raises:
        RequestError: a set of losses cannot be.
    """
    snapshot, load, parameters = asked.basis.snapshot, asked.basis.load, asked.parameters
    if handed.hardware is None:
        raise TypeError("failures are simulated on hardware that is passed in")
    request, wants_all = asked_losses(asked), parameters.failure_placements == "all"
    return FailureInputs(
        given=handed.hardware,
        today=Baseline(snapshot=snapshot, load=load, traffic=asked.basis.traffic),
        placements=tuple(
            ProposedPlacement(scenario=several[0], after=handed.made.get(first))
            for first, several in distinct_placements(asked.scenarios).items()
            if wants_all or any(scenario.scenario_id == handed.focus for scenario in several)
        ),
        durability=parameters.durability_scenario(
            rules=request.asked.rules, throttle_bytes_per_second=parameters.throttle_bytes_per_second
        ),
        request=request,
        lags=group_lags(asked.basis.groups),
        unknown_traffic=unknown_traffic(asked.basis.unknown_traffic),
    )


def _known(asked: ControllerRequest, quorum: Quorum, brokers: Brokers) -> ControllerRequest:
    """Return a request with the voters of the inventory, where none are given, and with all racks that are known.

    Raises:
        RequestError: voters are wanted and those of today are not known, there would be too many on the way, or one
            cannot be.
    """
    # A node may be a broker too; what is written of a voter goes before the inventory.
    racks: dict[int, str | None] = dict(zip(brokers.ids.tolist(), brokers.racks, strict=True))
    racks |= {one.node_id: one.rack for one in quorum.replicas if one.rack is not None}
    given = asked.voters or tuple(Voter(node_id=one.node_id) for one in quorum.voters)
    racks |= {voter.node_id: voter.rack for voter in given if voter.rack is not None}
    voters, wanted = (
        tuple(dataclasses.replace(voter, rack=voter.rack or racks.get(voter.node_id)) for voter in some)
        for some in (given, asked.wanted)
    )
    if wanted and not voters:
        raise RequestError("wanted_controllers: today's voters are unknown; name them in controllers, such as 1:a")
    ids = tuple(brokers.ids.tolist())
    known = dataclasses.replace(asked, voters=voters, wanted=wanted, quorum=quorum, brokers=ids)
    known.check(racks)
    _ = known.steps
    return known


def failures_document(
    inputs: FailureInputs, scenarios: Sequence[PlacementScenario], tables: Mapping[str, pa.Table]
) -> dict[str, Any]:
    """Describe in plain data what the tables do not: what was asked, and how much of the time there is a quorum."""
    request, asked = inputs.request, inputs.request.asked
    there = set(tables["failure_kinds"].column("placement_id").to_pylist())
    return {
        "rules": str(asked.rules),
        "max_sets": asked.max_sets,
        "throttle_bytes_per_second": asked.throttle_bytes_per_second,
        "seed": asked.seed,
        "durability": assumed(inputs.durability),
        "shape": inputs.given.shape.name,
        "cpu_source": inputs.given.costs.source,
        "placements": {
            scenario.scenario_id: placement_id
            for placement_id, several in distinct_placements(scenarios).items()
            if placement_id in there
            for scenario in several
        },
        "controllers": controllers_document(request.controllers),
    }


def controllers_document(asked: ControllerRequest) -> dict[str, Any] | None:
    """Describe the voters, how much of the time there is a quorum, and the change that is wanted."""
    voters = asked.voters
    if not voters:
        return None
    down = sorted(asked.quorum.down.intersection(voter.node_id for voter in voters))
    living = [voter for voter in voters if voter.node_id not in down]
    apart = quorum_unavailability([asked.up_ratio] * len(living) + [0.0] * len(down))
    # Voters of which nobody knows the rack fail by themselves only.
    in_racks = rack_correlated_unavailability(living, asked.up_ratio, asked.rack_up_ratio, down=len(down))
    return {
        "voters": [{"node_id": voter.node_id, "rack": voter.rack} for voter in voters],
        "majority": majority(len(voters)),
        "tolerated": spare_voters([voter.node_id for voter in voters], asked.quorum.down),
        "down": down,
        "up_ratio": asked.up_ratio,
        "rack_up_ratio": asked.rack_up_ratio,
        "unavailable_ratio": apart,
        "unavailable_in_racks_ratio": in_racks,
        "down_minutes_per_year": down_minutes_per_year(apart),
        "down_in_racks_minutes_per_year": down_minutes_per_year(in_racks),
        "timeouts": to_plain(asked.timeouts),
        "runs": asked.runs,
        "seed": asked.seed,
        **({"change": _change(asked)} if asked.wanted else {}),
    }


def _change(asked: ControllerRequest) -> dict[str, Any]:
    """Describe the steps to the voters that are wanted: what each tolerates, and its commands."""
    racked, steps = (*asked.voters, *asked.wanted), asked.steps
    # From a step on that no majority agrees upon nothing is to be done but to bring voters back.
    stop = next((place for place, step in enumerate(steps) if step.lacking), len(steps))
    return {
        "kraft_version": asked.quorum.kraft_version,
        "commands": list(upgrade_commands(asked.quorum, asked.release)),
        "returning": list(asked.returning),
        "renewed": sorted(asked.quorum.renewed),
        "steps": [
            {
                "does": step.does,
                "node_id": step.node_id,
                "is_active": _is_active(step, asked.quorum),
                "voters": list(step.after),
                "majority": majority(len(step.lacking or step.after)),
                "lacking": list(step.lacking),
                "tolerated": step.tolerated,
                "fatal_racks": list(fatal_racks(step, racked, step.down)) if step.tolerated >= 0 else [],
                "down": list(step.down),
                "is_renewal": step.is_renewal,
                "commands": list(step_commands(step, asked.quorum, asked.brokers)) if place < stop else [],
            }
            for place, step in enumerate(steps)
        ],
    }


def _is_active(step: VoterStep, quorum: Quorum) -> bool | None:
    """Return whether a step removes the active controller; ``None`` where nobody knows which that is."""
    if step.does == "add" or step.node_id in step.down:
        return False
    return None if quorum.active is None else step.node_id == quorum.active


def _simulate(asked: PlanContext, handed: Handed, run: RunPieces) -> Share:
    found = find_failures(asked, handed)
    tables = merged_tables(found, run(piece_tables, found, failure_pieces(found), what="failure batches"))
    return Share(
        tables=tables,
        documents={FAILURES_DOCUMENT: failures_document(found, asked.scenarios, tables)},
        scenario_count=len(tables["failures"]),
    )


def _decide(results: ReportInputs, handed: Handed) -> Answer | None:
    view = None if handed.focus is None else read_failures(results, handed.focus)
    return None if view is None else Answer(details=view)


FAILURES = Question(
    name="failures", share="failures", tables=FAILURE_TABLES, simulate=_simulate, decide=_decide, is_handed=True
)
