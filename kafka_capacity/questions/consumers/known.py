"""What else is to know about a consumer group, in sentences: pauses, today's lag, counts, skew, reads from disk."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_capacity.kafka.groups.sticky_tasks import placed_standbys
from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.questions.consumers.advice import advice_of
from kafka_capacity.questions.consumers.choice import GroupChoice, Row, is_offline
from kafka_capacity.questions.consumers.names import (
    caught_up_phrase,
    event_phrase,
    members,
    sentence,
    short,
    unread,
    variant_name,
)
from kafka_capacity.text import format_bytes, format_count, format_duration, format_rate, plural
from kafka_capacity.text.wording import few_names

MAX_IDLE = 6
MAX_SKEWED = 4


def known_of(group: GroupChoice) -> tuple[str, ...]:
    """Return what else is to know about a group: pauses, today's lag, counts, skew, reads from disk."""
    found = [
        _pause_sentence(group),
        lag_now_sentence(group),
        lost_sentence(group),
        *_pointless(row for row in group.shown if row is not group.recommended),
        *_idle(group),
        _smallest(group),
        *dict.fromkeys(_skew_sentence(row) for row in group.shown),
        _state_sentence(group),
        _disk_sentence(group),
    ]
    return tuple(one for one in found if one)


def _pause_sentence(group: GroupChoice) -> str | None:
    """Return for how long a deploy leaves partitions unread, now and then; ``None`` where that was not simulated."""
    outcomes = [group.outcome(row, Event.ROLLING_RESTART) for row in group.shown]
    seconds = [None if one is None else one["paused_partition_seconds"] for one in outcomes]
    now, then = seconds[0], seconds[-1]
    if now is None or then is None:
        return None
    sentence = f"A deploy leaves partitions unread for {format_count(now)} partition-seconds in total"
    if group.then is None:
        return f"{sentence}."
    why = ""
    if then > now and group.then["is_static"]:
        why = ": fewer pauses, but longer ones, because a static member's partitions wait until it is back"
    word = "recommended change" if group.then is group.recommended else "nearest scenario"
    if not why and group.recommended is not None:
        advice = advice_of(group)
        if all(unread(one) in advice for one in outcomes if one):
            return None  # said already
    if format_count(now) == format_count(then):
        return f"{sentence}, today and with the {word}."
    return f"{sentence} today, and for {format_count(then)} with the {word}{why}."


def is_late_now(row: Row) -> bool:
    """Return whether a group is behind by more than is allowed before anything happens."""
    seconds = row["start_lag_seconds"]
    return seconds is not None and bool(seconds > row["lag_slo_seconds"])


def lag_now_sentence(group: GroupChoice) -> str | None:
    """Return how far a group is behind before anything happens; ``None`` where that is within what is allowed."""
    row = group.now
    if not is_late_now(row):
        return None
    rates = "the mean rates that are known" if group.unknown_rate_partitions else "mean rates"
    gone = f"{caught_up_phrase(row['catch_up_now_seconds'])} at {rates}"
    if row["capacity_bytes_per_second"] is None:
        gone = "and how soon it catches up is unknown, as member capacity is"
    elif not row["is_capacity_limit"]:
        joined = " unless" if gone.startswith(caught_up_phrase(None)) else ", or sooner if"
        gone += f"{joined} members can process more than was seen"
    behind = format_duration(row["start_lag_seconds"])
    return f"It is already {behind} behind, {gone}; events are simulated for the group once it has caught up."


def lost_sentence(group: GroupChoice) -> str | None:
    """Return how much was deleted before a group had read it; ``None`` for nothing, and where that is not known."""
    facts = group.facts or {}
    records = facts.get("lost_records")  # no column of earlier versions
    if not records:
        return None
    size = f" ({format_bytes(records * facts['record_bytes'])})" if facts["is_record_size_known"] else ""
    was, them, are = ("was", "it", "is") if records == 1 else ("were", "them", "are")
    return f"{plural(int(records), 'record')}{size} {was} deleted before it had read {them}, and {are} lost to it."


def _pointless(rows: Iterable[Row]) -> list[str]:
    found = []
    for row in rows:
        same, count = row["same_as_count"], row["member_count"]
        if same is not None and same < count:
            span = f"{count:,} members" if count == same + 1 else f"{same + 1:,} to {count:,} members"
            why = f"with {row['assignor']}: the fullest member has as many partitions."
            found.append(f"{span} read no faster than {same:,} {why}")
    return list(dict.fromkeys(found))


