"""The tables about consumer groups: all groups, and one group's variants, events and members."""

from __future__ import annotations

from typing import Any

from kafka_capacity.questions.consumers.advice import Row, WorstLag
from kafka_capacity.report.group_words import (
    behaviour,
    event_name,
    excuses_of,
    lag_now_sentence,
    sentence,
    short,
    variant_name,
)
from kafka_capacity.report.groups import GroupsView, GroupView, catch_up, endless
from kafka_capacity.report.tables import ANCHOR, NOTE, column, table
from kafka_capacity.text import format_duration, plural
from kafka_capacity.text.partition_ranges import partition_ranges

MAX_LISTED = 400
"""Groups in the overview; those at risk come first."""
MAX_MEMBERS = 24
"""Members in a table; a table of hundreds is for the plan's own files."""
MAX_MEMBERS_FOLDED = 10
MAX_VARIANTS = 14

_SEEN = frozenset({"member_capacity", "lag_slo"})
"""Constraints whose figures stand in the overview anyway."""

THE_SAME = [["", "the same"]]
"""What a member reads afterwards, where nothing changes for it."""

_KEEPS_UP = {True: "yes", False: "no", None: "not known"}

_OVERVIEW = (
    column("group", "Group", "name"),
    column("verdict", "Verdict", "verdict"),
    column("members", "Members", "count_change"),
    column("variant", "Assignor", "text_change"),
    column("load", "Busiest member at peak", "load"),
    column("lag", "Furthest behind", "wait_change"),
    column("event", "When, today", "name"),
    column("allowed", "Allowed", "wait"),
    column("pauses", "Pauses per deploy", "count_change"),
)
_VARIANTS = (
    column("variant", "Assignor", "name"),
    column("behaviour", "Protocol"),
    column("verdict", "Verdict", "verdict"),
    column("rebalances", "Rebalances", "count"),
    column("revoked", "Pauses by rebalances", "count"),
    column("pauses", "All pauses", "count"),
    column("unread", "Partition-seconds unread", "count"),
    column("pause", "Longest pause", "wait"),
    column("lag", "Furthest behind", "wait"),
    column("catch_up", "Caught up after", "wait"),
    column("duplicates", "Duplicates in a crash", "count"),
)
_EVENTS = (
    column("event", "Event"),
    column("which", "With"),
    column("members", "Members", "count_change"),
    column("rebalances", "Rebalances", "count"),
    column("revoked", "Pauses by rebalances", "count"),
    column("pauses", "All pauses", "count"),
    column("moved", "Moved", "count"),
    column("pause", "Longest pause", "wait"),
    column("lag", "Furthest behind", "wait"),
    column("catch_up", "Caught up after", "wait"),
    column("keeps_up", "Keeps up"),
    column("duplicates", "Duplicates", "count"),
    column("disk", "Read from disk", "bytes"),
)
_MEMBERS = (
    column("member", "Member", "name"),
    column("before", "Reads today", "ranges"),
    column("after", "Reads then", "ranges"),
    column("peak_before", "Peak today", "rate"),
    column("peak_after", "Peak then", "rate"),
)
_MEMBERS_AS_THEY_ARE = (
    column("member", "Member", "name"),
    column("after", "Reads", "ranges"),
    column("peak_after", "Peak", "rate"),
)


def overview_table(view: GroupsView, anchors: dict[str, str]) -> dict[str, Any]:
    """Give one row a group, those at risk first.

    Args:
        view: all groups.
        anchors: by group, the id of its own part of the page.
    """
    listed = view.groups[:MAX_LISTED]
    note = (
        "An arrow leads from today to what is recommended. Pauses per deploy are partitions that a rebalance takes "
        "from a reader while every member is restarted in turn. The busiest member is today’s."
    )
    allowed = {group.now["lag_slo_seconds"] for group in view.groups}
    columns = [one for one in _OVERVIEW if one["key"] != "allowed" or len(allowed) > 1]
    if len(allowed) == 1:
        note += f" The lag allowed is {format_duration(allowed.pop())}."
    if len(listed) < len(view.groups):
        note += f" {len(listed):,} of {len(view.groups):,} groups are listed."
    return table("Every consumer group", columns, [_overview_row(group, anchors) for group in listed], note=note)


