"""What a plan says of failures, read from its tables and its document: today beside the option that is spoken of."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.health.check import ListedProblem, list_problems
from kafka_capacity.health.problem import Problem
from kafka_capacity.questions.failures.scenario import TODAY
from kafka_capacity.report.inputs import ReportInputs

Row = Mapping[str, Any]

KINDS = ("broker", "rack", "given", "pair", "rack+broker")  # kinds of losses, the likely ones first
SIDES = ("Today", "After the change")


def is_leaderless(row: Row) -> bool:
    """Return whether a loss leaves no majority of the controllers, without which no leader is elected."""
    return row.get("has_majority") is False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementFailures:
    """What losses do to one placement."""

    placement_id: str  # `today`, or that of a scenario
    losses: Mapping[str, Sequence[Row]]  # rows of `failures` by kind, in the order of `KINDS`
    kinds: Mapping[str, Row]  # rows of `failure_kinds` by kind
    brokers: Sequence[Row]  # rows of `failure_brokers`
    groups: Sequence[Row]  # rows of `failure_groups`
    problems: Sequence[Problem]  # what is wrong before anything fails, the worst first
    are_voters_known: bool  # those of the metadata quorum; else nothing is said of its majority

    @property
    def before(self) -> Row:
        """How the placement is before any loss: any row of ``failure_kinds``."""
        return next(iter(self.kinds.values()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FailuresView:
    """What breaks."""

    today: PlacementFailures  # of the cluster as it is
    # of the option that is spoken of; `None` where Kafka would refuse it, or nothing is different with it
    then: PlacementFailures | None
    is_then_same: bool  # whether it is for the latter
    quorum: Sequence[Row]  # rows of `quorum`
    failovers: Sequence[Row]  # rows of `quorum_failovers`
    document: Mapping[str, Any]  # what `failures.json` says

    @property
    def sides(self) -> tuple[PlacementFailures, ...]:
        """Today, and the option where there is one."""
        return (self.today,) if self.then is None else (self.today, self.then)

    def problems(self, found: Iterable[Mapping[str, Any]]) -> list[ListedProblem]:
        """Return all that is wrong, with what was found in the inventory."""
        then = self.today if self.is_then_same else self.then
        after = None if then is None else then.problems
        return list_problems(map(Problem.from_dict, found), self.today.problems, after)


def read_failures(inputs: ReportInputs, scenario_id: str) -> FailuresView | None:
    """Read what a plan says; ``None`` where it was made before failures were simulated."""
    kinds = inputs.tables.get("failure_kinds")
    if not inputs.failures or kinds is None or not len(kinds):
        return None
    placement_id = inputs.failures["placements"].get(scenario_id)
    sides = partial(placement_failures, inputs.tables, are_voters_known=len(inputs.tables["quorum"]) > 0)
    today = sides(TODAY)
    then = None if placement_id is None else sides(placement_id)
    is_same = then is not None and then == dataclasses.replace(today, placement_id=then.placement_id)
    return FailuresView(
        today=today,
        then=None if is_same else then,
        is_then_same=is_same,
        quorum=inputs.tables["quorum"].to_pylist(),
        failovers=inputs.tables["quorum_failovers"].to_pylist(),
        document=inputs.failures,
    )


def placement_rows(tables: Mapping[str, pa.Table], name: str, placement_id: str) -> list[dict[str, Any]]:
    """Return the rows of a table that are about one placement, without its id."""
    found = tables[name].filter(pc.field("placement_id") == placement_id)
    return list(found.drop_columns("placement_id").to_pylist())


def placement_failures(
    tables: Mapping[str, pa.Table], placement_id: str, *, are_voters_known: bool
) -> PlacementFailures:
    """Return all that the tables of a plan, or of one simulation, hold of a placement."""

    def rows(name: str) -> list[dict[str, Any]]:
        return placement_rows(tables, name, placement_id) if name in tables else []

    losses: dict[str, list[Row]] = defaultdict(list)
    for row in rows("failures"):
        losses[row["kind"]].append(row)
    kinds = {row["kind"]: row for row in rows("failure_kinds")}
    return PlacementFailures(
        placement_id=placement_id,
        losses={kind: losses[kind] for kind in KINDS if losses[kind]},
        kinds={kind: kinds[kind] for kind in KINDS if kind in kinds},
        brokers=rows("failure_brokers"),
        groups=rows("failure_groups"),
        problems=[Problem.from_dict(row) for row in rows("diagnoses")],
        are_voters_known=are_voters_known,
    )
