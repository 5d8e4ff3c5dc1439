"""From a staged inventory to the tables of a plan, again and again."""

import datetime
import json
from dataclasses import replace

import pyarrow.compute as pc
import pytest

from kafka_capacity.errors import DamagedObjectError, InventoryError, RequestError
from kafka_capacity.inventory.snapshot import build_snapshot
from kafka_capacity.inventory.staging import load_findings, stage
from kafka_capacity.objects import object_store
from kafka_capacity.objects.dataset import read_manifest, read_table
from kafka_capacity.objects.manifest import with_own_hash
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.packing import pack_tables, unpack_table
from kafka_capacity.plan.pinned import pin_plan, read_plan_inputs
from kafka_capacity.plan.plan_dataset import SHARES, seal_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.plan.traffic import read_basis
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.grid import placement_grid, scenario_to_json
from kafka_capacity.questions.change.evaluate import PlacementPiece, placement_tables
from kafka_capacity.questions.change.share import inventory_facts, simulation_inputs
from kafka_capacity.questions.change.stored_waves import stored_target
from kafka_capacity.questions.change.tables import PLAN_TABLES
from kafka_capacity.questions.question import PlanContext
from tests.builders import DS, cluster, rows_of, topic, with_rows
from tests.sized_plans import write_shares

TODAY = datetime.date(2026, 11, 25)
REQUEST = {"cluster": "payments", "broker_counts": [6, 9], "placers": ["fewest-bytes", "zk"]}


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "objects")


NO_REQUEST = json.dumps(
    {
        "pinned": {"cluster": "c", "ds": DS, "inventory_sha256": "", "plan_id": ""},
        "request": {"cluster": ""},
        "code_version": "",
        "model_version": "",
    }
).encode()


def inventory(**options):
    return cluster(topics=[topic("audit", partitions=4, rf=2), topic("orders", partitions=9)], hours=24, **options)


def run(store, request=REQUEST, *, order=1, run_date=TODAY):
    """Do what the tasks of a plan do, one after another."""
    pinned = pin_plan(store, parse_plan_request(request), run_date=run_date)
    write_shares(store, pinned, *SHARES, order=order)
    return pinned, seal_plan(store, pinned)


def contents(store):
    return {key: store.read_bytes(key) for key in store.list_objects("")}


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """A store with the plan of the request, what was pinned, its manifest, and all that is in the store."""
    store = LocalStore(tmp_path_factory.mktemp("planned"))
    stage(inventory(), store)
    return store, *run(store), contents(store)


@pytest.mark.usefixtures("drawn_anew")
def test_twice_the_same_gives_the_same_keys_and_bytes(planned):
    store, first, manifest, before = planned
    second, again = run(store, order=-1, run_date=TODAY + datetime.timedelta(days=3))

    assert (second, again) == (first, manifest)
    assert contents(store) == before
    assert first.plan_prefix.startswith(f"plans/cluster=payments/ds={DS}/plan=")


def test_another_store_gets_the_same_bytes(store, planned):
    stage(inventory(), store)
    run(store)

    assert contents(store) == planned[-1]


def test_who_gets_the_plan_changes_nothing_of_it(planned):
    store, *_, before = planned
    run(store, {**REQUEST, "recipients": ["sre@example.com"], "is_approval_required": True})

    assert contents(store) == before


def test_the_order_of_the_rows_of_an_inventory_does_not_show(store, planned):
    raw = inventory()
    shuffled = raw
    for name in ("brokers", "topics", "replicas", "log_dirs"):
        shuffled = with_rows(shuffled, name, rows_of(raw, name)[::-1])
    stage(shuffled, store)

    _, _, manifest, _ = planned
    assert run(store)[1] == manifest


def asked_of(store, inputs):
    return PlanContext(basis=read_basis(store, inputs.pinned), parameters=parse_plan_request(inputs.request))