def _overview_row(group: GroupView, anchors: dict[str, str]) -> dict[str, Any]:
    advice, now = group.advice, group.now
    recommended = advice.recommended if advice.is_change else None
    pair = (advice.today, recommended or (None if advice.today is not None else now))
    worst = group.worst_lag(now)
    row = {
        "group": group.group_id,
        "verdict": str(group.verdict),
        "members": [_get(one, "member_count") for one in pair],
        "variant": [None if one is None else variant_name(one) for one in pair],
        "load": load_of(now),
        "lag": [group.worst_wait(one) for one in pair],
        "event": _when(group, worst),
        "allowed": now["lag_slo_seconds"],
        "pauses": [group.revoked_per_deploy(one) for one in pair],
        NOTE: _overview_note(group),
    }
    return row | ({ANCHOR: anchors[group.group_id]} if group.group_id in anchors else {})


def _when(group: GroupView, worst: WorstLag | None) -> str | None:
    if group.is_overloaded:
        return "At peak"
    return None if worst is None or not worst.partition else event_name(worst.event)


def _overview_note(group: GroupView) -> str | None:
    """Say why a group does not fit, where the figures of its row do not, or why they are all so high."""
    excuses = [] if group.now["fits"] else excuses_of(group.now)
    is_seen = any(excuse["constraint"] in _SEEN for excuse in excuses)
    return sentence(excuses[0]["reason"]) if excuses and not is_seen else lag_now_sentence(group.now)


def load_of(row: Row) -> list[Any] | None:
    """Give the busiest member's rate at peak, the capacity and whether that is known to be all that one can do."""
    rate = row["busiest_member_bytes_per_second"]
    return None if rate is None else [rate, row["capacity_bytes_per_second"], row["is_capacity_limit"]]


def variants_table(group: GroupView) -> dict[str, Any] | None:
    """Give the ways to share a group's partitions side by side, at today's count; ``None`` for less than two."""
    recommended, now = group.advice.recommended, group.now
    kept = [row for row in group.scenarios if row["member_count"] == now["member_count"] or row is recommended]
    kept = sorted(kept, key=lambda row: _variant_rank(group, row))[:MAX_VARIANTS]
    if len(kept) < 2:
        return None
    return table(
        f"Ways to share the partitions of {short(group.group_id)}, each in a rolling restart "
        f"of {plural(now['member_count'], 'member')}",
        _VARIANTS,
        [_variant_row(group, row) for row in kept],
        note="Duplicates are records read twice, at most.",
    )


def _variant_rank(group: GroupView, row: Row) -> tuple[Any, ...]:
    revoked = group.revoked_per_deploy(row)
    return (
        row is not group.advice.today,
        row is not group.advice.recommended,
        revoked is None,
        revoked or 0,
        row["scenario_id"],
    )


def _variant_row(group: GroupView, row: Row) -> dict[str, Any]:
    restart, crash = (group.outcome(row, event) for event in ("rolling-restart", "crash"))
    if row is group.advice.today:
        state = " (today)"
    else:
        state = "" if row["member_count"] == group.now["member_count"] else f", {plural(row['member_count'], 'member')}"
    return {
        "variant": variant_name(row) + state,
        "behaviour": behaviour(row),
        "verdict": "recommended" if row is group.advice.recommended else ("fits" if row["fits"] else "no_fit"),
        **_outcome(restart),
        "unread": _get(restart, "paused_partition_seconds"),
        "duplicates": _get(crash, "duplicate_records_high"),
        NOTE: sentence(excuses_of(row)[0]["reason"]) if row["partition_count"] is None and excuses_of(row) else None,
    }


