"""The released files of a plan: the whole move, its waves, the runbook, and a manifest with every hash."""

import datetime
import hashlib
import json

import pyarrow.compute as pc
import pytest

from kafka_capacity.cli.plan_files import plan_files
from kafka_capacity.cli.planning import make_plan, plan_decision
from kafka_capacity.inventory.files import write_snapshot_files
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_manifest, read_table
from kafka_capacity.objects.keys import day_prefix, untold_key
from kafka_capacity.objects.manifest import kept_key
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.pinned import pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import read_plan_tables, seal_plan
from kafka_capacity.plan.publish import publish_report
from kafka_capacity.plan.release import release_plan_files
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.runner import simulate_plan
from tests.builders import cluster, topic

TODAY = datetime.date(2026, 11, 25)
REQUEST = {
    "cluster": "payments",
    "broker_counts": [9],
    "placers": ["fewest-bytes"],
    "max_concurrent_moves_per_broker": 2,
    "max_savings_sets": 0,
}
INVENTORY = cluster(topics=[topic("audit", partitions=4, rf=2), topic("orders", partitions=12)])
KAFKAS = {"moves.json", "rollback.json", "target.json", "reassignment.json"}
MOVE_TABLE_NAMES = {"schedules", "waves", "wave_moves", "broker_timeline", "log_dir_timeline"}


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "objects")


