"""Consumer groups in sentences: who is at risk and how, what to know about a count, what a figure rests on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kafka_capacity.questions.consumers.advice import Row
from kafka_capacity.report.groups import GroupsView, GroupView, catch_up
from kafka_capacity.text import ENDLESS, format_bytes, format_count, format_duration, format_rate, format_wait, plural
from kafka_capacity.text.names import clipped

MAX_NAMED = 3
"""Groups at risk that a line names; further ones are counted."""
MAX_IDLE = 6
MAX_SKEWED = 4
NAME_LENGTH = 60
"""A longer name is cut in a sentence; tables and headings have it whole."""

_EVENTS = {
    "scale": ("Scaling, at once", "while its count changes at once"),
    "scale-one-by-one": ("Scaling, one by one", "while its count changes one by one"),
    "rolling-restart": ("Rolling restart", "in a rolling restart"),
    "crash": ("Crash", "in a crash"),
    "crash-restart": ("Crash and restart", "in a crash with a restart"),
    "slow-member": ("Slow member", "with a slow member"),
    "more-partitions": ("More partitions", "when partitions are added"),
}
_BEHAVIOURS = {
    ("classic", "range"): "eager",
    ("classic", "roundrobin"): "eager",
    ("classic", "sticky"): "eager",
    ("classic", "cooperative-sticky"): "cooperative",
}
_PROTOCOLS = {"consumer": "KIP-848"}


def event_name(event: str) -> str:
    """Name an event, for a table."""
    return _EVENTS[event][0] if event in _EVENTS else event.replace("-", " ").capitalize()


def event_phrase(event: str) -> str:
    """Say when, in a sentence."""
    return _EVENTS[event][1] if event in _EVENTS else f"in the event {event.replace('-', ' ')}"


def variant_name(row: Row) -> str:
    """Name an assignor, with its protocol where that is not the classic one, and static membership.

    >>> variant_name({"protocol": "classic", "assignor": "range", "is_static": True})
    'range, static'
    >>> variant_name({"protocol": "consumer", "assignor": "range", "is_static": False})
    'range (KIP-848)'
    """
    protocol = "" if row["protocol"] == "classic" else f" ({_PROTOCOLS.get(row['protocol'], row['protocol'])})"
    return f"{row['assignor']}{protocol}" + (", static" if row["is_static"] else "")


def behaviour(row: Row) -> str:
    """Name how a group rebalances.

    >>> behaviour({"protocol": "classic", "assignor": "range"})
    'eager'
    """
    protocol = row["protocol"]
    return _BEHAVIOURS.get((protocol, row["assignor"])) or _PROTOCOLS.get(protocol, str(protocol))


def short(name: str) -> str:
    """Cut a long name for a sentence."""
    return clipped(name, NAME_LENGTH)


def at_risk_line(view: GroupsView) -> str | None:
    """Say which groups are at risk and how, in one sentence; ``None`` where none is."""
    risky = view.at_risk
    if not risky:
        return None
    named = [f"{short(group.group_id)} ({risk_phrase(group)})" for group in risky[:MAX_NAMED]]
    if len(risky) > MAX_NAMED:
        named.append(f"and {len(risky) - MAX_NAMED:,} more")
    return f"{len(risky):,} of {plural(len(view.groups), 'consumer group')} at risk: {', '.join(named)}."


def risk_phrase(group: GroupView) -> str:
    """Say what is wrong with a group as it is, with the figure: overload before lag, since lag follows from it."""
    row = group.now
    broken = {excuse["constraint"] for excuse in excuses_of(row)}
    if "member_capacity" in broken and row["busiest_member_bytes_per_second"] is not None:
        rate, capacity = (
            format_rate(row[name]) for name in ("busiest_member_bytes_per_second", "capacity_bytes_per_second")
        )
        if row["is_capacity_given"]:
            return f"one member gets {rate} at peak and can read {capacity}"
        return f"one member gets {rate} at peak, the most managed so far is {capacity}"
    worst = group.worst_lag(row)
    if "lag_slo" in broken and worst is not None:
        when, allowed = event_phrase(worst.event), format_duration(row["lag_slo_seconds"])
        if worst.seconds is None:
            return f"falls behind without end {when}, allowed {allowed}"
        said = f"falls {format_duration(worst.seconds)} behind {when}, allowed {allowed}"
        return said + _caught_up(group.outcome(row, worst.event))
    if "lag_now" in broken:
        limit = format_duration(row["catch_up_limit_seconds"])
        return f"is {format_duration(row['start_lag_seconds'])} behind today, {_gone(row)}, allowed {limit}"
    excuses = excuses_of(row)
    return str(excuses[0]["reason"]) if excuses else "does not fit"


def _caught_up(outcome: Row | None) -> str:
    """Say when nothing of an event is left to read any more, where that is known."""
    seconds = None if outcome is None else catch_up(outcome)
    if seconds is None:
        return ""
    return ", never caught up" if seconds == ENDLESS else f", caught up after {format_wait(seconds)}"


def sentence(reason: str) -> str:
    """Turn a reason into a sentence."""
    return f"{reason[:1].upper()}{reason[1:]}."


def excuses_of(row: Row) -> list[dict[str, Any]]:
    """Give the constraints that a scenario breaks."""
    return list(json.loads(row["excuses"]))


def summary(view: GroupsView) -> str:
    """Say how many groups there are, and how many of each kind."""
    kinds = [group.verdict for group in view.groups]
    parts = []
    for verdicts, words in (
        (("at_risk", "at_risk_no_fit"), "at risk as they are today"),
        (("better",), "can do with fewer members or fewer pauses"),
        (("no_fit",), "without anything that fits"),
        (("empty",), "not tried as they are today"),
        (("fits",), "best left as they are"),
    ):
        count = sum(kind in verdicts for kind in kinds)
        if count:
            parts.append(f"{count:,} {words}")
    return f"{plural(len(view.groups), 'consumer group')}: {', '.join(parts)}." if parts else ""


def pause_sentence(group: GroupView) -> str | None:
    """Say for how long a deploy leaves partitions unread, now and then; ``None`` where that was not simulated."""
    outcomes = [group.outcome(row, "rolling-restart") for row in group.shown]
    seconds = [None if one is None else one["paused_partition_seconds"] for one in outcomes]
    now, then = seconds[0], seconds[-1]
    if now is None or then is None:
        return None
    said = f"A deploy leaves partitions unread for {format_count(now)} partition-seconds in all"
    if group.then is None:
        return f"{said}."
    why = ""
    if then > now and group.then["is_static"]:
        why = ": fewer pauses, but longer ones, since what a static member reads waits until it is back"
    word = "recommended change" if group.then is group.advice.recommended else "nearest scenario"
    if format_count(now) == format_count(then):
        return f"{said}, today and with the {word}."
    return f"{said} today, and for {format_count(then)} with the {word}{why}."


def count_sentences(group: GroupView) -> list[str]:
    """Say what is to know about today’s lag and about counts: the pointless, who gets nothing, the smallest."""
    lag_now = lag_now_sentence(group.now)
    found = [lag_now] if lag_now else []
    found += _pointless(row for row in group.shown if row is not group.advice.recommended)
    found += _idle(group)
    row = group.advice.spoken_of
    if row["smallest_for_all"] is not None:
        found.append(_smallest(row))
    elif row["smallest_why_none"] and group.advice.recommended is not None:
        found.append(f"No count will do with {variant_name(row)}: {row['smallest_why_none']}.")
    return found


def lag_now_sentence(row: Row) -> str | None:
    """Say how far a group is behind before anything happens; ``None`` where that is within what is allowed."""
    seconds = row["start_lag_seconds"]
    if seconds is None or seconds <= row["lag_slo_seconds"]:
        return None
    return (
        f"It is {format_duration(seconds)} behind already, {_gone(row)} at mean rates; events are those of the group "
        "once it has caught up."
    )


def _gone(row: Row) -> str:
    seconds = row["catch_up_now_seconds"]
    return "never gone" if seconds is None else f"gone in {format_duration(seconds)}"


def _pointless(rows: Iterable[Row]) -> list[str]:
    found: dict[str, None] = {}
    for row in rows:
        same, count = row["same_as_count"], row["member_count"]
        if same is not None and same < count:
            span = f"{count:,} members" if count == same + 1 else f"{same + 1:,} to {count:,} members"
            found[
                f"{span} read no faster than {same:,} with {row['assignor']}: the fullest has as many partitions."
            ] = None
    return list(found)


def _idle(group: GroupView) -> list[str]:
    found = []
    for row in group.shown:
        idle = row["idle_members"] or ()
        if idle:
            named = ", ".join(short(name) for name in sorted(idle)[:MAX_IDLE])
            more = f" and {len(idle) - MAX_IDLE:,} more" if len(idle) > MAX_IDLE else ""
            which = "today" if row is group.advice.today else f"with {variant_name(row)}"
            verb = "gets" if len(idle) == 1 else "get"
            found.append(
                f"{len(idle):,} of {plural(row['member_count'], 'member')} {verb} nothing {which}: {named}{more}."
            )
    return found


def _smallest(row: Row) -> str:
    failures = row["failure_count"]
    parts = [f"{row['smallest_at_peak']:,} at peak"] if row["smallest_at_peak"] is not None else []
    if row["smallest_after_failures"] is not None and failures:
        parts.append(f"{row['smallest_after_failures']:,} with {plural(failures, 'member')} gone")
    if row["smallest_while_restarting"] is not None:
        parts.append(f"{row['smallest_while_restarting']:,} in a rolling restart")
    return (
        f"The smallest count that will do with {variant_name(row)} is {row['smallest_for_all']:,} ({', '.join(parts)})."
    )


def skew_sentence(row: Row) -> str | None:
    """Say which topics ``range`` piles up on the same members; ``None`` where it does not matter."""
    topics = row["skew_topics"] or ()
    if not topics:
        return None
    named = ", ".join(short(topic) for topic in topics[:MAX_SKEWED])
    more = f" and {len(topics) - MAX_SKEWED:,} more" if len(topics) > MAX_SKEWED else ""
    return (
        f"{row['assignor']} deals out each topic by itself, always from the first member on: the first members get one "
        f"partition more of each of {named}{more}. The busiest reads "
        f"{format_rate(row['busiest_member_bytes_per_second'])} at peak, the mean is "
        f"{format_rate(row['mean_member_bytes_per_second'])}."
    )


def disk_sentence(group: GroupView) -> str | None:
    """Say what catching up reads from disk at worst; ``None`` where nothing or not known."""
    outcomes = [
        (row, outcome)
        for row in group.shown
        for outcome in group.advice.churn[row["scenario_id"]].values()
        if outcome["disk_read_bytes"]
    ]
    if not outcomes:
        return None
    row, worst = max(outcomes, key=lambda pair: (pair[1]["disk_read_bytes"], pair[1]["event"]))
    which = "today" if row is group.advice.today else f"with {variant_name(row)}"
    return (
        f"It falls out of the page cache: catching up reads up to {format_bytes(worst['disk_read_bytes'])} from disk "
        f"{event_phrase(worst['event'])} ({which})."
    )
