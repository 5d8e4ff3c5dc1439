"""Sizing through the steps of a plan."""

import dataclasses
import datetime
import json

import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.inventory.staging import stage
from kafka_capacity.objects.dataset import read_table
from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.pinned import pin_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.proposal.evaluate import evaluate_placement
from kafka_capacity.proposal.grid import placement_grid
from kafka_capacity.questions.capacity.document import SIZING_DOCUMENT
from kafka_capacity.questions.capacity.found import sizing_setup
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from kafka_capacity.questions.capacity.sizing_words import headline
from kafka_capacity.questions.capacity.tables import SIZING_TABLES
from tests.asking import ask, run_sizes
from tests.builders import cluster, rows_of, topic, with_rows
from tests.sized_plans import pinned_inventory, read_share, write_sizing_share
from tests.unit.questions.capacity.money import viewed
from tests.unit.questions.savings.small import asked_of, logs, many
from tests.unit.questions.savings.small import inventory as full_disks

REQUEST = {
    "cluster": "payments",
    "shapes": ["m7g.xlarge", "kafka.m5.large"],
    "sizing_broker_counts": [6, 9],
    "growth_per_year_ratio": 0.5,
    "growth_high_per_year_ratio": 1.0,
    "horizon_months": 6,
}


def inventory(**options):
    return cluster(
        topics=[topic("orders", partitions=12, size_bytes=200 * 2**30, bytes_in=3e5, bytes_out=6e5)],
        disk_capacity_bytes=1.6e12,
        **options,
    )


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    return pinned_inventory(inventory(), REQUEST, tmp_path_factory.mktemp("objects"))


@pytest.fixture(scope="module")
def sized(pinned):
    store, plan = pinned
    manifest = write_sizing_share(store, plan)
    return manifest, *read_share(store, manifest, SIZING_DOCUMENT)


def test_the_order_in_which_work_is_done_leaves_no_trace(pinned, sized):
    store, plan = pinned
    manifest, tables, _ = sized
    assert write_sizing_share(store, plan, order=-1).sha256 == manifest.sha256
    assert {name: table.schema for name, table in tables.items()} == {
        name: schema for name, (schema, _) in SIZING_TABLES.items()
    }


def test_options_are_those_that_one_process_finds_and_one_is_recommended(sized):
    _, tables, document = sized
    found = sizing_setup(ask(inventory(), REQUEST))
    expected = simulate_sizing(found.inputs, run_sizes).results
    rows = tables["sizing_options"].to_pylist()
    assert [row["option_id"] for row in rows] == [result.option_id for result in expected]
    assert [row["fits"] for row in rows] == [result.fits for result in expected]
    assert [row["total_usd_per_month"] for row in rows] == [
        result.as_dict()["usd_per_month"]["total"] for result in expected
    ]
    assert rows[0]["kind"] == "do-nothing"
    assert "scale-in" in {row["kind"] for row in rows}
    chosen = [row["option_id"] for row in rows if row["is_recommended"]]
    assert chosen == [document["advice"]["recommended"]]
    assert {row["option_id"] for row in rows if row["is_on_front"]} == set(document["advice"]["front"])


def test_doing_nothing_and_the_recommended_option_bring_what_each_broker_carries(sized):
    _, tables, document = sized
    use = tables["sizing_use"].to_pylist()
    assert {row["option_id"] for row in use} == {"do-nothing", document["advice"]["recommended"]}
    row = next(
        row
        for row in use
        if row["option_id"] == "do-nothing"
        and (row["date"], row["estimate"], row["condition"]) == (document["dates"][0], "middle", "normal")
        and (row["resource"], row["broker_id"]) == ("disk", 1)
    )
    # 12 partitions of RF 3 on 6 brokers: six replicas of 200 GiB each, and a segment on top.
    assert row["load"] == pytest.approx(6 * 201 * 2**30, rel=0.01)
    assert row["capacity"] == 1.6e12
    assert row["used_ratio"] == pytest.approx(row["load"] / (0.85 * 1.6e12))
    worst = max(row["used_ratio"] for row in use if row["option_id"] == "do-nothing" and row["used_ratio"] is not None)
    today = tables["sizing_options"].to_pylist()[0]
    assert today["headroom_ratio"] == pytest.approx(1 - worst)


