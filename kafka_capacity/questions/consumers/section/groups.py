"""The consumer groups: which are at risk, what to change, and who then reads what."""

from __future__ import annotations

from typing import Any

from kafka_capacity.questions.consumers.columns import EVENTS, VARIANTS
from kafka_capacity.questions.consumers.decide import MAX_NAMED, GroupDecision, decided_groups
from kafka_capacity.questions.consumers.scenario import Verdict
from kafka_capacity.questions.consumers.section.caveats import common_caveats, group_caveats
from kafka_capacity.questions.consumers.section.chart import lag_chart
from kafka_capacity.questions.consumers.section.details import (
    MAX_FOLDED,
    MAX_MEMBERS,
    MAX_VARIANTS,
    events_table,
    members_table,
    overview_table,
    variants_table,
)
from kafka_capacity.questions.consumers.section.view import GroupsView, groups_of
from kafka_capacity.questions.consumers.share_groups import SHARE_COLUMNS, share_sentences
from kafka_capacity.report.anchors import GROUPS
from kafka_capacity.report.sections import section
from kafka_capacity.report.tables import cells, column, definitions, table
from kafka_capacity.report.view import ReportView

MAX_FULL = 4  # groups with a chart and every table: those at risk, then those with a change to recommend
MAX_TABLES = 10
"""Groups with tables of what was tried; of others the page says what to do and why."""
MAX_DETAILED = 60  # groups with anything but a row of the overview; beyond, a page would be too heavy to open
MAX_SKIPPED = 100


@section(GROUPS, title="Consumer groups", order=25)
def build(view: ReportView) -> dict[str, Any] | None:
    """Return the overview and a part for each group; nothing where a plan has no groups."""
    groups = view.of(groups_of)
    if groups is None:
        return None
    decided = groups.groups
    wanted = [group for group in decided if group.choice.is_at_risk or group.choice.is_change]
    full = wanted[:MAX_FULL]
    folded = [group for group in decided[:MAX_DETAILED] if group not in full]
    anchors = {group.group_id: f"group-{place}" for place, group in enumerate([*full, *folded], start=1)}
    rests_on = common_caveats(groups)
    parts = [
        {
            **_part(groups, group, anchors[group.group_id], limit=MAX_VARIANTS, most_members=MAX_MEMBERS),
            "chart": lag_chart(groups, group.choice, f"{anchors[group.group_id]}-lag"),
            "events": events_table(group.choice),
        }
        for group in full
    ]
    said = decided_groups(groups.answer)
    return {
        "summary": said["summary"],
        "at_risk": said["at_risk"],
        "figures": [_figures(group) for group in full if group.risk is not None][:MAX_NAMED],
        "overview": overview_table(groups, anchors) if decided else None,
        "definitions": definitions((*VARIANTS, *EVENTS)),
        "serious": [one for one in rests_on if one["severity"] == "serious"],
        "notes": [one for one in rests_on if one["severity"] != "serious"],
        "full": parts,
        "folded": [
            _part(
                groups,
                group,
                anchors[group.group_id],
                limit=MAX_FOLDED if place < MAX_TABLES else 0,
                most_members=MAX_FOLDED if place < MAX_TABLES and group.choice.is_at_risk else 0,
            )
            for place, group in enumerate(folded, start=len(full))
        ],
        "left_out": len(decided) - len(full) - len(folded),
        "charts": [part["chart"] for part in parts if part["chart"] is not None],
        "skipped": _skipped(groups),
        "shared": _shared(groups),
    }


def _figures(group: GroupDecision) -> dict[str, Any]:
    """Return the key figures of a group, for the mail."""
    return {
        "group": group.group_id,
        "figures": [{"label": one["label"], "value": one["value"], "format": one["kind"]} for one in group.figures],
    }


def _part(view: GroupsView, group: GroupDecision, anchor: str, *, limit: int, most_members: int) -> dict[str, Any]:
    """Return what is said of one group, with as many variants and members as are wanted."""
    return {
        "anchor": anchor,
        "group": group.group_id,
        "verdict": str(group.status),
        "reason": group.advice,
        "sentences": list(group.known),
        "caveats": group_caveats(group.choice),
        "variants": variants_table(group.choice, limit=limit),
        "members": members_table(view, group.choice, limit=most_members) if most_members else None,
    }


def _shared(groups: GroupsView) -> dict[str, Any] | None:
    """Return the share groups, those that do not fit first, and what there is to say of them."""
    if not groups.shared:
        return None
    ranked = sorted(groups.shared, key=lambda row: (row["verdict"] != Verdict.DOES_NOT_FIT, row["group_id"]))
    listed = ranked[:MAX_DETAILED]
    rows, note = [cells(SHARE_COLUMNS, row) for row in listed], _listed_note(len(listed), len(ranked))
    return {
        "table": table("Share groups", SHARE_COLUMNS, rows, note=note),
        "sentences": share_sentences(listed[:MAX_TABLES]),
    }


def _skipped(groups: GroupsView) -> dict[str, Any] | None:
    if not groups.skipped:
        return None
    listed = groups.skipped[:MAX_SKIPPED]
    columns = (column("group_id", "Group", "name"), column("reason", "Why", "name"))
    return table("Groups left out", columns, listed, note=_listed_note(len(listed), len(groups.skipped)))


def _listed_note(listed: int, count: int) -> str | None:
    return f"{listed:,} of {count:,} are listed." if listed < count else None
