"""The tables of a plan about consumer groups: their Arrow schemas, and how results become rows of them.

``group_facts`` says what is known of each group, ``group_scenarios`` what was asked and whether it fits,
``group_churn`` what each event does; ``group_timeline`` and ``group_members`` hold the details, of some scenarios only.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from kafka_capacity.kafka.rebalance.model import GroupFacts
from kafka_capacity.kafka.rebalance.settings import GroupSettings
from kafka_capacity.objects.tables import Tables
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.consumers.scenario import GroupResult, SmallestCounts

SMALLEST = "smallest_"
"""What the columns of :class:`SmallestCounts` begin with."""

_SETTING_NAMES = tuple(field.name for field in dataclasses.fields(GroupSettings))
_WHOLE_SETTINGS = frozenset({"max_poll_records"})

_METRIC_TYPES: dict[str, pa.DataType] = {
    "partition_count": pa.int64(),
    "idle_members": pa.list_(pa.string()),
    "fewest_partitions": pa.int64(),
    "most_partitions": pa.int64(),
    "busiest_member_id": pa.string(),
    "busiest_member_bytes_per_second": pa.float64(),
    "mean_member_bytes_per_second": pa.float64(),
    "group_peak_bytes_per_second": pa.float64(),
    "group_mean_bytes_per_second": pa.float64(),
    "capacity_bytes_per_second": pa.float64(),
    "is_capacity_given": pa.bool_(),
    "is_capacity_limit": pa.bool_(),
    "load_ratio": pa.float64(),
    "same_as_count": pa.int64(),
    "skew_topics": pa.list_(pa.string()),
    "start_lag_bytes": pa.float64(),
    "start_lag_seconds": pa.float64(),
    "catch_up_now_seconds": pa.float64(),
}

_SMALLEST_TYPES: dict[str, pa.DataType] = {
    "at_peak": pa.int64(),
    "after_failures": pa.int64(),
    "while_restarting": pa.int64(),
    "for_all": pa.int64(),
    "why_none": pa.string(),
}

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
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("group_id", pa.string(), nullable=False),
        pa.field("member_count", pa.int64(), nullable=False),
        pa.field("protocol", pa.string(), nullable=False),
        pa.field("assignor", pa.string(), nullable=False),
        pa.field("is_static", pa.bool_(), nullable=False),
        pa.field("events", pa.list_(pa.string()), nullable=False),
        pa.field("member_capacity_bytes_per_second", pa.float64()),
        pa.field("lag_slo_seconds", pa.float64(), nullable=False),
        pa.field("catch_up_limit_seconds", pa.float64(), nullable=False),
        pa.field("failure_count", pa.int64(), nullable=False),
        pa.field("partitions_factor", pa.int64(), nullable=False),
        *(
            pa.field(name, pa.int64() if name in _WHOLE_SETTINGS else pa.float64(), nullable=False)
            for name in _SETTING_NAMES
        ),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("is_today", pa.bool_(), nullable=False),
        pa.field("fits", pa.bool_(), nullable=False),
        pa.field("excuses", pa.string(), nullable=False),
        *(pa.field(name, kind) for name, kind in _METRIC_TYPES.items()),
        *(pa.field(SMALLEST + name, kind) for name, kind in _SMALLEST_TYPES.items()),
    ]
)
"""One row a scenario: inputs (the timeouts of :class:`GroupSettings` among them), ``excuses`` as a JSON list (figures
without end are null in it), metrics, and the smallest counts that will do; the last two are null when Kafka would
throw."""

GROUP_CHURN = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("event", pa.string(), nullable=False),
        pa.field("members_before", pa.int64(), nullable=False),
        pa.field("members_after", pa.int64(), nullable=False),
        pa.field("rebalances", pa.int64(), nullable=False),
        pa.field("partition_pauses", pa.int64(), nullable=False),
        pa.field("paused_partitions", pa.int64(), nullable=False),
        pa.field("paused_partition_seconds", pa.float64()),
        pa.field("revoked", pa.int64(), nullable=False),
        pa.field("moved", pa.int64(), nullable=False),
        pa.field("returned", pa.int64(), nullable=False),
        pa.field("pause_median_seconds", pa.float64()),
        pa.field("pause_p95_seconds", pa.float64()),
        pa.field("pause_max_seconds", pa.float64()),
        pa.field("duplicate_records", pa.float64(), nullable=False),
        pa.field("duplicate_records_high", pa.float64(), nullable=False),
        pa.field("lag_max_seconds", pa.float64()),
        pa.field("lag_max_partition", pa.string()),
        pa.field("lag_max_bytes", pa.float64()),
        pa.field("catch_up_seconds", pa.float64()),
        pa.field("keeps_up", pa.bool_()),
        pa.field("catch_up_mean_seconds", pa.float64()),
        pa.field("catch_up_partition", pa.string()),
        pa.field("disk_read_bytes", pa.float64()),
        pa.field("duration_seconds", pa.float64()),
        pa.field("is_settled", pa.bool_(), nullable=False),
    ]
)
"""One row an event of a scenario; a time is null where it has no end, ``disk_read_bytes`` where it is not known."""

GROUP_TIMELINE = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("event", pa.string(), nullable=False),
        pa.field("time_seconds", pa.float64(), nullable=False),
        pa.field("lag_bytes", pa.float64()),
        pa.field("lag_seconds", pa.float64()),
        pa.field("paused_partitions", pa.int64(), nullable=False),
    ]
)
"""One row a point of the lag curve of an event, null where it has no end."""

GROUP_MEMBERS = pa.schema(
    [
        pa.field("scenario_id", pa.string(), nullable=False),
        pa.field("member_id", pa.string(), nullable=False),
        pa.field("is_new", pa.bool_(), nullable=False),
        pa.field("is_gone", pa.bool_(), nullable=False),
        pa.field("partitions_before", pa.list_(pa.string()), nullable=False),
        pa.field("partitions_after", pa.list_(pa.string()), nullable=False),
        pa.field("peak_before_bytes_per_second", pa.float64(), nullable=False),
        pa.field("peak_after_bytes_per_second", pa.float64(), nullable=False),
    ]
)
"""One row a member before and after the change from today to the scenario."""

GROUP_TABLES: Tables = {
    "group_facts": (GROUP_FACTS, ("group_id",)),
    "group_scenarios": (GROUP_SCENARIOS, ("scenario_id",)),
    "group_churn": (GROUP_CHURN, ("scenario_id", "event")),
    "group_timeline": (GROUP_TIMELINE, ("scenario_id", "event", "time_seconds")),
    "group_members": (GROUP_MEMBERS, ("scenario_id", "member_id")),
}
"""Every table about groups: its schema and what it is sorted by."""


def group_facts_table(groups: Iterable[GroupFacts]) -> pa.Table:
    """Give the rows of ``group_facts``, sorted by the group's name."""
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


