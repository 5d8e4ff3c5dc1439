from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from kafka_capacity.errors import ConflictError, InventoryError
from kafka_capacity.inventory.staging import (
    inventory_manifest,
    load,
    load_findings,
    newest_complete,
    read_staged_brokers,
    sorted_table,
    stage,
)
from kafka_capacity.inventory.validation import inventory_problems
from kafka_capacity.objects.dataset import keep_version
from kafka_capacity.objects.store import open_store
from tests.builders import DS, cluster, rows_of, topic, with_rows

DAY = datetime.date.fromisoformat(DS)


@pytest.fixture
def store(tmp_path):
    return open_store(str(tmp_path))


def contents(store):
    return {key: store.read_bytes(key) for key in store.list_objects("")}


def test_what_is_staged_is_loaded_again(store):
    raw = cluster(topics=[topic("orders"), topic("audit", rf=1, min_insync_replicas=1)], brokers=5)
    manifest = stage(raw, store)
    assert manifest.prefix == "inventory/cluster=payments/ds=2026-11-20/"
    assert manifest == inventory_manifest(store, "payments", DS)
    back = load(store, manifest)
    assert (back.cluster, back.ds, back.captured_at, back.kafka_version) == (
        "payments",
        DS,
        "2026-11-20T03:00:00Z",
        "4.3.0",
    )
    for name in raw.tables:
        assert back.table(name).equals(sorted_table(raw.table(name), name))
    assert load_findings(store, manifest) == inventory_problems(raw)


def test_the_same_inventory_in_any_order_gives_the_same_bytes(store):
    raw = cluster()
    turned = raw
    for name in raw.tables:
        turned = with_rows(turned, name, rows_of(raw, name)[::-1])
    first = stage(raw, store)
    before = contents(store)
    assert stage(turned, store) == first
    assert contents(store) == before


def test_fatal_findings_leave_what_was_there_before(store):
    stage(cluster(), store)
    before = contents(store)
    broken = with_rows(cluster(), "brokers", [row | {"broker_id": 1} for row in rows_of(cluster(), "brokers")])
    with pytest.raises(InventoryError, match=r"^1 broker id given more than once"):
        stage(broken, store)
    assert contents(store) == before


def test_a_version_that_was_kept_is_read_whatever_is_staged_over_it(store):
    old = stage(cluster(), store)
    keep_version(store, old)
    before = load(store, old).table("brokers")
    for brokers in (3, 4):
        stage(cluster(brokers=brokers), store)
    assert (
        load(store, inventory_manifest(store, "payments", DS, manifest_sha256=old.sha256))
        .table("brokers")
        .equals(before)
    )
    assert not load(store, inventory_manifest(store, "payments", DS)).table("brokers").equals(before)


def test_a_version_that_nobody_kept_is_refused(store):
    old = stage(cluster(), store)
    new = stage(cluster(brokers=3), store)
    with pytest.raises(ConflictError) as caught:
        load(store, inventory_manifest(store, "payments", DS, manifest_sha256=old.sha256))
    assert str(caught.value) == (
        f"{store.uri(old.prefix)} was written again (manifest {new.sha256[:12]}, pinned "
        f"{old.sha256[:12]}), and the pinned version is no longer kept; start the run again"
    )


def test_a_version_that_was_written_over_meanwhile_is_not_kept(store):
    stage(cluster(), store)
    old = inventory_manifest(store, "payments", DS)
    stage(cluster(brokers=3), store)
    with pytest.raises(ConflictError, match="was written again meanwhile"):
        keep_version(store, old)


def test_a_day_without_a_manifest_is_not_data(store):
    stage(cluster(), store)
    prefix = "inventory/cluster=payments/ds=2026-11-21/"
    store.write_bytes(prefix + "brokers/part-00000.parquet", b"half")
    with pytest.raises(InventoryError) as caught:
        inventory_manifest(store, "payments", "2026-11-21")
    assert str(caught.value) == (
        f"cluster 'payments' has no complete inventory of 2026-11-21 ({store.uri(prefix)}/manifest.json is missing); "
        f"there is one of {DS}: stage one first"
    )
    with pytest.raises(InventoryError, match=r"there are inventories of 'payments': stage one first$"):
        inventory_manifest(store, "paymets", DS)
    assert newest_complete(store, "payments", not_after=datetime.date(2026, 12, 1)) == DS


def test_the_newest_complete_day_is_found(store):
    for ds in ("2026-11-18", "2026-11-20", "2026-11-22"):
        stage(replace(cluster(), ds=ds), store)
    assert newest_complete(store, "payments", not_after=DAY) == "2026-11-20"
    assert newest_complete(store, "payments", not_after=datetime.date(2026, 11, 19)) == "2026-11-18"
    with pytest.raises(InventoryError) as caught:
        newest_complete(store, "payments", not_after=datetime.date(2026, 11, 1))
    assert str(caught.value) == (
        "cluster 'payments' has no complete inventory up to 2026-11-01; there is one of 2026-11-22: stage one first"
    )
    with pytest.raises(InventoryError) as caught:
        newest_complete(store, "nobody", not_after=DAY)
    assert str(caught.value) == (
        "cluster 'nobody' has no complete inventory up to 2026-11-20; there are inventories of 'payments': stage one "
        "first"
    )


def test_without_any_inventory_no_other_cluster_is_named(store):
    with pytest.raises(InventoryError, match=r"up to 2026-11-20: stage one first$"):
        newest_complete(store, "nobody", not_after=DAY)


@pytest.mark.parametrize("name", ["a/../../b", "..", "päyments <script>", "cluster=x"])
def test_a_cluster_of_any_name_stays_in_its_own_folder(store, name):
    manifest = stage(replace(cluster(), cluster=name), store)
    assert manifest.prefix.count("/") == 3
    assert load(store, inventory_manifest(store, name, DS)).cluster == name


def test_the_brokers_of_a_staged_inventory_are_those_of_its_snapshot(store):
    raw = cluster(quorum_replicas=[{"node_id": 2, "is_voter": True}])
    raw = with_rows(raw, "brokers", [row | {"disk_capacity_bytes": None} for row in rows_of(raw, "brokers")])
    raw = with_rows(raw, "log_dirs", [row | {"is_cordoned": row["broker_id"] == 3} for row in rows_of(raw, "log_dirs")])
    found = read_staged_brokers(store, stage(raw, store))
    assert found.disk_capacity_bytes.tolist() == [4e12] * 6
    assert (found.is_cordoned.tolist().index(True), found.is_voter.tolist().index(True)) == (2, 1)