def planned(store, *, without=(), inventory=None, **request):
    """Plan and publish; ``without`` leaves tables out, as older programs did."""
    stage(inventory or INVENTORY, store)
    pinned = pin_plan(store, parse_plan_request({**REQUEST, **request}), run_date=TODAY)
    simulate_plan(store, read_plan_inputs(store, pinned.request_key))
    if without:
        key = pinned.plan_prefix + "placement.manifest.json"
        manifest = json.loads(store.read_bytes(key))
        del manifest["own_sha256"]  # older manifests have none
        manifest["tables"] = {name: parts for name, parts in manifest["tables"].items() if name not in without}
        store.write_bytes(key, json.dumps(manifest).encode())
    manifest = seal_plan(store, pinned)
    publish_report(store, pinned)
    return pinned, manifest


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A plan whose files are released: its store, what was pinned, its manifest, and where the files are."""
    store = LocalStore(tmp_path_factory.mktemp("released"))
    pinned, manifest = planned(store, throttle_bytes_per_second=2e7)
    return store, pinned, manifest, release_plan_files(store, pinned)


def folder_of(store, pinned):
    prefix = pinned.report_prefix + "reassignment/"
    return {key.removeprefix(prefix): store.read_bytes(key) for key in store.list_objects(prefix)}


def replica_lists(content):
    return {(p["topic"], p["partition"]): p["replicas"] for p in json.loads(content)["partitions"]}


def test_all_waves_in_order_are_the_whole_move_and_back_the_start(released):
    store, pinned, manifest, addresses = released
    files = folder_of(store, pinned)
    start, target = replica_lists(files["rollback.json"]), replica_lists(files["moves.json"])
    waves = sorted(name for name in files if name.startswith("waves/") and name.endswith(("copy.json", "reorder.json")))

    assert len(waves) == len(read_table(store, manifest, "waves")) > 2
    lists = dict(start)
    for name in waves:
        lists |= replica_lists(files[name])
    assert lists == target
    for name in reversed(waves):
        lists |= replica_lists(files[name.replace(".json", "-rollback.json")])
    assert lists == start
    whole = replica_lists(files["target.json"])
    assert len(whole) == 16
    assert {name: whole[name] for name in target} == target
    assert files["reassignment.json"] == files["target.json"]
    names = ("moves.json", "rollback.json", "target.json", "reassignment.json", "waves/", "runbook.md")
    assert addresses == [store.uri(f"{pinned.report_prefix}reassignment/{name}") for name in names]


def test_the_manifest_has_the_hash_of_every_file(released):
    store, pinned, *_ = released
    files = folder_of(store, pinned)
    manifest = read_manifest(store, pinned.report_prefix + "reassignment/", kind="plan_files")

    assert {name: part.sha256 for name, part in manifest.documents.items()} == {
        name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != "manifest.json"
    }
    assert manifest.facts["wave_count"] == len({name.split("/")[1][:2] for name in files if "/" in name})
    assert manifest.facts["refused_partitions"] == 0


def test_the_runbook_has_the_exact_commands(released):
    store, pinned, *_ = released
    files = folder_of(store, pinned)
    runbook = files["runbook.md"].decode()

    for name, content in files.items():
        if name.startswith("waves/"):
            assert f'echo "{hashlib.sha256(content).hexdigest()}  {name}" | sha256sum --check' in runbook
    cluster = "--bootstrap-server $BOOTSTRAP $COMMAND_CONFIG"
    start = f"kafka-reassign-partitions.sh {cluster} --reassignment-json-file waves/01-copy"
    for command in (".json --execute --throttle 20000000", ".json --verify", "-rollback.json --execute --throttle "):
        assert start + command in runbook
    assert "## What stays" not in runbook


def test_twice_the_same_gives_the_same_bytes(released):
    store, pinned, *_ = released
    before = folder_of(store, pinned)
    release_plan_files(store, pinned)

    assert folder_of(store, pinned) == before


def test_a_plan_without_waves_is_read_reported_and_released_as_before(store):
    pinned, manifest = planned(store, without=MOVE_TABLE_NAMES)
    release_plan_files(store, pinned)

    assert not MOVE_TABLE_NAMES & set(manifest.tables)
    assert {
        name for name, table in read_plan_tables(store, manifest).items() if name in MOVE_TABLE_NAMES and table
    } == set()
    assert set(folder_of(store, pinned)) == {*KAFKAS, "manifest.json"}


def test_where_nothing_changes_there_is_nothing_to_execute(store):
    pinned, _ = planned(store, broker_counts=[6], tolerance_ratio=1.0)
    release_plan_files(store, pinned)
    files = folder_of(store, pinned)

    assert set(files) == {*KAFKAS, "manifest.json"}
    assert replica_lists(files["moves.json"]) == replica_lists(files["rollback.json"]) == {}
    assert len(replica_lists(files["target.json"])) == 16


CHANGES = {"broker_counts": [9], "partition_counts": {"orders": 18}, "removed_brokers": [2], "replication_factor": 2}


@pytest.mark.parametrize("request_", [{}, CHANGES, {"broker_counts": [6], "tolerance_ratio": 1.0}])
def test_the_command_line_writes_the_same_files_with_the_same_bytes(store, tmp_path, request_):
    pinned, _ = planned(store, **request_)
    release_plan_files(store, pinned)
    released = folder_of(store, pinned)
    del released["manifest.json"]

    write_snapshot_files(INVENTORY, tmp_path / "snapshot")
    given = {name: value for name, value in {**REQUEST, **request_}.items() if name != "cluster"}
    plan = make_plan(str(tmp_path / "snapshot"), given, None, lambda what, *, steps=None: None)
    _, folders = plan_files(plan, plan_decision(plan))
    written = {name: data for name, data in folders[""].items() if name not in {"plan.json", "decision.json"}}
    assert written == released


def test_without_the_pinned_inventory_the_whole_target_is_left_out(store):
    pinned, _ = planned(store)
    release_plan_files(store, pinned)
    before = folder_of(store, pinned)
    stage(cluster(topics=[topic("other")]), store)
    release_plan_files(store, pinned)
    assert folder_of(store, pinned) == before

    store.delete(kept_key(day_prefix("inventory", pinned.cluster, pinned.ds), pinned.inventory_sha256))
    release_plan_files(store, pinned)
    assert KAFKAS - set(folder_of(store, pinned)) == {"target.json", "reassignment.json"}


def test_a_report_that_was_not_delivered_is_named_on_the_next_page_until_it_is(store):
    pinned, _ = planned(store)
    before = store.read_bytes(pinned.report_prefix + "index.html")
    note = {"plan": {"ds": "2026-11-13"}, "untold": {"sre@example.com": "550 <no> such user"}}
    key = untold_key(pinned.cluster, "earlier", "weekly")
    store.write_bytes(key, json.dumps(note).encode())
    publish_report(store, pinned)
    page = store.read_bytes(pinned.report_prefix + "index.html").decode()
    assert "not delivered so far" in page
    assert "report of 2026-11-13 to sre@example.com (550 &lt;no&gt; such user)" in page

    store.delete(key)
    publish_report(store, pinned)
    assert store.read_bytes(pinned.report_prefix + "index.html") == before


def test_parameters_of_the_move_are_in_the_schedule(store):
    _, manifest = planned(store, wave_order="smallest-first", max_wave_hours=2.0, headroom_ratio=0.3)
    (row,) = read_table(store, manifest, "schedules").to_pylist()

    assert (row["order"], row["max_wave_seconds"], row["headroom_ratio"]) == ("smallest-first", 7200.0, 0.3)
    assert row["max_concurrent_moves_per_broker"] == 2
    received = read_table(store, manifest, "wave_moves")
    assert pc.max(received.column("wave")).as_py() == row["wave_count"]