def _outcome(outcome: Row | None) -> dict[str, Any]:
    def wait(name: str) -> float | str | None:
        return None if outcome is None else endless(outcome[name])

    return {
        "rebalances": _get(outcome, "rebalances"),
        "revoked": _get(outcome, "revoked"),
        "pauses": _get(outcome, "partition_pauses"),
        "pause": wait("pause_max_seconds"),
        "lag": wait("lag_max_seconds"),
        "catch_up": None if outcome is None else catch_up(outcome),
    }


def _get(row: Row | None, name: str) -> Any:
    return None if row is None else row[name]


def events_table(group: GroupView) -> dict[str, Any] | None:
    """Give what each event does, today and with what is recommended; ``None`` where none was simulated."""
    rows = []
    for event in dict.fromkeys(event for row in group.shown for event in row["events"]):
        for row in group.shown:
            outcome = group.outcome(row, event)
            if outcome is not None and (outcome["rebalances"] or outcome["partition_pauses"]):
                rows.append(_event_row(group, row, outcome))
    if not rows:
        return None
    disk = [row["disk"] for row in rows]
    left_out = set() if any(disk) else {"disk"}
    left_out |= {"which"} if group.then is None else set()
    return table(
        f"What happens to {short(group.group_id)}, event by event",
        [one for one in _EVENTS if one["key"] not in left_out],
        rows,
        note="All at the rates of the group’s peak hour. Members keep up if they can "
        "do what they are to do afterwards; events that stop nobody are left out. "
        "Moved are partitions that another member reads in the end, "
        "duplicates are records read twice, at most."
        + (" Catching up reads nothing from disk." if not any(disk) and None not in disk else ""),
    )


def _event_row(group: GroupView, row: Row, outcome: Row) -> dict[str, Any]:
    return {
        "event": event_name(outcome["event"]),
        "which": scenario_word(group, row),
        "members": [outcome["members_before"], outcome["members_after"]],
        **_outcome(outcome),
        "moved": outcome["moved"],
        "keeps_up": _KEEPS_UP[outcome["keeps_up"]],
        "duplicates": outcome["duplicate_records_high"],
        "disk": outcome["disk_read_bytes"],
        NOTE: None if outcome["is_settled"] else "The group does not come to rest.",
    }


def scenario_word(group: GroupView, row: Row) -> str:
    """Say in a word which scenario it is."""
    if row is group.advice.today:
        return "today"
    return "recommended" if row is group.advice.recommended else "nearest"


def members_table(group: GroupView, *, limit: int) -> dict[str, Any] | None:
    """Give who reads what, today and in the scenario that is spoken of; ``None`` where that was not kept."""
    found = group.rows_of("group_members", group.advice.spoken_of)
    if found is None:
        return None
    rows = sorted(found.to_pylist(), key=lambda row: row["member_id"])
    kept = {
        row["member_id"]
        for row in sorted(
            rows,
            key=lambda row: (
                -max(row["peak_before_bytes_per_second"], row["peak_after_bytes_per_second"]),
                row["member_id"],
            ),
        )[:limit]
    }
    is_same = group.then is None and group.advice.today is not None
    shown = [_member_row(row, is_beside=not is_same) for row in rows if row["member_id"] in kept]
    note = None
    if len(shown) < len(rows):
        note = f"The {len(shown):,} members that read most, of {len(rows):,}."
    return table(
        f"Who reads what in {short(group.group_id)}" + ("" if is_same else ", before and after"),
        _MEMBERS_AS_THEY_ARE if is_same else _MEMBERS,
        shown,
        note=note,
    )


def _member_row(row: Row, *, is_beside: bool) -> dict[str, Any]:
    before, after = partition_ranges(row["partitions_before"]), partition_ranges(row["partitions_after"])
    state = " (new)" if row["is_new"] else (" (gone)" if row["is_gone"] else "")
    return {
        "member": f"{row['member_id']}{state}",
        "before": before,
        "after": THE_SAME if is_beside and before == after and before else after,
        "peak_before": None if row["is_new"] else row["peak_before_bytes_per_second"],
        "peak_after": None if row["is_gone"] else row["peak_after_bytes_per_second"],
    }
