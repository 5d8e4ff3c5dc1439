"""``plan --explain``: why an option moves what it moves, and wave by wave how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from kafka_capacity.cli.console import print_data, print_lines
from kafka_capacity.cli.planning import Judged, Planned
from kafka_capacity.kafka.placement.relaxing import LimitState
from kafka_capacity.proposal.constraints.registry import constraint_label
from kafka_capacity.proposal.gap import gap_text, is_proven_least
from kafka_capacity.proposal.scenario import PlacementMetrics
from kafka_capacity.questions.change.move_schedule import SCHEDULED_UP_TO
from kafka_capacity.questions.change.move_view import MoveView, read_move
from kafka_capacity.questions.change.move_words import refusal_texts, summary
from kafka_capacity.questions.change.section.waves import move_sentences, orders_table, waves_table
from kafka_capacity.text import format_bytes, format_factor, format_percent

_BOUNDS = {
    "counting": "replicas that must be copied whatever the balance",
    "surplus": "what brokers hold above their share must leave",
    "deficit": "what brokers lack to reach their share must arrive",
    "solver": "proven by an integer program",
    "flow": "what racks and brokers must exchange, as a flow",
}
_MAX_BROKERS = 8


def print_explanation(planned: Planned, tables: Mapping[str, pa.Table]) -> None:
    """Explain every option: its bound, the limits that bind, and its waves as the page has them."""
    for one in planned.judged:
        scenario_id = one.result.scenario.scenario_id
        move = read_move(tables, scenario_id)
        print_lines(["", f"{scenario_id}:", *(f"  {line}" for line in _option_lines(one, move))])
        for made in () if move is None else (orders_table(move), waves_table(move) if move.waves else None):
            if made is not None:
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
    if move is None or not (move.waves or move.refusals):
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
        return f"{text}, and no plan with this balance copies less"
    if (gap := gap_text(moved, bound)) is not None:
        return f"{text}, gap {gap}"
    return f"{text}, {format_factor(moved / bound)} the lower bound" if 0 < bound < moved else text


def _binding_lines(limits: Sequence[LimitState]) -> list[str]:
    """Return which hard limits brokers are at."""
    lines = []
    for state in limits:
        if not state.binding_brokers:
            continue
        named = ", ".join(str(broker) for broker in state.binding_brokers[:_MAX_BROKERS])
        more = len(state.binding_brokers) - _MAX_BROKERS
        who = f"brokers {named}{f' and {more:,} more' if more > 0 else ''}"
        what = f"limiting: {constraint_label(state.constraint)} of {who}"
        relaxed = f"; {relaxation}" if (relaxation := state.relaxation()) else ""
        lines.append(f"{what}, {format_percent(state.highest_ratio)} of the limit at most{relaxed}")
    return lines or ["limiting: no broker limit"]