def group_scenario_table(result: GroupResult) -> pa.Table:
    """Give the one row of ``group_scenarios``."""
    scenario = result.scenario
    row = {
        "scenario_id": scenario.scenario_id,
        "group_id": scenario.group_id,
        "member_count": scenario.member_count,
        "protocol": str(scenario.protocol),
        "assignor": scenario.assignor,
        "is_static": scenario.is_static,
        "events": [str(event) for event in scenario.events],
        "member_capacity_bytes_per_second": scenario.member_capacity_bytes_per_second,
        "lag_slo_seconds": scenario.lag_slo_seconds,
        "catch_up_limit_seconds": scenario.catch_up_limit_seconds,
        "failure_count": scenario.failure_count,
        "partitions_factor": scenario.partitions_factor,
        **dataclasses.asdict(scenario.settings),
        "seed": scenario.seed,
        "is_today": result.is_today,
        "fits": result.fits,
        "excuses": json.dumps([_plain(excuse) for excuse in result.excuses], sort_keys=True, ensure_ascii=False),
        **{name: _finite(getattr(result.metrics, name, None)) for name in _METRIC_TYPES},
        **{
            SMALLEST + field.name: getattr(result.smallest, field.name) if result.smallest is not None else None
            for field in dataclasses.fields(SmallestCounts)
        },
    }
    return pa.Table.from_pylist([row], schema=GROUP_SCENARIOS)


def _plain(excuse: Excuse) -> dict[str, object]:
    return {name: _finite(value) for name, value in excuse.as_dict().items()}


def group_churn_table(result: GroupResult) -> pa.Table:
    """Give the rows of ``group_churn`` of one result."""
    rows = [
        {
            "scenario_id": result.scenario.scenario_id,
            **{name: _finite(getattr(outcome, name)) for name in GROUP_CHURN.names if name != "scenario_id"},
        }
        for outcome in result.events
    ]
    return pa.Table.from_pylist(rows, schema=GROUP_CHURN)


def _finite(value: object) -> object:
    """Give null for what has no end or is not known, everything else as it is."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def group_timeline_table(result: GroupResult) -> pa.Table:
    """Give the rows of ``group_timeline`` of one result."""

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


def group_members_table(result: GroupResult) -> pa.Table:
    """Give the rows of ``group_members`` of one result."""
    rows = [
        {
            "scenario_id": result.scenario.scenario_id,
            **{name: getattr(change, name) for name in GROUP_MEMBERS.names if name != "scenario_id"},
        }
        for change in result.members
    ]
    return pa.Table.from_pylist(rows, schema=GROUP_MEMBERS)


def group_result_tables(result: GroupResult, *, has_details: bool) -> dict[str, pa.Table]:
    """Give the tables of one result; without ``has_details`` the timeline and the members stay empty."""
    return {
        "group_scenarios": group_scenario_table(result),
        "group_churn": group_churn_table(result),
        "group_timeline": group_timeline_table(result) if has_details else GROUP_TIMELINE.empty_table(),
        "group_members": group_members_table(result) if has_details else GROUP_MEMBERS.empty_table(),
    }
