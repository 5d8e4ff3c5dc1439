"""Idle topics in the report of a plan, and in one of a plan from before they were looked for."""

from __future__ import annotations

import json

from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.plan_dataset import read_plan, read_plan_tables
from kafka_capacity.plan.publish import publish_report, read_decision
from kafka_capacity.questions.idle.share import IDLE
from tests.builders import cluster, topic
from tests.published import read_published
from tests.sized_plans import simulated_plan

REQUEST = {"cluster": "payments", "ds": "2026-11-20", "broker_counts": [9], "placers": ["fewest-bytes"]}


def planned(folder):
    old = topic("old", partitions=2, bytes_in=0.0, bytes_out=0.0)
    store = LocalStore(folder)
    stage(cluster(topics=[topic("orders"), old]), store)
    return store, simulated_plan(store, REQUEST)[0]


def section(store, pinned):
    report = json.loads(read_published(store, pinned, "report.json"))
    return next((one["data"] for one in report["sections"] if one["name"] == IDLE.name), None)


def test_the_page_lists_them_and_the_decision_names_them(tmp_path):
    store, pinned = planned(tmp_path)
    publish_report(store, pinned)
    decision = read_decision(store, pinned.plan_prefix)
    (problem,) = [one for one in decision["problems"] if one["question"] == IDLE.name]
    assert (problem["code"], problem["severity"], problem["where"]) == ("idle-topics", "info", "old")
    data = section(store, pinned)
    assert (data["line"], data["sentences"]) == (decision["answers"][IDLE.name]["headline"], [])
    topics, brokers = data["tables"]
    assert [(row["topic"], row["brokers"]) for row in topics["rows"]] == [("old", "1, 2, 3, 4")]
    assert [row["broker_id"] for row in brokers["rows"]] == [2, 3, 1, 4]
    page = read_published(store, pinned, "index.html").decode()
    assert 'href="#idle"' in page
    assert "What removing them would free" in page
    assert read_published(store, pinned, "tables/comparison.csv").startswith(b"Option,Verdict,")


def test_a_plan_from_before_they_were_looked_for_is_drawn_without(tmp_path):
    store, pinned = planned(tmp_path)
    key = f"{pinned.plan_prefix}manifest.json"
    manifest = json.loads(store.read_bytes(key))
    del manifest["own_sha256"]  # older manifests have none
    manifest["tables"] = {name: parts for name, parts in manifest["tables"].items() if name not in IDLE.tables}
    store.write_bytes(key, json.dumps(manifest).encode())
    assert not any(len(read_plan_tables(store, read_plan(store, pinned))[name]) for name in IDLE.tables)
    publish_report(store, pinned)
    assert section(store, pinned) is None
    assert IDLE.name not in read_decision(store, pinned.plan_prefix)["answers"]
