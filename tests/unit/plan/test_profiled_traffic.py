"""What a plan rests on where its inventory has no rates, or not all of them: the load profile of earlier days."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from kafka_capacity.inventory.history import keep_history
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.profile_tables import PROFILE_TABLES
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.load_profile import profile_inputs, write_profile
from kafka_capacity.plan.pinned import pin_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.traffic import read_basis
from tests.builders import cluster, rows_of, topic, with_rows

EARLIER, DS = "2026-11-19", "2026-11-20"
TOPICS = [topic("orders", partitions=4, bytes_in=1000.0, bytes_out=2000.0)]


def basis(store, raw, *, known_partitions=4):
    """Stage a day with rates and then this inventory, and profile the first as far as so many partitions."""
    before = cluster(ds=EARLIER, topics=TOPICS, hours=48)
    keep_history(store, before.cluster, before.table("metrics"), captured=EARLIER)
    stage(before, store)
    stage(raw, store)
    load = partition_load(before, build_snapshot(before))
    partitions = [
        {
            "topic": "orders",
            "partition": number,
            **{f"bytes_in_{what}_bytes_per_second": 1000.0 for what in ("mean", "p99")},
            **{f"bytes_out_{what}_bytes_per_second": 2000.0 for what in ("mean", "p99")},
            **dict.fromkeys(("known_hours", "expected_hours"), load.hours),
            **{"coverage_ratio": 1.0, "longest_gap_hours": 0, "stale_hours": 24},
        }
        for number in range(known_partitions)
    ]
    days = [
        {"topic": "", "day": datetime.date.fromisoformat(day), "known_hours": 24} for day in ("2026-11-18", EARLIER)
    ]
    tables = {name: schema.empty_table() for name, (schema, _) in PROFILE_TABLES.items()}
    tables |= {
        name: pa.Table.from_pylist(rows, schema=PROFILE_TABLES[name][0])
        for name, rows in (("profile_partitions", partitions), ("profile_days", days))
    }
    write_profile(store, profile_inputs(store, "payments", DS, days=28), tables)
    request = parse_plan_request({"cluster": "payments", "broker_counts": [6]})
    return read_basis(store, pin_plan(store, request, run_date=datetime.date.fromisoformat(DS)))


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path)


def test_rates_of_earlier_days_are_known_and_said_to_be_those(store):
    found = basis(store, cluster(ds=DS, topics=TOPICS, hours=0))
    assert found.rates_until == EARLIER
    assert found.unknown_traffic["unknown_rate_partitions"] == found.unknown_traffic["unknown_read_partitions"] == 0
    assert "no_metrics" not in {one.code for one in found.findings}
    np.testing.assert_array_equal(found.load.bytes_in_mean_bytes_per_second, np.full(4, 1000.0))


def test_rates_that_the_profile_does_not_know_either_are_unknown(store):
    found = basis(store, cluster(ds=DS, topics=TOPICS, hours=0), known_partitions=3)
    assert found.unknown_traffic["unknown_rate_partitions"] == 1


@pytest.mark.parametrize(("known", "is_said"), [(4, False), (3, True)])
def test_partitions_without_rates_today_are_told_where_the_profile_lacks_them_too(store, known, is_said):
    raw = cluster(ds=DS, topics=TOPICS, hours=48)
    raw = with_rows(raw, "metrics", [row for row in rows_of(raw, "metrics") if row["partition"] != 3])
    found = basis(store, raw, known_partitions=known)
    assert found.rates_until is None
    assert ("partition_without_metrics" in {one.code for one in found.findings}) == is_said
    assert found.unknown_traffic["unknown_rate_partitions"] == 4 - known
