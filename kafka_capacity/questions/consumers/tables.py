"""The tables of a plan about consumer groups: their Arrow schemas, and how results become rows of them.

``group_facts`` says what is known of each group, ``group_scenarios`` what was asked and whether it fits,
``group_churn`` what each event does; ``group_timeline`` and ``group_members`` hold the details, of some scenarios only.

The columns are the fields of the dataclasses of ``scenario.py``: a field that is added there is a column here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity.hardware.plain import filled
from kafka_capacity.kafka.rebalance.model import GroupFacts, GroupScenario, GroupSettings
from kafka_capacity.kafka.rebalance.tasks import state_bytes
from kafka_capacity.objects.tables import (
    Tables,
    cells_of,
    columns_of,
    plain_cell,
    schema_of,
    table_of_columns,
    table_of_rows,
)
from kafka_capacity.questions.consumers.scenario import (
    EventOutcome,
    GroupMetrics,
    GroupResult,
    MemberChange,
    SmallestCounts,
    Verdict,
)

SMALLEST = "smallest_"  # what the columns of `SmallestCounts` begin with

_SCENARIO_ID = pa.field("scenario_id", pa.string(), nullable=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFactsRow:
    """One row a group as it is today; rates are of all its partitions, ``unread_partitions`` have no reader.

    Of ``unknown_rate_partitions`` no rate is known; in sums they count 0. ``lost_records`` were deleted unread. Of a
    streams group partitions are tasks, and topics subtopologies; the last three columns are null for any other.
    """

    group_id: str
    protocol: str
    assignor: str
    member_count: int
    static_members: int
    topics: tuple[str, ...]
    partition_count: int
    unread_partitions: int
    unknown_rate_partitions: int
    mean_bytes_per_second: float
    peak_bytes_per_second: float
    start_lag_bytes: float
    lost_records: float
    record_bytes: float
    is_record_size_known: bool
    estimated_capacity_bytes_per_second: float | None
    history_hours: int
    standby_replicas: int | None
    process_count: int | None
    state_bytes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LagPoint:
    """One row a point of the lag curve of an event; lag is null where it has no end."""

    scenario_id: str
    event: str
    time_seconds: float
    lag_bytes: float | None
    lag_seconds: float | None
    paused_partitions: int


GROUP_FACTS = schema_of(GroupFactsRow)

GROUP_SCENARIOS = pa.schema(
    [
        *columns_of(GroupScenario, without=("settings", "seed")),
        *columns_of(GroupSettings),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("is_today", pa.bool_(), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),
        pa.field("not_judged", pa.string()),
        pa.field("excuses", pa.string(), nullable=False),
        *columns_of(GroupMetrics, is_nullable=True),
        *columns_of(SmallestCounts, prefix=SMALLEST, is_nullable=True),
    ]
)
"""One row a scenario: inputs (the timeouts of :class:`GroupSettings` among them), the verdict, what is not known where
it is ``not-judged``, ``excuses`` as a JSON list (unbounded figures are null in it), metrics, and the smallest counts
that will do; the last two are null when Kafka would throw."""

GROUP_CHURN = pa.schema([_SCENARIO_ID, *columns_of(EventOutcome, without=("curve",))])
"""One row an event of a scenario; a time is null where it has no end, ``disk_read_bytes`` where it is not known."""

GROUP_TIMELINE = schema_of(LagPoint)

GROUP_MEMBERS = pa.schema([_SCENARIO_ID, *columns_of(MemberChange)])
"""One row a member before and after the change from today to the scenario."""

GROUP_TABLES: Tables = {
    "group_facts": (GROUP_FACTS, ("group_id",)),
    "group_scenarios": (GROUP_SCENARIOS, ("scenario_id",)),
    "group_churn": (GROUP_CHURN, ("scenario_id", "event")),
    "group_timeline": (GROUP_TIMELINE, ("scenario_id", "event", "time_seconds")),
    "group_members": (GROUP_MEMBERS, ("scenario_id", "member_id")),
}


def stored_rows(tables: Mapping[str, pa.Table], name: str) -> list[dict[str, Any]]:
    """Return the rows of a table about groups as this version names its columns; none where there is no such table.

    A figure that an earlier version did not work out is missing, since null says of many that they have no end.
    """
    return [_as_named_now(row) for row in tables[name].to_pylist()] if name in tables else []


_EARLIER_NAMES = {"fewest_partitions": "min_partitions", "most_partitions": "max_partitions"}


def _as_named_now(row: Mapping[str, Any]) -> dict[str, Any]:
    named = {_EARLIER_NAMES.get(name, name): value for name, value in row.items()}
    if "fits" in named:
        verdict = Verdict.FITS if named.pop("fits") else Verdict.DOES_NOT_FIT
        named |= {"verdict": str(verdict), "not_judged": None}
    return named


def group_facts_table(groups: Iterable[GroupFacts]) -> pa.Table:
    """Return the rows of ``group_facts``, sorted by the group's name."""
    rows = [
        filled(
            GroupFactsRow,
            facts,
            member_count=len(facts.members),
            static_members=sum(member.instance_id is not None for member in facts.members),
            topics=tuple(topic.name for topic in facts.topics),
            partition_count=len(facts),
            unread_partitions=int((facts.owner < 0).sum()),
            unknown_rate_partitions=int((~facts.is_rate_known).sum()),
            mean_bytes_per_second=float(facts.mean_bytes_per_second.sum()),
            peak_bytes_per_second=float(facts.peak_bytes_per_second.sum()),
            start_lag_bytes=float(facts.start_lag_bytes.sum()),
            lost_records=float(facts.lost_records.sum()),
            standby_replicas=None if facts.streams is None else facts.streams.standby_replicas,
            process_count=None if facts.streams is None else len({one.process_id for one in facts.members}),
            state_bytes=None if facts.streams is None else float(state_bytes(facts).sum()),
        )
        for facts in sorted(groups, key=lambda facts: facts.group_id)
    ]
    return table_of_rows(GROUP_FACTS, rows)


