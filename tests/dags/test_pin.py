"""What is pinned for a deployment: a cluster whose inventory nobody can read keeps none of the others from its plan."""

from __future__ import annotations

import datetime

import pytest

from kafka_capacity.errors import DamagedObjectError, InventoryError, RequestError
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects import object_store
from kafka_capacity.objects.keys import day_prefix
from kafka_capacity.objects.store import open_store
from tests.builders import DS, cluster

AT = datetime.datetime.fromisoformat(f"{DS}T06:00:00+00:00")
DAMAGES = {
    "a manifest that is cut off": lambda store, manifest: store.write_bytes(manifest, store.read_bytes(manifest)[:100]),
    "no manifest": lambda store, manifest: store.delete(manifest),
    "a table with a flipped bit": lambda store, manifest: _flip(store, manifest.replace("manifest.json", "brokers/")),
}


def _flip(store, folder):
    (key,) = store.list_objects(folder)
    data = bytearray(store.read_bytes(key))
    data[40] ^= 1
    store.write_bytes(key, bytes(data))


@pytest.fixture
def steps(services):
    """The steps of the DAGs, which import Airflow: only once it is set up."""
    from kafka_capacity_airflow import steps

    return steps


@pytest.fixture
def store(steps, monkeypatch, tmp_path):
    found = open_store(str(tmp_path))
    monkeypatch.setattr(steps, "airflow_store", lambda: found)
    monkeypatch.setattr(steps, "clusters", list)
    monkeypatch.setattr(steps, "own_shapes", lambda: "")
    monkeypatch.setattr(object_store, "ATTEMPTS", 1)
    for name in ("first", "broken", "last"):
        stage(cluster(cluster=name), found)
    return found


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_that_is_damaged_keeps_none_of_the_others_from_a_plan(steps, store, damage):
    DAMAGES[damage](store, day_prefix("inventory", "broken", DS) + "manifest.json")
    pinned, unplanned = steps.pin({"broker_counts": [7]}, AT, landed={})

    assert [plan["cluster"] for plan in pinned] == ["first", "last"]
    (why,) = unplanned
    assert why.startswith("broken: ")
    with pytest.raises(InventoryError, match="broken: "):
        steps.fail_if_unplanned(unplanned)


def test_where_it_is_the_only_one_that_is_asked_for_its_error_is_that_of_the_run(steps, store):
    DAMAGES["a table with a flipped bit"](store, day_prefix("inventory", "broken", DS) + "manifest.json")
    with pytest.raises(DamagedObjectError, match="is damaged"):
        steps.pin({"cluster": "broken", "broker_counts": [7]}, AT, landed={})


def test_a_run_that_inventories_started_plans_these_on_their_days(steps, store):
    stage(cluster(cluster="last", ds="2026-11-18"), store)
    pinned, unplanned = steps.pin({"broker_counts": [7]}, AT, landed={"last": "2026-11-18", "first": DS})

    assert [(plan["cluster"], plan["ds"]) for plan in pinned] == [("first", DS), ("last", "2026-11-18")]
    assert not unplanned
    # What somebody asks for counts before what landed.
    (asked,), _ = steps.pin({"cluster": "last", "broker_counts": [7]}, AT, landed={"last": "2026-11-18"})
    assert asked["ds"] == DS


def test_a_request_that_cannot_be_asked_of_one_of_all_names_that_one(steps, store):
    with pytest.raises(RequestError, match=r"^removed_brokers: broker 99 is invalid: .*\(cluster 'broken'\)$"):
        steps.pin({"removed_brokers": [99]}, AT, landed={})
    # Not where a cluster is named, or where no cluster could be asked that.
    for params, words in (
        ({"cluster": "last", "removed_brokers": [99]}, "^removed_brokers: broker 99 is invalid"),
        ({"broker_counts": [0]}, "^broker_counts"),
    ):
        with pytest.raises(RequestError, match=words) as refused:
            steps.pin(params, AT, landed={})
        assert "(cluster " not in str(refused.value)