def test_the_document_says_what_it_rests_on(sized):
    _, _, document = sized
    assert document["dates"][0] == "2026-11-20"
    assert len(document["dates"]) == 7
    assert [(one["name"], one["basis"]) for one in document["classes"]] == [("orders", "growth-rate")]
    assert document["classes"][0]["rate_ratio_high"][-1] == pytest.approx(2 ** (181 / 365.25), rel=1e-3)
    assert document["traffic"]["middle"][0] == pytest.approx(12 * 3e5, rel=0.3)
    assert document["limits"]["disk_ratio"] == 0.85
    assert document["conditions"] == ["normal", "broker-lost"]
    assert [shape["name"] for shape in document["shapes"]] == ["m7g.xlarge", "kafka.m5.large"]
    for waterfall in document["waterfalls"]:
        assert waterfall["theirs"]["brokers"] + sum(step["change"] for step in waterfall["steps"]) == waterfall["ours"]


def test_more_growth_never_makes_what_does_not_fit_fit():
    fitting = []
    for growth in (0.1, 1.0, 4.0):
        asked = ask(inventory(), {**REQUEST, "growth_high_per_year_ratio": growth, "growth_per_year_ratio": 0.0})
        sized = simulate_sizing(sizing_setup(asked).inputs, run_sizes)
        fitting.append({result.option_id for result in sized.results if result.fits})
    assert fitting[0] >= fitting[1] >= fitting[2]
    assert fitting[0] > fitting[2]


def test_an_event_about_no_topic_names_the_mend():
    event = {"kind": "launch", "topics": "order", "factor": 2.0, "from_date": "2026-12-24"}
    asked = ask(inventory(), {**REQUEST, "planned_events": [event]})
    with pytest.raises(RequestError, match=r"planned_events\.0\.topics: 'order' is invalid.*did you mean 'orders'"):
        sizing_setup(asked)


OWN = {
    "offers": [
        {
            "name": "rack-servers",
            "provider": "own",
            "disk": "own",
            "usd_per_gib_between_racks": 0.0,
            "priced_on": "2026-11-01",
            "source": "the hardware team",
        }
    ],
    "shapes": [
        {
            "name": "r740",
            "offer": "rack-servers",
            "vcpu": 32,
            "memory_gib": 256,
            "network_mbit_per_second": 10_000,
            "disk_gib": 20_000,
            "disk_mib_per_second": 1_500,
            "replica_limit": 4_000,
            "usd_per_hour": 0.5,
        }
    ],
}


def test_a_deployments_own_shapes_are_pinned_with_the_plan(tmp_path):
    store = LocalStore(tmp_path)
    stage(inventory(), store)
    request = parse_plan_request({**REQUEST, "shapes": ["r740"]})
    run_date = datetime.date(2026, 11, 25)
    with pytest.raises(RequestError, match="shapes: 'r740' is not in the catalogue"):
        pin_plan(store, request, run_date=run_date)
    pinned = pin_plan(store, request, run_date=run_date, own_shapes=json.dumps(OWN))
    tables = write_sizing_share(store, pinned).tables
    assert set(tables) == set(SIZING_TABLES)
    options = read_table(store, write_sizing_share(store, pinned), "sizing_options").to_pylist()
    own = [row for row in options if row["shape"] == "r740" and row["broker_count"] == 6]
    assert [row["brokers_usd_per_month"] for row in own] == [pytest.approx(6 * 0.5 * 730)]
    dearer = json.dumps(OWN).replace("0.5", "0.7")
    assert pin_plan(store, request, run_date=run_date, own_shapes=dearer).plan_id != pinned.plan_id


