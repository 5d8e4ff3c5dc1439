"""Which scenario of a consumer group to recommend, and why, in a sentence with numbers.

Goals, ordered:
    1. It fits, and has no fewer members than the smallest count that will do with its assignor and protocol.
    2. The fewest members.
    3. The least change: the same protocol, assignor and static membership as today, unless another choice saves a fifth
       or more of what a rolling restart leaves unread (partitions × seconds), since that is what every deploy costs.
    4. The least left unread; of as much, the fewest pauses by rebalances.

A group is at risk where it does not fit as it is today. Where nothing that was tried fits, the nearest scenario is
spoken of: one that Kafka accepts, with the fewest different constraints broken, then the smallest shortfall.

Everything is read from rows of the tables ``group_scenarios`` and ``group_churn`` as plain mappings
(``pyarrow.Table.to_pylist``), so that what was stored and what was evaluated just now are judged alike::

    for advice in advise(scenarios.to_pylist(), churn.to_pylist()):
        print(advice.group_id, advice.spoken_of["scenario_id"], advice.reason)
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.proposal.excuse import distance
from kafka_capacity.questions.consumers.events import JUDGED_EVENTS
from kafka_capacity.text.wording import shown_time

Row = Mapping[str, Any]
Churn = Mapping[str, Row]
"""The rows of ``group_churn`` of one scenario, by event."""

WORTH_A_CHANGE_RATIO = 0.2
"""How much less a deploy must leave unread for another protocol, assignor or membership to be worth the change."""

_NO_PAUSES = {"paused_partition_seconds": 0.0, "revoked": 0}
_KEPT = ("protocol", "assignor", "is_static")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorstLag:
    """Where a scenario falls furthest behind.

    Attributes:
        event: which event does it.
        seconds: how far; ``None`` for without end.
        partition: which, ``None`` where nothing lags.
    """

    event: str
    seconds: float | None
    partition: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupAdvice:
    """What to do with one group.

    Attributes:
        group_id: which.
        today: the row of ``group_scenarios`` of the group as it is; ``None`` where that was not tried.
        recommended: the row to choose; ``None`` where nothing fits.
        spoken_of: the recommended row, else the nearest to fitting.
        is_at_risk: whether the group does not fit as it is today.
        is_change: whether there is something to do: a row is recommended, and it is not today's.
        reason: a sentence with numbers.
        churn: by scenario id, what its events do.
    """

    group_id: str
    today: Row | None
    recommended: Row | None
    spoken_of: Row
    is_at_risk: bool
    is_change: bool
    reason: str
    churn: Mapping[str, Churn]

    def pauses_per_deploy(self, row: Row) -> int | None:
        """Tell how many partitions rebalances pause in a rolling restart; ``None`` where it was not simulated."""
        deploy = self.churn.get(row["scenario_id"], {}).get(Event.ROLLING_RESTART)
        return None if deploy is None else int(deploy["revoked"])

    def worst_lag(self, row: Row) -> WorstLag | None:
        """Tell where a scenario falls furthest behind in any event; ``None`` where nothing was simulated."""
        return worst_lag(self.churn.get(row["scenario_id"], {}).values())

    def judged_lag(self, row: Row) -> WorstLag | None:
        """Tell the same of the events that the lag objective is held against."""
        return judged_lag(self.churn.get(row["scenario_id"], {}))


def advise(scenarios: Iterable[Row], churn: Iterable[Row]) -> tuple[GroupAdvice, ...]:
    """Choose for every group, sorted by the group's name.

    Args:
        scenarios: rows of ``group_scenarios``.
        churn: rows of ``group_churn``.
    """
    by_scenario: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in churn:
        by_scenario[row["scenario_id"]][row["event"]] = row
    by_group: dict[str, list[Row]] = defaultdict(list)
    for row in scenarios:
        by_group[row["group_id"]].append(row)
    return tuple(_advise_group(group_id, by_group[group_id], by_scenario) for group_id in sorted(by_group))


def worst_lag(outcomes: Iterable[Row]) -> WorstLag | None:
    """Find the event with the highest lag among rows of ``group_churn``; one without end is the highest."""
    found = list(outcomes)
    if not found:
        return None
    worst = max(found, key=lambda row: (_or_endless(row["lag_max_seconds"]), row["event"]))
    return WorstLag(event=worst["event"], seconds=worst["lag_max_seconds"], partition=worst["lag_max_partition"])


def judged_lag(churn: Churn) -> WorstLag | None:
    """Find the event with the highest lag among those that the lag objective is held against."""
    return worst_lag(row for event, row in churn.items() if event in JUDGED_EVENTS)


def _advise_group(group_id: str, rows: Sequence[Row], by_scenario: Mapping[str, Churn]) -> GroupAdvice:
    today = next((row for row in rows if row["is_today"]), None)
    churn = {row["scenario_id"]: by_scenario.get(row["scenario_id"], {}) for row in rows}

    def rank(row: Row) -> tuple[Any, ...]:
        deploy = churn[row["scenario_id"]].get(Event.ROLLING_RESTART, _NO_PAUSES)
        unread = _or_endless(deploy["paused_partition_seconds"])
        return row["member_count"], unread, deploy["revoked"], _changes(row, today), row["scenario_id"]

    fitting = [row for row in rows if row["fits"] and (row is today or _is_enough(row))]
    recommended = _choose(sorted(fitting, key=rank), rank, today) if fitting else None
    spoken_of = recommended or min(rows, key=lambda row: (*_distance(row), *rank(row)))
    return GroupAdvice(
        group_id=group_id,
        today=today,
        recommended=recommended,
        spoken_of=spoken_of,
        is_at_risk=today is not None and not today["fits"],
        is_change=recommended is not None and recommended is not today,
        reason=_reason(group_id, today, recommended, spoken_of, churn),
        churn=churn,
    )


def _is_enough(row: Row) -> bool:
    smallest = row["smallest_for_all"]
    return smallest is None or bool(row["member_count"] >= smallest)


def _choose(ranked: Sequence[Row], rank: Callable[[Row], tuple[Any, ...]], today: Row | None) -> Row:
    """Take the best, or the one nearest to today's of as few members where the best is not worth the change."""
    best = ranked[0]
    as_few = [row for row in ranked if row["member_count"] == best["member_count"]]
    nearest = min(as_few, key=lambda row: (_changes(row, today), *rank(row)))
    unread, nearest_unread = rank(best)[1], rank(nearest)[1]
    return best if unread < nearest_unread * (1 - WORTH_A_CHANGE_RATIO) else nearest


