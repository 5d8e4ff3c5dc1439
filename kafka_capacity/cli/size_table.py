"""What sizing found out, in the terminal: the tables of the page, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_capacity.cli.console import print_data, print_lines, print_rows
from kafka_capacity.cli.sizing import SizedCluster
from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.questions.capacity.section.by_when import exhaustion_table, steps_table
from kafka_capacity.questions.capacity.section.calculators import chosen_waterfalls
from kafka_capacity.questions.capacity.section.options_costs import first_options, lasts_until, terminal_columns
from kafka_capacity.questions.capacity.share import sizing_tables
from kafka_capacity.questions.capacity.sizing_view import Row, SizingView, view_sizing
from kafka_capacity.questions.capacity.sizing_words import estimate_sentence, not_judged_sentence
from kafka_capacity.report.tables import cells

_MAX_TOPICS = 10


def view_of(done: SizedCluster, document: Mapping[str, Any]) -> SizingView:
    """Return what the page shows of a cluster that was sized on the spot, with what ``size.json`` says of it."""
    return view_sizing(sizing_tables(done.found, done.sized), document, document["request"])


def next_step(view: SizingView, snapshot: str) -> str:
    """Return what to type to see what the change takes that is due now."""
    if not view.steps or view.steps[0].option is view.today or view.steps[0].option["shape"] != view.today["shape"]:
        return ""
    count = view.steps[0].option["broker_count"]
    return f"kafka-capacity plan {snapshot} --broker-counts {count} --out DIR, for what the move takes"


def print_size(done: SizedCluster, view: SizingView, *, is_everything: bool) -> None:
    """Print the recommendation, the options, when today's cluster runs out, and what others would say.

    Args:
        done: the results.
        view: of it, as of :func:`view_of`.
        is_everything: list every option, not only those worth a look.
    """
    document = view.document
    snapshot, advice = done.found.inputs.snapshot, document["advice"]
    print_lines(
        [
            f"recommended: {advice['recommended'] or 'nothing'}",
            f"why: {advice['reason']}",
            *_single_replicas(view),
            *_by_date(view),
        ]
    )
    rows = list(view.options) if is_everything else _worth_a_look(view)
    columns = terminal_columns(view.options)
    title = (
        f"{snapshot.cluster} on {snapshot.ds}: {len(snapshot.brokers)} brokers, {len(snapshot.partitions):,} "
        f"partitions, up to {view.horizon}"
    )
    print_rows(title, columns, [cells(columns, view, row) for row in rows])
    more, cpu = len(view.options) - len(rows), document["cpu"]["reason"]
    print_lines(
        [
            *([f"CPU: {cpu}"] if cpu else []),
            *([f"{more:,} more options were tried; --all shows them"] if more else []),
        ]
    )
    if (steps := steps_table(view)) is not None:
        print_data(steps)
    print_data(exhaustion_table(view, "doing nothing", view.today))
    for drawn in chosen_waterfalls(view):
        print_data({**drawn["table"], "note": drawn["note"]})
    print_lines(_notes(done, document, view))


def _single_replicas(view: SizingView) -> list[str]:
    """Describe what the answer leaves with a single replica."""
    answer, found = view.recommended or view.options[0], view.document["single_replicas"]
    return [f"serious: {found['reason']}"] if found and answer["replication_factor"] in (None, 1) else []


def _by_date(view: SizingView) -> list[str]:
    """Return what would do if it had to last a shorter time, where that is another option, and until which day."""
    advice = view.document["advice"]
    shorter = dict.fromkeys(option for _, option in advice["by_date"] if option not in (None, advice["recommended"]))
    found = [row for row in map(view.by_id, shorter) if row is not None]
    return [f"{row['option_id']}: until {lasts_until(view, row)} only" for row in found]


def _worth_a_look(view: SizingView) -> list[Row]:
    """Choose what the page shows first, and all of today's hardware."""
    shown = first_options(view)
    return [row for row in view.options if row in shown or row["shape"] == view.today["shape"]]


def _notes(done: SizedCluster, document: Mapping[str, Any], view: SizingView) -> list[str]:
    shown = view.nearest
    lines = [f"do-nothing: {excuse['reason']}" for excuse in view.today["excuses"]]
    lines += [
        f"group {one['group_id']} reads from disk from {one['from_date']} on, as the page cache reaches less far back"
        for one in document["groups_beyond_page_cache_today"][:_MAX_TOPICS]
    ]
    unknown = not_judged_sentence(shown)
    lines += [f"{shown['option_id']}: {unknown}"] if unknown else []
    if document["peak_basis"] == PeakBasis.SUM_OF_PEAKS:
        lines.append(
            "less than a day tells rates in and out: every partition counts its own peak at once, an upper estimate"
        )
    lines += [f"topic {one['topic']}: {one['reason']}" for one in document["partitions"][:_MAX_TOPICS]]
    if document["partitions_advised"] > _MAX_TOPICS:
        lines.append(f"{document['partitions_advised'] - _MAX_TOPICS:,} more topics need a look: --json lists them")
    if (estimate := estimate_sentence(view.today)) is not None:
        lines.append(estimate)
    elif shown["priced_on"]:
        lines.append(f"prices of {shown['shape']} are of {shown['priced_on']}; check them")
    return [*lines, *document["notes"], *done.warnings]
