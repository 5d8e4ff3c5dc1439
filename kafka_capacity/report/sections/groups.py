"""The consumer groups: which are at risk, what to change, and who then reads what."""

from __future__ import annotations

from typing import Any

from kafka_capacity.report.group_caveats import common_caveats, group_caveats
from kafka_capacity.report.group_chart import lag_chart
from kafka_capacity.report.group_details import (
    MAX_MEMBERS,
    MAX_MEMBERS_FOLDED,
    events_table,
    members_table,
    overview_table,
    variants_table,
)
from kafka_capacity.report.group_words import (
    at_risk_line,
    count_sentences,
    disk_sentence,
    pause_sentence,
    skew_sentence,
    summary,
)
from kafka_capacity.report.groups import SECTION, GroupsView, GroupView
from kafka_capacity.report.options import PlanView
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import column, table

MAX_FULL = 8
"""Groups with a chart and every table: those at risk, then those with a change to recommend."""
MAX_DETAILED = 60
"""Groups with anything but a row of the overview; beyond, a page would be too heavy to open."""
MAX_SKIPPED = 100


@section(SECTION, title="Consumer groups", order=25)
def build(view: PlanView) -> dict[str, Any] | None:
    """Give the overview and a part for each group; nothing where a plan has no groups."""
    groups = view.groups
    if groups is None:
        return None
    wanted = [group for group in groups.groups if group.advice.is_at_risk or group.advice.is_change]
    full = wanted[:MAX_FULL]
    folded = [group for group in groups.groups[:MAX_DETAILED] if group not in full]
    anchors = {group.group_id: f"group-{place}" for place, group in enumerate([*full, *folded], start=1)}
    rests_on = common_caveats(groups)
    parts = {group.group_id: _full(group, anchors[group.group_id]) for group in full}
    return {
        "summary": summary(groups),
        "at_risk": at_risk_line(groups),
        "overview": overview_table(groups, anchors) if groups.groups else None,
        "serious": [one for one in rests_on if one["severity"] == "serious"],
        "notes": [one for one in rests_on if one["severity"] != "serious"],
        "full": list(parts.values()),
        "folded": [_folded(group, anchors[group.group_id]) for group in folded],
        "left_out": len(groups.groups) - len(full) - len(folded),
        "unfolded_left_out": len(wanted) - len(full),
        "charts": [part["chart"] for part in parts.values() if part["chart"] is not None],
        "skipped": _skipped(groups),
    }


def _full(group: GroupView, anchor: str) -> dict[str, Any]:
    """Give everything about one group."""
    return {
        **_common(group, anchor),
        "chart": lag_chart(group, f"{anchor}-lag"),
        "events": events_table(group),
        "members": members_table(group, limit=MAX_MEMBERS),
    }


def _folded(group: GroupView, anchor: str) -> dict[str, Any]:
    """Give the gist of one group."""
    return {
        **_common(group, anchor),
        "members": members_table(group, limit=MAX_MEMBERS_FOLDED),
    }


def _common(group: GroupView, anchor: str) -> dict[str, Any]:
    sentences = [
        pause_sentence(group),
        *count_sentences(group),
        *dict.fromkeys(skew_sentence(row) for row in group.shown),
        disk_sentence(group),
    ]
    return {
        "anchor": anchor,
        "group": group.group_id,
        "verdict": str(group.verdict),
        "reason": group.advice.reason,
        "sentences": [sentence for sentence in sentences if sentence],
        "caveats": group_caveats(group),
        "variants": variants_table(group),
    }


def _skipped(groups: GroupsView) -> dict[str, Any] | None:
    if not groups.skipped:
        return None
    listed = groups.skipped[:MAX_SKIPPED]
    note = f"{len(listed):,} of {len(groups.skipped):,} are listed." if len(listed) < len(groups.skipped) else None
    columns = (column("group_id", "Group", "name"), column("reason", "Why", "name"))
    rows = [{"group_id": str(one["group_id"]), "reason": str(one["reason"])} for one in listed]
    return table("Groups that were left out", columns, rows, note=note)
