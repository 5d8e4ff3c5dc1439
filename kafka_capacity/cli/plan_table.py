"""Options side by side, as a table in the terminal; and why each moves what it moves, and wave by wave how."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from kafka_capacity.cli.console import print_data, print_lines, print_rows
from kafka_capacity.cli.plan_input import snapshot_warnings
from kafka_capacity.cli.planning import Judged, Planned, plan_caveats
from kafka_capacity.health.cluster_view import ClusterView
from kafka_capacity.health.now import check_now
from kafka_capacity.health.problem import DOWN_NOW, Problem, Problems, some
from kafka_capacity.kafka.arrays import Flags
from kafka_capacity.kafka.cluster.release import KAFKA_4_3
from kafka_capacity.kafka.cluster.snapshot import Snapshot
from kafka_capacity.kafka.placement.relaxing import LimitState
from kafka_capacity.kafka.reassignment.schedule import COPIES
from kafka_capacity.plan.decision import Decision
from kafka_capacity.plan.decision_box import FIRST
from kafka_capacity.plan.released_files import MOVES, ROLLBACK
from kafka_capacity.plan.runbook_page import RUNBOOK
from kafka_capacity.proposal.constraints.registry import constraint_label, standing_sentence
from kafka_capacity.proposal.gap import gap_text, is_proven_least
from kafka_capacity.proposal.scenario import PlacementMetrics, PlacementResult
from kafka_capacity.questions.answer import Status
from kafka_capacity.questions.change.change_view import unknown_words
from kafka_capacity.questions.change.move_schedule import SCHEDULED_UP_TO
from kafka_capacity.questions.change.move_view import MoveView, read_move, read_schedules
from kafka_capacity.questions.change.move_words import refusal_texts, summary
from kafka_capacity.questions.change.request_summary import asked_sentence
from kafka_capacity.questions.change.section.comparison import (
    draws_note,
    option_cells,
    option_verdict,
    terminal_columns,
)
from kafka_capacity.questions.change.section.waves import move_sentences, orders_table, waves_table
from kafka_capacity.text import format_bytes, format_factor, format_percent, format_throttle, plural
from kafka_capacity.text.wording import few_names

_TODAY = "Judged at today’s sizes and rates; kafka-capacity size judges CPU too, and says how long a count lasts."
_BEST = "the fewest brokers that fit and the fewest bytes"
_BOUNDS = {
    "counting": "replicas that must be copied whatever the balance",
    "surplus": "what brokers hold above their share must leave",
    "deficit": "what brokers lack to reach their share must arrive",
    "solver": "proven by an integer program",
    "flow": "what racks and brokers must exchange, as a flow",
}
_MAX_BROKERS = 8


def answer_line(planned: Planned, decision: Decision) -> str:
    """Return the answer: the verdict on the move, by which limits it fits, and what has to be mended first."""
    answer = f"{decision.results.cluster} on {decision.results.ds}: {decision.change.headline}"
    if decision.status in (Status.FITS, Status.NO_WORSE):
        judged = "Only disks and networks are judged here, not CPU."
        answer += f" {judged if decision.view.rate_history_hours else 'Only disks are judged here.'}"
    wrong = Problems.of([*_now(planned), *planned.asked.basis.findings])
    mended = (one for one in wrong if one.code in FIRST)
    first = min(mended, key=lambda one: one.code not in DOWN_NOW, default=None)
    if first is None:
        return answer
    chosen = decision.view.recommended
    is_moved = chosen is not None and chosen.figures["changed_partitions"]
    return f"{answer} {'First' if is_moved else 'Wrong today'}: {first.text}"


def _now(planned: Planned) -> Problems:
    """Return what is wrong now, beside what was found in the inventory."""
    basis = planned.asked.basis
    return Problems.of(check_now(ClusterView.of(basis.snapshot, basis.load)))


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
            option_verdict(option, decided[option.scenario_id], is_recommended=option is view.recommended),
            schedules.get(option.scenario_id),
            has_no_sizes=view.has_no_sizes,
        )
        for option in view.options
    ]
    print_rows(title, columns, rows)
    print_lines([f"{option.scenario_id}: {note}" for option in view.options if (note := draws_note(option))])
    if any(facts["is_throttle_automatic"] for facts in schedules.values()):
        rate = format_throttle(view.nearest.figures["throttle_bytes_per_second"])
        print_lines([f"Waves take the largest throttles that leave headroom; copying alone is at {rate}."])
    if is_explained:
        print_explanation(planned, view.inputs.tables)
    of_cluster, of_moves = plan_caveats(decision)
    lines = [f"serious: {text}" for text in of_cluster]
    lines += [f"serious, {name}: {text}" for name, texts in of_moves.items() for text in texts]
    # The facts hold the traps of what is proposed; those of the observed brokers are judged only.
    proposed = planned.facts["proposed"].values()
    found = [trap for traps in (*(one.warnings for one in planned.judged), *proposed) for trap in traps]
    found = [*(one.as_dict() for one in _now(planned)), *found]
    traps = {trap["where"] + trap["message"]: trap for trap in found}
    lines += [
        f"{one.severity}, {one.where}: {one.message}{one.remedy and '; '}{one.remedy}"
        for one in map(Problem.from_dict, traps.values())
    ]
    lines += snapshot_warnings(findings)
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
            lines.append(f"{name}: and {plural(len(result.excuses) - len(shown), 'more reason')}; see plan.json")
        if result.fits and result.standing:
            lines.append(f"{name}: {standing_sentence(excuse.as_dict() for excuse in result.standing)}")
    option = decision.view.recommended
    if option is None:
        return lines  # the answer above says that nothing fits
    status = decision.view.status(option)
    if status is Status.NOT_JUDGED:
        why = unknown_words(decision.view.unknown(option))
        which = f": {option.scenario_id} exceeds no known limit" if len(results) > 1 else ""
        return [*lines, f"not judged, because {why}{which}"]
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
    if chosen not in movable:
        return ["no option fits: the files show what each would do, and are not to be executed"]
    option = movable[chosen]
    one = option.result
    folder = "" if len(judged) == 1 else f"{chosen}/"
    first = []
    if one.expanded is not None:
        first = [f"add partitions first: {folder}{RUNBOOK} has the commands; this cannot be undone"]
    if one.diff is not None and not one.diff.changed_partitions:
        changes = "no replica moves" if first else "nothing changes"
        return [*first, f"{changes}, so {folder}{MOVES} is empty: there is nothing to execute"]
    waves = () if option.schedule is None else option.schedule.waves
    rates = [wave.throttle_bytes_per_second for wave in waves if wave.kind in COPIES]
    throttle = math.floor(min(rates)) if rates else math.ceil(one.scenario.throttle_bytes_per_second)
    in_waves = "" if option.schedule is None else f"{folder}{RUNBOOK} has the commands for each wave"
    is_emptied = bool(np.setdiff1d(snapshot.brokers.ids, one.scenario.target.ids).size)
    if in_waves and is_emptied and snapshot.release >= KAFKA_4_3:
        in_waves += ", including those that cordon the drained brokers, and uncordon them before a rollback"
    undoes = f"{folder}{ROLLBACK} undoes it"
    if one.diff is not None and (down := _down_before(snapshot, one.diff.is_changed[: len(snapshot.replicas)])):
        undoes += f" once {down} back: Kafka's tool refuses a file that names a broker which is down"
    if len(waves) > 1:
        # At once, all that is copied is on the disks of both sides until all of it is in sync.
        return [
            *first,
            f"to execute it, run the {len(waves):,} waves one after another, which the duration is for: {in_waves}; "
            f"{folder}{MOVES} has all of it at once, which disks must have room for; {undoes}",
        ]
    return [
        *first,
        f"to execute it, pass {folder}{MOVES} (only the partitions that change) to "
        f"kafka-reassign-partitions.sh --execute --throttle {throttle}; {undoes}"
        f"{f'; {in_waves}' if in_waves else ''}",
    ]


def _down_before(snapshot: Snapshot, is_changed: Flags) -> str:
    """Name the brokers that are down and held partitions that change; nothing where there are none."""
    brokers = snapshot.brokers
    down = brokers.ids[brokers.is_fenced & np.isin(brokers.ids, snapshot.replicas[is_changed])].tolist()
    if not down:
        return ""
    return f"{'broker' if len(down) == 1 else 'brokers'} {some(down)} {'is' if len(down) == 1 else 'are'}"


def print_explanation(planned: Planned, tables: Mapping[str, pa.Table]) -> None:
    """Explain every option: its bound, the limits that bind, and its waves as the page has them."""
    has_rates = bool(planned.facts["snapshot"]["rate_history_hours"])
    for one in planned.judged:
        scenario_id = one.result.scenario.scenario_id
        move = read_move(tables, scenario_id)
        print_lines(["", f"{scenario_id}:", *(f"  {line}" for line in _option_lines(one, move))])
        if move is not None and move.waves:
            for made in filter(None, (orders_table(move), waves_table(move, has_rates=has_rates))):
                print_data(made)


def _option_lines(one: Judged, move: MoveView | None) -> list[str]:
    result = one.result
    if result.metrics is None:
        return [f"rejected: {excuse.reason}" for excuse in result.excuses]
    lines = [_bound_line(result.metrics), *_binding_lines(result.limits)]
    if one.schedule is None:
        return [
            *lines,
            f"waves: none planned, since this placer is only for comparison and moves more than {SCHEDULED_UP_TO:,}",
        ]
    if move is None or not (move.waves or move.facts["refusals"]):
        return [*lines, "waves: none, since nothing changes"]
    refused = refusal_texts(move)
    if refused and not move.copied_bytes:
        return [*lines, "waves: none of the copies can be scheduled", *refused]
    return [*lines, summary(move), *move_sentences(move), *refused]


def _bound_line(metrics: PlacementMetrics) -> str:
    moved, bound, kind = metrics.moved_bytes, metrics.lower_bound_bytes, metrics.lower_bound_kind
    what = _BOUNDS.get(kind, "what must move")
    text = f"lower bound: {format_bytes(bound)} by {kind} ({what}); moved: {format_bytes(moved)}"
    if is_proven_least(moved, bound):
        return f"{text}, and no plan as even on every broker copies less"
    if (gap := gap_text(moved, bound)) is not None:
        return f"{text}, gap {gap}"
    return f"{text}, {format_factor(moved / bound)} the lower bound" if 0 < bound < moved else text


def _binding_lines(limits: Sequence[LimitState]) -> list[str]:
    """Return which hard limits brokers are at."""
    lines = []
    for state in limits:
        if not state.binding_brokers:
            continue
        who = few_names(state.binding_brokers, _MAX_BROKERS)
        what = f"limiting: {constraint_label(state.constraint)} of brokers {who}"
        relaxed = f"; {relaxation}" if (relaxation := state.relaxation()) else ""
        lines.append(f"{what}, {format_percent(state.highest_ratio)} of the limit at most{relaxed}")
    return lines or ["limiting: no broker limit"]
