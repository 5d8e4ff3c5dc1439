"""The tables about consumer groups: all groups, and one group's variants, events and members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_capacity.questions.consumers.choice import GroupChoice, Row, excuses_of, is_offline, why_not
from kafka_capacity.questions.consumers.columns import (
    GROUPS,
    MEMBERS,
    MEMBERS_AS_THEY_ARE,
    VARIANTS,
    columns_for,
    event_columns,
)
from kafka_capacity.questions.consumers.known import lag_now_sentence, lost_sentence
from kafka_capacity.questions.consumers.names import sentence, short
from kafka_capacity.questions.consumers.section.view import GroupsView
from kafka_capacity.report.tables import ANCHOR, NOTE, REST, cells, table
from kafka_capacity.text import format_duration, plural

MAX_LISTED = 400  # groups in the overview; those at risk come first
MAX_OPEN = 8  # of them in sight; the others are behind a button, whatever is wrong with them
MAX_MEMBERS = 12  # members in a table; a table of hundreds is for the plan's own files
MAX_VARIANTS = 8
MAX_FOLDED = 4  # members and variants of a group that has less than everything behind its row

_SEEN = frozenset({"member_capacity", "lag_slo"})  # constraints whose figures stand in the overview anyway


def overview_table(view: GroupsView, anchors: Mapping[str, str]) -> dict[str, Any]:
    """Return one row a group, those at risk first."""
    groups = [group.choice for group in view.groups]
    listed = groups[:MAX_LISTED]
    allowed = {group.now["lag_slo_seconds"] for group in groups}
    notes = [f"The lag allowed is {format_duration(allowed.pop())}."] if len(allowed) == 1 else []
    if len(listed) < len(groups):
        notes.append(f"{len(listed):,} of {len(groups):,} groups are listed.")
    return table(
        "Every consumer group",
        columns_for(groups),
        [_overview_row(group, anchors, is_open=place < MAX_OPEN) for place, group in enumerate(listed)],
        note=" ".join(notes),
    )


def _overview_row(group: GroupChoice, anchors: Mapping[str, str], *, is_open: bool) -> dict[str, Any]:
    row = {**cells(GROUPS, group), NOTE: _overview_note(group)}
    row |= {ANCHOR: anchors[group.group_id]} if group.group_id in anchors else {}
    return row if is_open and (group.is_at_risk or group.is_change) else {**row, REST: True}


def _overview_note(group: GroupChoice) -> str | None:
    """Return why a group does not fit, where the figures of its row do not say, or why they are all so high."""
    excuses = excuses_of(group.now)
    is_seen = any(excuse["constraint"] in _SEEN for excuse in excuses) and not is_offline(group.now)
    is_unexplained = (excuses and not is_seen) or (not excuses and group.now["not_judged"])
    why = sentence(why_not(group.now)) if is_unexplained else lag_now_sentence(group)
    return " ".join(filter(None, (why, lost_sentence(group)))) or None


def variants_table(group: GroupChoice, *, limit: int) -> dict[str, Any] | None:
    """Return the ways to share a group's partitions side by side, at today's count; ``None`` for less than two."""
    recommended, now = group.recommended, group.now
    kept = [row for row in group.scenarios if row["member_count"] == now["member_count"] or row is recommended]
    kept = sorted(kept, key=lambda row: _variant_rank(group, row))[:limit]
    if len(kept) < 2:
        return None
    return table(
        f"Ways to assign the partitions of {short(group.group_id)} among {plural(now['member_count'], 'member')}",
        VARIANTS,
        [
            {**cells(VARIANTS, group, row), NOTE: sentence(why_not(row)) if row["partition_count"] is None else None}
            for row in kept
        ],
        is_defined=False,
    )


def _variant_rank(group: GroupChoice, row: Row) -> tuple[Any, ...]:
    outcome = group.outcome(row, "rolling-restart")
    revoked = 0 if outcome is None else outcome["revoked"]
    return (row is not group.today, row is not group.recommended, outcome is None, revoked, row["scenario_id"])


def events_table(group: GroupChoice) -> dict[str, Any] | None:
    """Return what each event does, today and with what is recommended; ``None`` where none was simulated."""
    rows, columns = [], event_columns(group)
    for event in dict.fromkeys(event for row in group.shown for event in row["events"]):
        for row in group.shown:
            outcome = group.outcome(row, event)
            if outcome is not None and (outcome["rebalances"] or outcome["partition_pauses"]):
                note = None if outcome["is_settled"] else "The group does not settle."
                rows.append({**cells(columns, group, row, outcome), NOTE: note})
    if not rows:
        return None
    disk = [row["disk"] for row in rows]
    has_none = not any(disk) and None not in disk
    left_out = (set() if any(disk) else {"disk"}) | ({"which"} if group.then is None else set())
    return table(
        f"What happens to {short(group.group_id)}, event by event",
        [one for one in columns if one.key not in left_out],
        rows,
        is_defined=False,
        note="Events that interrupt no member are left out."
        + (" Catching up reads nothing from disk." if has_none else ""),
    )


def members_table(view: GroupsView, group: GroupChoice, *, limit: int) -> dict[str, Any] | None:
    """Return who reads what, today and in the scenario in focus; ``None`` where that was not kept."""
    found = view.rows_of("group_members", group.focus)
    if found is None:
        return None
    rows = sorted(found.to_pylist(), key=lambda row: row["member_id"])
    peaks = ("peak_before_bytes_per_second", "peak_after_bytes_per_second")
    busiest = sorted(rows, key=lambda row: -max(row[name] for name in peaks))[:limit]  # of equal ones by their ids
    is_same = group.then is None and group.today is not None
    columns = MEMBERS_AS_THEY_ARE if is_same else MEMBERS
    shown = [cells(columns, row, not is_same) for row in rows if row in busiest]
    return table(
        f"Assignment in {short(group.group_id)}" + ("" if is_same else ", before and after"),
        columns,
        shown,
        note=f"The {len(shown):,} of {len(rows):,} members that read most." if len(shown) < len(rows) else None,
    )