def test_own_shapes_that_are_wrong_are_refused_when_the_plan_is_pinned(tmp_path):
    store = LocalStore(tmp_path)
    stage(inventory(), store)
    wrong = json.dumps({"shapes": [{"name": "r740", "offer": "nobody"}]})
    with pytest.raises(RequestError, match="kafka_capacity_shapes: shape 'r740' is of the offer 'nobody'"):
        pin_plan(store, parse_plan_request(REQUEST), run_date=datetime.date(2026, 11, 25), own_shapes=wrong)


def test_many_small_replicas_are_spread_as_far_as_brokers_should_hold():
    """Six brokers hold 36 replicas of 100 GiB and 720 of an eighth of one: 126 each, and 100 are allowed. Nine hold 84.

    Bytes alone are even as soon as each new broker has a few of the large ones.
    """
    raw = full_disks(logs(), many(size_bytes=2**27))
    request = {"broker_counts": [9], "broker_replica_limit": 100, "sizing_broker_counts": [6, 9]}
    asked = asked_of(raw, **request)
    fits = {one.option_id: one.fits for one in simulate_sizing(sizing_setup(asked).inputs, run_sizes).results}
    assert [name for name, is_enough in fits.items() if is_enough] == ["009-brokers.today"]
    # The move to nine that is planned holds them as sizing counts on.
    scenarios = placement_grid(asked.basis.snapshot.brokers, asked.parameters.grid())
    ours = next(one for one in scenarios if one.placer == "fewest-bytes")
    moved = evaluate_placement(asked.basis.snapshot, asked.basis.load, ours)
    assert moved.fits
    assert max(moved.loads.replicas_after) <= 100
    # What cannot be kept to changes nothing.
    few = evaluate_placement(asked.basis.snapshot, asked.basis.load, dataclasses.replace(ours, replica_goal=80))
    free = evaluate_placement(asked.basis.snapshot, asked.basis.load, dataclasses.replace(ours, replica_goal=None))
    assert few.diff.after.tolist() == free.diff.after.tolist() != moved.diff.after.tolist()


@pytest.mark.parametrize(("brokers", "recommended"), [({}, "003-brokers.today"), ({"cpu_cores": None}, "do-nothing")])
def test_fewer_brokers_of_unknown_capacity_are_not_recommended(brokers, recommended):
    raw = full_disks(logs(size_bytes=2**30), disk_gib=10_000, brokers=brokers)
    found = simulate_sizing(sizing_setup(asked_of(raw)).inputs, run_sizes)
    assert {one.option_id: one.fits for one in found.results}["003-brokers.today"]  # as far as is known
    assert found.advice.recommended == recommended
    assert {option_id for _, option_id in found.advice.by_date} == {recommended}
    is_left_out = recommended == "do-nothing"
    assert found.advice.reason.endswith("not recommended where the capacity is unknown: CPU") == is_left_out
    assert ("003-brokers.today" in found.advice.front) != is_left_out


def test_brokers_without_racks_are_why_no_other_placement_is_possible():
    raw = full_disks(logs())
    racks = [{**row, "rack": row["rack"] if row["broker_id"] > 1 else None} for row in rows_of(raw, "brokers")]
    inputs = sizing_setup(asked_of(with_rows(raw, "brokers", racks), growth_high_per_year_ratio=20.0)).inputs
    found = simulate_sizing(inputs, run_sizes)
    # None of the others is helped by leaving new brokers idle.
    assert {one.option.placement.idle_brokers for one in found.results} == {0}
    assert [one.headroom_ratio is None for one in found.results] == [False, True, True, True]
    view = viewed(found.results, found.advice, inputs.workload.outlook.dates)
    assert "; no other placement is possible: broker 1 of the target has no rack while others have one" in headline(
        view
    )
