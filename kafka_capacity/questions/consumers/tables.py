"""The tables of a plan about consumer groups: their Arrow schemas, and how results become rows of them.

``group_facts`` says what is known of each group, ``group_scenarios`` what was asked and whether it fits,
``group_churn`` what each event does; ``group_timeline`` and ``group_members`` hold the details, of some scenarios only.

The columns are the fields of the dataclasses of ``scenario.py``: a field that is added there is a column here.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_capacity.kafka.rebalance.model import GroupFacts, GroupScenario
from kafka_capacity.kafka.rebalance.settings import GroupSettings
from kafka_capacity.objects.tables import Tables
from kafka_capacity.questions.consumers.scenario import (
    EventOutcome,
    GroupMetrics,
    GroupResult,
    MemberChange,
    SmallestCounts,
    Verdict,
)

SMALLEST = "smallest_"
"""What the columns of :class:`SmallestCounts` begin with."""

_TYPES: Mapping[Any, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    tuple: pa.list_(pa.string()),
}


def _columns(kind: type, *, prefix: str = "", without: Iterable[str] = (), is_nullable: bool = False) -> list[pa.Field]:
    """Return the columns of a dataclass, in its order.

    Args:
        kind: the dataclass.
        prefix: what the names of its columns begin with.
        without: fields that are no columns.
        is_nullable: whether all may be null, such as figures of a scenario that Kafka refuses.
    """
    left_out, hints = frozenset(without), typing.get_type_hints(kind)
    found = []
    for field in dataclasses.fields(kind):
        if field.name in left_out:
            continue
        hint, may_be_none = hints[field.name], is_nullable
        if isinstance(hint, types.UnionType):
            may_be_none = True
            hint = next(one for one in typing.get_args(hint) if one is not types.NoneType)
        hint = typing.get_origin(hint) or hint
        base = str if isinstance(hint, type) and issubclass(hint, StrEnum) else hint
        found.append(pa.field(prefix + field.name, _TYPES[base], nullable=may_be_none))
    return found


_SCENARIO_ID = pa.field("scenario_id", pa.string(), nullable=False)

GROUP_FACTS = pa.schema(
    [
        pa.field("group_id", pa.string(), nullable=False),
        pa.field("protocol", pa.string(), nullable=False),
        pa.field("assignor", pa.string(), nullable=False),
        pa.field("member_count", pa.int64(), nullable=False),
        pa.field("static_members", pa.int64(), nullable=False),
        pa.field("topics", pa.list_(pa.string()), nullable=False),
        pa.field("partition_count", pa.int64(), nullable=False),
        pa.field("unread_partitions", pa.int64(), nullable=False),
        pa.field("mean_bytes_per_second", pa.float64(), nullable=False),
        pa.field("peak_bytes_per_second", pa.float64(), nullable=False),
        pa.field("start_lag_bytes", pa.float64(), nullable=False),
        pa.field("record_bytes", pa.float64(), nullable=False),
        pa.field("is_record_size_known", pa.bool_(), nullable=False),
        pa.field("estimated_capacity_bytes_per_second", pa.float64()),
        pa.field("history_hours", pa.int64(), nullable=False),
    ]
)
"""One row a group as it is today; rates are of all its partitions, ``unread_partitions`` have no reader."""

GROUP_SCENARIOS = pa.schema(
    [
        *_columns(GroupScenario, without=("settings", "seed")),
        *_columns(GroupSettings),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("is_today", pa.bool_(), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),
        pa.field("not_judged", pa.string()),
        pa.field("excuses", pa.string(), nullable=False),
        *_columns(GroupMetrics, is_nullable=True),
        *_columns(SmallestCounts, prefix=SMALLEST, is_nullable=True),
    ]
)
"""One row a scenario: inputs (the timeouts of :class:`GroupSettings` among them), the verdict, what is not known where
it is ``not-judged``, ``excuses`` as a JSON list (figures without end are null in it), metrics, and the smallest counts
that will do; the last two are null when Kafka would throw."""

GROUP_CHURN = pa.schema([_SCENARIO_ID, *_columns(EventOutcome, without=("curve",))])
"""One row an event of a scenario; a time is null where it has no end, ``disk_read_bytes`` where it is not known."""

GROUP_TIMELINE = pa.schema(
    [
        _SCENARIO_ID,
        pa.field("event", pa.string(), nullable=False),
        pa.field("time_seconds", pa.float64(), nullable=False),
        pa.field("lag_bytes", pa.float64()),
        pa.field("lag_seconds", pa.float64()),
        pa.field("paused_partitions", pa.int64(), nullable=False),
    ]
)
"""One row a point of the lag curve of an event, null where it has no end."""

GROUP_MEMBERS = pa.schema([_SCENARIO_ID, *_columns(MemberChange)])
"""One row a member before and after the change from today to the scenario."""

GROUP_TABLES: Tables = {
    "group_facts": (GROUP_FACTS, ("group_id",)),
    "group_scenarios": (GROUP_SCENARIOS, ("scenario_id",)),
    "group_churn": (GROUP_CHURN, ("scenario_id", "event")),
    "group_timeline": (GROUP_TIMELINE, ("scenario_id", "event", "time_seconds")),
    "group_members": (GROUP_MEMBERS, ("scenario_id", "member_id")),
}
"""Every table about groups: its schema and what it is sorted by."""


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
        {
            "group_id": facts.group_id,
            "protocol": str(facts.protocol),
            "assignor": facts.assignor,
            "member_count": len(facts.members),
            "static_members": sum(member.instance_id is not None for member in facts.members),
            "topics": [topic.name for topic in facts.topics],
            "partition_count": len(facts),
            "unread_partitions": int((facts.owner < 0).sum()),
            "mean_bytes_per_second": float(facts.mean_bytes_per_second.sum()),
            "peak_bytes_per_second": float(facts.peak_bytes_per_second.sum()),
            "start_lag_bytes": float(facts.start_lag_bytes.sum()),
            "record_bytes": facts.record_bytes,
            "is_record_size_known": facts.is_record_size_known,
            "estimated_capacity_bytes_per_second": facts.estimated_capacity_bytes_per_second,
            "history_hours": facts.history_hours,
        }
        for facts in sorted(groups, key=lambda facts: facts.group_id)
    ]
    return pa.Table.from_pylist(rows, schema=GROUP_FACTS)


def _values(result: object, *, prefix: str = "") -> dict[str, Any]:
    """Return the fields of a dataclass as cells; nothing for what is not there."""
    if not dataclasses.is_dataclass(result):
        return {}
    return {prefix + field.name: _cell(getattr(result, field.name)) for field in dataclasses.fields(result)}


def _cell(value: object) -> object:
    """Return null for what has no end or is not known, everything else as plain data."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return [str(one) for one in value] if isinstance(value, tuple) else value


