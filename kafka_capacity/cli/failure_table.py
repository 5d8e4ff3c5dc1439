"""What losses do, in the terminal: the worst sets of each kind, then everything about those that were named."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kafka_capacity.cli.console import Align, print_lines, print_table
from kafka_capacity.cli.failing import Failed
from kafka_capacity.demand.workload import PeakBasis
from kafka_capacity.hardware.limits import RESOURCE_NAMES, Resource, shown_amount
from kafka_capacity.inventory.findings import counted, some
from kafka_capacity.questions.failures import SetKind
from kafka_capacity.questions.failures.capacity import SURVIVOR_RESOURCES
from kafka_capacity.questions.failures.plain import affected_groups, overloads, topic_rows
from kafka_capacity.text import NOTHING, format_bytes, format_duration, format_rate

_COLUMNS: tuple[tuple[str, Align], ...] = (
    ("lost", "left"),
    ("offline", "right"),
    ("topics", "right"),
    ("under min ISR", "right"),
    ("at min ISR", "right"),
    ("new leaders", "right"),
    ("unclean", "right"),
    ("traffic stopped", "right"),
    ("over capacity", "left"),
    ("groups affected", "right"),
    ("re-replication", "right"),
    ("time", "right"),
)
_TOPICS: tuple[tuple[str, Align], ...] = (
    ("topic", "left"),
    ("partitions", "right"),
    ("offline", "right"),
    ("under min ISR", "right"),
)
_GROUPS: tuple[tuple[str, Align], ...] = (
    ("group", "left"),
    ("partitions", "right"),
    ("offline", "right"),
    ("coordinator", "left"),
)
_TITLES = {
    SetKind.GIVEN: "lost together",
    SetKind.BROKER: "one broker lost",
    SetKind.RACK: "a rack lost",
    SetKind.RACK_AND_BROKER: "a rack and one more broker lost",
    SetKind.PAIR: "two brokers lost",
}
_MAX_DETAILS = 20


def print_failures(failed: Failed, *, most_rows: int) -> None:
    """Print a table for each kind of set, the worst sets first.

    Args:
        failed: the losses.
        most_rows: of each table.
    """
    result, snapshot = failed.result, failed.found.snapshot
    order = result.worst_first().tolist()
    print_lines(
        [
            f"{snapshot.cluster} on {snapshot.ds}: {counted(len(result.brokers), 'broker')}, "
            f"{counted(result.partition_count, 'partition')}; today {result.offline_today:,} offline, "
            f"{result.under_min_isr_today:,} under min ISR"
        ]
    )
    for kind, title in _TITLES.items():
        mine = [number for number in order if result.sets[number].kind is kind]
        if not mine:
            continue
        rows = [_row(failed, number) for number in mine[:most_rows]]
        more = f", the worst {most_rows:,} of {len(mine):,}" if len(mine) > most_rows else ""
        print_table(f"{title}{more}", _COLUMNS, rows)
    for number in order:
        if result.sets[number].kind is SetKind.GIVEN:
            _print_details(failed, number)
    print_lines(_notes(failed))


def _row(failed: Failed, number: int) -> list[str]:
    result = failed.result
    over = overloads(result, number)
    worst = over[0] if over else None
    seconds = float(result.rebuild_seconds[number])
    return [
        result.sets[number].name,
        f"{result.offline[number]:,}",
        f"{result.offline_topics[number]:,}",
        f"{result.under_min_isr[number]:,}",
        f"{result.at_min_isr[number]:,}",
        f"{result.new_leaders[number]:,}",
        f"{result.unclean_leaders[number]:,}",
        format_rate(float(result.stopped_bytes_per_second[number])),
        NOTHING if worst is None else _over(worst, len({row["broker"] for row in over})),
        f"{result.groups_hurt()[number]:,}",
        format_bytes(float(result.rebuild_bytes[number])),
        "never at this throttle" if math.isinf(seconds) else format_duration(seconds),
    ]


def _over(worst: dict[str, Any], count: int) -> str:
    resource = Resource(worst["resource"])
    return (
        f"{counted(count, 'broker')}: {worst['broker']} {RESOURCE_NAMES[resource]} "
        f"{shown_amount(resource, worst['peak'])} of {shown_amount(resource, worst['capacity'])}"
    )


def _print_details(failed: Failed, number: int) -> None:
    one = failed.result.sets[number]
    topics = topic_rows(failed.found.snapshot, one, failed.result.scenario.rules)
    groups = affected_groups(failed.result, number)
    if topics:
        rows = [
            [row["topic"], f"{row['partitions']:,}", f"{row['offline']:,}", f"{row['under_min_isr']:,}"]
            for row in topics[:_MAX_DETAILS]
        ]
        print_table(f"without {one.name}: {counted(len(topics), 'topic')}{_shown(len(topics))}", _TOPICS, rows)
    if groups:
        rows = [
            [
                row["group_id"],
                f"{row['partitions']:,}",
                f"{row['offline_partitions']:,}",
                "refuses commits" if row["coordinator"] == "refuses" else row["coordinator"],
            ]
            for row in groups[:_MAX_DETAILS]
        ]
        print_table(f"without {one.name}: {counted(len(groups), 'group')} affected{_shown(len(groups))}", _GROUPS, rows)


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
