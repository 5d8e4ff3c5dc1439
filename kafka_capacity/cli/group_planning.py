"""What ``groups`` finds out, how it shows that, and as which files it writes it.

    groups.json           for each group what is decided, its figures and every scenario with its events
    group_….parquet       the tables of :mod:`kafka_capacity.questions.consumers.tables`; or .csv, with lists as JSON

The same input gives the same bytes. Everything is worked out before the first byte is written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import pyarrow as pa

from kafka_capacity.cli.console import Steps, print_lines, print_rows
from kafka_capacity.cli.documents import csv_table, write_files
from kafka_capacity.cli.pieces import run_step_by_step
from kafka_capacity.cli.plan_input import ask_snapshot, snapshot_warnings
from kafka_capacity.health.problem import some
from kafka_capacity.objects.dataset import canonical_json, parquet_bytes
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import check_groups
from kafka_capacity.questions.answer import Answer
from kafka_capacity.questions.consumers.choice import GroupChoice, Row, excuses_of
from kafka_capacity.questions.consumers.columns import EVENTS, MEMBERS, VARIANTS, columns_for, event_columns
from kafka_capacity.questions.consumers.decide import GroupDecision, decide_tables, decided_groups
from kafka_capacity.questions.consumers.known import lost_sentence
from kafka_capacity.questions.consumers.names import part_name, variant_name
from kafka_capacity.questions.consumers.share import FoundGroups, find_groups, simulate_found
from kafka_capacity.questions.consumers.share_groups import SHARE_COLUMNS, VERDICT_WORDS, share_sentences
from kafka_capacity.questions.consumers.tables import GROUP_TABLES
from kafka_capacity.questions.question import Basis
from kafka_capacity.report.tables import cells, definitions
from kafka_capacity.text import format_rate, plural

MAX_REASONS = 10  # of groups that could be better, so many are explained
MAX_MEMBERS = 60  # so many rows has the table of members


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedGroups:
    """What was simulated of which snapshot, and the tables of :mod:`kafka_capacity.questions.consumers.tables`."""

    basis: Basis
    found: FoundGroups
    tables: Mapping[str, pa.Table]

    @cached_property
    def answer(self) -> Answer:
        """What is decided about them."""
        return decide_tables(self.tables, self.found.shared)

    @property
    def groups(self) -> tuple[GroupDecision, ...]:
        """What is decided about each."""
        return tuple(self.answer.details)


def plan_groups(snapshot: str, given: Mapping[str, Any], begin: Steps) -> PlannedGroups:
    """Read and simulate."""
    begin("reading the snapshot")
    asked = ask_snapshot(snapshot, given)
    check_groups(asked.parameters.groups, asked.basis.raw.table("groups"), cluster=asked.basis.snapshot.cluster)
    found = find_groups(asked)
    tables = simulate_found(found, run_step_by_step(begin, begun=1)).tables
    return PlannedGroups(basis=asked.basis, found=found, tables=tables)


def print_groups(planned: PlannedGroups, max_rows: int) -> None:
    """Print one row a group, the worst first, then what to do about those that need something."""
    found = planned.groups
    choices = [group.choice for group in found]
    columns = columns_for(choices)
    if choices:
        more = f", the worst {max_rows:,} of {len(choices):,}" if len(choices) > max_rows else ""
        print_rows(f"Consumer groups{more}", columns, [cells(columns, choice) for choice in choices[:max_rows]])
    shared = planned.found.shared
    if shared:
        print_rows("Share groups", SHARE_COLUMNS, [cells(SHARE_COLUMNS, row) for row in shared])
    print_lines([*_advice(found, max_rows), *_facts(planned), *share_sentences(shared), *_skipped(planned)])


def print_group(planned: PlannedGroups, group: GroupDecision) -> None:
    """Print everything about one group: its variants, the events of today and of what is recommended, its members."""
    choice = group.choice
    facts = choice.facts or {}
    title = (
        f"{group.group_id}: {plural(facts['member_count'], 'member')}, "
        f"{plural(facts['partition_count'], part_name(choice.now['protocol']))}, "
        f"{format_rate(facts['peak_bytes_per_second'])} at peak, "
        f"{_capacity(choice.focus)}"
    )
    print_rows(title, VARIANTS, [cells(VARIANTS, choice, row) for row in choice.scenarios])
    columns = event_columns(choice)
    events = [cells(columns, choice, row, outcome) for row in choice.shown for outcome in choice.outcomes(row)]
    print_rows(" and ".join(f"{choice.name_of(row)}: {_named(row)}" for row in choice.shown), columns, events)
    rows = planned.tables["group_members"].to_pylist()
    members = [row for row in rows if row["scenario_id"] == choice.focus["scenario_id"]]
    print_rows(
        f"assignment, today and with {_named(choice.focus)}",
        MEMBERS,
        [cells(MEMBERS, member, True) for member in members[:MAX_MEMBERS]],
    )
    lines = [f"and {len(members) - MAX_MEMBERS:,} more members"] if len(members) > MAX_MEMBERS else []
    fits = f"today's setup: {VERDICT_WORDS[group.verdict]}" if group.today else "today's setup was not simulated"
    reasons = "; ".join(group.reasons)
    print_lines(
        [
            *lines,
            definitions((*VARIANTS, *EVENTS)),
            f"{fits} ({reasons})" if reasons else fits,
            *group.known,
            f"advice: {group.advice}",
        ]
    )


def _advice(found: Sequence[GroupDecision], max_rows: int) -> list[str]:
    pressing = [group for group in found if group.recommended is None or group.risk is not None]
    others = [group for group in found if group not in pressing and group.today and group.choice.is_change]
    at_risk = [group.advice if group.recommended is None else f"at risk: {group.advice}" for group in pressing]
    better = [f"could be improved: {group.advice}" for group in others]
    lines = []
    for those, most, are in ((at_risk, max_rows, "are at risk"), (better, MAX_REASONS, "could be improved")):
        lines += those[:most]
        if (more := len(those) - most) > 0:
            lines.append(f"and {more:,} more {are}: --group NAME shows how; groups.json has them all")
    return lines


def _facts(planned: PlannedGroups) -> list[str]:
    """Return what the figures do not show: rates not known, partitions that nobody reads, a doubtful snapshot."""
    facts = [group.choice.facts for group in planned.groups if group.choice.facts is not None]
    silent = sorted(
        row["group_id"] for row in facts if not row["peak_bytes_per_second"] and row["unknown_rate_partitions"]
    )
    lines = []
    if silent:
        lines.append(f"warning: no produce rates are known for {some(silent)}: their load is not judged")
    lines += [
        f"warning: {row['group_id']}: no rates are known of {plural(row['unknown_rate_partitions'], 'partition')}"
        for row in facts
        if row["unknown_rate_partitions"] and row["peak_bytes_per_second"]
    ]
    lines += [
        f"warning: {row['group_id']}: nobody reads {plural(row['unread_partitions'], 'partition')} today"
        for row in facts
        if row["unread_partitions"]
    ]
    lost = ((group.group_id, lost_sentence(group.choice)) for group in planned.groups)
    lines += [f"warning: {name}: {sentence}" for name, sentence in lost if sentence is not None]
    return lines + snapshot_warnings(planned.basis.findings)


def without_groups(planned: PlannedGroups) -> str:
    """Return what is said where no group is simulated."""
    count = len(planned.found.skipped)
    if not count:
        return "the inventory has no consumer groups."
    return f"{plural(count, 'consumer group')}, none of which can be simulated."


def _skipped(planned: PlannedGroups) -> list[str]:
    tried = {group.group_id for group in planned.groups}
    return [
        f"{'remark' if each['group_id'] in tried else 'not simulated'}: {each['group_id']}: {each['reason']}"
        for each in planned.found.skipped
    ]


def _capacity(row: Row) -> str:
    rate = row["capacity_bytes_per_second"]
    if rate is None:
        return "member capacity is unknown"
    return f"a member can process {format_rate(rate)}" + (
        "" if row["is_capacity_given"] else " (the highest rate seen so far)"
    )


def _named(row: Row) -> str:
    return f"{plural(row['member_count'], 'member')}, {variant_name(row)}"


def groups_document(planned: PlannedGroups) -> dict[str, Any]:
    """Return ``groups.json``: null where there is no figure, or none that ends."""
    choices = {group.group_id: group.choice for group in planned.groups}
    decided = decided_groups(planned.answer)
    return {
        "request": dataclasses.asdict(planned.found.inputs.request),
        **decided,
        "groups": [{**group, **_rows(choices[group["group_id"]])} for group in decided["groups"]],
        "skipped": list(planned.found.skipped),
        "shared": list(planned.found.shared),
    }


def _rows(group: GroupChoice) -> dict[str, Any]:
    scenarios = [{**row, "excuses": excuses_of(row), "events": group.outcomes(row)} for row in group.scenarios]
    return {"facts": group.facts, "scenarios": scenarios}


def write_groups(
    out: str, planned: PlannedGroups, document: Mapping[str, Any], table_format: Literal["parquet", "csv"]
) -> None:
    """Write the tables, then ``groups.json``, and take away tables that an earlier run left in the other format.

    ``out`` is a folder or an ``s3://`` address.
    """
    write = parquet_bytes if table_format == "parquet" else csv_table
    files = {f"{name}.{table_format}": write(planned.tables[name]) for name in GROUP_TABLES}
    store = open_store(out)
    for name in GROUP_TABLES:
        store.delete(f"{name}.{'csv' if table_format == 'parquet' else 'parquet'}")
    write_files(store, {**files, "groups.json": canonical_json(dict(document))})
