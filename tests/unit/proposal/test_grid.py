"""Which scenarios a request stands for."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.placement import Balance, RackRule
from kafka_capacity.proposal.grid import (
    GridRequest,
    default_broker_counts,
    placement_grid,
    placement_key,
    proposed_brokers,
    scenario_to_json,
)
from kafka_capacity.proposal.pins import Pin
from tests.properties.strategies import repeatable

SIX = Brokers.of(
    [1, 2, 3, 4, 5, 6],
    ["a", "b", "c"] * 2,
    disk_capacity_bytes=[10.0, 20.0, 30.0, 40.0, 50.0, None],
    network_in_bytes_per_second=[1.0] * 6,
    cpu_cores=[16.0, 16.0, 8.0, None, 32.0, 16.0],
    memory_bytes=[4.0, None, 2.0, 8.0, 6.0, None],
)
REQUEST = GridRequest(
    broker_counts=(),
    new_broker_racks=(),
    placers=("fewest-bytes", "generate"),
    replication_factor=None,
    throttle_bytes_per_second=50e6,
    rack_rule=RackRule.STRICT,
    balance=Balance.BYTES,
    tolerance_ratio=None,
    disk_limit_ratio=0.85,
    seed=3,
)


def test_new_brokers_get_the_next_ids_the_smallest_racks_and_the_median_hardware():
    proposed = proposed_brokers(SIX, 8)

    assert proposed.ids.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert proposed.racks[6:] == ("a", "b")
    assert proposed.disk_capacity_bytes[6:].tolist() == [30.0, 30.0]
    assert proposed.network_in_bytes_per_second[6:].tolist() == [1.0, 1.0]
    assert np.isnan(proposed.network_out_bytes_per_second).all()
    assert proposed.cpu_cores[6:].tolist() == [16.0, 16.0]
    assert proposed.memory_bytes[6:].tolist() == [5.0, 5.0]


def test_new_brokers_take_the_racks_that_were_asked_for_in_turn():
    assert proposed_brokers(SIX, 9, ["d", "a"]).racks[6:] == ("d", "a", "d")


def test_uneven_racks_are_filled_from_the_smallest():
    uneven = Brokers.of(range(1, 10), ["e"] * 4 + ["f"] * 4 + ["a"])

    assert proposed_brokers(uneven, 12).racks[9:] == ("a", "a", "a")
    assert proposed_brokers(uneven, 13).racks[12:] == ("a",)


def test_ids_follow_the_highest_and_fill_no_gaps():
    assert proposed_brokers(Brokers.of([5, 1010]), 4).ids.tolist() == [5, 1010, 1011, 1012]
    assert proposed_brokers(Brokers.of([0]), 2).ids.tolist() == [0, 1]


def test_without_racks_new_brokers_have_none():
    assert proposed_brokers(Brokers.of([1, 2]), 3).racks == (None, None, None)


def test_the_highest_id_of_the_fullest_rack_goes_first():
    uneven = Brokers.of([1, 2, 3, 4, 5], ["a", "a", "a", "b", "b"])

    assert proposed_brokers(uneven, 4).ids.tolist() == [1, 2, 4, 5]
    assert proposed_brokers(uneven, 3).ids.tolist() == [1, 2, 4]
    assert proposed_brokers(uneven, 1).ids.tolist() == [1]


def test_who_stays_keeps_what_it_has():
    fenced = Brokers.of([1, 2, 3], ["a", "b", "c"], is_fenced=[True, False, False], disk_capacity_bytes=[1.0, 2.0, 3.0])
    proposed = proposed_brokers(fenced, 4)

    assert proposed.is_fenced.tolist() == [True, False, False, False]
    assert proposed.disk_capacity_bytes.tolist() == [1.0, 2.0, 3.0, 2.0]


@pytest.mark.parametrize(("brokers", "counts"), [(SIX, (6, 9)), (Brokers.of([1, 2]), (2, 3))])
def test_without_counts_today_and_one_more_in_every_rack_are_tried(brokers, counts):
    assert default_broker_counts(brokers) == counts
    grid = placement_grid(brokers, REQUEST)
    assert [len(scenario.target) for scenario in grid] == [counts[0]] * 2 + [counts[1]] * 2


def test_the_grid_is_every_count_with_every_placer_once():
    grid = placement_grid(SIX, replace(REQUEST, broker_counts=(9, 6, 9), placers=("zk", "modulo", "zk")))

    assert [scenario.scenario_id for scenario in grid] == [
        "006-brokers.zk",
        "006-brokers.modulo",
        "009-brokers.zk",
        "009-brokers.modulo",
    ]


@pytest.mark.parametrize(
    ("balance", "given_ratio", "ratio"),
    [
        (Balance.BYTES, None, 0.02),
        (Balance.REPLICAS, None, 0.0),
        (Balance.BYTES, 0.0, 0.0),
        (Balance.REPLICAS, 0.2, 0.2),
    ],
)
def test_the_tolerance_follows_the_balance_unless_it_is_given(balance, given_ratio, ratio):
    grid = placement_grid(SIX, replace(REQUEST, balance=balance, tolerance_ratio=given_ratio))

    assert {scenario.tolerance_ratio for scenario in grid} == {ratio}


@repeatable(80)
@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=9, unique=True),
    st.integers(1, 20),
    st.lists(st.sampled_from(["a", "b", "ü/<"]), max_size=3),
)
def test_a_scenario_is_whole_in_json(ids, count, racks):
    observed = Brokers.of(
        ids,
        [None if i % 4 == 0 else f"r{i % 3}" for i in ids],
        disk_capacity_bytes=[None if i % 2 else 1e12 for i in ids],
        memory_bytes=[None if i % 3 else float(i + 1) for i in ids],
    )
    pins = (Pin(topics="a*", broker_ids=(1, 2), racks=("ü/<",)),)
    asked = replace(REQUEST, broker_counts=(count,), new_broker_racks=tuple(racks), pins=pins)
    grid = placement_grid(observed, replace(asked, broker_maxima=(("replica_count", count),)))
    for scenario in grid:
        shown = json.loads(json.dumps(scenario_to_json(scenario), allow_nan=False))
        assert {field.name for field in fields(scenario)} - {"broker_maxima", "is_takeover_levelled"} < set(shown)
        assert (shown["rack_rule"], shown["max_replicas_per_broker"]) == ("strict", count)
        assert shown["pins"] == [{"topics": "a*", "broker_ids": [1, 2], "racks": ["ü/<"]}]
        assert shown["target"]["racks"] == list(scenario.target.racks)
        memory = [np.nan if value is None else value for value in shown["target"]["memory_bytes"]]
        assert np.array_equal(memory, scenario.target.memory_bytes, equal_nan=True)


def test_several_throttles_are_a_scenario_each_with_the_throttle_in_its_name():
    asked = replace(REQUEST, broker_counts=(6,), throttles_bytes_per_second=(1e8, 2.5e6, 1e8))
    grid = placement_grid(SIX, asked)

    assert [one.scenario_id for one in grid] == [
        "006-brokers.fewest-bytes.2.5MBps",
        "006-brokers.fewest-bytes.100MBps",
        "006-brokers.generate.2.5MBps",
        "006-brokers.generate.100MBps",
    ]
    assert [one.throttle_bytes_per_second for one in grid] == [2.5e6, 1e8] * 2
    assert len({placement_key(one) for one in grid}) == 2
    (only, *_) = placement_grid(SIX, replace(asked, throttles_bytes_per_second=(1e8,)))
    assert (only.scenario_id, only.throttle_bytes_per_second) == ("006-brokers.fewest-bytes", 1e8)
