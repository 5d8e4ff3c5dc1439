"""Failures through the steps of a plan."""

import dataclasses
import datetime

import numpy as np
import pytest

from kafka_capacity.demand.workload import PeakBasis, Traffic
from kafka_capacity.errors import RequestError
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.kafka.controller.quorum.simulation import FailureKind
from kafka_capacity.plan.handing import failures_today
from kafka_capacity.plan.pinned import pin_plan
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.proposal.expansion import expanded, shared_traffic
from kafka_capacity.proposal.grid import placement_grid
from kafka_capacity.questions.failures import simulate as failure_evaluation
from kafka_capacity.questions.failures.baseline import Baseline
from kafka_capacity.questions.failures.share import FAILURES_DOCUMENT
from kafka_capacity.questions.failures.simulate import failure_pieces, merged_tables, piece_tables
from kafka_capacity.questions.failures.tables import FAILURE_TABLES
from tests.asking import ask, simulate_here
from tests.builders import cluster, topic
from tests.failovers import fail_leader
from tests.sized_plans import pinned_inventory, read_share, write_failures_share

REQUEST = {
    "cluster": "payments",
    "broker_counts": [4, 5],
    "throttles_bytes_per_second": [5e8, 9e8],
    "throttle_bytes_per_second": 6e8,
    "placers": ["fewest-bytes"],
    "failure_sets": ["4,rack:a", "5"],
    "controllers": ["1", "2:z", "3"],
    "failover_runs": 10,
    "failure_placements": "all",
}
LISTS = {"orders": [[1, 2], [2, 3]], "single": [[3]]}


def inventory():
    """Brokers 1 and 3 in rack a, 2 and 4 in rack b; a network takes 1.25e9."""
    return cluster(
        brokers=4,
        racks=2,
        topics=[
            topic(
                name,
                replicas=lists,
                size_bytes=10**9,
                bytes_in=4e8,
                bytes_out=5e8,
                settings={"min_insync_replicas": len(lists[0])},
            )
            for name, lists in LISTS.items()
        ],
        groups=[{"group_id": "fraud", "state": "Stable", "group_type": "classic", "protocol_type": "consumer"}],
        lags=[{"group_id": "fraud", "topic": "single", "partition": 0, "committed_offset": 1, "lag_records": 0}],
    )


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    return pinned_inventory(inventory(), REQUEST, tmp_path_factory.mktemp("objects"))


@pytest.fixture(scope="module")
def share(pinned):
    store, plan = pinned
    manifest = write_failures_share(store, plan)
    return manifest, *read_share(store, manifest, FAILURES_DOCUMENT)


def rows(tables, name, **wanted):
    return [row for row in tables[name].to_pylist() if all(row[key] == value for key, value in wanted.items())]


def test_the_order_in_which_work_is_done_leaves_no_trace(pinned, share):
    store, plan = pinned
    manifest, tables, _ = share
    assert write_failures_share(store, plan, order=-1).sha256 == manifest.sha256
    assert {name: table.schema for name, table in tables.items()} == {
        name: schema for name, (schema, _) in FAILURE_TABLES.items()
    }


def test_losses_of_todays_brokers_are_those_worked_out_by_hand(share):
    _, tables, _ = share
    found = {row["name"]: row for row in rows(tables, "failures", placement_id="today")}
    figures = ("offline", "offline_topics", "under_min_isr", "new_leaders", "groups_affected")
    # orders-0 is on 1 and 2, orders-1 on 2 and 3, with both in sync wanted; single-0 is on 3 alone.
    # Without a majority of the controllers (rack a, or broker 1 with rack b) nobody takes over, or leaves an ISR.
    assert {name: tuple(row[key] for key in figures) for name, row in found.items() if row["kind"] != "pair"} == {
        "broker 1": (0, 0, 1, 1, 0),
        "broker 2": (0, 0, 2, 1, 0),
        "broker 3": (1, 1, 1, 0, 1),
        "broker 4": (0, 0, 0, 0, 0),
        "rack a": (2, 2, 1, 0, 1),
        "rack b": (0, 0, 2, 1, 0),
        # Of rack z, where no broker is, a controller is lost: with another one there is no majority.
        "rack z": (0, 0, 0, 0, 0),
        "rack a + broker 2": (3, 2, 0, 0, 1),
        "rack a + broker 4": (2, 2, 1, 0, 1),
        "rack b + broker 1": (2, 1, 0, 0, 0),
        "rack b + broker 3": (2, 2, 1, 0, 1),
        "rack z + broker 1": (1, 1, 0, 0, 0),
        "rack z + broker 2": (0, 0, 2, 1, 0),
        "rack z + broker 3": (1, 1, 1, 0, 1),
        "rack z + broker 4": (0, 0, 0, 0, 0),
        "broker 4 + rack a": (2, 2, 1, 0, 1),
    }
    assert len(rows(tables, "failures", placement_id="today", kind="pair")) == 6
    assert (found["broker 3"]["stopped_bytes_per_second"], found["broker 3"]["refused_bytes_per_second"]) == (4e8, 4e8)
    # Without broker 1, 2 leads both of orders: it sends 5e8 twice, and 4e8 to the follower of one.
    assert found["broker 1"]["max_out_ratio"] == pytest.approx(1.4e9 / 1.25e9)
    # Broker 3's replica of orders-1 alone is re-replicated: single-0 has no leader to copy from.
    assert (found["broker 3"]["rebuild_bytes"], found["broker 3"]["rebuild_seconds"]) == (1e9, pytest.approx(5.0))


