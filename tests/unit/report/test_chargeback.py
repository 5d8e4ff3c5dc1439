"""Who pays what, in the report of a plan; owners are pinned with it."""

from __future__ import annotations

import datetime
import json

from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_table
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.pinned import pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import seal_plan
from kafka_capacity.plan.publish import publish_report, read_decision
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.runner import simulate_plan
from kafka_capacity.questions.chargeback.share import CHARGEBACK
from tests.builders import cluster, topic
from tests.published import read_published

REQUEST = {
    "cluster": "payments",
    "ds": "2026-11-20",
    "broker_counts": [9],
    "placers": ["fewest-bytes"],
    "broker_usd_per_hour": 1.0,
    "marginal_topics": 1,
}
ODD = '<script>alert("1")</script> & {{ 7 * 7 }}'


def pinned_plan(store, **given):
    return pin_plan(store, parse_plan_request(REQUEST), run_date=datetime.date(2027, 1, 1), **given)


def planned(folder, **given):
    store = LocalStore(folder)
    stage(cluster(topics=[topic("orders"), topic("audit")]), store)
    pinned = pinned_plan(store, **given)
    manifests = simulate_plan(store, read_plan_inputs(store, pinned.request_key))
    seal_plan(store, pinned)
    publish_report(store, pinned)
    return store, pinned, manifests


def section(store, pinned):
    report = json.loads(read_published(store, pinned, "report.json"))
    return next((one["data"] for one in report["sections"] if one["name"] == CHARGEBACK.name), None)


def test_the_page_says_who_pays_and_its_tables_are_beside_it(tmp_path):
    store, pinned, _ = planned(tmp_path)
    data = section(store, pinned)
    answer = read_decision(store, pinned.plan_prefix)["answers"][CHARGEBACK.name]
    assert (data["line"], data["sentences"]) == (answer["headline"], answer["reasons"])
    assert data["shown"] is None
    page = read_published(store, pinned, "index.html").decode()
    assert 'href="tables/chargeback-topics.csv"' in page
    head, *rows = read_published(store, pinned, "tables/chargeback-topics.csv").decode().splitlines()
    assert head.startswith("Topic,Per month ($),Storage ($),")
    assert [row.split(",")[0] for row in rows] == ["audit", "orders"]


def test_odd_owners_are_shown_as_they_are_written(tmp_path):
    store, pinned, manifests = planned(tmp_path, owners={"orders": ODD})
    rows = read_table(store, manifests[CHARGEBACK.share], "chargeback").to_pylist()
    assert {row["topic"]: row["owner"] for row in rows} == {"orders": ODD, "audit": None}
    page = read_published(store, pinned, "index.html").decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt; &amp; {{ 7 * 7 }}" in page
    owners = [row["owner"] for row in section(store, pinned)["shown"]["rows"]]
    assert sorted(owners) == sorted([ODD, "nobody known"])
    assert owners[-1] == "nobody known"


def test_owners_name_the_plan_and_nobody_does_not(tmp_path):
    store = LocalStore(tmp_path)
    stage(cluster(topics=[topic("orders")]), store)
    nobody = pinned_plan(store)
    assert pinned_plan(store, owners={}).plan_id == nobody.plan_id
    owned = pinned_plan(store, owners={"a*": "one", "*": "two"})
    assert owned.plan_id != nobody.plan_id
    # The first pattern that matches counts.
    assert pinned_plan(store, owners={"*": "two", "a*": "one"}).plan_id != owned.plan_id
    assert list(read_plan_inputs(store, owned.request_key).owners) == ["a*", "*"]


def test_a_plan_from_before_costs_were_shared_out_is_drawn_without(tmp_path):
    store, pinned, _ = planned(tmp_path)
    key = f"{pinned.plan_prefix}manifest.json"
    manifest = json.loads(store.read_bytes(key))
    del manifest["own_sha256"]  # older manifests have none
    manifest["tables"] = {name: parts for name, parts in manifest["tables"].items() if name not in CHARGEBACK.tables}
    store.write_bytes(key, json.dumps(manifest).encode())
    publish_report(store, pinned)
    assert section(store, pinned) is None
    assert CHARGEBACK.name not in read_decision(store, pinned.plan_prefix)["answers"]
