"""Consumer groups to report on: results made up in a few words, as rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from kafka_capacity.kafka.groups.registry import GroupProtocol
from kafka_capacity.kafka.rebalance.lag import LagOverTime
from kafka_capacity.kafka.rebalance.model import Event
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.consumers.scenario import GroupResult, MemberChange
from kafka_capacity.questions.consumers.tables import GROUP_TABLES, group_facts_table, group_result_tables
from tests.made_up_groups import facts, refused, result

MIB = 2**20
EVENTS = (Event.SCALE, Event.ROLLING_RESTART, Event.CRASH)
NAMED = ("orders-etl", "billing", "search-index", "archive", "reports", "nightly", "wide")
STATIC = {"assignor": "cooperative-sticky", "is_static": True, "events": EVENTS}


def curve(peak: float, end: float, points: int = 200) -> LagOverTime:
    """Rise to a peak in 60 s and fall until the end."""
    time = np.linspace(0.0, end, points)
    lag = np.interp(time, [0.0, 60.0, end], [0.0, peak, 0.0])
    return LagOverTime(
        time_seconds=time,
        lag_bytes=lag * MIB,
        lag_seconds=lag,
        paused_partitions=np.zeros(points, dtype=np.int64),
        max_lag_seconds=peak,
        max_lag_row=0,
        peak_lag_bytes=np.empty(0),
        catch_up_seconds=end,
        catch_up_row=0,
    )


def lagging(
    made: GroupResult, seconds: dict[Event, float | None], *, pauses: int = 60, revoked: int = 0, unread: float = 900.0
) -> GroupResult:
    """Return a result in which events make the group fall so far behind, and a deploy costs so many pauses."""
    events = []
    for outcome in made.events:
        lag = seconds.get(outcome.event, 0.0)
        is_deploy = outcome.event == Event.ROLLING_RESTART
        events.append(
            replace(
                outcome,
                rebalances=12 if is_deploy and revoked else int(outcome.event == Event.CRASH),
                partition_pauses=pauses if is_deploy else 8 * (outcome.event == Event.CRASH),
                revoked=revoked if is_deploy else 0,
                paused_partition_seconds=unread if is_deploy else 40.0,
                lag_max_seconds=lag,
                catch_up_seconds=None if lag is None else lag * 3,
                duplicate_records_high=2190.0 if outcome.event == Event.CRASH else 0.0,
                disk_read_bytes=float(3 * MIB) if outcome.event == Event.CRASH else 0.0,
                curve=curve(500.0 if lag is None else lag, 600.0),
            )
        )
    return replace(made, events=tuple(events))


def unfit(made: GroupResult, reason: str, constraint: str = "lag_slo") -> GroupResult:
    """Return a result that breaks a constraint."""
    excuse = Excuse(
        reason=reason,
        constraint=constraint,
        where=made.scenario.group_id,
        needed=252.0,
        available=120.0,
        unit="seconds",
    )
    return replace(made, excuses=(excuse,))


def with_metrics(made: GroupResult, **changes: object) -> GroupResult:
    """Return a result with other figures of its steady state."""
    assert made.metrics is not None
    return replace(made, metrics=replace(made.metrics, **changes))


def members(group_id: str, before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> tuple[MemberChange, ...]:
    """Return who reads what; a member without a list on one side is new or gone."""
    count = max(len(before), len(after))
    return tuple(
        MemberChange(
            member_id=f"{group_id}-{i:03d}",
            is_new=i >= len(before),
            is_gone=i >= len(after),
            partitions_before=tuple(before[i]) if i < len(before) else (),
            partitions_after=tuple(after[i]) if i < len(after) else (),
            peak_before_bytes_per_second=float(len(before[i]) * MIB) if i < len(before) else 0.0,
            peak_after_bytes_per_second=float(len(after[i]) * MIB) if i < len(after) else 0.0,
        )
        for i in range(count)
    )


def dealt(topic: str, partitions: int, count: int) -> list[list[str]]:
    """Deal out a topic's partitions in runs."""
    return [[f"{topic}-{p}" for p in part] for part in np.array_split(np.arange(partitions), count)]