def test_the_tables_hold_what_was_evaluated(planned):
    store, pinned, *_ = planned
    inputs = read_plan_inputs(store, pinned.request_key)
    simulation = simulation_inputs(asked_of(store, inputs))
    manifest = read_manifest(store, pinned.plan_prefix, kind="plan")
    tables = {name: read_table(store, manifest, name) for name in PLAN_TABLES}

    assert [row["scenario_id"] for row in tables["scenarios"].to_pylist()] == sorted(
        scenario.scenario_id for scenario in inputs.scenarios
    )
    for scenario in inputs.scenarios:
        result = evaluate_placement(simulation.snapshot, simulation.load, scenario)
        moves = tables["moves"].filter(pc.equal(tables["moves"]["scenario_id"], scenario.scenario_id))
        _, after, _, _ = stored_target(simulation.snapshot.partitions, simulation.snapshot.replicas, moves)
        assert after.tolist() == result.diff.after.tolist()
        assert sum(moves.column("moved_bytes").to_pylist()) == result.metrics.moved_bytes
        loads = tables["broker_load"].filter(pc.equal(tables["broker_load"]["scenario_id"], scenario.scenario_id))
        assert loads.column("bytes_after").to_pylist() == result.loads.bytes_after.tolist()


def test_a_plan_is_pinned_to_the_newest_inventory_that_is_not_younger_than_the_run(store):
    for ds in ("2026-11-18", "2026-11-20", "2026-11-30"):
        stage(inventory(ds=ds), store)

    assert pin_plan(store, parse_plan_request(REQUEST), run_date=TODAY).ds == "2026-11-20"
    asked = parse_plan_request({**REQUEST, "ds": "2026-11-18"})
    assert pin_plan(store, asked, run_date=TODAY).ds == "2026-11-18"


def test_coming_events_of_no_topic_are_refused_before_anything_is_simulated(store):
    stage(inventory(), store)
    launch = {"kind": "launch", "topics": "order", "factor": 2.0}

    def pin(*days):
        events = [{**launch, "from_date": day} for day in days]
        return pin_plan(store, parse_plan_request({**REQUEST, "planned_events": events}), run_date=TODAY)

    with pytest.raises(RequestError, match=r"planned_events\.1\.topics: 'order' is invalid.*did you mean 'orders'"):
        pin("2026-11-01", "2026-12-24")
    pin("2026-11-01", "2036-12-24")  # which are left out: over, and after the horizon


def test_a_plan_reads_the_inventory_and_the_profile_that_it_is_pinned_to(store):
    stage(inventory(), store)
    pinned = pin_plan(store, parse_plan_request(REQUEST), run_date=TODAY)
    before = read_plan_inputs(store, pinned.request_key)
    stage(replace(inventory(), kafka_version="4.4.0"), store)

    assert read_basis(store, pinned).raw.kafka_version == inventory().kafka_version != "4.4.0"
    assert repr(read_plan_inputs(store, pinned.request_key)) == repr(before)


FULL_REQUEST = {
    **REQUEST,
    "throttles_bytes_per_second": [1e7, 2e7],
    "pinned_topics": {"audit": [1, 2, "rack:a"]},
    "replaced_brokers": {"3": 13},
    "partition_counts": {"orders": 12},
    "max_wave_hours": 1.5,
    "wave_order": "smallest-first",
    "group_protocols": ["consumer"],
    "session_timeout_seconds": 30.0,
    "seed": 7,
}


def test_what_a_request_stands_for_is_derived_from_it_when_it_is_read(store):
    stage(inventory(), store)
    asked = parse_plan_request(FULL_REQUEST)
    pinned = pin_plan(store, asked, run_date=TODAY)
    document = json.loads(store.read_bytes(pinned.request_key))
    observed = build_snapshot(inventory()).brokers

    inputs = read_plan_inputs(store, pinned.request_key)
    expected = placement_grid(observed, asked.grid())
    assert [scenario_to_json(one) for one in inputs.scenarios] == [scenario_to_json(one) for one in expected]
    read = parse_plan_request(inputs.request)
    assert read.move_settings() == asked.move_settings()
    assert read.group_grid(seed=7) == asked.group_grid(seed=7)
    assert inputs.pinned == pinned
    assert not {"recipients", "is_approval_required", "ds"} & set(inputs.request)
    named = {"pinned", "request", "own_shapes", "owners", "scores", "code_version", "model_version", "own_sha256"}
    assert set(document) == named


