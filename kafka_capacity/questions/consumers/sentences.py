"""Consumer groups in sentences: what to do, what is wrong, what to know about a count. Every surface shows these."""

from __future__ import annotations

import math
from collections.abc import Iterable

from kafka_capacity.kafka.groups.sticky_tasks import placed_standbys
from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.questions.consumers.choice import (
    GroupChoice,
    Row,
    changes,
    excuses_of,
    is_enough,
    is_offline,
    why_not,
)
from kafka_capacity.questions.consumers.names import bare_name, caught_up_phrase, event_phrase, part_name, variant_name
from kafka_capacity.questions.consumers.scenario import Verdict
from kafka_capacity.text import (
    ENDLESS,
    endless,
    format_bytes,
    format_count,
    format_duration,
    format_rate,
    format_wait,
    plural,
)
from kafka_capacity.text.names import clipped
from kafka_capacity.text.wording import capitalised, few_names, told_apart

MAX_IDLE = 6
MAX_SKEWED = 4
_ALWAYS_AT_PEAK_RATIO = 0.99  # of the peak: with a mean so high nobody catches up between peaks
NAME_LENGTH = 60  # a longer name is cut in a sentence; tables and headings have it whole


def short(name: str) -> str:
    """Cut a long name for a sentence."""
    return clipped(name, NAME_LENGTH)


def sentence(reason: str) -> str:
    """Turn a reason into a sentence."""
    return f"{capitalised(reason)}."


def catch_up(outcome: Row) -> float | str | None:
    """Return how long catching up takes at peak; ``None`` where it would take more than anybody has been seen to do."""
    seconds: float | None = outcome["catch_up_seconds"]
    return None if seconds is None and outcome["keeps_up"] is None else endless(seconds)


def advice_of(group: GroupChoice) -> str:
    """Return what to do with a group and why, with the max lag of every event simulated held against the objective."""
    name, today, recommended = group.group_id, group.today, group.recommended
    if recommended is None:
        if group.is_open:
            return f"{_unjudged(group)}: {why_not(group.focus)}"
        return f"no option fits {name}{_why_none_fits(group)}{_untried_standbys(group)}"
    within = _within(group, recommended)
    verb = "fits" if recommended["member_count"] == 1 else "fit"
    fits = f"{_members(recommended)} with {variant_name(recommended)} {verb}"
    if today is None:
        return f"{fits} {name}{within}"
    if recommended is today:
        deploy = group.outcome(today, Event.ROLLING_RESTART)
        pauses = "" if deploy is None else f", with {_counted_pauses(deploy)} per deploy{_unread(deploy)}"
        return f"{name} can stay as it is: {fits}{pauses}{within}"
    parts = [_count_part(name, today, recommended, group), _switch_part(name, today, recommended, group)]
    return "; ".join(part for part in parts if part) + within


def _unjudged(group: GroupChoice) -> str:
    """Return what cannot be judged: a group, or what it would have to become where it is at risk as it is."""
    if group.today is None or not group.is_at_risk:
        return f"{group.group_id} cannot be judged"
    option = f"{_members(group.focus)} with {variant_name(group.focus)}"
    return f"{_at_risk(group.group_id, group.today)}; {option} cannot be judged"


def _why_none_fits(group: GroupChoice) -> str:
    """Return why nothing fits: what holds of every scenario and count, or what speaks against the nearest."""
    focus = group.focus
    # What is not known is no reason for which nothing fits.
    if focus["smallest_why_none"] and focus["not_judged"] is None and not is_offline(focus):
        return f": {focus['smallest_why_none']}"
    is_of_all = group.then is None or is_offline(focus)
    nearest = "" if is_of_all else f"; the nearest is {_members(focus)} with {variant_name(focus)}"
    return f"{nearest}: {why_not(focus)}"


def _untried_standbys(group: GroupChoice) -> str:
    """Return what would spare a streams group the restore of state, where no standbys were tried."""
    has_standbys = any(row.get("standby_replicas") for row in group.shown)
    if not is_streams(group) or has_standbys or not any(one["restored_bytes"] for one in group.outcomes(group.focus)):
        return ""
    return "; standbys would spare it restoring state, try standby_replicas 1"


