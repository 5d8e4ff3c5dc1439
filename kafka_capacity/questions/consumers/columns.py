"""The columns of every table about consumer groups, once: for the page, the mail and the terminal.

A figure that is new is a line here: its name, heading, format (of :data:`~kafka_capacity.text.FORMATS`), where it comes
from, and its definition in a sentence, which stands under the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.questions.consumers.choice import GroupChoice, GroupStatus, Row
from kafka_capacity.questions.consumers.names import behaviour, catch_up, event_name, variant_name
from kafka_capacity.questions.consumers.scenario import Verdict
from kafka_capacity.report.tables import Column, column
from kafka_capacity.text import endless, plural
from kafka_capacity.text.partition_ranges import partition_ranges

RECOMMENDED = "best"

THE_SAME = [["", "the same"]]  # what a member reads afterwards, where nothing changes for it

FIRST_RECORD = (
    "Time to first record is how long the worst partition goes unread after its member leaves, including session "
    "timeouts, rebalances and the first fetch."
)
_KEEPS_UP = {True: "yes", False: "no", None: "not known"}
_VERDICTS = {Verdict.FITS: GroupStatus.FITS, Verdict.NOT_JUDGED: GroupStatus.NOT_JUDGED}


def _pair(group: GroupChoice, value: Callable[[Row], Any]) -> list[Any]:
    """Return a figure as it is today and with what is recommended, where that is a change."""
    changed = group.recommended if group.is_change else None
    rows = (group.today, changed or (group.focus if group.today is None else None))
    return [None if row is None else value(row) for row in rows]


_Read = Callable[[Row | None, str], Any]  # a figure of an outcome, by its name


def _get(outcome: Row | None, name: str) -> Any:
    """Return a figure; ``None`` where nothing was simulated, or by a version that did not work it out."""
    return None if outcome is None else outcome.get(name)


def _wait(outcome: Row | None, name: str) -> float | str | None:
    return None if outcome is None or name not in outcome else endless(outcome[name])


def _deploy(group: GroupChoice, row: Row) -> Row | None:
    return group.outcome(row, Event.ROLLING_RESTART)


def _load(group: GroupChoice) -> list[Any] | None:
    """Return the busiest member's rate at peak, the capacity and whether that is all that one can do."""
    row = group.now
    rate = row["busiest_member_bytes_per_second"]
    return None if rate is None else [rate, row["capacity_bytes_per_second"], row["is_capacity_limit"]]


def _worst_event(group: GroupChoice) -> str | None:
    if group.is_overloaded:
        return "At peak"
    worst = group.worst(group.now)
    return None if worst is None or not worst["lag_max_partition"] else event_name(worst["event"])


GROUPS = (
    column("group", "Group", "name", lambda group: group.group_id),
    column("verdict", "Verdict", "verdict", lambda group: str(group.status)),
    column(
        "members",
        "Members",
        "count_change",
        lambda group: _pair(group, lambda row: row["member_count"]),
        "Arrows lead from today to the recommendation.",
        is_key=True,
    ),
    column("variant", "Assignor", "text_change", lambda group: _pair(group, variant_name)),
    column("load", "Busiest member at peak", "load", _load, "The busiest member is today’s."),
    column(
        "lag",
        "Max lag",
        "wait_change",
        lambda group: _pair(group, lambda row: _wait(group.worst(row), "lag_max_seconds")),
        "Max lag is the age of the oldest unread record, over all partitions and all simulated events.",
        is_key=True,
    ),
    column("event", "When, today", "name", _worst_event),
    column("allowed", "Allowed", "wait", lambda group: group.now["lag_slo_seconds"]),
    column(
        "pauses",
        "Pauses per deploy",
        "count_change",
        lambda group: _pair(group, lambda row: _get(_deploy(group, row), "revoked")),
        "Pauses per deploy count how often a rebalance interrupts a partition while the members are restarted in turn.",
    ),
    column(
        "first_record",
        "Time to first record after a rolling restart",
        "wait_change",
        lambda group: _pair(group, lambda row: _wait(_deploy(group, row), "first_record_seconds")),
        FIRST_RECORD,
        is_key=True,
    ),
)
"""One row a group: made of its choice."""


def columns_for(groups: Iterable[GroupChoice]) -> tuple[Column, ...]:
    """Return the columns of a table of groups: what is allowed has none where it is the same for all."""
    has_several = len({group.now["lag_slo_seconds"] for group in groups}) > 1
    return tuple(one for one in GROUPS if one.key != "allowed" or has_several)


def figures_of(group: GroupChoice) -> tuple[Column, ...]:
    """Return the columns of the key figures of a group; the assignor is one where it changes."""
    is_other = group.is_change and len({variant_name(row) for row in (group.today, group.then) if row is not None}) > 1
    return tuple(one for one in GROUPS if one.is_key or (one.key == "variant" and is_other))


def _variant_label(group: GroupChoice, row: Row) -> str:
    if row is group.today:
        return f"{variant_name(row)} (today)"
    is_alike = row["member_count"] == group.now["member_count"]
    return variant_name(row) + ("" if is_alike else f", {plural(row['member_count'], 'member')}")


def _variant_verdict(group: GroupChoice, row: Row) -> str:
    return RECOMMENDED if row is group.recommended else str(_VERDICTS.get(row["verdict"], GroupStatus.NO_FIT))


