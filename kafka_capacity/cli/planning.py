"""From the options of a plan to its results: what ``plan`` and ``report`` do alike."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.plan_input import ask_snapshot, read_wanted_brokers
from kafka_capacity.errors import RequestError
from kafka_capacity.health.problem import Problem, Severity
from kafka_capacity.health.racks import rack_problems
from kafka_capacity.kafka.cluster.assignment import replication_factors
from kafka_capacity.kafka.reassignment.schedule import Schedule
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.plan.decision import Decision, decide
from kafka_capacity.plan.pinned import check_brokers, check_changes
from kafka_capacity.plan.request import DELIVERY_FIELDS, PlanRequest
from kafka_capacity.plan.results import plan_results
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.grid import placement_grid, placement_key, target_scenarios
from kafka_capacity.proposal.scenario import PlacementResult, PlacementScenario
from kafka_capacity.questions.change.move_schedule import MoveSettings, scheduled
from kafka_capacity.questions.change.move_tables import schedule_tables
from kafka_capacity.questions.change.move_view import read_move
from kafka_capacity.questions.change.problems import cluster_problems, move_problems
from kafka_capacity.questions.change.share import FACTS_DOCUMENT, inventory_facts, move_settings
from kafka_capacity.questions.change.tables import PLAN_TABLES, result_tables
from kafka_capacity.questions.question import Basis, PlanContext

BROKER_FIELDS = ("broker_counts", "new_broker_racks", "removed_brokers", "replaced_brokers", "rack_names")
"""Parameters that a list of all brokers stands instead of."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """One scenario's result, the traps in its layout, and how long it took to come by it.

    ``schedule`` is ``None`` where Kafka would refuse the placement, or where another placer moves too much to be worth
    it; ``wave_tables`` are then empty.
    """

    result: PlacementResult
    schedule: Schedule | None
    wave_tables: Mapping[str, pa.Table]
    warnings: tuple[dict[str, str], ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Planned:
    """All that a plan found out; ``facts`` is what a report says about the inventory."""

    asked: PlanContext
    facts: Mapping[str, Any]
    judged: tuple[Judged, ...]
    read_seconds: float

    @property
    def results(self) -> list[PlacementResult]:
        """The results alone."""
        return [one.result for one in self.judged]


def make_plan(snapshot: str, given: Mapping[str, Any], brokers_file: Path | None, begin: Steps) -> Planned:
    """Read, plan and judge; see :func:`ask_plan`."""
    began = time.perf_counter()
    begin("reading the snapshot")
    asked = ask_plan(snapshot, given, brokers_file)
    scenarios = asked.scenarios or placement_grid(asked.basis.snapshot.brokers, asked.parameters.grid())
    read_seconds = time.perf_counter() - began
    judged, placed, move = [], dict[str, PlacementResult](), move_settings(asked)
    for scenario in scenarios:
        begin(f"planning {scenario.scenario_id}", steps=len(scenarios) + 2)
        judged.append(_judge(asked.basis, scenario, move, placed))
    facts = inventory_facts(asked, scenarios)
    return Planned(asked=asked, facts=facts, judged=tuple(judged), read_seconds=read_seconds)


def ask_plan(snapshot: str, given: Mapping[str, Any], brokers_file: Path | None, **more: Any) -> PlanContext:
    """Read a snapshot and what is asked of it; it has no scenarios where the broker count is left open.

    A list of brokers stands in place of counts.

    Raises:
        KafkaCapacityError: an option, the snapshot or the list is wrong.
    """
    instead = [name for name in BROKER_FIELDS if given.get(name)]
    if brokers_file is not None and instead:
        raise RequestError(f"--brokers: already lists every broker; leave out {' and '.join(instead)}")
    asked = ask_snapshot(snapshot, given, **more)
    request: PlanRequest = asked.parameters
    observed, grid = asked.basis.snapshot.brokers, request.grid()
    plain = request.model_dump(mode="json", exclude={*DELIVERY_FIELDS, "ds"})
    if brokers_file is not None:
        target = read_wanted_brokers(brokers_file, observed)
        scenarios = target_scenarios(grid, observed, target)
        plain = {name: value for name, value in plain.items() if name not in BROKER_FIELDS}
        plain["brokers"] = target.ids.tolist()
    else:
        check_brokers(request, observed)
        scenarios = placement_grid(observed, grid)
    check_changes(request, asked.basis.snapshot.partitions.counts(), scenarios)
    is_open = brokers_file is None and grid.is_count_open
    return dataclasses.replace(asked, scenarios=() if is_open else scenarios, request=plain)


def _judge(found: Basis, scenario: PlacementScenario, move: MoveSettings, placed: dict[str, PlacementResult]) -> Judged:
    """Judge one scenario; placements that it can share with others are taken from ``placed``, and added to it."""
    began = time.perf_counter()
    key = placement_key(scenario)
    result = evaluate_placement(found.snapshot, found.load, scenario, placed.get(key), traffic=found.traffic)
    placed.setdefault(key, result)
    result, schedule = scheduled(found.snapshot, found.load, result, move)
    factors = replication_factors(found.snapshot.replicas)
    if scenario.replication_factor is not None:
        factors = np.full_like(factors, scenario.replication_factor)
    what = f"{len(scenario.target)} brokers"
    traps = rack_problems(scenario.target, factors, what=what, rack_rule=scenario.rack_rule)
    return Judged(
        result=result,
        schedule=schedule,
        wave_tables=schedule_tables(scenario.scenario_id, schedule),
        warnings=tuple(trap.as_dict() for trap in traps),
        seconds=time.perf_counter() - began,
    )


def plan_decision(planned: Planned) -> Decision:
    """Return the decision of a plan that answers nothing but the question of a change."""
    snapshot = planned.asked.basis.snapshot
    tables = merge_tables(
        ({**result_tables(one.result, snapshot, has_moves=False), **one.wave_tables} for one in planned.judged),
        PLAN_TABLES,
    )
    documents = {FACTS_DOCUMENT: planned.facts}
    request = planned.asked.request
    return decide(plan_results(tables, documents, snapshot.cluster, snapshot.ds, request=request))


def plan_caveats(decision: Decision) -> tuple[list[str], dict[str, list[str]]]:
    """Return what is serious: of what is known about the cluster, and by scenario of its move."""
    view, tables = decision.view, decision.view.inputs.tables
    of_moves = {
        option.scenario_id: serious_sentences(move_problems(view, option, read_move(tables, option.scenario_id)))
        for option in view.options
    }
    return serious_sentences(cluster_problems(view)), of_moves


def serious_sentences(problems: Iterable[Problem]) -> list[str]:
    """Return the serious ones as sentences."""
    return [problem.text for problem in problems if problem.severity is Severity.SERIOUS]
