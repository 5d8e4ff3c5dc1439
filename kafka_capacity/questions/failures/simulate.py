"""Evaluate the failures of a plan: on an executor, and on a laptop just the same.

Executors have numpy, scipy and pyarrow; nothing here, nor what it imports, may ask for more.

Losses stand on today's placement and on those of the plan that are handed over, most often the one that the report
speaks of. What the question of the change made is not made again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from kafka_capacity.demand.workload import Lags
from kafka_capacity.hardware.bill import GivenHardware
from kafka_capacity.hardware.shapes import hardware
from kafka_capacity.health.check import check_health
from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.problem import Problem, Problems
from kafka_capacity.kafka.arrays import Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.controller.quorum.failover import ControllerLoss, failovers
from kafka_capacity.kafka.controller.quorum.settings import Environment
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind
from kafka_capacity.kafka.controller.quorum.voters import Quorum, tolerated_losses
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.proposal.evaluate import evaluate_placement, placement_as_made
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.failures.baseline import Baseline
from kafka_capacity.questions.failures.durability.evaluate import evaluate_durability
from kafka_capacity.questions.failures.durability.scenario import DurabilityScenario
from kafka_capacity.questions.failures.durability.tables import durability_tables
from kafka_capacity.questions.failures.evaluate import evaluate_failures
from kafka_capacity.questions.failures.quorum_tables import HOST_LOST, RUNS, failover_table, quorum_table, run_table
from kafka_capacity.questions.failures.request import ControllerRequest, FailureRequest
from kafka_capacity.questions.failures.scenario import TODAY, FailureResult, FailureScenario, SetKind
from kafka_capacity.questions.failures.tables import FAILURE_TABLES, diagnoses_table, failure_tables, peaks_table

MAX_REPLICAS = 1 << 22
"""A placement whose losses take more replicas than this is done in several pieces of work, one a kind of losses."""

RUNS_AT_ONCE = 5  # a run of all losses takes up to half a second, so they are shared out

_APART = ((SetKind.GIVEN, SetKind.BROKER, SetKind.RACK), (SetKind.RACK_AND_BROKER,), (SetKind.PAIR,))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProposedPlacement:
    """A placement to stand on."""

    scenario: PlacementScenario  # the first of those that share it
    # int32[P, W], its replica lists where they are known; else the placement is made here
    after: Int32s | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FailureInputs:
    """Everything that evaluating needs."""

    today: Baseline  # the cluster as it is
    placements: tuple[ProposedPlacement, ...]  # those of the plan that are looked at
    request: FailureRequest  # what is lost
    durability: DurabilityScenario  # what is assumed, to tell what could be lost for good
    given: GivenHardware  # what the brokers run on
    lags: Lags  # how far groups are behind today
    unknown_traffic: str | None = None  # that of which partitions is not known, where they may have much

    def controllers(self, baseline: Baseline) -> ControllerRequest:
        """Return who votes: after a change those that are wanted, all of them up."""
        asked = self.request.controllers
        if baseline is self.today or not asked.wanted:
            return asked
        return dataclasses.replace(asked, voters=asked.wanted, wanted=(), quorum=Quorum())

    def lose(self, scenario: FailureScenario, baseline: Baseline) -> FailureResult:
        """Lose what a scenario says, of today's placement or of another, with all that is known of the brokers."""
        brokers, controllers = baseline.snapshot.brokers, self.controllers(baseline)
        return evaluate_failures(
            baseline.snapshot,
            baseline.load,
            scenario,
            traffic=baseline.traffic,
            has=hardware(self.given.shape, brokers),
            costs=self.given.costs,
            has_majority=lambda one: controllers.has_majority_without(one.brokers, one.racks),
            voter_racks=controllers.racks,
            unknown_traffic=self.unknown_traffic,
        )

    def problems_today(self, soundness: Iterable[Problem] = ()) -> Problems:
        """Return what is wrong with the cluster as it is, where nothing else of its failures is evaluated."""
        racks = FailureScenario(kinds=(SetKind.RACK,))
        return self.problems(self.today, self.lose(racks, self.today), soundness)

    def problems(self, baseline: Baseline, result: FailureResult, soundness: Iterable[Problem] = ()) -> Problems:
        """Return what is wrong with a placement before anything fails, by its losses too, racks among them.

        How far groups are behind with another placement than today's nobody knows.
        """
        controllers = self.controllers(baseline)
        view = ClusterView.of(
            baseline.snapshot,
            baseline.load,
            traffic=baseline.traffic,
            are_rates_known=self.unknown_traffic is None,
            has=hardware(self.given.shape, baseline.snapshot.brokers),
            costs=self.given.costs,
            limits=self.given.limits,
            is_read_in_rack=self.given.is_read_in_rack,
            lags=self.lags if baseline is self.today else None,
            voters=controllers.voters,
            quorum=controllers.quorum,
            rack_losses=result.rack_losses(),
        )
        return check_health(view, soundness)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LossPiece:
    """A piece of work: some kinds of losses of one placement."""

    placement: ProposedPlacement | None  # which; `None` for today's
    kinds: tuple[SetKind, ...]  # of losses
    is_examined: bool  # whether its health is checked as well, and what could be lost is worked out


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FailoverPiece:
    """A piece of work: some runs of every way to lose the active controller, which start alike."""

    voters: int  # how many there are before
    first_run: int
    runs: int


