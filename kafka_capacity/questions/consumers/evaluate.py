"""Evaluate the group scenarios of a plan and give their tables: on an executor, and on a laptop just the same.

Executors have numpy, scipy and pyarrow; nothing here, nor what it imports, may ask for more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_capacity.errors import AssignmentError
from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.model import GroupFacts
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.consumers.choice import choose
from kafka_capacity.questions.consumers.counts import smallest_counts
from kafka_capacity.questions.consumers.events import Simulations
from kafka_capacity.questions.consumers.grid import (
    GroupGridRequest,
    GroupUnit,
    GroupVariant,
    group_scenario,
    group_units,
    variant_scenarios,
)
from kafka_capacity.questions.consumers.scenario import GroupResult, SmallestCounts
from kafka_capacity.questions.consumers.simulate import evaluate_group
from kafka_capacity.questions.consumers.tables import GROUP_TABLES, group_facts_table, group_result_tables

DETAILS_FOR_ALL_UP_TO = 200
"""Up to so many scenarios every one brings its timeline and its members; beyond, of each group only the scenarios of
today and the one in focus."""
DETAILS_AT_ONCE_UP_TO = 2_000
"""Up to so many scenarios the details of all are worked out with their figures; what nobody wants is left out then."""

_DETAILS = ("group_timeline", "group_members")

Tables = Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupInputs:
    """Everything that evaluating needs: the groups that were asked for, and what to try them with."""

    groups: tuple[GroupFacts, ...]
    request: GroupGridRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWork:
    """What to give of one unit: figures are ``group_scenarios`` and ``group_churn``, the other tables are details."""

    unit: GroupUnit
    has_figures: bool
    has_details: bool


def evaluate_unit(inputs: GroupInputs, unit: GroupUnit, *, has_counts: bool = True) -> tuple[GroupResult, ...]:
    """Evaluate all scenarios of one unit; the counts that will do, where they are wanted, are searched for once."""
    facts, variant, request = inputs.groups[unit.position], unit.variant, inputs.request
    simulations = Simulations(facts, group_scenario(facts, variant, max(1, len(facts.members)), request))
    smallest = None if has_counts else SmallestCounts()
    with contextlib.suppress(AssignmentError):  # the scenarios themselves say why
        smallest = smallest or smallest_counts(simulations)
    scenarios = variant_scenarios(facts, variant, request, member_counts=unit.member_counts, smallest=smallest)
    return tuple(evaluate_group(facts, scenario, smallest, simulations) for scenario in scenarios)


def work_tables(inputs: GroupInputs, work: GroupWork) -> dict[str, pa.Table]:
    """Do one piece of work and give its tables."""
    results = evaluate_unit(inputs, work.unit, has_counts=work.has_figures)
    tables = [group_result_tables(result, has_details=work.has_details) for result in results]
    names = tables[0] if work.has_figures else _DETAILS
    return {name: pa.concat_tables([each[name] for each in tables]) for name in names}


def simulate_groups(inputs: GroupInputs, run: Callable[[Sequence[GroupWork]], Iterable[Tables]]) -> dict[str, pa.Table]:
    """Evaluate the whole grid and give the tables about groups, sorted.

    ``run`` does :func:`work_tables` for each piece of work, here or elsewhere, in any order. It is called a second time
    where details are wanted of a few scenarios of many, since these are known when all are judged.
    """
    units = group_units(inputs.groups, inputs.request)
    count = sum(len(unit.member_counts) or 2 for unit in units)
    is_at_once = count <= DETAILS_AT_ONCE_UP_TO
    bundles = list(run([GroupWork(unit=unit, has_figures=True, has_details=is_at_once) for unit in units]))
    tables = merge_tables([*bundles, {"group_facts": group_facts_table(inputs.groups)}], GROUP_TABLES)
    if count <= DETAILS_FOR_ALL_UP_TO:
        return tables
    choices = choose(tables["group_scenarios"].to_pylist(), tables["group_churn"].to_pylist())
    rows = [row for choice in choices for row in (choice.today, choice.focus) if row is not None]
    if is_at_once:
        wanted = pa.array(sorted({row["scenario_id"] for row in rows}), pa.string())
        for name in _DETAILS:
            tables[name] = tables[name].filter(pc.is_in(tables[name].column("scenario_id"), value_set=wanted))
        return tables
    details = run([GroupWork(unit=unit, has_figures=False, has_details=True) for unit in units_of(inputs, rows)])
    return merge_tables([tables, *details], GROUP_TABLES)


def units_of(inputs: GroupInputs, rows: Iterable[Mapping[str, Any]]) -> list[GroupUnit]:
    """Return the pieces of work that evaluate scenarios, each once."""
    positions = {facts.group_id: position for position, facts in enumerate(inputs.groups)}
    found = (
        GroupUnit(
            position=positions[row["group_id"]],
            variant=GroupVariant(
                protocol=GroupProtocol(row["protocol"]),
                assignor=row["assignor"],
                is_static=row["is_static"],
                standby_replicas=row["standby_replicas"],
            ),
            member_counts=(row["member_count"],),
        )
        for row in rows
    )
    return list(dict.fromkeys(found))
