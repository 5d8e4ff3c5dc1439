"""Load profiles without Spark: what one rests on, and what it keeps of the one before."""

import datetime

import pyarrow as pa
import pytest

from kafka_capacity.errors import InventoryError
from kafka_capacity.inventory.history import keep_history
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_table
from kafka_capacity.objects.profile_tables import PROFILE_TABLES
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.load_profile import find_profile, profile_inputs, write_profile
from tests.builders import cluster


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path)


def stage_day(store, ds, hours=72):
    raw = cluster(ds=ds, hours=hours)
    keep_history(store, raw.cluster, raw.table("metrics"), captured=ds)
    return stage(raw, store)


def days_table(days, rate):
    rows = [
        {
            "topic": "",
            "day": datetime.date.fromisoformat(day),
            **{f"bytes_{way}_{what}_bytes_per_second": rate for way in ("in", "out") for what in ("mean", "max")},
            "known_hours": 24,
        }
        for day in days
    ]
    return pa.Table.from_pylist(rows, schema=PROFILE_TABLES["profile_days"][0])


def write(store, inputs, days, rate):
    tables = {name: schema.empty_table() for name, (schema, _) in PROFILE_TABLES.items()}
    return write_profile(store, inputs, {**tables, "profile_days": days_table(days, rate)})


def test_the_window_ends_with_the_inventory_and_names_what_it_rests_on(store):
    first, second = stage_day(store, "2026-11-10"), stage_day(store, "2026-11-20")
    inputs = profile_inputs(store, "payments", "2026-11-20", days=5)
    assert [manifest.facts["day"] for manifest in inputs.history] == ["2026-11-17", "2026-11-18", "2026-11-19"]
    assert inputs.inventory_sha256 == second.sha256 != first.sha256
    assert len(profile_inputs(store, "payments", "2026-11-20", days=90).history) == 6


def test_no_history_in_the_window_names_the_mend(store):
    stage_day(store, "2026-11-20", hours=0)
    with pytest.raises(InventoryError, match=r"no history of rates from 2026-11-16 to 2026-11-20; stage an inventory"):
        profile_inputs(store, "payments", "2026-11-20", days=5)


def test_days_that_the_window_does_not_reach_go_on_from_profile_to_profile(store):
    stage_day(store, "2026-11-10")
    write(store, profile_inputs(store, "payments", "2026-11-10", days=5), ["2026-11-07", "2026-11-08"], 1.0)
    stage_day(store, "2026-11-20")
    inputs = profile_inputs(store, "payments", "2026-11-20", days=5)
    manifest = write(store, inputs, ["2026-11-17", "2026-11-18"], 2.0)
    rows = read_table(store, manifest, "profile_days").to_pylist()
    assert [(row["day"].isoformat(), row["bytes_in_mean_bytes_per_second"]) for row in rows] == [
        ("2026-11-07", 1.0),
        ("2026-11-08", 1.0),
        ("2026-11-17", 2.0),
        ("2026-11-18", 2.0),
    ]
    # A window that reaches back so far has those days itself, and its word counts.
    wide = profile_inputs(store, "payments", "2026-11-20", days=90)
    again = read_table(store, write(store, wide, ["2026-11-17"], 3.0), "profile_days").to_pylist()
    assert [row["day"].isoformat() for row in again] == ["2026-11-17"]


def test_a_profile_counts_for_the_inventory_that_it_was_made_of(store):
    staged = stage_day(store, "2026-11-20")
    found = write(store, profile_inputs(store, "payments", "2026-11-20", days=5), ["2026-11-19"], 1.0)
    assert find_profile(store, "payments", "2026-11-20", inventory_sha256=staged.sha256) == found
    assert find_profile(store, "payments", "2026-11-20", inventory_sha256="another") is None
    assert find_profile(store, "payments", "2026-11-21", inventory_sha256="any") is None
