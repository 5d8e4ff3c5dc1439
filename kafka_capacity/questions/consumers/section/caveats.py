"""What the figures about consumer groups rest on: capacities, rates, record sizes and timeouts."""

from __future__ import annotations

from kafka_capacity.demand.calendar_days import WEEK_HOURS
from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.model import ACCEPTED_SESSION_SECONDS
from kafka_capacity.questions.consumers.choice import GroupChoice, Row
from kafka_capacity.questions.consumers.section.view import GroupsView
from kafka_capacity.text import format_bytes, format_duration, format_rate, format_wait, plural


def group_caveats(group: GroupChoice) -> list[dict[str, str]]:
    """List what the figures of one group rest on, serious first."""
    row, facts = group.now, group.facts
    found = []
    if row["partition_count"] is not None:
        if row["capacity_bytes_per_second"] is None:
            found.append(_serious("Member capacity is unknown, so load and catching up are not judged."))
        elif row["is_capacity_limit"] and not row["is_capacity_given"]:
            # That it is at least as much stands in the row of each, and once for all what that means.
            capacity = format_rate(row["capacity_bytes_per_second"])
            text = f"The member capacity of {capacity} is an observation: no member read more, although the group is"
            found.append(_note(f"{text} behind. Measure it, and give it as a parameter."))
    if facts is not None:
        found += _on_facts(facts, group.unknown_rate_partitions)
    return sorted(found, key=lambda one: one["severity"] != "serious")


def _on_facts(facts: Row, unknown: int) -> list[dict[str, str]]:
    found = []
    hours = facts["history_hours"]
    if not hours:
        found.append(_serious("There is no traffic history: rates, lag and load are unknown and count as zero."))
    elif hours < WEEK_HOURS:
        found.append(_note(f"Rates are based on {plural(hours, 'hour')} of history, less than a week."))
    if hours and unknown:
        parts = f"{unknown:,} of {plural(facts['partition_count'], 'partition')}"
        found.append(_serious(f"The produce rates of {parts} are unknown and count as zero."))
    if not facts["is_record_size_known"]:
        size = format_bytes(facts["record_bytes"])
        found.append(_note(f"The record size is unknown; duplicates are counted in records of {size}."))
    if facts["unread_partitions"] and facts["member_count"]:
        count = facts["unread_partitions"]
        found.append(_serious(f"{plural(count, 'partition')} {'has' if count == 1 else 'have'} no reader today."))
    return found


def common_caveats(view: GroupsView) -> list[dict[str, str]]:
    """List what the figures of all groups rest on: capacities, and the timeouts, some of which decide alone."""
    found = []
    groups = [group.choice for group in view.groups]
    guessed = sum(
        group.now["capacity_bytes_per_second"] is not None and not group.now["is_capacity_given"] for group in groups
    )
    if guessed:
        text = (
            f"Member capacity is not given, so for {guessed:,} of {plural(len(groups), 'group')} it is the highest "
            "rate that any member has read so far: a limit if the group is behind today, otherwise a lower bound. "
            "Measure it and give it as member_capacity_bytes_per_second to make catch-up and crash figures more "
            "accurate."
        )
        found.append(_note(text))
    for row in (row for group in groups for row in group.shown):
        is_classic = row["protocol"] == "classic"
        heartbeat, session = (
            row[name if is_classic else f"server_{name}"]
            for name in ("heartbeat_interval_seconds", "session_timeout_seconds")
        )
        allowed = row["lag_slo_seconds"]
        configs, shortest, longest = ACCEPTED_SESSION_SECONDS[GroupProtocol(row["protocol"])]
        lowest = f"{configs}.min.session.timeout.ms (by default {format_duration(shortest)})"
        if session > allowed:
            text = (
                f"A crashed member is detected only after the session timeout of {format_duration(session)}, which "
                f"is longer than the allowed lag of {format_duration(allowed)}: more members do not help, a shorter "
                f"timeout does{f', once {lowest} is lowered' if allowed < shortest else ''}."
            )
            found.append(_serious(text))
        if not shortest <= session <= longest:
            highest = f"{configs}.max.session.timeout.ms (by default {format_duration(longest)})"
            limit = f"{lowest} is lowered" if session < shortest else f"{highest} is raised"
            found.append(_serious(f"Brokers reject a session timeout of {format_duration(session)} until {limit}."))
        kind = {"classic": "classic", "streams": "streams"}.get(row["protocol"], "consumer-protocol")
        text = (
            f"Timeouts are those requested, not read from clients: in {kind} groups heartbeats every "
            f"{format_duration(heartbeat)}, a session timeout of {format_duration(session)}."
        )
        found.append(_note(text))
        text = (
            f"Members are assumed to poll at least every {format_wait(row['poll_seconds'])} and to be away for "
            f"{format_duration(row['restart_seconds'])} in a restart; the next one is stopped "
            f"{format_duration(row['settle_seconds'])} later. Slower timing means longer pauses."
        )
        found.append(_note(text))
    return sorted(
        {one["text"]: one for one in found}.values(), key=lambda one: (one["severity"] != "serious", one["text"])
    )


def _serious(text: str) -> dict[str, str]:
    return {"severity": "serious", "text": text}


def _note(text: str) -> dict[str, str]:
    return {"severity": "note", "text": text}