def group_scenario_table(result: GroupResult) -> pa.Table:
    """Return the one row of ``group_scenarios``."""
    excuses = [{name: _cell(value) for name, value in excuse.as_dict().items()} for excuse in result.excuses]
    row = {
        **_values(result.scenario),
        **_values(result.scenario.settings),
        "is_today": result.is_today,
        "verdict": str(result.verdict),
        "not_judged": result.not_judged,
        "excuses": json.dumps(excuses, sort_keys=True, ensure_ascii=False),
        **_values(result.metrics),
        **_values(result.smallest, prefix=SMALLEST),
    }
    return pa.Table.from_pylist([row], schema=GROUP_SCENARIOS)


def group_churn_table(result: GroupResult) -> pa.Table:
    """Return the rows of ``group_churn`` of one result."""
    return _table_of(result, result.events, GROUP_CHURN)


def group_members_table(result: GroupResult) -> pa.Table:
    """Return the rows of ``group_members`` of one result."""
    return _table_of(result, result.members, GROUP_MEMBERS)


def _table_of(result: GroupResult, rows: Iterable[object], schema: pa.Schema) -> pa.Table:
    scenario_id = result.scenario.scenario_id
    return pa.Table.from_pylist([{"scenario_id": scenario_id, **_values(row)} for row in rows], schema=schema)


def group_timeline_table(result: GroupResult) -> pa.Table:
    """Return the rows of ``group_timeline`` of one result."""

    def finite(values: np.ndarray) -> pa.Array:
        return pa.array(values, pa.float64(), mask=~np.isfinite(values))

    tables = []
    for outcome in result.events:
        curve = outcome.curve
        count = len(curve.time_seconds)
        columns = [
            pa.array([result.scenario.scenario_id] * count, pa.string()),
            pa.array([str(outcome.event)] * count, pa.string()),
            pa.array(curve.time_seconds, pa.float64()),
            finite(curve.lag_bytes),
            finite(curve.lag_seconds),
            pa.array(curve.paused_partitions, pa.int64()),
        ]
        tables.append(pa.Table.from_arrays(columns, schema=GROUP_TIMELINE))
    return pa.concat_tables(tables) if tables else GROUP_TIMELINE.empty_table()


def group_result_tables(result: GroupResult, *, has_details: bool) -> dict[str, pa.Table]:
    """Return the tables of one result; without ``has_details`` the timeline and the members stay empty."""
    return {
        "group_scenarios": group_scenario_table(result),
        "group_churn": group_churn_table(result),
        "group_timeline": group_timeline_table(result) if has_details else GROUP_TIMELINE.empty_table(),
        "group_members": group_members_table(result) if has_details else GROUP_MEMBERS.empty_table(),
    }