def _of_deploy(name: str, read: _Read = _get) -> Callable[..., Any]:
    return lambda group, row: read(_deploy(group, row), name)


VARIANTS = (
    column("variant", "Assignor", "name", _variant_label),
    column("behaviour", "Protocol", "text", lambda _, row: behaviour(row)),
    column("verdict", "Verdict", "verdict", _variant_verdict),
    column("rebalances", "Rebalances", "count", _of_deploy("rebalances")),
    column("revoked", "Pauses by rebalances", "count", _of_deploy("revoked")),
    column("pauses", "All pauses", "count", _of_deploy("partition_pauses")),
    column("unread", "Partition-seconds unread", "count", _of_deploy("paused_partition_seconds")),
    column("pause", "Max pause", "wait", _of_deploy("pause_max_seconds", _wait)),
    column("first_record", "First record after", "wait", _of_deploy("first_record_seconds", _wait), FIRST_RECORD),
    column(
        "lag",
        "Max lag, any event",
        "wait",
        lambda group, row: _wait(group.worst(row), "lag_max_seconds"),
        "Rebalances and pauses are those of a rolling restart, max lag is over all simulated events.",
    ),
    column(
        "catch_up",
        "Caught up after",
        "wait",
        lambda group, row: None if group.worst(row) is None else catch_up(group.worst(row)),
    ),
    column(
        "duplicates",
        "Duplicates in a crash",
        "count",
        lambda group, row: _get(group.outcome(row, Event.CRASH), "duplicate_records_high"),
        "Duplicates are records read twice, at most.",
    ),
)
"""One row a scenario: made of the group's choice and a row of ``group_scenarios``."""


def _of(name: str, read: _Read = _get) -> Callable[..., Any]:
    return lambda _group, _row, outcome: read(outcome, name)


EVENTS = (
    column("event", "Event", "text", lambda _group, _row, outcome: event_name(outcome["event"])),
    column("which", "With", "text", lambda group, row, _outcome: group.name_of(row)),
    column(
        "members",
        "Members",
        "count_change",
        lambda _group, _row, outcome: [outcome["members_before"], outcome["members_after"]],
    ),
    column("rebalances", "Rebalances", "count", _of("rebalances")),
    column("revoked", "Pauses by rebalances", "count", _of("revoked")),
    column("pauses", "All pauses", "count", _of("partition_pauses")),
    column("moved", "Moved", "count", _of("moved"), "Moved are partitions that end up with another member."),
    column("pause", "Max pause", "wait", _of("pause_max_seconds", _wait)),
    column("first_record", "First record after", "wait", _of("first_record_seconds", _wait), FIRST_RECORD),
    column("lag", "Max lag", "wait", _of("lag_max_seconds", _wait), "All at the rates of the group’s peak hour."),
    column("catch_up", "Caught up after", "wait", lambda _group, _row, outcome: catch_up(outcome)),
    column(
        "keeps_up",
        "Keeps up",
        "text",
        lambda _group, _row, outcome: _KEEPS_UP[outcome["keeps_up"]],
        "Members keep up if they can handle their load afterwards.",
    ),
    column(
        "duplicates",
        "Duplicates",
        "count",
        _of("duplicate_records_high"),
        "Duplicates are records read twice, at most.",
    ),
    column("disk", "Read from disk", "bytes", _of("disk_read_bytes")),
)
"""One row an event of a scenario: made of the group's choice, the scenario's row and a row of ``group_churn``."""
_RESTORED = (
    column("restored", "State restored", "bytes", _of("restored_bytes")),
    column("restore", "Longest restore", "wait", _of("restore_seconds")),
)


def event_columns(group: GroupChoice) -> tuple[Column, ...]:
    """Return the columns of a table of events: what is restored stands there for a streams group."""
    return (*EVENTS, *_RESTORED) if group.is_streams else EVENTS


def _member_label(member: Row, _is_beside: bool) -> str:
    state = " (new)" if member["is_new"] else (" (gone)" if member["is_gone"] else "")
    return f"{member['member_id']}{state}"


def _reads_after(member: Row, is_beside: bool) -> Sequence[Any]:
    before, after = partition_ranges(member["partitions_before"]), partition_ranges(member["partitions_after"])
    return THE_SAME if is_beside and before == after and before else after


def _peak(absent: str, when: str) -> Callable[..., Any]:
    return lambda member, _: None if member[absent] else member[f"peak_{when}_bytes_per_second"]


_MEMBER = column("member", "Member", "name", _member_label)
MEMBERS = (
    _MEMBER,
    column("before", "Reads today", "ranges", lambda member, _: partition_ranges(member["partitions_before"])),
    column("after", "Reads afterwards", "ranges", _reads_after),
    column("peak_before", "Peak today", "rate", _peak("is_new", "before")),
    column("peak_after", "Peak afterwards", "rate", _peak("is_gone", "after")),
)
"""One row a member: made of a row of ``group_members``, and whether what it reads stands beside what it read."""
MEMBERS_AS_THEY_ARE = (
    _MEMBER,
    column("after", "Reads", "ranges", _reads_after),
    column("peak_after", "Peak", "rate", MEMBERS[-1].value),
)
"""The same for a group that can stay as it is."""
