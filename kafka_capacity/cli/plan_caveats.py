"""What could be wrong with a plan, in the words of the report: the serious caveats only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_capacity.cli.planning import Planned
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.change.tables import PLAN_TABLES, result_tables
from kafka_capacity.report.caveats import cluster_caveats, move_caveats
from kafka_capacity.report.inputs import ReportInputs
from kafka_capacity.report.options import view_plan
from kafka_capacity.report.waves import read_move


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCaveats:
    """The serious caveats: about the cluster, and by scenario about its move."""

    cluster: Sequence[str]
    moves: Mapping[str, Sequence[str]]

    def of(self, scenario_id: str) -> list[str]:
        """Give all that concern one scenario."""
        return [*self.cluster, *self.moves[scenario_id]]


def plan_caveats(planned: Planned) -> PlanCaveats:
    """Ask the report what it would call serious."""
    snapshot = planned.found.snapshot
    view = view_plan(
        ReportInputs(
            tables=merge_tables(
                ({**result_tables(one.result, snapshot, has_moves=False), **one.wave_tables} for one in planned.judged),
                PLAN_TABLES,
            ),
            cluster=snapshot.cluster,
            ds=snapshot.ds,
            plan_id="",
            request={},
            snapshot_facts=planned.facts["snapshot"],
            findings=planned.facts["findings"],
            generated_at="",
        )
    )
    return PlanCaveats(
        cluster=serious(cluster_caveats(view)),
        moves={
            option.scenario_id: serious(move_caveats(option, read_move(view.inputs.tables, option.scenario_id)))
            for option in view.options
        },
    )


def serious(caveats: Iterable[Mapping[str, str]]) -> list[str]:
    """Give the texts of the serious ones."""
    return [caveat["text"] for caveat in caveats if caveat["severity"] == "serious"]
