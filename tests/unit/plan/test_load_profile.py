"""The profile of a history without Spark: once for an unchanged one, whoever describes it, and in batches as in one."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from kafka_capacity.inventory.history import keep_history
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_table
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan import load_profile
from kafka_capacity.plan.load_profile import history_table, profile_inputs, profile_without_spark
from kafka_capacity.plan.traffic_profile import PARTITIONS, TOTALS, Carriers, added, describe_batch, newest_hour
from tests.builders import with_rows
from tests.spark.histories import DS, HOURS, made_up_hours, rows_of, stage_history


@pytest.fixture
def staged(tmp_path):
    """A store with an inventory and its history, and the inventory."""
    store = LocalStore(tmp_path)
    raw, _ = stage_history(store)
    return store, raw


def described(store, raw, ds=DS):
    return profile_without_spark(store, profile_inputs(store, raw.cluster, ds, days=90))


def test_an_unchanged_history_is_not_described_again(staged, monkeypatch):
    store, raw = staged
    first = described(store, raw)
    monkeypatch.setattr(load_profile, "describe_history", None)
    assert described(store, raw) == first
    # The same day is staged once more, and the day after it with nothing new.
    stage(dataclasses.replace(raw, kafka_version="4.4.0"), store)
    again = described(store, raw)
    assert again.tables == first.tables
    assert again.facts["inventory_sha256"] != first.facts["inventory_sha256"]
    later = dataclasses.replace(raw, ds="2026-03-11")
    stage(later, store)
    next_day = described(store, later, "2026-03-11")
    assert {name: [part.sha256 for part in parts] for name, parts in next_day.tables.items()} == {
        name: [part.sha256 for part in parts] for name, parts in first.tables.items()
    }


def test_new_hours_and_other_leaders_are_described(staged):
    store, raw = staged
    first = described(store, raw)
    rows = [{**row, "is_leader": row["position"] == 1} for row in raw.table("replicas").to_pylist()]
    stage(with_rows(raw, "replicas", rows), store)
    moved = described(store, raw)
    assert moved.tables["profile_brokers"] != first.tables["profile_brokers"]
    assert moved.tables["profile_partitions"] == first.tables["profile_partitions"]
    rows = [{**row, "bytes_in_bytes_per_second": 1.0} for row in rows_of(made_up_hours(), 190, HOURS)]
    rates = with_rows(raw, "metrics", rows)
    keep_history(store, raw.cluster, rates.table("metrics"), captured="2026-03-11")
    assert described(store, raw).tables["profile_partitions"] != first.tables["profile_partitions"]


def test_a_large_history_is_left_to_spark(staged, monkeypatch):
    store, raw = staged
    monkeypatch.setattr(load_profile, "MAX_HOURS_HERE", 100)
    assert described(store, raw) is None


def test_batches_of_partitions_come_to_what_all_at_once_do(staged):
    store, raw = staged
    inputs = profile_inputs(store, raw.cluster, DS, days=90)
    history = history_table(store, inputs)
    carriers = Carriers(replicas=inputs.replicas, reads=inputs.reads, end=newest_hour(history) + 1)
    whole = describe_batch(carriers, history)
    mask = [row["partition"] % 2 == 0 for row in history.select(["partition"]).to_pylist()]
    halves = [history.filter(pa.array(mask)), history.filter(pa.array([not one for one in mask]))]
    apart = [describe_batch(carriers, half) for half in halves]
    for name in TOTALS:
        assert added(name, [one[name] for one in apart]) == added(name, [whole[name]]), name
    rows = sorted(map(str, whole[PARTITIONS].to_pylist()))
    assert sorted(str(row) for one in apart for row in one[PARTITIONS].to_pylist()) == rows
    assert read_table(store, described(store, raw), "profile_partitions").num_rows == len(rows)
