"""Instead of buying: the share of a plan, and what is decided from it."""

from __future__ import annotations

from kafka_capacity.errors import SimulationError
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.question import Handed, PlanContext, Question, RunPieces, Share, where_stored
from kafka_capacity.questions.savings.decide import decide_savings
from kafka_capacity.questions.savings.simulate import find_savings
from kafka_capacity.questions.savings.tables import SAVINGS_TABLES


def _simulate(asked: PlanContext, handed: Handed, run: RunPieces) -> Share:
    if not asked.parameters.sets_to_size(len(asked.basis.snapshot.partitions)):
        return Share(tables=merge_tables([], SAVINGS_TABLES), scenario_count=0)
    if handed.sized is None:
        raise SimulationError("not simulated, because the cluster is not sized again")
    tables = merge_tables([find_savings(asked.basis, handed.sized(), asked.parameters, run)], SAVINGS_TABLES)
    return Share(tables=tables, scenario_count=len(tables["savings_sets"]))


SAVINGS = Question(
    name="savings",
    share="savings",
    tables=SAVINGS_TABLES,
    simulate=_simulate,
    decide=where_stored(decide_savings, SAVINGS_TABLES, is_of_traffic=True),
)
