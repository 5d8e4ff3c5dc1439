"""Consumer groups as tables in the terminal: one row a group, and everything about one group."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from kafka_capacity.cli.console import Align, print_lines, print_table
from kafka_capacity.cli.group_planning import PlannedGroups
from kafka_capacity.inventory.findings import counted, some
from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.questions.consumers.advice import GroupAdvice, Row, judged_lag
from kafka_capacity.report.groups import catch_up
from kafka_capacity.text import format_duration, format_rate
from kafka_capacity.text.partition_ranges import by_topic, runs

MOST_REASONS = 10
"""Of groups that could be better, so many are explained; those at risk all are."""
MOST_MEMBERS = 60
"""So many rows has the table of members."""

_GROUP_COLUMNS: tuple[tuple[str, Align], ...] = (
    ("group", "left"),
    ("members", "right"),
    ("assignor", "left"),
    ("worst lag", "right"),
    ("in", "left"),
    ("pauses a deploy", "right"),
    ("verdict", "left"),
)
_VARIANT_COLUMNS: tuple[tuple[str, Align], ...] = (
    ("members", "right"),
    ("assignor", "left"),
    ("at least", "right"),
    ("rebalances a deploy", "right"),
    ("pauses a deploy", "right"),
    ("by rebalances", "right"),
    ("the longest", "right"),
    ("worst lag", "right"),
    ("in", "left"),
    ("caught up after", "right"),
    ("fits", "left"),
)
_EVENT_COLUMNS: tuple[tuple[str, Align], ...] = (
    ("event", "left"),
    ("members", "right"),
    ("rebalances", "right"),
    ("pauses", "right"),
    ("by rebalances", "right"),
    ("moved", "right"),
    ("worst pause", "right"),
    ("worst lag", "right"),
    ("caught up after", "right"),
    ("read twice", "right"),
)
_MEMBER_COLUMNS: tuple[tuple[str, Align], ...] = (
    ("member", "left"),
    ("reads now", "left"),
    ("reads then", "left"),
    ("at peak now", "right"),
    ("then", "right"),
)


def verdict_of(advice: GroupAdvice) -> str:
    """Say it in a word or two."""
    if advice.recommended is None:
        return "nothing fits"
    if advice.is_at_risk:
        return "at risk"
    if advice.today is None:
        return "fits"
    return "could be better" if advice.is_change else "fits"


def print_groups(planned: PlannedGroups) -> None:
    """Print one row a group, then what to do about those that need something."""
    found = planned.advice
    title = f"{planned.cluster} on {planned.ds}: {counted(len(found), 'consumer group')}"
    print_table(title, _GROUP_COLUMNS, [_group_row(advice) for advice in found])
    print_lines([*_reasons(found), *_facts(planned), *_skipped(planned)])


def print_group(planned: PlannedGroups, advice: GroupAdvice) -> None:
    """Print everything about one group: its variants, the events of today and of what is recommended, its members."""
    facts = planned.facts[advice.group_id]
    rows = [row for row in planned.scenarios if row["group_id"] == advice.group_id]
    title = (
        f"{advice.group_id}: {counted(facts['member_count'], 'member')}, "
        f"{counted(facts['partition_count'], 'partition')}, {format_rate(facts['peak_bytes_per_second'])} at peak, "
        f"{_capacity(advice.spoken_of)}"
    )
    print_table(title, _VARIANT_COLUMNS, [_variant_row(row, advice) for row in rows])
    shown = {row["scenario_id"]: row for row in (advice.today, advice.spoken_of) if row is not None}
    for scenario_id, row in shown.items():
        what = "today" if row["is_today"] else "recommended" if row is advice.recommended else "nearest"
        churn = advice.churn[scenario_id]
        outcomes = [_event_row(churn[event]) for event in row["events"] if event in churn]
        print_table(f"{what}: {_members(row)}, {_named(row)}", _EVENT_COLUMNS, outcomes)
    members = planned.members(advice.spoken_of["scenario_id"])
    then = f"{_members(advice.spoken_of)}, {_named(advice.spoken_of)}"
    print_table(
        f"who reads what, now and with {then}", _MEMBER_COLUMNS, [_member_row(m) for m in members[:MOST_MEMBERS]]
    )
    lines = [f"and {len(members) - MOST_MEMBERS:,} more members"] if len(members) > MOST_MEMBERS else []
    excuses = json.loads(advice.spoken_of["excuses"]) if advice.recommended is None else []
    print_lines([*lines, *(f"does not fit: {excuse['reason']}" for excuse in excuses), f"advice: {advice.reason}"])


def _group_row(advice: GroupAdvice) -> list[str]:
    now, then = advice.today, advice.spoken_of
    pair = [row for row in (now, then) if row is not None]
    lags = [advice.judged_lag(row) for row in pair]
    pauses = [advice.pauses_per_deploy(row) for row in pair]
    return [
        advice.group_id,
        _change(f"{row['member_count']:,}" for row in pair),
        _change(_named(row) for row in pair),
        _change("" if lag is None else _time(lag.seconds) for lag in lags),
        _change("" if lag is None else lag.event for lag in lags),
        _change("" if count is None else f"{count:,}" for count in pauses),
        verdict_of(advice),
    ]


def _variant_row(row: Row, advice: GroupAdvice) -> list[str]:
    churn = advice.churn[row["scenario_id"]]
    deploy, lag = churn.get(Event.ROLLING_RESTART), judged_lag(churn)
    marks = [word for word, is_so in (("today", row["is_today"]), ("recommended", row is advice.recommended)) if is_so]
    return [
        f"{row['member_count']:,}",
        _named(row) + (f" ({', '.join(marks)})" if marks else ""),
        _smallest(row),
        *("" if deploy is None else f"{deploy[n]:,}" for n in ("rebalances", "partition_pauses", "revoked")),
        "" if deploy is None else _time(deploy["pause_max_seconds"]),
        "" if lag is None else _time(lag.seconds),
        "" if lag is None else lag.event,
        _catch_up(churn[lag.event]) if lag is not None else "",
        "yes" if row["fits"] else "no",
    ]


def _event_row(outcome: Row) -> list[str]:
    return [
        outcome["event"],
        _change(f"{outcome[name]:,}" for name in ("members_before", "members_after")),
        *(f"{outcome[name]:,}" for name in ("rebalances", "partition_pauses", "revoked", "moved")),
        *(_time(outcome[name]) for name in ("pause_max_seconds", "lag_max_seconds")),
        _catch_up(outcome),
        f"{outcome['duplicate_records']:,.0f} to {outcome['duplicate_records_high']:,.0f}",
    ]


def _member_row(member: Row) -> list[str]:
    note = " (new)" if member["is_new"] else " (gone)" if member["is_gone"] else ""
    return [
        member["member_id"] + note,
        in_ranges(member["partitions_before"]),
        in_ranges(member["partitions_after"]),
        format_rate(member["peak_before_bytes_per_second"]),
        format_rate(member["peak_after_bytes_per_second"]),
    ]


def _reasons(found: Sequence[GroupAdvice]) -> list[str]:
    lines = []
    pressing = [advice for advice in found if advice.recommended is None or advice.is_at_risk]
    lines += [advice.reason if advice.recommended is None else f"at risk: {advice.reason}" for advice in pressing]
    others = [advice for advice in found if advice not in pressing and advice.today is not None and advice.is_change]
    lines += [f"could be better: {advice.reason}" for advice in others[:MOST_REASONS]]
    if len(others) > MOST_REASONS:
        lines.append(f"and {len(others) - MOST_REASONS:,} more could be better: --group NAME says how, groups.json all")
    return lines


def _facts(planned: PlannedGroups) -> list[str]:
    """Say what the figures do not show: rates that are not known, partitions that nobody reads, a doubtful snapshot."""
    facts = list(planned.facts.values())
    silent = [row["group_id"] for row in facts if not row["peak_bytes_per_second"]]
    unread = [row for row in facts if row["unread_partitions"]]
    lines = []
    if silent:
        lines.append(
            f"warning: nothing is known of what is produced for {some(silent, len(silent))}: their loads are not judged"
        )
    lines += [
        f"warning: {row['group_id']}: nobody reads {counted(row['unread_partitions'], 'partition')} today"
        for row in unread
    ]
    if planned.warnings:
        lines.append(f"{counted(planned.warnings, 'warning')} about the snapshot: inventory check lists them")
    return lines


def _skipped(planned: PlannedGroups) -> list[str]:
    tried = {advice.group_id for advice in planned.advice}
    return [
        f"{'remark' if each['group_id'] in tried else 'not simulated'}: {each['group_id']}: {each['reason']}"
        for each in planned.skipped
    ]


def _capacity(row: Row) -> str:
    rate = row["capacity_bytes_per_second"]
    if rate is None:
        return "what a member can process is not known"
    return f"a member processes {format_rate(rate)}" + ("" if row["is_capacity_given"] else " (the most seen so far)")


def _named(row: Row) -> str:
    kind = "" if row["protocol"] == "classic" else f"{row['protocol']} "
    return f"{kind}{row['assignor']}" + (", static" if row["is_static"] else "")


def _members(row: Row) -> str:
    return counted(row["member_count"], "member")


def _smallest(row: Row) -> str:
    if row["smallest_for_all"] is not None:
        return f"{row['smallest_for_all']:,}"
    return "not known" if row["capacity_bytes_per_second"] is None else "none will do"


def _catch_up(outcome: Row) -> str:
    return "not known" if catch_up(outcome) is None else _time(outcome["catch_up_seconds"])


def _time(seconds: float | None) -> str:
    return format_duration(seconds)


def _change(texts: Iterable[str]) -> str:
    return " → ".join(dict.fromkeys(texts))


def in_ranges(names: Sequence[str]) -> str:
    """Write ``orders-0``, ``orders-1``, ``orders-2``, ``audit-4`` short.

    >>> in_ranges(["orders-0", "orders-1", "orders-2", "audit-4"])
    'orders 0–2, audit 4'
    """
    return ", ".join(f"{topic} {_ranges(numbers)}" for topic, numbers in by_topic(names).items())


def _ranges(numbers: Sequence[int]) -> str:
    return " ".join(f"{low}" if low == high else f"{low}–{high}" for low, high in runs(numbers))