def test_survivors_and_groups_are_named_with_the_loss_that_is_worst_for_them(share):
    _, tables, _ = share
    (row,) = rows(tables, "failure_brokers", placement_id="today", kind="broker", broker_id=2, resource="network_out")
    assert (row["overloads"], row["worst_loss"], row["rack"]) == (1, "broker 1", "b")
    assert (row["peak"], row["peak_before"], row["capacity"]) == (pytest.approx(1.4e9), pytest.approx(9e8), 1.25e9)
    (affected,) = rows(tables, "failure_groups", placement_id="today", kind="rack")
    assert (affected["group_id"], affected["losses"], affected["worst_loss"], affected["offline_partitions"]) == (
        "fraud",
        1,
        "rack a",
        1,
    )
    assert {row["code"] for row in rows(tables, "diagnoses", placement_id="today")} >= {
        "single-replica",
        "min-isr-equals-rf",
        "controllers-share-rack",
    }


def test_options_with_one_placement_share_its_losses_and_a_new_broker_can_be_lost(share):
    _, tables, document = share
    first, second = "004-brokers.fewest-bytes.500MBps", "005-brokers.fewest-bytes.500MBps"
    assert document["placements"] == {
        first: first,
        "004-brokers.fewest-bytes.900MBps": first,
        second: second,
        "005-brokers.fewest-bytes.900MBps": second,
    }
    assert set(tables["failures"].column("placement_id").to_pylist()) == {"today", first, second}
    given = {
        placement: {
            row["name"]: row["brokers"] for row in rows(tables, "failures", placement_id=placement, kind="given")
        }
        for placement in ("today", second)
    }
    assert given["today"] == {"broker 4 + rack a": [1, 3, 4]}
    assert {"broker 5": [5]}.items() <= given[second].items()


def test_every_set_of_controllers_is_lost_and_the_times_are_those_of_the_simulation(share):
    _, tables, document = share
    found = tables["quorum"].to_pylist()
    assert [(row["lost"], row["racks"], row["has_majority"]) for row in found] == [
        ([1], [], True),
        ([2], ["z"], True),
        ([3], [], True),
        ([1, 2], ["z"], False),
        ([1, 3], ["a"], False),
        ([2, 3], ["z"], False),
        ([1, 2, 3], ["a", "z"], False),
    ]
    expected = fail_leader(3, FailureKind.VANISHED, runs=10, seed=0)
    assert found[0]["leaderless_p50_seconds"] == expected.quantile(0.5)
    assert found[0]["leaderless_p99_seconds"] == expected.quantile(0.99)
    assert found[0]["active_lost_ratio"] == pytest.approx(1 / 3)
    assert found[-1]["leaderless_p50_seconds"] is None
    times = rows(tables, "quorum_failovers", failure="vanished")
    assert [(row["lost_before"], row["runs"]) for row in times] == [(0, 10)]
    assert times[0]["split_vote_ratio"] == expected.split_vote_ratio
    assert times[0]["rpcs_mean"] == sum(counts.sum() for counts in expected.rpcs.values()) / 10
    asked = document["controllers"]
    assert asked["voters"] == [{"node_id": 1, "rack": "a"}, {"node_id": 2, "rack": "z"}, {"node_id": 3, "rack": "a"}]
    assert asked["unavailable_ratio"] == pytest.approx(3 * 0.001**2 - 2 * 0.001**3)
    # Rack a ends the quorum by itself; apart from that two of three must be down.
    assert asked["unavailable_in_racks_ratio"] == pytest.approx(1e-4 + 3e-6 + 2e-7, rel=0.01)


def test_losses_say_whether_a_majority_of_the_controllers_is_left(share):
    _, tables, _ = share
    racks = {row["name"]: row["has_majority"] for row in rows(tables, "failures", placement_id="today", kind="rack")}
    assert racks == {"rack a": False, "rack b": True, "rack z": True}
    # The voter in rack z is no broker: whoever of these is lost, it is not.
    brokers = rows(tables, "failures", placement_id="today", kind="broker")
    assert all(row["has_majority"] for row in brokers)
    nobody = simulate_here(dataclasses.replace(found_failures(), placements=()))
    assert {row["has_majority"] for row in nobody["failures"].to_pylist()} == {None}


def test_after_the_change_those_vote_that_are_wanted():
    inputs = found_failures(controllers=["1", "2:z", "3"], wanted_controllers=["1", "2:z", "9:y"])
    tables = simulate_here(inputs)
    after = next(row["placement_id"] for row in tables["failures"].to_pylist() if row["placement_id"] != "today")
    lost = {
        placement: [
            row["name"]
            for row in rows(tables, "failures", placement_id=placement, kind="rack")
            if not row["has_majority"]
        ]
        for placement in ("today", after)
    }
    assert lost == {"today": ["rack a"], after: []}


