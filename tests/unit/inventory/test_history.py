import datetime

import numpy as np
import pyarrow as pa
import pytest

from kafka_capacity.inventory.history import HISTORY, by_day, hours_of, keep_history, merge, read_history_manifest
from kafka_capacity.inventory.tables import TABLES
from kafka_capacity.objects.dataset import read_table
from kafka_capacity.objects.keys import day_prefix, list_days
from kafka_capacity.objects.store import open_store

START = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)


def metrics(rows):
    """Rows of (topic, partition, hour from the start, in, out)."""
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[]] * 5
    columns[2] = [START + datetime.timedelta(hours=hour) for hour in columns[2]]
    schema = TABLES["metrics"].schema
    return pa.Table.from_arrays([pa.array(*pair) for pair in zip(columns, schema.types, strict=True)], schema=schema)


def known(table, row, column="bytes_in"):
    hours = hours_of(table, column)[row]
    return {hour: float(rate) for hour, rate in enumerate(hours) if not np.isnan(rate)}


def test_metrics_are_cut_into_days_of_24_hours():
    days = by_day(
        metrics([("b", 1, 25, 5.0, 6.0), ("a", 0, 2, 1.0, None), ("a", 0, 7, 3.0, 4.0), ("b", 1, 2, 2.0, 2.0)])
    )
    assert list(days) == ["2026-03-01", "2026-03-02"]
    first = days["2026-03-01"]
    assert first.schema == HISTORY
    assert first.select(["topic", "partition"]).to_pylist() == [
        {"topic": "a", "partition": 0},
        {"topic": "b", "partition": 1},
    ]
    assert known(first, 0) == {2: 1.0, 7: 3.0}
    assert known(first, 0, "bytes_out") == {7: 4.0}
    told = first.select(["known_hours", "first_hour", "last_hour", "longest_gap_hours"]).to_pylist()
    assert told[0] == {"known_hours": 2, "first_hour": 2, "last_hour": 7, "longest_gap_hours": 4}
    assert known(days["2026-03-02"], 0) == {1: 5.0}


def test_what_cannot_be_a_rate_is_not_known():
    (day,) = by_day(
        metrics([("a", 0, 0, -1.0, 1.0), ("a", 0, 1, float("inf"), 1.0), ("a", 0, 2, float("nan"), 1.0)])
    ).values()
    assert known(day, 0) == {}
    assert day.column("known_hours").to_pylist() == [0]
    assert day.column("first_hour").to_pylist() == [None]
    assert by_day(metrics([])) == {}


def test_late_hours_fill_gaps_and_later_values_replace_earlier_ones():
    (older,) = by_day(metrics([("a", 0, 0, 1.0, 1.0), ("a", 0, 1, 2.0, 2.0), ("gone", 0, 0, 9.0, 9.0)])).values()
    (newer,) = by_day(metrics([("a", 0, 1, 20.0, None), ("a", 0, 2, 30.0, 3.0), ("new", 0, 0, 8.0, 8.0)])).values()
    merged = merge(older, newer)
    assert merged.column("topic").to_pylist() == ["a", "gone", "new"]
    assert known(merged, 0) == {0: 1.0, 1: 20.0, 2: 30.0}
    assert known(merged, 0, "bytes_out") == {0: 1.0, 1: 2.0, 2: 3.0}
    assert merged.column("known_hours").to_pylist() == [3, 1, 1]


@pytest.fixture
def store(tmp_path):
    return open_store(str(tmp_path))


def stored(store, day="2026-03-01"):
    return read_table(store, read_history_manifest(store, day_prefix("history", "c", day)), "hours")


def test_history_grows_by_each_inventory_and_staging_twice_changes_nothing(store):
    first = metrics([("a", 0, 0, 1.0, 1.0), ("a", 0, 24, 2.0, 2.0)])
    assert keep_history(store, "c", first, captured="2026-03-02") == ["2026-03-01", "2026-03-02"]
    before = {key: store.read_bytes(key) for key in store.list_objects("history/")}
    assert keep_history(store, "c", first, captured="2026-03-02") == []
    assert {key: store.read_bytes(key) for key in store.list_objects("history/")} == before

    later = metrics([("a", 0, 24, 2.0, 2.0), ("a", 0, 30, 5.0, 5.0), ("a", 0, 48, 3.0, 3.0)])
    assert keep_history(store, "c", later, captured="2026-03-03") == ["2026-03-02", "2026-03-03"]
    assert list_days(store, "c", "history") == ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert known(stored(store, "2026-03-02"), 0) == {0: 2.0, 6: 5.0}


def test_an_old_inventory_that_is_staged_late_does_not_overwrite_a_newer_one(store):
    keep_history(store, "c", metrics([("a", 0, 0, 10.0, 10.0)]), captured="2026-03-09")
    keep_history(store, "c", metrics([("a", 0, 0, 1.0, 1.0), ("a", 0, 1, 2.0, 2.0)]), captured="2026-03-02")
    assert known(stored(store), 0) == {0: 10.0, 1: 2.0}


@pytest.mark.parametrize("what", ["gone", "damaged", "manifest"])
def test_a_broken_day_is_made_anew(store, what):
    hours = metrics([("a", 0, 0, 10.0, 10.0)])
    keep_history(store, "c", hours, captured="2026-03-02")
    prefix = day_prefix("history", "c", "2026-03-01")
    (part,) = read_history_manifest(store, prefix).parts()
    if what == "gone":
        store.delete(prefix + part.key)
    else:
        store.write_bytes(prefix + (part.key if what == "damaged" else "manifest.json"), b"{broken")

    assert keep_history(store, "c", hours, captured="2026-03-02") == ["2026-03-01"]
    table = read_table(store, read_history_manifest(store, prefix), "hours")
    assert hours_of(table, "bytes_in")[0, 0] == 10.0
    later = metrics([("a", 0, 1, 11.0, 11.0)])
    assert keep_history(store, "c", later, captured="2026-03-03") == ["2026-03-01"]