def _idle(group: GroupChoice) -> list[str]:
    found = []
    for row in group.shown:
        idle = row["idle_members"] or ()
        if idle:
            named = few_names(map(short, sorted(idle)), MAX_IDLE)
            verb = "gets" if len(idle) == 1 else "get"
            found.append(f"{len(idle):,} of {members(row)} {verb} nothing {_which(group, row)}: {named}.")
    return found


def _which(group: GroupChoice, row: Row) -> str:
    return "today" if row is group.today else f"with {variant_name(row)}"


def _smallest(group: GroupChoice) -> str | None:
    row = group.focus
    if row["smallest_for_all"] is None:
        why = row["smallest_why_none"] if group.recommended is not None else None
        return f"No count is enough with {variant_name(row)}: {why}." if why else None
    failures = row["failure_count"]
    parts = [f"{row['smallest_at_peak']:,} at peak"] if row["smallest_at_peak"] is not None else []
    if row["smallest_after_failures"] is not None and failures:
        # As many as today's are left then, which nobody has seen to be enough, nor too few.
        is_unseen = row["smallest_after_failures"] - failures < (row["smallest_at_peak"] or 0)
        more = " if members can process more than seen so far" if is_unseen else ""
        parts.append(f"{row['smallest_after_failures']:,} with {plural(failures, 'member')} failed{more}")
    if row["smallest_while_restarting"] is not None:
        parts.append(f"{row['smallest_while_restarting']:,} in a rolling restart")
    known = [row[f"smallest_{when}"] for when in ("at_peak", "after_failures", "while_restarting")]
    if row["smallest_for_all"] > max((count for count in known if count is not None), default=0):
        parts.append(f"{row['smallest_for_all']:,} to stay within the allowed lag in every event and catch up in time")
    once = "Once all partitions have a leader, the" if is_offline(row) else "The"
    found = f"smallest sufficient count with {variant_name(row)} is {row['smallest_for_all']:,}"
    return f"{once} {found} ({', '.join(parts)})."


def _skew_sentence(row: Row) -> str | None:
    """Return which topics ``range`` piles up on the same members; ``None`` where it does not matter."""
    topics = row["skew_topics"] or ()
    if not topics:
        return None
    return (
        f"{row['assignor']} assigns each topic separately, always starting at the first member, so the first members "
        f"get one more partition of each of {few_names(map(short, topics), MAX_SKEWED)}. The busiest reads "
        f"{format_rate(row['busiest_member_bytes_per_second'])} at peak; the mean is "
        f"{format_rate(row['mean_member_bytes_per_second'])}."
    )


def _state_sentence(group: GroupChoice) -> str | None:
    """Return what a streams group runs, what state it keeps, and the most that an event makes it restore."""
    facts = group.facts
    if facts is None or not group.is_streams:
        return None
    tasks, standbys, processes = (facts[key] for key in ("partition_count", "standby_replicas", "process_count"))
    size = "of unknown size" if facts["state_bytes"] is None else format_bytes(facts["state_bytes"])
    placed = placed_standbys(standbys, processes)
    fewer = f", of which {placed:,} can be placed: one per process" if placed < standbys else ""
    found = (
        f"Its {plural(tasks, 'task')} run in {plural(processes, 'process')}; their state is {size}, with "
        f"{plural(standbys, 'standby')} for each stateful task{fewer}"
    )
    restoring = [
        (outcome["restored_bytes"], outcome["event"], row, outcome["restore_seconds"])
        for row in group.shown
        for outcome in group.outcomes(row)
        if outcome["restored_bytes"]
    ]
    if not restoring:
        return f"{found}."
    most, event, row, seconds = max(restoring, key=lambda one: one[:2])
    how_long = "which takes longer than the pauses shown, because no restore rate is given"
    if seconds is not None:
        how_long = f"{format_duration(seconds)} for the slowest member, which is included in the pauses"
    restored = f"{_which(group, row)} {format_bytes(most)} are restored {event_phrase(event)}: {how_long}"
    return f"{found}. {sentence(restored)}"


def _disk_sentence(group: GroupChoice) -> str | None:
    """Return what catching up reads from disk at worst; ``None`` where nothing or not known."""
    outcomes = [
        (row, outcome)
        for row in group.shown
        for outcome in group.churn[row["scenario_id"]].values()
        if outcome["disk_read_bytes"]
    ]
    if not outcomes:
        return None
    row, worst = max(outcomes, key=lambda pair: (pair[1]["disk_read_bytes"], pair[1]["event"]))
    return (
        f"It falls out of the page cache: catching up reads up to {format_bytes(worst['disk_read_bytes'])} from disk "
        f"{event_phrase(worst['event'])} ({_which(group, row)})."
    )
