"""The tables about consumer groups."""

from __future__ import annotations

import dataclasses
import json

import pytest

from kafka_capacity.kafka.rebalance.model import GroupScenario, GroupSettings
from kafka_capacity.objects.dataset import parquet_bytes
from kafka_capacity.objects.tables import merge_tables
from kafka_capacity.questions.consumers.scenario import EventOutcome, GroupMetrics, MemberChange, SmallestCounts
from kafka_capacity.questions.consumers.tables import (
    GROUP_TABLES,
    SMALLEST,
    group_facts_table,
    group_result_tables,
    stored_rows,
)
from tests.made_up_groups import facts, refused, result


def test_a_result_becomes_rows_of_every_table():
    tables = group_result_tables(result(pauses=7), has_details=True)
    row = tables["group_scenarios"].to_pylist()[0]
    assert row["scenario_id"] == "orders-etl.002.classic-range.dynamic"
    assert row["session_timeout_seconds"] == 45.0
    assert row["smallest_for_all"] == 2
    assert row["idle_members"] == []
    assert json.loads(row["excuses"]) == []
    churn = tables["group_churn"].to_pylist()
    assert [(one["event"], one["partition_pauses"]) for one in churn] == [("scale", 7), ("rolling-restart", 7)]
    assert tables["group_timeline"].column("time_seconds").to_pylist() == [0.0, 1.0, 2.0] * 2
    assert tables["group_members"].column("partitions_after").to_pylist() == [["orders-0"]]


@pytest.mark.parametrize(
    ("table", "kind", "left_out", "prefix"),
    [
        ("group_churn", EventOutcome, {"curve"}, ""),
        ("group_scenarios", GroupMetrics, set(), ""),
        ("group_scenarios", SmallestCounts, set(), SMALLEST),
        ("group_scenarios", GroupSettings, set(), ""),
        ("group_scenarios", GroupScenario, {"settings"}, ""),
        ("group_members", MemberChange, set(), ""),
    ],
)
def test_the_tables_have_every_figure_of_the_model(table, kind, left_out, prefix):
    names = {prefix + field.name for field in dataclasses.fields(kind) if field.name not in left_out}
    columns = GROUP_TABLES[table][0].names
    assert names <= set(columns)
    assert len(columns) == len(set(columns))


def test_columns_of_the_version_before_are_read_under_their_names_of_now():
    tables = group_result_tables(result(), has_details=False)
    now = {"min_partitions": "fewest_partitions", "max_partitions": "most_partitions"}
    old = tables["group_scenarios"].rename_columns(
        [now.get(name, name) for name in tables["group_scenarios"].schema.names]
    )
    assert stored_rows({"group_scenarios": old}, "group_scenarios") == tables["group_scenarios"].to_pylist()


def test_what_has_no_end_is_null():
    tables = group_result_tables(result(lag=float("inf")), has_details=True)
    assert tables["group_churn"].column("lag_max_seconds").to_pylist() == [None, None]
    assert tables["group_timeline"].column("lag_bytes").to_pylist() == [0.0, 1e6, None] * 2


def test_where_kafka_would_throw_there_are_no_figures():
    tables = group_result_tables(refused(), has_details=True)
    row = tables["group_scenarios"].to_pylist()[0]
    assert row["partition_count"] is None
    assert row["smallest_for_all"] is None
    assert json.loads(row["excuses"])[0]["constraint"] == "assignment"
    assert [len(tables[name]) for name in ("group_churn", "group_timeline", "group_members")] == [0, 0, 0]


def test_without_details_the_long_tables_stay_empty():
    tables = group_result_tables(result(), has_details=False)
    assert [len(table) for table in tables.values()] == [1, 2, 0, 0]


def test_the_order_of_results_does_not_show():
    results = [result("b", 3), result("a", 2), result("a", 10)]
    forth, back = (
        merge_tables([group_result_tables(one, has_details=True) for one in order], GROUP_TABLES)
        for order in (results, results[::-1])
    )
    assert {name: parquet_bytes(table) for name, table in forth.items()} == {
        name: parquet_bytes(table) for name, table in back.items()
    }
    assert forth["group_scenarios"].column("group_id").to_pylist() == ["a", "a", "b"]
    assert len(forth["group_facts"]) == 0


def test_a_group_as_it_is_today_is_one_row():
    table = group_facts_table([facts("b", members=0), facts("a", static=1)])
    rows = table.to_pylist()
    assert [row["group_id"] for row in rows] == ["a", "b"]
    assert (rows[0]["member_count"], rows[0]["static_members"], rows[0]["unread_partitions"]) == (2, 1, 0)
    assert rows[0]["peak_bytes_per_second"] == 6e6
    assert (rows[1]["unread_partitions"], rows[1]["estimated_capacity_bytes_per_second"]) == (6, None)
