"""What to do with a consumer group and why, and what is wrong with it as it is, in sentences."""

from __future__ import annotations

import math

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
from kafka_capacity.questions.consumers.names import (
    bare_name,
    catch_up,
    caught_up_phrase,
    event_phrase,
    members,
    unread,
    variant_name,
)
from kafka_capacity.questions.consumers.scenario import Verdict
from kafka_capacity.text import ENDLESS, endless, format_duration, format_rate, format_wait, plural
from kafka_capacity.text.wording import told_apart

_FAR_MORE_RATIO = 1.05  # times what was seen is worth a figure
_ALWAYS_AT_PEAK_RATIO = 0.99  # of the peak: with a mean so high nobody catches up between peaks


def advice_of(group: GroupChoice) -> str:
    """Return what to do with a group and why, with the max lag of every event simulated held against the objective."""
    name, today, recommended = group.group_id, group.today, group.recommended
    if recommended is None:
        if group.is_open:
            return f"{_unjudged(group)}: {why_not(group.focus)}"
        return f"no option fits {name}{_why_none_fits(group)}{_untried_standbys(group)}"
    within = _within(group, recommended)
    verb = "fits" if recommended["member_count"] == 1 else "fit"
    fits = f"{members(recommended)} with {variant_name(recommended)} {verb}"
    if today is None:
        return f"{fits} {name}{within}"
    if recommended is today:
        deploy = group.outcome(today, Event.ROLLING_RESTART)
        pauses = "" if deploy is None else f", with {_counted_pauses(deploy)} per deploy{unread(deploy)}"
        return f"{name} can stay as it is: {fits}{pauses}{within}"
    parts = [_count_part(name, today, recommended, group), _switch_part(name, today, recommended, group)]
    return "; ".join(part for part in parts if part) + within


def _unjudged(group: GroupChoice) -> str:
    """Return what cannot be judged: a group, or what it would have to become where it is at risk as it is."""
    if group.today is None or not group.is_at_risk:
        return f"{group.group_id} cannot be judged"
    option = f"{members(group.focus)} with {variant_name(group.focus)}"
    return f"{_at_risk(group.group_id, group.today)}; {option} cannot be judged"


def _why_none_fits(group: GroupChoice) -> str:
    """Return why nothing fits: what holds of every scenario and count, or what speaks against the nearest."""
    focus = group.focus
    # What is not known is no reason for which nothing fits.
    if focus["smallest_why_none"] and focus["not_judged"] is None and not is_offline(focus):
        return f": {focus['smallest_why_none']}"
    is_of_all = group.then is None or is_offline(focus)
    nearest = "" if is_of_all else f"; the nearest is {members(focus)} with {variant_name(focus)}"
    return f"{nearest}: {why_not(focus)}"


def _untried_standbys(group: GroupChoice) -> str:
    """Return what would spare a streams group the restore of state, where no standbys were tried."""
    has_standbys = any(row.get("standby_replicas") for row in group.shown)
    if not group.is_streams or has_standbys or not any(one["restored_bytes"] for one in group.outcomes(group.focus)):
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
    return f"; the worst max lag is {lag}{when}, within {allowed}{_if_more_than_seen(group, row)}{unknown}{late}"


def _if_more_than_seen(group: GroupChoice, row: Row) -> str:
    """Return what members must be able to do in the event that asks most of them, where none was seen to do as much."""
    unseen = [one["members_after"] for one in group.outcomes(row) if one["keeps_up"] is None]
    if not unseen or group.facts is None:
        return ""
    needed = group.facts["peak_bytes_per_second"] / max(1, min(unseen))
    seen = group.facts["estimated_capacity_bytes_per_second"]
    if seen is None or not needed > seen * _FAR_MORE_RATIO:
        return " if members can process more than seen so far"
    who, mean = ("members", " on average") if min(unseen) > 1 else ("the one that is left", "")
    return f" if {who} can process {format_rate(needed)}{mean}, {needed / seen:.1f} times the highest rate seen so far"


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
        return f"{name} needs {members(recommended)} instead of {now:,}{after}: {why_not(today)}"
    risk = [] if today["verdict"] == Verdict.FITS else [_at_risk(name, today)]
    is_are = "is" if then == 1 else "are"
    after = " only after the change" if is_after else ""
    fewer = [f"{members(recommended)} instead of {now:,} {is_are} enough for {name}{after}"] if then < now else []
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
    if before["revoked"] == after["revoked"] and unread(before) == unread(after):
        return f"{switch} leaves it at {_counted_pauses(before)} per deploy"
    then = f"{after['revoked']:,}{unread(after)}"
    seconds = [math.inf if one is None else one for one in (row["paused_partition_seconds"] for row in (before, after))]
    price = "the price: " if after["revoked"] >= before["revoked"] and seconds[1] >= seconds[0] else ""
    return f"{price}{switch} changes {_counted_pauses(before)} per deploy{unread(before)} to {then}"


def _counted_pauses(deploy: Row) -> str:
    return plural(deploy["revoked"], "partition-pause") + " by rebalances"


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
