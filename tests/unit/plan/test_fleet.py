"""One page over all clusters, whatever state each is in."""

from __future__ import annotations

import json
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup

from kafka_capacity.objects.dataset import canonical_json, write_dataset
from kafka_capacity.objects.keys import FLEET_PAGE, plan_prefix, report_prefix, request_key
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.objects.tables import PLAN_SCHEMA_VERSION
from kafka_capacity.plan.fleet import fleet, newest_standing, write_fleet_page
from kafka_capacity.plan.lifecycle import Said, Verb, keep_said
from kafka_capacity.plan.plan_dataset import DECISION, DECISION_DATASET_KIND, DECISION_FOLDER
from tests.report.decided import decision_of
from tests.report.sized import sized_inputs

ODD = "a/b <b>é"


@pytest.fixture(scope="module")
def decision():
    """Of a cluster whose disks are over their limit today."""
    return json.loads(canonical_json(decision_of(sized_inputs(disk_limit_ratio=0.7))))


def decide(store, decision, cluster, ds, plan_id, *, request=None, **more):
    found = {**decision, "cluster": cluster, "ds": ds, "plan_id": plan_id, **more}
    prefix = plan_prefix(cluster, ds, plan_id)
    of = {"kind": DECISION_DATASET_KIND, "schema_version": PLAN_SCHEMA_VERSION, "tables": {}, "facts": {}}
    documents = {DECISION: canonical_json(found)}
    write_dataset(store, prefix + DECISION_FOLDER, documents=documents, has_plain_names=True, **of)
    store.write_bytes(request_key(cluster, ds, plan_id), json.dumps({"request": request or {}}).encode())
    return found


@pytest.fixture
def store(tmp_path, decision):
    """Clusters that are planned, planned long ago, never planned, and planned with a decision that is damaged."""
    store = LocalStore(tmp_path)
    decide(store, decision, "full", "2026-11-08", "old")
    decide(store, decision, "full", "2026-11-15", "new")
    decide(store, decision, ODD, "2026-11-15", "p", sizing=None, badge={"kind": "good", "text": "✓ Fits"})
    decide(store, decision, "damaged", "2026-11-08", "older")
    decide(store, decision, "damaged", "2026-11-15", "p")
    store.write_bytes(plan_prefix("damaged", "2026-11-15", "p") + DECISION_FOLDER + DECISION, b"{")
    store.write_bytes("inventory/cluster=unplanned/ds=2026-11-15/manifest.json", b"{}")
    return store


def test_every_cluster_has_its_row_the_worst_verdict_first(store, decision):
    found = fleet(store)
    rows = {row["cluster"]: row for row in found["rows"]}
    assert found["summary"] == (
        "4 clusters: 1 whose plan cannot be read, 1 with too little capacity, 1 with enough brokers and a serious "
        "problem, 1 never planned."
    )
    assert list(rows) == ["damaged", "full", ODD, "unplanned"]
    full = rows["full"]
    assert (full["ds"], full["approve"]) == ("2026-11-15", decision["box"]["approve"])
    assert full["runs_out"] == "already"
    assert (full["problem"], full["state"]) == (decision["problems"][0]["message"], "new")
    assert rows["damaged"]["verdict"] == "Cannot be read"
    assert (rows["unplanned"]["verdict"], rows["unplanned"]["ds"]) == ("Never planned", "2026-11-15")


def test_a_plan_far_older_than_the_newest_inventory_orders_nothing(store, decision):
    store.write_bytes("inventory/cluster=unplanned/ds=2026-11-29/manifest.json", b"{}")
    assert [row for row in fleet(store)["rows"] if row["verdict"] == "Out of date"] == []
    store.write_bytes("inventory/cluster=unplanned/ds=2026-11-30/manifest.json", b"{}")
    found = fleet(store)
    assert found["summary"] == "4 clusters: 3 whose plan is out of date, 1 never planned."
    rows = {row["cluster"]: row for row in found["rows"]}
    again = "Stage and plan it again: its plan is of an inventory 15 days older than the newest"
    assert rows["full"]["approve"] == f"{again} (it said: {decision['sizing']['badge']['text']})."
    assert [(row["kind"], row["runs_out"]) for row in rows.values()] == [
        ("bad", ""),
        ("bad", ""),
        ("warn", ""),
        ("note", ""),
    ]


def test_the_page_links_each_report_from_where_it_stands(store):
    assert write_fleet_page(store) == FLEET_PAGE
    soup = BeautifulSoup(store.read_bytes(FLEET_PAGE), "html.parser")
    links = {link.text: link["href"] for link in soup.select("tbody a")}
    assert set(links) == {"full", ODD, "damaged"}
    for name, plan_id in (("full", "new"), (ODD, "p")):
        key = report_prefix(name, "2026-11-15", plan_id) + "index.html"
        assert unquote(links[name]) == key.removeprefix("reports/")
    assert len(soup.select("tbody tr")) == 4


def test_of_one_day_the_plan_counts_that_was_asked_as_usual(store, decision):
    decide(store, decision, "full", "2026-11-15", "a-what-if", request={"broker_counts": [99], "horizon_months": 12})
    assert newest_standing(store, "full").plan_id == "new"


@pytest.mark.parametrize(
    ("badge", "more", "standing"),
    [
        ({"kind": "bad", "text": "✕ Over budget"}, {}, "over budget"),
        ({"kind": "bad", "text": "! Rebalance now"}, {}, "to be rebalanced now"),
        ({"kind": "bad", "text": "↑ Too few brokers now"}, {}, "with too little capacity"),
        ({"kind": "good", "text": "✓ Enough brokers"}, {"problems": []}, "with enough brokers"),
        ({"kind": "good", "text": "✓ Enough brokers"}, {"problems": [], "status": "not_judged"}, "not judged"),
    ],
)
def test_clusters_are_counted_by_what_their_verdict_says(tmp_path, decision, badge, more, standing):
    store = LocalStore(tmp_path)
    decide(store, decision, "one", "2026-11-15", "p", **{"sizing": {**decision["sizing"], "badge": badge}, **more})
    assert fleet(store)["summary"] == f"1 cluster: 1 {standing}."


def test_folders_of_others_are_no_days(store):
    store.write_bytes("inventory/cluster=full/ds=tmp/any", b"")
    store.write_bytes("plans/cluster=full/ds=latest/plan=x/any", b"")
    assert newest_standing(store, "full").plan_id == "new"
    assert len(fleet(store)["rows"]) == 4


def test_a_plan_that_is_under_way_does_not_hide_the_last_one(store):
    store.write_bytes(plan_prefix("full", "2026-11-22", "next") + "placement.manifest.json", b"{}")
    assert newest_standing(store, "full").plan_id == "new"


def test_what_was_dismissed_is_not_the_worst(store):
    standing = newest_standing(store, "full")
    worst = standing.decision["problems"][0]["id"]
    keep_said(store, standing.decision, Said(ids=(worst,), verb=Verb.DISMISS, by="a", on="2026-11-16", reason="known"))
    (row,) = [row for row in fleet(store)["rows"] if row["cluster"] == "full"]
    assert row["problem"] != standing.decision["problems"][0]["message"]


def test_a_store_with_nothing_in_it_has_a_page_that_says_so(tmp_path):
    store = LocalStore(tmp_path)
    write_fleet_page(store)
    assert "No clusters." in store.read_bytes(FLEET_PAGE).decode()