def found_failures(**given):
    asked = ask(inventory(), {**REQUEST, "controllers": [], "failure_placements": "all", **given})
    scenarios = placement_grid(asked.basis.snapshot.brokers, asked.parameters.grid())
    return failures_today(dataclasses.replace(asked, scenarios=scenarios))


def test_a_placement_in_several_pieces_gives_the_same_as_in_one(monkeypatch):
    inputs = found_failures()
    whole = simulate_here(inputs)
    monkeypatch.setattr(failure_evaluation, "MAX_REPLICAS", 1)
    pieces = failure_pieces(inputs)
    assert len(pieces) == 3 * len({None, *(one.scenario.scenario_id for one in inputs.placements)})
    apart = merged_tables(inputs, [piece_tables(inputs, piece) for piece in pieces])
    assert {name: table.to_pylist() for name, table in apart.items()} == {
        name: table.to_pylist() for name, table in whole.items()
    }


def test_without_controllers_nothing_is_said_of_them():
    tables = simulate_here(dataclasses.replace(found_failures(), placements=()))
    assert (len(tables["quorum"]), len(tables["quorum_failovers"])) == (0, 0)


def test_a_cluster_without_racks_and_rates_has_no_racks_to_lose_and_no_loads():
    raw = cluster(brokers=3, racks=None, topics=[topic("orders", partitions=3)], hours=0)
    asked = ask(raw, {"cluster": "payments", "failure_kinds": ["rack", "broker"]})
    tables = simulate_here(failures_today(asked))
    assert [(row["kind"], row["looked_at"]) for row in tables["failure_kinds"].to_pylist()] == [
        ("broker", 3),
        ("rack", 0),
    ]
    assert tables["failures"].column("loaded_ratio").null_count == 3
    nothing = simulate_here(failures_today(ask(raw, {"cluster": "payments", "failure_kinds": ["rack"]})))
    assert (len(nothing["failures"]), len(nothing["failure_kinds"])) == (0, 1)


def test_of_too_many_pairs_some_are_looked_at_and_the_table_says_so():
    tables = simulate_here(dataclasses.replace(found_failures(max_failure_sets=3), placements=()))
    (pairs,) = rows(tables, "failure_kinds", kind="pair")
    assert (pairs["possible"], pairs["looked_at"]) == (6, 3)
    assert len(rows(tables, "failures", kind="pair")) == 3


def test_losses_of_what_is_nowhere_are_refused(pinned):
    store, _ = pinned
    asked = parse_plan_request({**REQUEST, "failure_sets": ["9,rack:q,1"]})
    with pytest.raises(RequestError) as refused:
        pin_plan(store, asked, run_date=datetime.date(2026, 11, 25))
    assert str(refused.value) == (
        "failure_sets: broker 9, rack q in 'brokers 1, 9 + rack q' is invalid: it exists neither today nor in any "
        "option; fix the set"
    )


def test_hours_of_a_topic_with_more_partitions_are_shared_as_its_load_is():
    raw = inventory()
    snapshot = build_snapshot(raw)
    load = partition_load(raw, snapshot)
    request = parse_plan_request({**REQUEST, "partition_counts": {"orders": 4}, "failure_sets": []})
    (scenario, *_) = placement_grid(snapshot.brokers, request.grid())
    more = expanded(snapshot, load, scenario)
    hours = np.arange(6, dtype=np.float32).reshape(3, 2)
    traffic = Traffic(bytes_in=hours, bytes_out=2 * hours, basis=PeakBasis.SAME_HOURS)
    shared = shared_traffic(traffic, more)
    # orders had 0 and 2 in the first hour, 1 and 3 in the second; single is last and stays.
    assert shared.bytes_in.tolist() == [*[[0.5, 1.0]] * 4, [4.0, 5.0]]
    assert shared.bytes_out.tolist() == [*[[1.0, 2.0]] * 4, [8.0, 10.0]]
    assert Baseline(snapshot=snapshot, load=load, traffic=traffic).traffic is traffic


def test_what_could_be_lost_is_told_of_every_placement(share):
    _, tables, document = share
    today = {row["topic"]: row for row in rows(tables, "durability", placement_id="today")}
    assert set(tables["durability"].column("placement_id").to_pylist()) == {"today", *document["placements"].values()}
    assert (today["single"]["unavailable_after"], today["orders"]["unavailable_after"]) == (1, 2)
    assert (today["single"]["copysets"], today["orders"]["copysets"]) == (1, 2)
    # One broker in ten years loses what is on it alone.
    assert today["single"]["events_per_year"] == pytest.approx(0.1, rel=0.01)
    assert document["durability"]["acks"] == "all"
    whole = {row["is_few_copysets"]: row for row in rows(tables, "durability_placements", placement_id="today")}
    assert (whole[False]["copysets"], whole[False]["moved_bytes"]) == (3, 0)
    steps = rows(tables, "durability_outcomes", placement_id="today", course="crashes", outcome="unavailable")
    assert {one["steps"][-1] for one in steps} == {"in the end there is no leader"}