def at_risk(group_id: str, topic: str = "orders") -> list[GroupResult]:
    """Return a group that falls 252 s behind in a crash, with a switch and a higher count that help."""
    today = result(group_id, 6, is_today=True, events=EVENTS)
    today = with_metrics(
        unfit(lagging(today, {Event.CRASH: 252.0, Event.ROLLING_RESTART: 42.0}, pauses=472, revoked=412), "too late"),
        skew_topics=(topic, f"{topic}-returns"),
        idle_members=(f"{group_id}-005",),
        same_as_count=4,
    )
    switched = lagging(
        result(group_id, 6, smallest=6, **STATIC), {Event.CRASH: 48.0, Event.ROLLING_RESTART: 44.0}, unread=1300.0
    )
    switched = replace(switched, members=members(group_id, dealt(topic, 24, 6), dealt(topic, 24, 6)[::-1]))
    more = lagging(result(group_id, 8, events=EVENTS), {Event.CRASH: 90.0}, pauses=700, revoked=600)
    return [today, switched, more]


def fine(group_id: str) -> list[GroupResult]:
    """Return a group that can stay as it is."""
    today = result(group_id, 3, is_today=True, events=EVENTS, assignor="cooperative-sticky", is_static=True)
    today = lagging(today, {Event.CRASH: 20.0})
    return [replace(today, members=members(group_id, dealt("bills", 9, 3), dealt("bills", 9, 3)))]


def better(group_id: str) -> list[GroupResult]:
    """Return a group with two members too many."""
    today = with_metrics(lagging(result(group_id, 11, is_today=True, events=EVENTS), {}, revoked=90), same_as_count=9)
    fewer = lagging(result(group_id, 9, events=EVENTS, smallest=9), {}, revoked=70)
    return [today, replace(fewer, members=members(group_id, dealt("pages", 22, 11), dealt("pages", 22, 9)))]


def hopeless(group_id: str) -> list[GroupResult]:
    """Return a group that nothing helps."""
    today = result(group_id, 4, is_today=True, events=EVENTS, smallest=None)
    today = lagging(today, {Event.CRASH: None, Event.ROLLING_RESTART: None}, revoked=30)
    today = with_metrics(today, busiest_member_bytes_per_second=9.0 * MIB, capacity_bytes_per_second=4.0 * MIB)
    return [with_metrics(unfit(today, "too much to read", "member_capacity"), load_ratio=2.25, is_capacity_limit=True)]


def empty(group_id: str) -> list[GroupResult]:
    """Return a group that has no members today."""
    return [lagging(result(group_id, 1, smallest=1, events=EVENTS), {})]


def wide(group_id: str) -> list[GroupResult]:
    """Return a group of 300 members that read many topics."""
    today = lagging(
        result(group_id, 300, is_today=True, events=EVENTS, protocol=GroupProtocol.CONSUMER, assignor="uniform"),
        {Event.CRASH: 20.0},
        revoked=900,
    )
    parts = [[f"t{topic}-{p}" for topic in range(9) for p in range(i, i + 40, 2)] for i in range(300)]
    return [replace(today, members=members(group_id, parts, parts))]


def group_tables(results: Iterable[GroupResult], **about: object) -> dict[str, pa.Table]:
    """Put results into all tables; ``about`` is said of every group in ``group_facts``."""
    results = list(results)
    tables = merge_tables((group_result_tables(one, has_details=True) for one in results), GROUP_TABLES)
    names = sorted({one.scenario.group_id for one in results})
    known = [replace(facts(name, members=0 if name == "nightly" else 2), **about) for name in names]
    return {**tables, "group_facts": group_facts_table(known)}


def named_groups() -> dict[str, pa.Table]:
    """Return one group of each kind."""
    throws = refused("reports", 3, is_today=True)
    made = [at_risk("orders-etl"), fine("billing"), better("search-index"), hopeless("archive"), [throws]]
    made += [empty("nightly"), wide("wide")]
    return group_tables([one for results in made for one in results], history_hours=24, is_record_size_known=False)


def hostile_groups(names: Sequence[str]) -> dict[str, pa.Table]:
    """Return groups with names and topics that nobody should have."""
    return group_tables([one for name in names for one in at_risk(name, topic=name)])


def many_groups(risky: int, others: int) -> dict[str, pa.Table]:
    """Return so many groups."""
    made = [at_risk(f"orders-etl-{i:03d}") for i in range(risky)] + [fine(f"billing-{i:03d}") for i in range(others)]
    return group_tables(one for results in made for one in results)