def _changes(row: Row, today: Row | None) -> int:
    return 0 if today is None else sum(row[name] != today[name] for name in _KEPT)


def _or_endless(seconds: float | None) -> float:
    return math.inf if seconds is None else seconds


def _distance(row: Row) -> tuple[Any, ...]:
    """Say how far a scenario is from fitting."""
    return (row["partition_count"] is None, *distance(json.loads(row["excuses"])))


def _reason(
    group_id: str, today: Row | None, recommended: Row | None, spoken_of: Row, churn: Mapping[str, Churn]
) -> str:
    if recommended is None:
        why = spoken_of["smallest_why_none"] or _first_excuse(spoken_of)
        return f"nothing that was tried fits {group_id}: {why}"
    lag = judged_lag(churn[recommended["scenario_id"]])
    within = (
        ""
        if lag is None
        else f"; at worst it falls {shown_time(lag.seconds)} behind ({lag.event}), "
        f"within {shown_time(recommended['lag_slo_seconds'])}"
    )
    if today is None:
        verb = "fits" if recommended["member_count"] == 1 else "fit"
        return f"{_members(recommended)} with {_named(recommended)} {verb} {group_id}{within}"
    if recommended is today:
        deploy = churn[today["scenario_id"]].get(Event.ROLLING_RESTART)
        pauses = "" if deploy is None else f", with {_counted_pauses(deploy)} per deploy{_unread(deploy)}"
        return (
            f"{group_id} can stay as it is: {_members(today)} with {_named(today)} "
            f"{'fits' if today['member_count'] == 1 else 'fit'}{pauses}{within}"
        )
    parts = [_count_part(group_id, today, recommended), _switch_part(group_id, today, recommended, churn)]
    return "; ".join(part for part in parts if part) + within


def _count_part(group_id: str, today: Row, recommended: Row) -> str:
    now, then = today["member_count"], recommended["member_count"]
    if then > now:
        return f"{group_id} needs {_members(recommended)} instead of {now:,}: {_first_excuse(today)}"
    risk = [] if today["fits"] else [f"{group_id} is at risk as it is: {_first_excuse(today)}"]
    fewer = (
        [f"{_members(recommended)} instead of {now:,} {'is' if then == 1 else 'are'} enough for {group_id}"]
        if then < now
        else []
    )
    return "; ".join(risk + fewer)


def _switch_part(group_id: str, today: Row, recommended: Row, churn: Mapping[str, Churn]) -> str:
    if not _changes(recommended, today):
        return ""
    is_assigned_anew = any(today[name] != recommended[name] for name in ("protocol", "assignor"))
    if is_assigned_anew:
        target = _bare_name(recommended)
        membership = {(False, True): " with static members", (True, False): " without static members"}.get(
            (today["is_static"], recommended["is_static"]), ""
        )
        switch = f"switching {group_id} from {_bare_name(today)} to {target}{membership}"
    else:
        kind = "static" if recommended["is_static"] else "dynamic"
        switch = f"making the members of {group_id} {kind}"
    before, after = (churn[row["scenario_id"]].get(Event.ROLLING_RESTART) for row in (today, recommended))
    if before is None or after is None:
        return switch
    if before["revoked"] == after["revoked"] and _unread(before) == _unread(after):
        return f"{switch} leaves it at {_counted_pauses(before)} per deploy"
    then = f"{after['revoked']:,}{_unread(after)}"
    return f"{switch} turns {_counted_pauses(before)} per deploy{_unread(before)} into {then}"


def _first_excuse(row: Row) -> str:
    excuses = json.loads(row["excuses"])
    return str(excuses[0]["reason"]) if excuses else "it does not fit"


def _bare_name(row: Row) -> str:
    return row["assignor"] if row["protocol"] == "classic" else f"the {row['protocol']} protocol's {row['assignor']}"


def _named(row: Row) -> str:
    return _bare_name(row) + (" and static members" if row["is_static"] else "")


def _members(row: Row) -> str:
    count = row["member_count"]
    return f"{count:,} member" + ("" if count == 1 else "s")


def _counted_pauses(deploy: Row) -> str:
    count = deploy["revoked"]
    return f"{count:,} partition-pause" + ("" if count == 1 else "s") + " by rebalances"


def _unread(deploy: Row) -> str:
    """Say how much is left unread, all partitions and pauses together, those of a member that is away among them."""
    seconds = deploy["paused_partition_seconds"]
    longest = shown_time(deploy["pause_max_seconds"])
    total = "without end" if seconds is None else f"{seconds:,.0f} partition-seconds"
    return f" ({total} unread, {longest} at the longest)"