def test_a_request_of_the_version_before_with_lists_beside_it_is_read(store):
    stage(inventory(), store)
    pinned = pin_plan(store, parse_plan_request(REQUEST), run_date=TODAY)
    document = json.loads(store.read_bytes(pinned.request_key))
    before = [one.scenario_id for one in read_plan_inputs(store, pinned.request_key).scenarios]
    older = {**document, "scenarios": [{"scenario_id": "x"}], "move": {}, "group_grid": {}}
    del older["own_sha256"]
    store.write_bytes(pinned.request_key, with_own_hash(older))

    assert [one.scenario_id for one in read_plan_inputs(store, pinned.request_key).scenarios] == before


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"pinned": {"cluster": "c"}}', NO_REQUEST])
def test_a_request_that_is_none_is_our_error(store, body):
    store.write_bytes("request.json", body)

    with pytest.raises((InventoryError, DamagedObjectError), match=r"is not a pinned request|cannot be read"):
        read_plan_inputs(store, "request.json")


def test_a_request_with_any_bit_flipped_is_refused(store, monkeypatch):
    monkeypatch.setattr(object_store, "ATTEMPTS", 1)
    stage(inventory(), store)
    key = pin_plan(store, parse_plan_request(REQUEST), run_date=TODAY).request_key
    body = store.read_bytes(key)
    for place in range(0, 8 * len(body), 41):
        flipped = bytearray(body)
        flipped[place // 8] ^= 1 << place % 8
        store.write_bytes(key, bytes(flipped))
        with pytest.raises((DamagedObjectError, InventoryError)):
            read_plan_inputs(store, key)


def test_the_findings_that_a_plan_shows_are_of_the_pinned_inventory(store):
    before = load_findings(store, stage(inventory(), store))
    pinned = pin_plan(store, parse_plan_request(REQUEST), run_date=TODAY)
    other = stage(cluster(topics=[topic("other")]), store)

    assert read_basis(store, pinned).findings == before
    assert load_findings(store, other) != before


def test_racks_are_refused_where_no_broker_has_one(store):
    stage(cluster(racks=None), store)
    asked = parse_plan_request({"cluster": "payments", "new_broker_racks": ["a"]})

    with pytest.raises(RequestError, match=r"^new_broker_racks: \['a'\] is invalid: no broker of cluster 'payments'"):
        pin_plan(store, asked, run_date=TODAY)


def test_a_cluster_without_an_inventory_is_a_clear_error(store):
    with pytest.raises(InventoryError, match="cluster 'payments' has no complete inventory up to 2026-11-25"):
        pin_plan(store, parse_plan_request(REQUEST), run_date=TODAY)


def test_what_kafka_would_refuse_is_stored_as_such(store):
    stage(inventory(), store)
    pinned, manifest = run(store, {**REQUEST, "broker_counts": [2]})
    rows = read_table(store, manifest, "scenarios").to_pylist()

    assert [row["fits"] for row in rows] == [False, False]
    assert rows[0]["moved_bytes"] is None
    assert json.loads(rows[0]["excuses"])[0]["constraint"] == "placement"
    assert len(read_table(store, manifest, "moves")) == 0
    assert pinned.plan_id == manifest.facts["plan_id"]


def test_tables_travel_as_arrow_streams(store):
    stage(inventory(), store)
    inputs = read_plan_inputs(store, pin_plan(store, parse_plan_request(REQUEST), run_date=TODAY).request_key)
    tables = placement_tables(
        simulation_inputs(asked_of(store, inputs)), PlacementPiece(scenarios=(inputs.scenarios[0],), has_moves=True)
    )

    for name, data in pack_tables(tables).items():
        assert unpack_table(data).equals(tables[name])


def test_facts_name_the_rack_traps_of_what_is_proposed(store):
    stage(inventory(), store)
    pinned = pin_plan(store, parse_plan_request({**REQUEST, "broker_counts": [6, 7]}), run_date=TODAY)
    inputs = read_plan_inputs(store, pinned.request_key)
    facts = inventory_facts(asked_of(store, inputs), inputs.scenarios)

    assert facts["snapshot"]["partition_count"] == 13
    assert facts["snapshot"]["rate_history_hours"] == 24
    traps = {
        name: [(one["code"], one["where"]) for one in found if one["code"] == "uneven-racks"]
        for name, found in facts["proposed"].items()
    }
    assert traps == {
        one.scenario_id: [("uneven-racks", "7 brokers")] for one in inputs.scenarios if len(one.target) == 7
    }