def _scenario_table(result: GroupResult) -> pa.Table:
    excuses = [{name: plain_cell(value) for name, value in excuse.as_dict().items()} for excuse in result.excuses]
    row = {
        **cells_of(result.scenario),
        **cells_of(result.scenario.settings),
        "is_today": result.is_today,
        "verdict": str(result.verdict),
        "not_judged": result.not_judged,
        "excuses": json.dumps(excuses, sort_keys=True, ensure_ascii=False),
        **cells_of(result.metrics),
        **cells_of(result.smallest, prefix=SMALLEST),
    }
    return table_of_rows(GROUP_SCENARIOS, [row])


def _table_of(result: GroupResult, rows: Iterable[object], schema: pa.Schema) -> pa.Table:
    scenario_id = result.scenario.scenario_id
    return table_of_rows(schema, ({"scenario_id": scenario_id, **cells_of(row)} for row in rows))


def _timeline_table(result: GroupResult) -> pa.Table:
    tables = [
        table_of_columns(
            GROUP_TIMELINE,
            len(outcome.curve.time_seconds),
            {"scenario_id": result.scenario.scenario_id, "event": str(outcome.event)},
            of=outcome.curve,
        )
        for outcome in result.events
    ]
    return pa.concat_tables(tables) if tables else GROUP_TIMELINE.empty_table()


def group_result_tables(result: GroupResult, *, has_details: bool) -> dict[str, pa.Table]:
    """Return the tables of one result; without ``has_details`` the timeline and the members stay empty."""
    return {
        "group_scenarios": _scenario_table(result),
        "group_churn": _table_of(result, result.events, GROUP_CHURN),
        "group_timeline": _timeline_table(result) if has_details else GROUP_TIMELINE.empty_table(),
        "group_members": _table_of(result, result.members if has_details else (), GROUP_MEMBERS),
    }