def _within(group: GroupChoice, row: Row) -> str:
    """Return the max lag of all events, what is allowed, and which events were not simulated and so say nothing."""
    worst = group.worst(row)
    if worst is None:
        return ""
    left_out = [event_phrase(event) for event in Event if event not in row["events"]]
    unknown = f" (not simulated: {', '.join(left_out)})" if left_out else ""
    when = f" {event_phrase(worst['event'])}" if worst["lag_max_partition"] else ""
    allowed = format_duration(row["lag_slo_seconds"])
    never = any(catch_up(one) == ENDLESS for one in group.outcomes(row))
    late = f"; what falls behind is {_caught_up_late(group.facts)}" if never else ""
    lag = format_wait(endless(worst["lag_max_seconds"]))
    return f"; the worst max lag is {lag}{when}, within {allowed}{unknown}{late}"


def _caught_up_late(facts: Row | None) -> str:
    """Say when members catch up that only just keep up with the traffic at peak."""
    if facts is not None and facts["mean_bytes_per_second"] >= _ALWAYS_AT_PEAK_RATIO * facts["peak_bytes_per_second"]:
        return "not caught up with: traffic is hardly ever below its peak"
    return "caught up with only once traffic is below its peak"


def _count_part(name: str, today: Row, recommended: Row, group: GroupChoice) -> str:
    now, then = today["member_count"], recommended["member_count"]
    # So many may fit with another protocol, assignor or membership alone, which the other part is about.
    alike = [row for row in group.scenarios if not changes(row, today) and row["member_count"] == then]
    is_after = bool(changes(recommended, today)) and not any(map(is_enough, alike))
    if then > now:
        after = " after the change" if is_after else ""
        return f"{name} needs {_members(recommended)} instead of {now:,}{after}: {why_not(today)}"
    risk = [] if today["verdict"] == Verdict.FITS else [_at_risk(name, today)]
    is_are = "is" if then == 1 else "are"
    after = " only after the change" if is_after else ""
    fewer = [f"{_members(recommended)} instead of {now:,} {is_are} enough for {name}{after}"] if then < now else []
    return "; ".join(risk + fewer)


def _at_risk(name: str, today: Row) -> str:
    return f"{name} is at risk as it is: {why_not(today)}"


def _switch_part(name: str, today: Row, recommended: Row, group: GroupChoice) -> str:
    if not changes(recommended, today):
        return ""
    if any(today[key] != recommended[key] for key in ("protocol", "assignor")):
        membership = {(False, True): " with static members", (True, False): " without static members"}.get(
            (today["is_static"], recommended["is_static"]), ""
        )
        switch = f"switching {name} from {bare_name(today)} to {bare_name(recommended)}{membership}"
    elif today.get("standby_replicas") != recommended.get("standby_replicas"):
        now, then = (row["standby_replicas"] for row in (today, recommended))
        switch = f"giving each task of {name} with state {plural(then, 'standby')} instead of {now:,}"
    else:
        switch = f"making the members of {name} {'static' if recommended['is_static'] else 'dynamic'}"
    before, after = (group.outcome(row, Event.ROLLING_RESTART) for row in (today, recommended))
    if before is None or after is None:
        return f"it takes {switch}"
    if before["revoked"] == after["revoked"] and _unread(before) == _unread(after):
        return f"{switch} leaves it at {_counted_pauses(before)} per deploy"
    then = f"{after['revoked']:,}{_unread(after)}"
    seconds = [math.inf if one is None else one for one in (row["paused_partition_seconds"] for row in (before, after))]
    price = "the price: " if after["revoked"] >= before["revoked"] and seconds[1] >= seconds[0] else ""
    return f"{price}{switch} changes {_counted_pauses(before)} per deploy{_unread(before)} to {then}"


def _members(row: Row) -> str:
    return plural(row["member_count"], "member")


def _counted_pauses(deploy: Row) -> str:
    return plural(deploy["revoked"], "partition-pause") + " by rebalances"


def _unread(deploy: Row) -> str:
    """Return how much is left unread, all partitions and pauses together, those of a member that is away among them."""
    seconds = deploy["paused_partition_seconds"]
    total = "unbounded partition-seconds" if seconds is None else f"{seconds:,.0f} partition-seconds"
    return f" ({total} unread, max pause {format_wait(endless(deploy['pause_max_seconds']))})"


