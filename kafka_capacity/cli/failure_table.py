"""What losses do, in the terminal: the worst sets of each kind, then everything about those that were named."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from kafka_capacity.cli.console import print_lines, print_rows
from kafka_capacity.cli.failing import Failed
from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.limits import RESOURCE_NAMES
from kafka_capacity.health.problem import counted, some
from kafka_capacity.questions.failures import SetKind
from kafka_capacity.questions.failures.evaluate import SURVIVOR_RESOURCES
from kafka_capacity.questions.failures.plain import affected_groups, topic_rows
from kafka_capacity.questions.failures.section.details import COORDINATORS
from kafka_capacity.questions.failures.section.matrix import LOSSES
from kafka_capacity.questions.failures.section.sentences import loss_sentences
from kafka_capacity.questions.failures.section.view import placement_failures
from kafka_capacity.report.tables import cells, column

_TOPICS = (
    column("topic", "Topic", "name"),
    column("partitions", "Partitions", "count"),
    column("offline", "Partitions offline", "count"),
    column("under_min_isr", "Under min ISR", "count"),
)
_GROUPS = (
    column("group_id", "Consumer group", "name"),
    column("partitions", "Partitions", "count"),
    column("offline_partitions", "Partitions offline", "count"),
    column("coordinator", "Coordinator", "text", lambda row: COORDINATORS.get(row["coordinator"], row["coordinator"])),
)
_TITLES = {
    SetKind.GIVEN: "lost together",
    SetKind.BROKER: "one broker lost",
    SetKind.RACK: "a rack lost",
    SetKind.RACK_AND_BROKER: "a rack and one more broker lost",
    SetKind.PAIR: "two brokers lost",
}
_MAX_DETAILS = 20


def failures_answer(failed: Failed, tables: Mapping[str, pa.Table]) -> str:
    """Describe in one line what is lost at worst."""
    result, snapshot = failed.result, failed.found.snapshot
    said = loss_sentences(placement_failures(tables, result.scenario.placement_id))
    today = f"today {result.offline_today:,} offline, {result.under_min_isr_today:,} under min ISR"
    return " ".join([f"{snapshot.cluster} on {snapshot.ds}: {today}.", *said])


def print_failures(failed: Failed, tables: Mapping[str, pa.Table], *, max_rows: int) -> None:
    """Print a table for each kind of set, the worst sets first."""
    result = failed.result
    order, rows = result.worst_first().tolist(), tables["failures"].to_pylist()
    for kind, title in _TITLES.items():
        mine = [number for number in order if result.sets[number].kind is kind]
        if not mine:
            continue
        shown = [cells(LOSSES, rows[number]) for number in mine[:max_rows]]
        more = f", the worst {max_rows:,} of {len(mine):,}" if len(mine) > max_rows else ""
        print_rows(f"{title}{more}", LOSSES, shown)
    for number in order:
        if result.sets[number].kind is SetKind.GIVEN:
            _print_details(failed, number)
    print_lines(_notes(failed))


def _print_details(failed: Failed, number: int) -> None:
    one = failed.result.sets[number]
    topics = topic_rows(failed.found.snapshot, one, failed.result.scenario.rules)
    groups = affected_groups(failed.result, number)
    for columns, what, found in ((_TOPICS, "topic", topics), (_GROUPS, "group", groups)):
        if found:
            title = f"without {one.name}: {counted(len(found), what)} affected{_shown(len(found))}"
            print_rows(title, columns, [cells(columns, row) for row in found[:_MAX_DETAILS]])


def _shown(count: int) -> str:
    return f", the worst {_MAX_DETAILS} of them" if count > _MAX_DETAILS else ""


def _notes(failed: Failed) -> list[str]:
    """Describe what the figures rest on, and what was not looked at."""
    result = failed.result
    lines = [
        f"of {left.possible:,} sets of the kind {left.kind}, {left.chosen:,} were looked at"
        + (": half of them those that share the most partitions, the rest drawn" if left.kind is SetKind.PAIR else "")
        + f" (seed {result.scenario.seed}); --max-losses raises the limit"
        for left in result.left_out
    ]
    if result.peak_basis is PeakBasis.UNKNOWN:
        lines.append("warning: there is no history of rates, so loads of survivors are not known")
    elif result.peak_basis is PeakBasis.SUM_OF_PEAKS:
        lines.append("peaks of brokers are upper estimates: every partition at its own peak at once, for want of hours")
    lines += [f"warning: {one.message}" for one in failed.found.findings.warnings if one.code == "missing_sizes"]
    for resource in SURVIVOR_RESOURCES:
        there = result.capacity.get(resource)
        unknown = np.isnan(there) if there is not None else np.ones(len(result.brokers), dtype=np.bool_)
        if unknown.any():
            ids = result.brokers.ids[unknown].tolist()
            who = "all brokers" if unknown.all() else f"{counted(len(ids), 'broker')} ({some(ids, len(ids))})"
            lines.append(f"{RESOURCE_NAMES[resource]} is not judged on {who}: what they can do is not known")
    if failed.found.findings.warnings:
        count = counted(len(failed.found.findings.warnings), "warning")
        lines.append(f"{count} about the snapshot: doctor lists them")
    return lines
