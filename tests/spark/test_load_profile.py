"""The profile that Spark makes of a history, against numpy on the same hours."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.staging import inventory_manifest, load
from kafka_capacity.objects.dataset import read_table
from kafka_capacity.plan.load_profile import find_profile, profile_inputs, profile_without_spark, read_profile_manifest
from kafka_capacity.plan.traffic import load_of_profile
from tests.spark.histories import DAYS, DS, HOURS, PLACES

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def profile(profiled_folder):
    """The tables of a profile of two inventories whose histories overlap."""
    store, raw, hours = profiled_folder
    manifest = read_profile_manifest(store, raw.cluster, DS)
    return store, raw, hours, {name: read_table(store, manifest, name).to_pylist() for name in manifest.tables}


def test_spark_and_one_process_store_the_same(profiled_folder):
    store, raw, _ = profiled_folder
    through_spark = read_profile_manifest(store, raw.cluster, DS)
    for key in store.list_objects(through_spark.prefix):
        store.delete(key)
    assert profile_without_spark(store, profile_inputs(store, raw.cluster, DS, days=90)) == through_spark


def of(hours):
    known = hours[~np.isnan(hours)].astype(np.float64)
    return [known.mean(), *np.percentile(known, [50, 95, 99]), known.max()]


def rates(row, way):
    return [row[f"bytes_{way}_{what}_bytes_per_second"] for what in ("mean", "p50", "p95", "p99", "max")]


def slope(hours):
    days = hours.reshape(DAYS, 24).astype(np.float64)
    known = np.flatnonzero((~np.isnan(days)).any(axis=1))
    return np.polyfit(known, np.nanmean(days[known], axis=1), 1)[0]


def test_partitions_have_their_own_percentiles_trend_and_quality(profile):
    _, _, hours, tables = profile
    assert [(row["topic"], row["partition"]) for row in tables["profile_partitions"]] == PLACES
    for row, own in zip(tables["profile_partitions"], hours, strict=True):
        known = np.flatnonzero(~np.isnan(own))
        np.testing.assert_allclose(rates(row, "in"), of(own), rtol=1e-6)
        np.testing.assert_allclose(rates(row, "out"), of(2 * own), rtol=1e-6)
        assert row["known_hours"] == len(known)
        assert row["expected_hours"] == HOURS - known[0]
        assert row["coverage_ratio"] == pytest.approx(len(known) / (HOURS - known[0]))
        assert row["longest_gap_hours"] == (np.diff(known) - 1).max()
        assert row["stale_hours"] == HOURS - 1 - known[-1]
        means = np.nanmean(own.reshape(DAYS, 24).astype(np.float64), axis=0)
        assert row["peak_hour_utc"] == means.argmax()
    np.testing.assert_allclose(
        [row["trend_bytes_per_second_per_day"] for row in tables["profile_partitions"][:3]],
        [slope(own) for own in hours[:3]],
        rtol=1e-6,
        atol=1e-3,
    )


def total(hours):
    """The rule of the module that adds up, written the long way."""
    known = (~np.isnan(hours)).sum(axis=0)
    is_enough = 2 * known >= len(hours)
    return np.where(is_enough & (known > 0), np.nansum(hours, axis=0) / np.maximum(known, 1) * len(hours), np.nan)


def test_topics_groups_brokers_and_the_cluster_are_added_up_hour_by_hour(profile):
    _, raw, hours, tables = profile
    orders, payments = tables["profile_topics"]
    np.testing.assert_allclose(rates(orders, "in"), of(_by_day(hours[:3])), rtol=1e-6)
    np.testing.assert_allclose(rates(payments, "out"), of(2 * hours[3]), rtol=1e-6)
    peaks = [np.nanpercentile(own.astype(np.float64), 99) for own in hours]
    assert orders["sum_of_peaks_in_bytes_per_second"] == pytest.approx(sum(peaks[:3]), rel=1e-6)
    (group,) = tables["profile_groups"]
    assert group["group_id"] == "billing"
    np.testing.assert_allclose(rates(group, "in"), of(hours[3]), rtol=1e-6)

    snapshot = build_snapshot(raw)
    for row in tables["profile_brokers"]:
        held = (snapshot.replicas == row["broker_id"]).any(axis=1)
        led = snapshot.leader == row["broker_id"]
        np.testing.assert_allclose(rates(row, "written"), of(_by_day(hours[held])), rtol=1e-6)
        if led.any():
            np.testing.assert_allclose(rates(row, "read"), of(_by_day(2 * hours[led])), rtol=1e-6)
    (whole,) = tables["profile_cluster"]
    assert whole["cluster"] == raw.cluster
    np.testing.assert_allclose(rates(whole, "in"), of(_by_day(hours)), rtol=1e-6)
    assert whole["sum_of_peaks_in_bytes_per_second"] == pytest.approx(sum(peaks), rel=1e-6)


def _by_day(hours):
    """Totals in which a partition counts from the first day that it has."""
    days = hours.reshape(len(hours), DAYS, 24)
    return np.concatenate([total(days[(~np.isnan(days[:, day])).any(axis=1), day]) for day in range(DAYS)])


def test_seasons_and_days_are_there_for_every_topic_and_for_all(profile):
    _, _, hours, tables = profile
    assert len(tables["profile_seasons"]) == 3 * 168
    assert {row["topic"] for row in tables["profile_days"]} == {"", "orders", "payments"}
    sunday = next(
        row for row in tables["profile_seasons"] if row["topic"] == "orders" and row["hour_of_week"] == 6 * 24 + 5
    )
    assert sunday["bytes_in_mean_bytes_per_second"] == pytest.approx(np.nanmean(total(hours[:3])[[5, 173]]), rel=1e-6)
    second = next(row for row in tables["profile_days"] if row["topic"] == "orders" and row["day"].day == 2)
    assert second["bytes_in_max_bytes_per_second"] == pytest.approx(np.nanmax(total(hours[:3])[24:48]), rel=1e-6)


def test_a_plan_takes_its_traffic_from_the_profile_of_its_inventory(profile):
    store, raw, hours, _ = profile
    inventory = inventory_manifest(store, raw.cluster, DS)
    found = find_profile(store, raw.cluster, DS, inventory_sha256=inventory.sha256)
    manifest = read_profile_manifest(store, raw.cluster, DS)
    assert found == manifest
    assert find_profile(store, raw.cluster, DS, inventory_sha256="of another version") is None
    snapshot = build_snapshot(load(store, inventory))
    traffic = load_of_profile(read_table(store, manifest, "profile_partitions"), snapshot)
    # Two inventories together know more than the newest alone.
    np.testing.assert_allclose(traffic.bytes_in_mean_bytes_per_second, [of(own)[0] for own in hours], rtol=1e-6)
    np.testing.assert_allclose(traffic.bytes_in_peak_bytes_per_second, [of(own)[3] for own in hours], rtol=1e-6)
