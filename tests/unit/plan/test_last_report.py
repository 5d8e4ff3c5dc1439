"""Which earlier report a plan's report is compared with."""

from __future__ import annotations

import json

import pytest

from kafka_capacity.objects.dataset import write_dataset
from kafka_capacity.objects.keys import report_prefix, request_key
from kafka_capacity.objects.store import open_store
from kafka_capacity.objects.tables import PLAN_SCHEMA_VERSION
from kafka_capacity.plan.pinned import PinnedPlan
from kafka_capacity.plan.publish import REPORT_JSON, REPORT_KIND, last_report
from kafka_capacity.report import render

NOW = PinnedPlan(cluster="payments", ds="2026-11-20", inventory_sha256="a", plan_id="now")


@pytest.fixture
def store(tmp_path):
    store = open_store(str(tmp_path))
    store.write_bytes(NOW.request_key, json.dumps({"request": {"horizon_months": 12}}).encode())
    return store


def publish(store, ds, plan_id, *, horizon=12, version=render.REPORT_VERSION, cluster="payments"):
    report = {"kind": render.REPORT_KIND, "version": version, "ds": ds, "plan_id": plan_id, "verdict": {"problems": []}}
    write_dataset(
        store,
        report_prefix(cluster, ds, plan_id),
        kind=REPORT_KIND,
        schema_version=PLAN_SCHEMA_VERSION,
        tables={},
        documents={REPORT_JSON: json.dumps(report).encode()},
        facts={},
        has_plain_names=True,
    )
    request = {"request": {"horizon_months": horizon}}
    store.write_bytes(request_key(cluster, ds, plan_id), json.dumps(request).encode())


def found(store):
    report = last_report(store, NOW)
    return report and (report["ds"], report["plan_id"])


def test_the_first_report_of_a_cluster_has_none(store):
    publish(store, "2026-11-13", "x", cluster="other")
    publish(store, NOW.ds, "today-as-well")
    assert last_report(store, NOW) is None


def test_the_newest_earlier_inventory_counts_and_of_one_day_what_was_asked_alike(store):
    publish(store, "2026-11-06", "old")
    publish(store, "2026-11-13", "a", horizon=6)
    publish(store, "2026-11-13", "b")
    publish(store, "2026-11-27", "later")
    assert found(store) == ("2026-11-13", "b")


def test_a_what_if_in_between_is_not_compared_with(store):
    publish(store, "2026-11-13", "weekly")
    publish(store, "2026-11-18", "what-if", horizon=6)
    assert found(store) == ("2026-11-13", "weekly")


def test_what_was_asked_the_same_long_ago_gives_way_to_what_is_newer(store):
    publish(store, "2026-10-15", "weekly")
    publish(store, "2026-11-18", "what-if", horizon=6)
    assert found(store) == ("2026-11-18", "what-if")


def test_what_cannot_be_read_is_passed_over(store):
    publish(store, "2026-11-06", "old")
    publish(store, "2026-11-13", "first-version", version=1)
    publish(store, "2026-11-14", "broken")
    store.write_bytes(report_prefix("payments", "2026-11-14", "broken") + REPORT_JSON, b"{}")
    store.write_bytes(report_prefix("payments", "2026-11-15", "unfinished") + REPORT_JSON, b"{}")
    assert found(store) == ("2026-11-06", "old")
