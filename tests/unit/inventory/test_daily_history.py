from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from kafka_capacity.errors import InventoryError
from kafka_capacity.inventory.daily_history import topic_history
from kafka_capacity.inventory.files import read_snapshot_files, write_snapshot_files
from kafka_capacity.inventory.validation import validate
from kafka_capacity.objects.profile_tables import PROFILE_TABLES
from tests.builders import cluster, rows_of, table, topic, with_rows


def day(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)


def row(name, text, rate):
    return {"topic": name, "day": day(text), "bytes_in_bytes_per_second": rate, "bytes_out_bytes_per_second": 0.0}


def raw_with(*rows, hours=48, partitions=2):
    """Return a cluster of 2026-11-20 with so many hours before that day, 1,000 bytes/s a partition."""
    made = cluster(topics=[topic("orders", partitions=partitions)], hours=hours)
    return with_rows(made, "history", rows)


def known(history, name):
    rates = history.rate_bytes_per_second[history.topics.index(name)]
    first = datetime.date.fromisoformat(history.first_day)
    return {
        (first + datetime.timedelta(days=int(i))).isoformat(): float(rates[i])
        for i in np.flatnonzero(np.isfinite(rates))
    }


def test_hours_become_days_of_topics_and_come_before_the_table_of_history():
    raw = raw_with(
        row("orders", "2026-11-15", 1500.0), row("orders", "2026-11-18", 1.0), row("gone", "2026-11-16", 7.0)
    )
    history = topic_history(raw)
    hourly = [one["bytes_in_bytes_per_second"] for one in rows_of(raw, "metrics") if one["hour"].day == 18]
    assert known(history, "gone") == {"2026-11-16": 7.0}
    orders = known(history, "orders")
    assert list(orders) == ["2026-11-15", "2026-11-18", "2026-11-19"]
    assert orders["2026-11-15"] == 1500.0
    assert orders["2026-11-18"] == pytest.approx(sum(hourly) / 24)


def test_a_day_with_few_hours_is_not_known():
    raw = raw_with(hours=24 + 19)
    assert list(known(topic_history(raw), "orders")) == ["2026-11-19"]
    assert list(known(topic_history(raw_with(hours=24 + 20)), "orders")) == ["2026-11-18", "2026-11-19"]


def test_hours_that_cannot_be_rates_are_left_out():
    raw = raw_with(hours=48)
    rows = rows_of(raw, "metrics")
    usual = known(topic_history(raw), "orders")
    for place, rate in ((0, 1e30), (1, -1.0), (2, float("nan"))):
        rows[place]["bytes_in_bytes_per_second"] = rate
    assert known(topic_history(with_rows(raw, "metrics", rows)), "orders") == pytest.approx(usual, rel=0.2)


def test_values_that_cannot_be_rates_and_days_after_the_inventory_are_left_out():
    raw = raw_with(
        row("a", "2026-11-01", -1.0),
        row("a", "2026-11-02", float("nan")),
        row("a", "2026-11-03", 5.0),
        row("a", "2026-11-04", float("inf")),
        row("a", "2026-11-05", 1e30),
        row("a", "2026-11-21", 5.0),
        row("a", "1980-01-01", 5.0),
        hours=0,
    )
    assert known(topic_history(raw), "a") == {"2026-11-03": 5.0}


def test_nothing_known_is_an_empty_history():
    history = topic_history(raw_with(hours=0))
    assert history.topics == ()


def test_a_profile_fills_the_days_before_the_metrics():
    schema, _ = PROFILE_TABLES["profile_days"]
    empty = dict.fromkeys(schema.names)

    def profiled(name, text, rate, hours=24):
        return {
            **empty,
            "topic": name,
            "day": datetime.date.fromisoformat(text),
            "bytes_in_mean_bytes_per_second": rate,
            "known_hours": hours,
        }

    days = pa.Table.from_pylist(
        [
            profiled("", "2026-11-10", 99.0),
            profiled("orders", "2026-11-10", 9.0),
            profiled("orders", "2026-11-11", 9.0, hours=19),
            profiled("orders", "2026-11-19", 9.0),
        ],
        schema=schema,
    )
    raw = raw_with(row("orders", "2026-11-10", 1.0), row("orders", "2026-11-09", 2.0), hours=24)
    history = topic_history(raw, days)
    orders = known(history, "orders")
    assert history.topics == ("orders",)
    assert (orders["2026-11-09"], orders["2026-11-10"]) == (2.0, 9.0)
    assert "2026-11-11" not in orders
    assert orders["2026-11-19"] > 1000


def test_history_is_checked():
    raw = raw_with(
        row("a", "2026-11-01", -1.0),
        row("a", "2026-11-01", 1e14),
        row("b", "2026-11-01T05:00:00", 1.0),
        row("b", "2026-11-22", 1.0),
    )
    assert [(one.code, one.message) for one in validate(raw) if one.where.startswith("history")] == [
        ("day_not_whole", "1 row whose day is not a midnight in UTC; give one row for each day of a topic"),
        ("duplicate_day", "1 row for a duplicate day of 1 topic (a); give one row a day"),
        (
            "absurd_history_rate",
            "1 value of bytes_in_bytes_per_second above 1e+13 of one topic; they are left out, check the unit",
        ),
        ("future_history", "1 row of history later than the day 2026-11-20; they are left out, check ds"),
        (
            "unusable_history_rate",
            "1 value of bytes_in_bytes_per_second negative, infinite or not a number; they are left out",
        ),
    ]


def test_history_may_be_a_csv(tmp_path):
    write_snapshot_files(raw_with(), tmp_path)
    (tmp_path / "history.csv").write_text("topic,day,bytes_in_bytes_per_second\n007,2026-11-01,5\nNA,2026-11-02,\n")
    rows = read_snapshot_files(tmp_path).table("history").to_pylist()
    assert [(one["topic"], one["day"], one["bytes_in_bytes_per_second"]) for one in rows] == [
        ("007", day("2026-11-01"), 5.0),
        ("NA", day("2026-11-02"), None),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "topic,day\na,soon\n",
            "history.csv, row 1, day: 'soon' is no day or time; write it as 2026-11-20, or as 2026-11-20T13:00:00Z",
        ),
        ("topic\na\n", "history.csv: column 'day' is missing; add it as timestamp[s, tz=UTC]"),
        ("topic,day\n,2026-11-01\n", "history.csv, row 1, topic: null; give it a value, every row needs one"),
    ],
)
def test_what_is_wrong_in_a_csv_is_named(tmp_path, text, message):
    write_snapshot_files(raw_with(), tmp_path)
    (tmp_path / "history.csv").write_text(text)
    with pytest.raises(InventoryError) as refused:
        read_snapshot_files(tmp_path)
    assert str(refused.value).replace(f"{tmp_path}/", "").removeprefix("file://") == message


def test_history_survives_files_of_both_formats(tmp_path):
    raw = raw_with(row("a", "2026-11-01", 5.0))
    for file_format in ("json", "parquet"):
        write_snapshot_files(raw, tmp_path, file_format=file_format)
        assert read_snapshot_files(tmp_path).table("history").equals(table("history", rows_of(raw, "history")))
