"""A plan made on the spot: what is decided about it, and the serious problems in the words of the report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_capacity.cli.planning import Planned
from kafka_capacity.health.problem import Problem, Severity
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.plan.decision import Decision, decide
from kafka_capacity.plan.results import plan_results
from kafka_capacity.questions.change.move_view import read_move
from kafka_capacity.questions.change.problems import cluster_problems, move_problems
from kafka_capacity.questions.change.share import FACTS_DOCUMENT
from kafka_capacity.questions.change.tables import PLAN_TABLES, result_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCaveats:
    """The serious problems: of what is known about the cluster, and by scenario of its move."""

    cluster: Sequence[str]
    moves: Mapping[str, Sequence[str]]

    def of(self, scenario_id: str) -> list[str]:
        """Return all that concern one scenario."""
        return [*self.cluster, *self.moves[scenario_id]]


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


def plan_caveats(decision: Decision) -> PlanCaveats:
    """Return what is serious, of the cluster and of every option."""
    view = decision.view
    return PlanCaveats(
        cluster=serious(cluster_problems(view)),
        moves={
            option.scenario_id: serious(move_problems(option, read_move(view.tables, option.scenario_id)))
            for option in view.options
        },
    )


def serious(problems: Iterable[Problem]) -> list[str]:
    """Return the serious ones as sentences."""
    return [problem.text for problem in problems if problem.severity is Severity.SERIOUS]
