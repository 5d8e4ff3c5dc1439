"""Options side by side, as a table in the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kafka_capacity.cli.console import print_lines, print_rows
from kafka_capacity.cli.plan_explain import print_explanation
from kafka_capacity.cli.planning import Judged, Planned, plan_caveats
from kafka_capacity.health.problem import Problem
from kafka_capacity.kafka.cluster.release import KAFKA_4_3
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.plan.decision import Decision
from kafka_capacity.plan.released_files import MOVES, ROLLBACK
from kafka_capacity.plan.runbook_page import RUNBOOK
from kafka_capacity.proposal.constraints.registry import standing_sentence
from kafka_capacity.proposal.scenario import PlacementResult
from kafka_capacity.questions.answer import Status
from kafka_capacity.questions.change.move_view import read_schedules
from kafka_capacity.questions.change.request_summary import asked_sentence
from kafka_capacity.questions.change.section.comparison import (
    draws_note,
    option_cells,
    option_verdict,
    terminal_columns,
)
from kafka_capacity.text import listed, plural

_TODAY = "Judged at today’s sizes and rates; kafka-capacity size says how long a count lasts."
_BEST = "the fewest brokers that fit and the fewest bytes"


def print_plan(
    planned: Planned, decision: Decision, reasons: Sequence[str], *, out: str | None = None, is_explained: bool = False
) -> None:
    """Print why, one row a scenario, what to look out for and which file to execute."""
    snapshot, findings = planned.asked.basis.snapshot, planned.asked.basis.findings
    sizes = f"{plural(len(snapshot.brokers), 'broker')}, {plural(len(snapshot.partitions), 'partition')}"
    view = decision.view
    decided = {one["scenario_id"]: one for one in decision.as_dict()["options"]}
    schedules = read_schedules(view.inputs.tables)
    title = f"{snapshot.cluster} on {snapshot.ds}: {sizes}"
    chosen = None if view.recommended is None else view.recommended.scenario_id
    asked = asked_sentence(planned.asked.request)
    print_lines([*reasons, *([asked] if asked else []), _TODAY])
    columns = terminal_columns(schedules.values())
    rows = [
        option_cells(
            columns,
            option,
            option_verdict(decided[option.scenario_id], is_recommended=option is view.recommended),
            schedules.get(option.scenario_id),
            has_no_sizes=view.has_no_sizes,
        )
        for option in view.options
    ]
    print_rows(title, columns, rows)
    print_lines([f"{option.scenario_id}: {note}" for option in view.options if (note := draws_note(option))])
    if is_explained:
        print_explanation(planned, view.inputs.tables)
    caveats = plan_caveats(decision)
    lines = [f"warning: {text}" for text in caveats.cluster]
    lines += [f"warning, {name}: {text}" for name, texts in caveats.moves.items() for text in texts]
    # The facts hold the traps of what is proposed; those of the observed brokers are judged only.
    proposed = planned.facts["proposed"].values()
    found = [trap for traps in (*(one.warnings for one in planned.judged), *proposed) for trap in traps]
    traps = {trap["where"] + trap["message"]: trap for trap in found}
    lines += [
        f"{one.severity}, {one.where}: {one.message}{one.remedy and '; '}{one.remedy}"
        for one in map(Problem.from_dict, traps.values())
    ]
    if findings.warnings:
        lines.append(
            f"{plural(len(findings.warnings), 'warning')} about the snapshot: run inventory check to list them"
        )
    if out is not None:
        lines += execution_lines(planned.judged, chosen, snapshot)
    print_lines(lines)


def verdict_lines(results: Sequence[PlacementResult], decision: Decision) -> list[str]:
    """Return for each option what it breaks, or what stays broken, and last which option to take."""
    lines = []
    for result in results:
        name = result.scenario.scenario_id
        shown = [excuse.reason for excuse in result.excuses[:3]]
        lines += [f"{name} does not fit: {reason}" for reason in shown]
        if len(result.excuses) > len(shown):
            lines.append(f"{name}: and {len(result.excuses) - len(shown):,} more reasons; see plan.json")
        if result.fits and result.standing:
            lines.append(f"{name}: {standing_sentence(excuse.as_dict() for excuse in result.standing)}")
    option = decision.view.recommended
    if option is None:
        return lines  # the answer above says that nothing fits
    status = decision.view.status(option)
    if status is Status.NOT_JUDGED:
        unknown = listed(decision.view.unknown(option))
        which = f": {option.scenario_id} exceeds no known limit" if len(results) > 1 else ""
        return [*lines, f"not judged, because this is unknown: {unknown}{which}"]
    if len(results) == 1:
        return [*lines, "it is no worse than today" if status is Status.NO_WORSE else "it fits"]
    why = (
        "no option stays within all limits, and this one is no worse than today" if status is Status.NO_WORSE else _BEST
    )
    return [*lines, f"recommended: {option.scenario_id}, {why}"]


def execution_lines(judged: Sequence[Judged], chosen: str | None, snapshot: Snapshot) -> list[str]:
    """Return which file to give to Kafka's tool; nothing where Kafka would refuse every placement."""
    movable = {each.result.scenario.scenario_id: each for each in judged if each.result.diff is not None}
    if not movable:
        return []
    option = movable.get(chosen or "", next(iter(movable.values())))
    one = option.result
    folder = "" if len(judged) == 1 else f"{chosen}/" if chosen in movable else "ID/"
    first = []
    if one.expanded is not None:
        first = [f"add partitions first: {folder}{RUNBOOK} has the commands; this cannot be undone"]
    if folder != "ID/" and one.diff is not None and not one.diff.changed_partitions:
        changes = "no replica moves" if first else "nothing changes"
        return [*first, f"{changes}, so {folder}{MOVES} is empty: there is nothing to execute"]
    throttle = math.ceil(one.scenario.throttle_bytes_per_second)
    in_waves = "" if option.schedule is None else f"; {folder}{RUNBOOK} has the commands for each wave"
    is_emptied = bool(np.setdiff1d(snapshot.brokers.ids, one.scenario.target.ids).size)
    if in_waves and is_emptied and snapshot.release >= KAFKA_4_3:
        in_waves += ", including those that cordon the drained brokers, and uncordon them before a rollback"
    return [
        *first,
        f"to execute it, pass {folder}{MOVES} (only the partitions that change, which the duration is for) to "
        f"kafka-reassign-partitions.sh --execute --throttle {throttle}; {folder}{ROLLBACK} undoes it{in_waves}",
    ]
