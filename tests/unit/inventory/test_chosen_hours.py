"""Inventories with more metrics than a plan holds: all that is asked of the hours is the same when all are chosen."""

from __future__ import annotations

import dataclasses
import datetime

import numpy as np
import pyarrow as pa
import pytest

from kafka_capacity.example import make_example
from kafka_capacity.inventory import chosen_hours, staging
from kafka_capacity.inventory.group_facts import group_facts
from kafka_capacity.inventory.sizing_workload import hourly_traffic
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.topic_use import topic_use
from kafka_capacity.objects import dataset
from kafka_capacity.objects.store import open_store
from kafka_capacity.plan.pinned import pin_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.traffic import read_basis
from kafka_capacity.questions.idle.evaluate import evaluate_idle
from tests.builders import with_rows

CLUSTER = "metrics-uneven"


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    """A staged example in several parts, with values that cannot be a rate and rows of partitions that are gone."""
    store = open_store(str(tmp_path_factory.mktemp("store")))
    raw = make_example(CLUSTER)
    rates = raw.table("metrics").column(chosen_hours.RATES[0]).to_numpy().copy()
    rates[::97] = np.nan
    rates[50::301] = np.inf
    table = raw.table("metrics")
    place = table.schema.get_field_index(chosen_hours.RATES[0])
    odd = table.set_column(place, table.schema.field(place), pa.array(rates, pa.float32(), mask=np.isnan(rates)))
    gone = with_rows(raw, "metrics", [{**table.slice(7, 1).to_pylist()[0], "topic": "gone"}]).table("metrics")
    raw = dataclasses.replace(raw, tables={**raw.tables, "metrics": pa.concat_tables([odd, gone])})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset, "PART_ROWS", len(table) // 7)
        staging.stage(raw, store)
    request = parse_plan_request({"cluster": CLUSTER})
    return store, pin_plan(store, request, run_date=datetime.date(2026, 12, 1))


@pytest.fixture
def few(monkeypatch, pinned):
    """Reads the basis as of a cluster that is too large, with so many hours."""

    def read(hours):
        monkeypatch.setattr(staging, "MOST_ROWS", 0)
        monkeypatch.setattr(chosen_hours.choose_hours, "__kwdefaults__", {"count": hours})
        return read_basis(*pinned)

    return read


def test_nothing_changes_where_all_hours_are_chosen(pinned, few):
    whole, some = read_basis(*pinned), few(10_000)
    assert whole.raw.hours is None
    assert len(some.raw.table("metrics")) == 0
    assert some.raw.hours.seconds.tolist() == np.unique(whole.raw.table("metrics")["hour"].cast("int64")).tolist()
    for name in ("bytes_in", "bytes_out"):
        np.testing.assert_array_equal(getattr(some.traffic, name), getattr(whole.traffic, name))
    for field in dataclasses.fields(whole.load):
        np.testing.assert_array_equal(getattr(some.load, field.name), getattr(whole.load, field.name), field.name)
    assert evaluate_idle(some) == evaluate_idle(whole)
    ours, theirs = (group_facts(one.raw, one.snapshot, load=one.load).facts for one in (some, whole))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.peak_bytes_per_second, other.peak_bytes_per_second)
        assert one.estimated_capacity_bytes_per_second == other.estimated_capacity_bytes_per_second


def test_some_hours_have_the_peaks_of_all_about_and_idle_topics_are_looked_for_in_all(pinned, few):
    whole, some = read_basis(*pinned), few(100)
    totals = whole.traffic.bytes_in.sum(axis=0, dtype=float) + whole.traffic.bytes_out.sum(axis=0, dtype=float)
    assert some.traffic.bytes_in.shape[1] == 100 < whole.traffic.bytes_in.shape[1]
    found = some.traffic.bytes_in.sum(axis=0, dtype=float) + some.traffic.bytes_out.sum(axis=0, dtype=float)
    assert found.max() == pytest.approx(totals.max(), rel=0.01)
    assert np.percentile(found, 99) == pytest.approx(np.percentile(totals, 99), rel=0.02)
    assert found.mean() == pytest.approx(totals.mean(), rel=0.02)
    all_hours, of_all = (topic_use(one.raw, one.snapshot) for one in (some, whole))
    np.testing.assert_array_equal(all_hours.known_hours, of_all.known_hours)
    np.testing.assert_array_equal(all_hours.is_idle, of_all.is_idle)


def test_files_and_store_give_the_same(pinned, few):
    whole, staged = read_basis(*pinned).raw, few(100).raw
    read = staging.with_chosen_hours(whole)
    assert len(read.table("metrics")) == 0
    for field in dataclasses.fields(read.hours):
        if field.name != "rates":
            np.testing.assert_array_equal(getattr(read.hours, field.name), getattr(staged.hours, field.name))
    for name, rates in read.hours.rates.items():
        np.testing.assert_array_equal(rates, staged.hours.rates[name])


def test_hours_are_chosen_at_even_steps_of_rank_whatever_the_order_of_the_parts():
    totals = {3600 * hour: (7 * hour) % 100 for hour in range(100)}
    chosen = chosen_hours.choose_hours(totals, count=12)
    assert sorted(totals[second] for second in chosen.tolist()) == [0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99]
    assert chosen.tolist() == sorted(chosen.tolist())
    assert len(chosen_hours.choose_hours(totals, count=100)) == 100
    metrics = make_example(CLUSTER).table("metrics")
    cut = [metrics.slice(5_000), metrics.slice(0, 5_000)]
    assert chosen_hours.hourly_totals(cut) == chosen_hours.hourly_totals([metrics])


def test_what_is_left_out_is_empty_and_the_rest_is_there(pinned):
    store, plan = pinned
    manifest = staging.inventory_manifest(store, plan.cluster, plan.ds)
    raw = staging.load(store, manifest, leave_out={"metrics"})
    assert len(raw.table("metrics")) == 0
    assert len(build_snapshot(raw).partitions) > 0
    assert hourly_traffic(raw, build_snapshot(raw), read_basis(*pinned).load).bytes_in.shape[1] == 1