def risk_of(group: GroupChoice) -> str:
    """Return what is wrong with a group as it is, with the figure: what nobody can read, then overload before lag.

    Lag follows from overload.
    """
    row = group.now
    broken = {excuse["constraint"] for excuse in excuses_of(row)}
    if is_offline(row):
        return why_not(row)
    if "member_capacity" in broken and row["busiest_member_bytes_per_second"] is not None:
        rates = [row[name] for name in ("busiest_member_bytes_per_second", "capacity_bytes_per_second")]
        rate, capacity = map(told_apart(format_rate, *rates), rates)
        if row["is_capacity_given"]:
            return f"one member gets {rate} at peak but can read {capacity}"
        return f"one member gets {rate} at peak, but the highest rate so far is {capacity}"
    worst = group.worst(row)
    if "lag_slo" in broken and worst is not None:
        when, allowed = event_phrase(worst["event"]), format_duration(row["lag_slo_seconds"])
        if worst["lag_max_seconds"] is None:
            return f"lag grows without bound {when}, allowed {allowed}"
        return f"max lag {format_duration(worst['lag_max_seconds'])} {when}, allowed {allowed}{_caught_up(worst)}"
    if "lag_now" in broken:
        limit = format_duration(row["catch_up_limit_seconds"])
        gone = caught_up_phrase(row["catch_up_now_seconds"])
        return f"is {format_duration(row['start_lag_seconds'])} behind today, {gone}, allowed {limit}"
    return why_not(row)


def _caught_up(outcome: Row) -> str:
    """Return when nothing of an event is left to read any more, where that is known."""
    seconds = catch_up(outcome)
    if seconds is None:
        return ""
    return ", never caught up" if seconds == ENDLESS else f", caught up after {format_wait(seconds)}"


def known_of(group: GroupChoice) -> tuple[str, ...]:
    """Return what else is to know about a group: pauses, today's lag, counts, skew, reads from disk."""
    found = [
        _pause_sentence(group),
        *_count_sentences(group),
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
        if all(_unread(one) in advice for one in outcomes if one):
            return None  # said already
    if format_count(now) == format_count(then):
        return f"{sentence}, today and with the {word}."
    return f"{sentence} today, and for {format_count(then)} with the {word}{why}."


def _count_sentences(group: GroupChoice) -> list[str]:
    """Return what is to know about today's lag and about counts: the pointless, who gets nothing, the smallest."""
    lag_now = lag_now_sentence(group)
    found = [one for one in (lag_now, lost_sentence(group)) if one]
    found += _pointless(row for row in group.shown if row is not group.recommended)
    found += _idle(group)
    row = group.focus
    if row["smallest_for_all"] is not None:
        found.append(_smallest(row))
    elif row["smallest_why_none"] and group.recommended is not None:
        found.append(f"No count is enough with {variant_name(row)}: {row['smallest_why_none']}.")
    return found


def is_late_now(row: Row) -> bool:
    """Return whether a group is behind by more than is allowed before anything happens."""
    seconds = row["start_lag_seconds"]
    return seconds is not None and bool(seconds > row["lag_slo_seconds"])


def lag_now_sentence(group: GroupChoice) -> str | None:
    """Return how far a group is behind before anything happens; ``None`` where that is within what is allowed."""
    row = group.now
    if not is_late_now(row):
        return None
    rates = "the mean rates that are known" if unknown_rate_partitions(group) else "mean rates"
    gone = f"{caught_up_phrase(row['catch_up_now_seconds'])} at {rates}"
    if row["capacity_bytes_per_second"] is None:
        gone = "and how soon it catches up is unknown, as member capacity is"
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
            found.append(f"{len(idle):,} of {_members(row)} {verb} nothing {_which(group, row)}: {named}.")
    return found


def _which(group: GroupChoice, row: Row) -> str:
    return "today" if row is group.today else f"with {variant_name(row)}"


def _smallest(row: Row) -> str:
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


def is_streams(group: GroupChoice) -> bool:
    """Return whether a group is of Kafka Streams, so that what is called its partitions are its tasks."""
    return group.facts is not None and group.facts.get("standby_replicas") is not None


def unknown_rate_partitions(group: GroupChoice) -> int:
    """Count the partitions of a group of which no rate is known; earlier versions did not, which counts as none."""
    return int((group.facts or {}).get("unknown_rate_partitions") or 0)


def part_of(group: GroupChoice) -> str:
    """Name what members of a group share among themselves."""
    return part_name(group.now["protocol"])


def _state_sentence(group: GroupChoice) -> str | None:
    """Return what a streams group runs, what state it keeps, and the most that an event makes it restore."""
    facts = group.facts
    if facts is None or not is_streams(group):
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