Piece = LossPiece | FailoverPiece


def failure_pieces(inputs: FailureInputs) -> list[Piece]:
    """List the work, in an order that says nothing of where it is done."""
    replicas = int(np.count_nonzero(inputs.today.snapshot.replicas >= 0))
    # Of small clusters the simulations are the longest pieces, so they come first.
    pieces = _failovers(inputs.request.controllers)
    for placement in (None, *inputs.placements):
        brokers = inputs.today.snapshot.brokers if placement is None else placement.scenario.target
        for place, kinds in enumerate(_split(inputs.request, brokers, replicas)):
            pieces.append(LossPiece(placement=placement, kinds=kinds, is_examined=not place))
    return pieces


def simulate_failovers(inputs: FailureInputs) -> pa.Table:
    """Return ``quorum_failovers`` alone, simulated here."""
    return failover_table(piece_tables(inputs, piece) for piece in _failovers(inputs.request.controllers))


def _failovers(asked: ControllerRequest) -> list[Piece]:
    return [
        FailoverPiece(voters=voters, first_run=first, runs=min(RUNS_AT_ONCE, asked.runs - first))
        for voters in sorted({len(asked.voters), *(len(step.after) for step in asked.steps)})
        if _losses(asked, voters)
        for first in range(0, asked.runs, RUNS_AT_ONCE)
    ]


def _losses(asked: ControllerRequest, voters: int) -> list[ControllerLoss]:
    """Return the losses of the active controller that leave a majority; on the way to other voters the first only."""
    is_today = voters == len(asked.voters)
    most = tolerated_losses(voters) if voters else 0
    kinds = [kind for kind in FailureKind if kind is not FailureKind.REMOVED] if is_today else [HOST_LOST]
    found = [ControllerLoss(failure, lost) for lost in range(most if is_today else min(1, most)) for failure in kinds]
    is_left = any(step.does == "remove" and len(step.before) == voters for step in asked.steps)
    return [*found, *([ControllerLoss(FailureKind.REMOVED)] if is_left else [])]


def _split(request: FailureRequest, brokers: Brokers, replicas: int) -> tuple[tuple[SetKind, ...], ...]:
    """Return the kinds of losses that are done together."""
    asked, count, racks = request.asked, len(brokers), len({*brokers.rack_names(), *request.controllers.racks})
    per_broker = replicas / max(1, count)
    pairs = min(asked.max_sets, count * (count - 1) // 2) * 2 * (SetKind.PAIR in asked.kinds)
    with_racks = min(asked.max_sets, count * racks) * (SetKind.RACK_AND_BROKER in asked.kinds)
    if (pairs + with_racks) * per_broker <= MAX_REPLICAS:
        return (tuple(SetKind),)
    return tuple(kinds for kinds in _APART if not {*kinds}.isdisjoint({*asked.kinds, SetKind.GIVEN}))


def piece_tables(inputs: FailureInputs, piece: Piece) -> dict[str, pa.Table]:
    """Do one piece of work and give its tables."""
    if isinstance(piece, FailoverPiece):
        asked = inputs.request.controllers
        found = failovers(
            piece.voters,
            _losses(asked, piece.voters),
            runs=piece.runs,
            first_run=piece.first_run,
            seed=asked.seed,
            around=Environment(timeouts=asked.timeouts),
        )
        runs = (run_table(piece.voters, loss, piece.first_run, several) for loss, several in found.items())
        return {RUNS: pa.concat_tables(runs)}
    baseline, placement_id = inputs.today, TODAY
    if piece.placement is not None:
        scenario, after = piece.placement.scenario, piece.placement.after
        placement_id = scenario.scenario_id
        today = (baseline.snapshot, baseline.load, scenario)
        placed = (
            evaluate_placement(*today, is_bound_solved=False) if after is None else placement_as_made(*today, after)
        )
        if placed.diff is None:
            return {}
        baseline = baseline.after(placed)
    snapshot, request = baseline.snapshot, inputs.request
    voter_racks = inputs.controllers(baseline).racks
    result = inputs.lose(request.scenario(placement_id, snapshot.brokers, piece.kinds, voter_racks), baseline)
    tables = failure_tables(result)
    if piece.is_examined:
        tables["broker_peaks"] = peaks_table(result, inputs.given.limits)
        tables["diagnoses"] = diagnoses_table(placement_id, inputs.problems(baseline, result))
        assumed = dataclasses.replace(inputs.durability, placement_id=placement_id)
        lost = evaluate_durability(snapshot, baseline.load, assumed, unknown_traffic=inputs.unknown_traffic)
        tables |= durability_tables(lost)
    return tables


def merged_tables(inputs: FailureInputs, bundles: Iterable[Mapping[str, pa.Table]]) -> dict[str, pa.Table]:
    """Join what came of all pieces, in whatever order it came; the losses of voters follow from it."""
    collected = list(bundles)
    times = failover_table(collected)
    asked = inputs.request.controllers
    return {
        **merge_tables(collected, FAILURE_TABLES),
        "quorum_failovers": times,
        "quorum": quorum_table(asked.voters, times, asked.quorum),
    }
